//! What is known of tokens that were seen.

use std::{
    collections::HashMap,
    fmt, mem,
    sync::{Mutex, PoisonError},
};

use sha2::{Digest as _, Sha256};

/// What stands for a token: a secret is not kept.
///
/// Whoever guesses a token cannot choose its digest, so that looking it up tells nothing by the
/// time it takes.
pub(crate) type Fingerprint = [u8; 32];

pub(crate) fn fingerprint(token: &str) -> Fingerprint {
    Sha256::digest(token).into()
}

/// As many values as it has room for, those used last.
///
/// There are two generations: what is used moves to the young one, and when that has half of the
/// room, it becomes the old one, whose rest is dropped.
pub(crate) struct Cache<V>(Mutex<Generations<V>>);

struct Generations<V> {
    young: HashMap<Fingerprint, V>,
    old: HashMap<Fingerprint, V>,
    half: usize,
}

impl<V: Clone> Cache<V> {
    /// Room for that many; none at all for zero.
    pub(crate) fn new(room: usize) -> Self {
        Self(Mutex::new(Generations {
            young: HashMap::new(),
            old: HashMap::new(),
            half: room.div_ceil(2),
        }))
    }

    /// What is kept under it, if that is still good; otherwise it is dropped.
    pub(crate) fn get(&self, of: &Fingerprint, good: impl FnOnce(&V) -> bool) -> Option<V> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = kept.young.get(of) {
            if good(value) {
                return Some(value.clone());
            }
            kept.young.remove(of);
            return None;
        }
        let value = kept.old.remove(of).filter(good)?;
        kept.put(*of, value.clone());
        Some(value)
    }

    pub(crate) fn put(&self, of: Fingerprint, value: V) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.put(of, value);
    }

    pub(crate) fn len(&self) -> usize {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.young.len() + kept.old.len()
    }
}

impl<V> Generations<V> {
    fn put(&mut self, of: Fingerprint, value: V) {
        if self.half == 0 {
            return;
        }
        if self.young.len() >= self.half {
            self.old = mem::take(&mut self.young);
        }
        self.old.remove(&of);
        self.young.insert(of, value);
    }
}

impl<V: Clone> fmt::Debug for Cache<V> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Cache")
            .field("len", &self.len())
            .finish()
    }
}

/// How many tokens are remembered where nothing else is said.
pub(crate) const ROOM: usize = 4096;

#[cfg(test)]
mod tests {
    use super::{Cache, fingerprint};

    #[test]
    fn holds_no_more_than_it_has_room_for_and_keeps_what_is_used() {
        let cache = Cache::new(10);
        let hot = fingerprint("hot");
        cache.put(hot, 0);
        for number in 1..1000 {
            cache.put(fingerprint(&number.to_string()), number);
            assert!(cache.len() <= 10, "{}", cache.len());
            assert_eq!(cache.get(&hot, |_| true), Some(0), "after {number}");
        }
        assert_eq!(cache.get(&fingerprint("1"), |_| true), None);
        assert_eq!(cache.get(&fingerprint("999"), |_| true), Some(999));
    }

    #[test]
    fn what_is_no_longer_good_is_dropped() {
        let cache = Cache::new(10);
        let at = fingerprint("token");
        cache.put(at, 1);
        assert_eq!(cache.get(&at, |_| false), None);
        assert_eq!(cache.get(&at, |_| true), None);
        assert_eq!(cache.len(), 0);
    }

    #[test]
    fn no_room_keeps_nothing() {
        let cache = Cache::new(0);
        cache.put(fingerprint("token"), 1);
        assert_eq!(cache.len(), 0);
    }
}
