//! How much a store keeps, and how much it may keep.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::Key;

/// What entries take of a store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) entries: usize,
    pub(super) bytes: usize,
}

impl Size {
    /// One entry with a value of that length.
    pub(super) fn of(key: &Key, value: usize) -> Self {
        Self {
            entries: 1,
            bytes: ENTRY + key.as_str().len() + value,
        }
    }

    /// How much more it is than `other`; nothing where it is less.
    pub(super) fn beyond(self, other: Self) -> Self {
        Self {
            entries: self.entries.saturating_sub(other.entries),
            bytes: self.bytes.saturating_sub(other.bytes),
        }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            entries: self.entries + other.entries,
            bytes: self.bytes + other.bytes,
        }
    }
}

/// What all entries take.
///
/// It is never less than what the shards hold: room is taken before an entry is put, and given
/// back once it is out, both under the lock of its shard.
pub(super) struct Usage {
    pub(super) entries: Meter,
    pub(super) bytes: Meter,
}

impl Usage {
    /// Takes room for so much more, all of it or nothing.
    pub(super) fn take(&self, more: Size) -> bool {
        if !self.entries.take(more.entries) {
            return false;
        }
        let taken = self.bytes.take(more.bytes);
        if !taken {
            self.entries.give_back(more.entries);
        }
        taken
    }

    pub(super) fn give_back(&self, less: Size) {
        self.entries.give_back(less.entries);
        self.bytes.give_back(less.bytes);
    }

    /// Whether so much more could be taken just now.
    pub(super) fn has_room(&self, more: Size) -> bool {
        self.entries.has_room(more.entries) && self.bytes.has_room(more.bytes)
    }
}

impl Default for Usage {
    fn default() -> Self {
        Self {
            entries: Meter::new(MAX_ENTRIES),
            bytes: Meter::new(MAX_BYTES),
        }
    }
}

/// A number with a limit.
pub(super) struct Meter {
    used: AtomicUsize,
    max: AtomicUsize,
}

impl Meter {
    fn new(max: usize) -> Self {
        Self {
            used: AtomicUsize::new(0),
            max: AtomicUsize::new(max),
        }
    }

    pub(super) fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    pub(super) fn max(&self) -> usize {
        self.max.load(Ordering::Relaxed)
    }

    pub(super) fn limit(&self, max: usize) {
        self.max.store(max, Ordering::Relaxed);
    }

    fn take(&self, more: usize) -> bool {
        let max = self.max();
        self.used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
                sum_within(used, more, max)
            })
            .is_ok()
    }

    fn give_back(&self, less: usize) {
        self.used.fetch_sub(less, Ordering::Relaxed);
    }

    fn has_room(&self, more: usize) -> bool {
        sum_within(self.used(), more, self.max()).is_some()
    }
}

/// Taking nothing is fine also where a limit was lowered below what is kept.
fn sum_within(used: usize, more: usize, max: usize) -> Option<usize> {
    used.checked_add(more)
        .filter(|sum| more == 0 || *sum <= max)
}

/// What an entry takes besides its key and its value: its places in map and queue, with the room
/// that those have to grow, and what its allocations cost.
const ENTRY: usize = 256;

const MAX_ENTRIES: usize = 10_000;
const MAX_BYTES: usize = 64 << 20;
