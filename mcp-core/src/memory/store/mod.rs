//! A session store in memory.

mod entries;
#[cfg(test)]
mod tests;

use std::{
    fmt,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use tokio::task::yield_now;

use self::entries::{Entries, Slice};
use super::{
    clock::{Clock, Moment},
    shards::{Shards, lock},
};
use crate::{Key, SessionStore, Stamp, StoreError, Stored};

/// A [`SessionStore`] for one process.
///
/// Clones share what is kept. An entry takes some 300 bytes besides its value.
#[derive(Clone, Default)]
pub struct MemoryStore {
    shared: Arc<Shared>,
}

impl MemoryStore {
    /// An empty store for up to 10,000 entries.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many entries are kept at most, by this store and its clones.
    ///
    /// One more is refused with [`StoreError::Full`] unless an expired one can make room.
    #[must_use]
    pub fn max_entries(self, entries: usize) -> Self {
        self.shared.max_entries.store(entries, Ordering::Relaxed);
        self
    }

    /// How many entries are kept, with expired ones that are not freed yet.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shared.entries.load(Ordering::Relaxed)
    }

    /// Whether no entry is kept, as [`MemoryStore::len`] counts.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("MemoryStore")
            .field("entries", &self.len())
            .field("max_entries", &self.shared.max_entries)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl SessionStore for MemoryStore {
    async fn create(&self, key: &Key, value: Bytes, ttl: Duration) -> Result<bool, StoreError> {
        self.shared.create(key, &value, ttl)
    }

    async fn get(&self, key: &Key) -> Result<Option<Stored>, StoreError> {
        Ok(self.get_now(key).flatten())
    }

    fn get_now(&self, key: &Key) -> Option<Option<Stored>> {
        let entries = self.shared.shards.of(key);
        Some(entries.find(key, self.shared.clock.now()))
    }

    async fn save(
        &self,
        key: &Key,
        value: Bytes,
        expected: Stamp,
        ttl: Duration,
    ) -> Result<Option<Stamp>, StoreError> {
        let stamp = self.shared.stamp();
        let value = (Bytes::copy_from_slice(&value), stamp);
        let mut entries = self.shared.shards.of(key);
        let now = self.shared.clock.now();
        let saved = entries.replace(key, expected, value, now, ttl);
        Ok(saved.then_some(stamp))
    }

    async fn touch(&self, key: &Key, ttl: Duration) -> Result<bool, StoreError> {
        let mut entries = self.shared.shards.of(key);
        Ok(entries.renew(key, self.shared.clock.now(), ttl))
    }

    async fn delete(&self, key: &Key) -> Result<bool, StoreError> {
        let mut entries = self.shared.shards.of(key);
        let removed = entries.remove(key, self.shared.clock.now());
        if removed.is_some() {
            self.shared.entries.fetch_sub(1, Ordering::Relaxed);
        }
        Ok(removed.unwrap_or(false))
    }

    /// # Cancel safety
    ///
    /// Lets other tasks run in between; dropped there, the rest stays for the next time.
    async fn purge(&self) -> Result<(), StoreError> {
        let now = self.shared.clock.now();
        for shard in self.shared.shards.all() {
            while self.shared.free(shard, now).more {
                yield_now().await;
            }
            lock(shard).shrink();
            yield_now().await;
        }
        Ok(())
    }
}

struct Shared {
    shards: Shards<Entries>,
    clock: Clock,
    stamps: AtomicU64,
    entries: AtomicUsize,
    max_entries: AtomicUsize,
}

impl Shared {
    fn create(&self, key: &Key, value: &[u8], ttl: Duration) -> Result<bool, StoreError> {
        loop {
            let mut entries = self.shards.of(key);
            let now = self.clock.now();
            if entries.is_live(key, now) {
                return Ok(false);
            }
            if entries.holds(key) || self.take_room() {
                // A copy: a slice would keep the whole body alive that it was cut from.
                let value = Bytes::copy_from_slice(value);
                entries.put(key, value, self.stamp(), now.plus(ttl));
                return Ok(true);
            }
            drop(entries);
            if !self.make_room(now) {
                return Err(StoreError::Full);
            }
        }
    }

    fn stamp(&self) -> Stamp {
        Stamp::new(self.stamps.fetch_add(1, Ordering::Relaxed))
    }

    /// Counts one entry more, unless there are as many as may be.
    fn take_room(&self) -> bool {
        let max = self.max_entries.load(Ordering::Relaxed);
        self.entries
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |entries| {
                (entries < max).then(|| entries + 1)
            })
            .is_ok()
    }

    /// Frees some expired entries; false where every shard looked full.
    fn make_room(&self, now: Moment) -> bool {
        for shard in self.shards.all() {
            loop {
                let slice = self.free(shard, now);
                if !slice.taken.is_empty() {
                    return true;
                }
                if !slice.more {
                    break;
                }
            }
        }
        self.entries.load(Ordering::Relaxed) < self.max_entries.load(Ordering::Relaxed)
    }

    /// Takes a slice of expired entries out of a shard.
    fn free(&self, shard: &Mutex<Entries>, now: Moment) -> Slice {
        let mut entries = lock(shard);
        let slice = entries.take_expired(now);
        self.entries.fetch_sub(slice.taken.len(), Ordering::Relaxed);
        slice
    }
}

impl Default for Shared {
    fn default() -> Self {
        Self {
            shards: Shards::default(),
            clock: Clock::default(),
            stamps: AtomicU64::new(1),
            entries: AtomicUsize::new(0),
            max_entries: AtomicUsize::new(MAX_ENTRIES),
        }
    }
}

const MAX_ENTRIES: usize = 10_000;
