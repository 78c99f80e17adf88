//! One shard of a store: its entries, and when which of them may have expired.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashMap},
    time::Duration,
};

use bytes::Bytes;

use super::usage::Size;
use crate::{
    Key, Stamp, Stored,
    memory::{
        clock::Moment,
        shards::{is_roomy, shrink},
    },
};

/// Entries by key.
///
/// Each has one valid deadline in the queue, at `Entry::due`, which is never later than it
/// expires. Living longer leaves the deadline alone: it is put off once it is reached. So nothing
/// here ever goes through all entries for the sake of one.
#[derive(Default)]
pub(super) struct Entries {
    by_key: HashMap<Key, Entry>,
    deadlines: BinaryHeap<Reverse<(Moment, Key)>>,
}

pub(super) struct Entry {
    value: Bytes,
    stamp: Stamp,
    expires: Moment,
    due: Moment,
}

impl Entry {
    pub(super) fn size(&self, key: &Key) -> Size {
        Size::of(key, self.value.len())
    }

    pub(super) fn is_live(&self, now: Moment) -> bool {
        self.expires > now
    }

    pub(super) fn replace(&mut self, value: Bytes, stamp: Stamp) {
        (self.value, self.stamp) = (value, stamp);
    }
}

impl Entries {
    /// What is kept and has not expired.
    pub(super) fn find(&self, key: &Key, now: Moment) -> Option<Stored> {
        let entry = self.by_key.get(key).filter(|it| it.is_live(now))?;
        Some(Stored::new(
            entry.value.clone(),
            entry.stamp,
            now.until(entry.expires),
        ))
    }

    /// The entry, expired or not.
    pub(super) fn entry(&self, key: &Key) -> Option<&Entry> {
        self.by_key.get(key)
    }

    /// The live entry that `expected` stamped.
    pub(super) fn stamped(
        &mut self,
        key: &Key,
        expected: Stamp,
        now: Moment,
    ) -> Option<&mut Entry> {
        let entry = self.by_key.get_mut(key);
        entry.filter(|it| it.is_live(now) && it.stamp == expected)
    }

    /// Puts an entry where none is, or in the place of an expired one.
    pub(super) fn put(&mut self, key: &Key, value: Bytes, stamp: Stamp, expires: Moment) {
        let entry = Entry {
            value,
            stamp,
            expires,
            due: expires,
        };
        self.by_key.insert(key.clone(), entry);
        self.schedule(key, expires);
    }

    /// Lets a live entry live for `ttl` from now on.
    pub(super) fn renew(&mut self, key: &Key, now: Moment, ttl: Duration) -> bool {
        let entry = self.by_key.get_mut(key);
        let Some(entry) = entry.filter(|it| it.is_live(now)) else {
            return false;
        };
        let expires = now.plus(ttl);
        entry.expires = expires;
        if expires < entry.due {
            entry.due = expires;
            self.schedule(key, expires);
        }
        true
    }

    /// Takes an entry out, expired or not.
    pub(super) fn remove(&mut self, key: &Key) -> Option<Entry> {
        let entry = self.by_key.remove(key)?;
        self.tidy();
        Some(entry)
    }

    /// Takes out expired entries, a slice at a time.
    pub(super) fn take_expired(&mut self, now: Moment) -> Slice {
        let mut taken = Vec::new();
        for _ in 0..SLICE {
            match self.deadlines.peek() {
                Some(Reverse((due, _))) if *due <= now => {}
                _ => return Slice { taken, more: false },
            }
            if let Some(Reverse((due, key))) = self.deadlines.pop() {
                taken.extend(self.reach(due, key, now));
            }
        }
        Slice { taken, more: true }
    }

    /// Takes out the entry whose deadline is reached, or puts the deadline off.
    fn reach(&mut self, due: Moment, key: Key, now: Moment) -> Option<(Key, Entry)> {
        // One that is due at another time has another deadline in the queue.
        let entry = self.by_key.get_mut(&key).filter(|it| it.due == due)?;
        if !entry.is_live(now) {
            return self.by_key.remove_entry(&key);
        }
        entry.due = entry.expires;
        self.deadlines.push(Reverse((entry.due, key)));
        None
    }

    fn schedule(&mut self, key: &Key, due: Moment) {
        self.deadlines.push(Reverse((due, key.clone())));
        self.tidy();
    }

    /// Drops deadlines of entries that are gone, once they outnumber the others.
    fn tidy(&mut self) {
        if self.deadlines.len() > 2 * self.by_key.len() + SLICE {
            let entries = self.by_key.iter();
            self.deadlines = entries
                .map(|(key, entry)| Reverse((entry.due, key.clone())))
                .collect();
        }
    }

    /// Gives back the room that a flood of entries took.
    pub(super) fn shrink(&mut self) {
        shrink(&mut self.by_key);
        if is_roomy(self.deadlines.len(), self.deadlines.capacity()) {
            self.deadlines.shrink_to(self.deadlines.len() * 2);
        }
    }

    #[cfg(test)]
    pub(super) fn size(&self) -> Size {
        let sizes = self.by_key.iter().map(|(key, entry)| entry.size(key));
        sizes.fold(Size::default(), Size::plus)
    }

    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.by_key.capacity().max(self.deadlines.capacity())
    }
}

/// Expired entries, to be dropped where no lock is held.
pub(super) struct Slice {
    pub(super) taken: Vec<(Key, Entry)>,
    /// Whether there may be more.
    pub(super) more: bool,
}

impl Slice {
    pub(super) fn size(&self) -> Size {
        let sizes = self.taken.iter().map(|(key, entry)| entry.size(key));
        sizes.fold(Size::default(), Size::plus)
    }
}

/// Deadlines that are looked at while a lock is held.
const SLICE: usize = 256;
