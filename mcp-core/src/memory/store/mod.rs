//! A session store in memory.

mod entries;
#[cfg(test)]
mod tests;
mod usage;

use std::{
    fmt,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use tokio::task::yield_now;

use self::{
    entries::{Entries, Slice},
    usage::{Size, Usage},
};
use super::{
    clock::{Clock, Moment},
    shards::{Shards, lock},
};
use crate::{Key, SessionStore, Stamp, StoreError, Stored};

/// A [`SessionStore`] for one process.
///
/// Clones share what is kept. Limits count 256 bytes for each entry, besides its key and its value:
/// 100,000 sessions of ordinary clients are within 64 MiB.
#[derive(Clone, Default)]
pub struct MemoryStore {
    shared: Arc<Shared>,
}

impl MemoryStore {
    /// An empty store for up to 10,000 entries and 64 MiB.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many entries are kept at most, by this store and its clones.
    ///
    /// One more is refused with [`StoreError::Full`] unless an expired one can make room.
    #[must_use]
    pub fn max_entries(self, entries: usize) -> Self {
        self.shared.usage.entries.limit(entries);
        self
    }

    /// How much is kept at most, by this store and its clones.
    ///
    /// A new entry, or a value that grows, is refused with [`StoreError::Full`] unless expired ones
    /// can make room. What is kept stays where the limit is lowered, and may be replaced by as much
    /// or less.
    #[must_use]
    pub fn max_bytes(self, bytes: usize) -> Self {
        self.shared.usage.bytes.limit(bytes);
        self
    }

    /// How many entries are kept, with expired ones that are not freed yet.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shared.usage.entries.used()
    }

    /// How much is kept, with expired entries that are not freed yet.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.shared.usage.bytes.used()
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
            .field("bytes", &self.bytes())
            .field("max_entries", &self.shared.usage.entries.max())
            .field("max_bytes", &self.shared.usage.bytes.max())
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
        self.shared.save(key, &value, expected, ttl)
    }

    async fn touch(&self, key: &Key, ttl: Duration) -> Result<bool, StoreError> {
        let mut entries = self.shared.shards.of(key);
        Ok(entries.renew(key, self.shared.clock.now(), ttl))
    }

    async fn delete(&self, key: &Key) -> Result<bool, StoreError> {
        let mut entries = self.shared.shards.of(key);
        let now = self.shared.clock.now();
        let Some(entry) = entries.remove(key) else {
            return Ok(false);
        };
        self.shared.usage.give_back(entry.size(key));
        Ok(entry.is_live(now))
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
    usage: Usage,
}

impl Shared {
    fn create(&self, key: &Key, value: &[u8], ttl: Duration) -> Result<bool, StoreError> {
        let after = Size::of(key, value.len());
        loop {
            let mut entries = self.shards.of(key);
            let now = self.clock.now();
            let entry = entries.entry(key);
            if entry.is_some_and(|it| it.is_live(now)) {
                return Ok(false);
            }
            let before = entry.map_or_else(Size::default, |it| it.size(key));
            let more = after.beyond(before);
            if self.usage.take(more) {
                // A copy: a slice would keep the whole body alive that it was cut from.
                let value = Bytes::copy_from_slice(value);
                entries.put(key, value, self.stamp(), now.plus(ttl));
                self.usage.give_back(before.beyond(after));
                return Ok(true);
            }
            drop(entries);
            self.make_room(more, now)?;
        }
    }

    fn save(
        &self,
        key: &Key,
        value: &[u8],
        expected: Stamp,
        ttl: Duration,
    ) -> Result<Option<Stamp>, StoreError> {
        let stamp = self.stamp();
        let value = Bytes::copy_from_slice(value);
        let after = Size::of(key, value.len());
        loop {
            let mut entries = self.shards.of(key);
            let now = self.clock.now();
            let Some(entry) = entries.stamped(key, expected, now) else {
                return Ok(None);
            };
            let before = entry.size(key);
            let more = after.beyond(before);
            if self.usage.take(more) {
                entry.replace(value, stamp);
                entries.renew(key, now, ttl);
                self.usage.give_back(before.beyond(after));
                return Ok(Some(stamp));
            }
            drop(entries);
            self.make_room(more, now)?;
        }
    }

    fn stamp(&self) -> Stamp {
        Stamp::new(self.stamps.fetch_add(1, Ordering::Relaxed))
    }

    /// Frees some expired entries; refuses where every shard looked full and still is.
    fn make_room(&self, needed: Size, now: Moment) -> Result<(), StoreError> {
        for shard in self.shards.all() {
            loop {
                let slice = self.free(shard, now);
                if !slice.taken.is_empty() {
                    return Ok(());
                }
                if !slice.more {
                    break;
                }
            }
        }
        if self.usage.has_room(needed) {
            return Ok(());
        }
        Err(StoreError::Full)
    }

    /// Takes a slice of expired entries out of a shard.
    fn free(&self, shard: &Mutex<Entries>, now: Moment) -> Slice {
        let mut entries = lock(shard);
        let slice = entries.take_expired(now);
        self.usage.give_back(slice.size());
        slice
    }
}

impl Default for Shared {
    fn default() -> Self {
        Self {
            shards: Shards::default(),
            clock: Clock::default(),
            stamps: AtomicU64::new(1),
            usage: Usage::default(),
        }
    }
}
