//! Locks by key, so that callers of different keys seldom wait for one another.

use std::{
    array,
    collections::HashMap,
    hash::{BuildHasher, Hash, RandomState},
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::Key;

/// Parts of a map, each behind a lock of its own.
pub(super) struct Shards<T> {
    hasher: RandomState,
    last: Mutex<T>,
    others: [Mutex<T>; SHARDS - 1],
}

impl<T> Shards<T> {
    /// The part that a key belongs to.
    pub(super) fn of(&self, key: &Key) -> MutexGuard<'_, T> {
        let at = self.hasher.hash_one(key) as usize % SHARDS;
        lock(self.others.get(at).unwrap_or(&self.last))
    }

    /// Every part, one after the other.
    pub(super) fn all(&self) -> impl Iterator<Item = &Mutex<T>> {
        self.others.iter().chain([&self.last])
    }
}

impl<T: Default> Default for Shards<T> {
    fn default() -> Self {
        Self {
            hasher: RandomState::new(),
            last: Mutex::default(),
            others: array::from_fn(|_| Mutex::default()),
        }
    }
}

/// Locks; what a panicking thread left behind is whole, for no change here can panic halfway.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gives back the room of a map that was much larger once.
pub(super) fn shrink<K: Eq + Hash, V>(map: &mut HashMap<K, V>) {
    if is_roomy(map.len(), map.capacity()) {
        map.shrink_to(map.len() * 2);
    }
}

/// Whether so much room for so few is worth giving back.
pub(super) fn is_roomy(len: usize, capacity: usize) -> bool {
    capacity > SMALL && len < capacity / 4
}

const SHARDS: usize = 16;

/// Room for so many is kept.
const SMALL: usize = 64;
