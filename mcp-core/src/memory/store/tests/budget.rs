//! Tests of how many bytes the store in memory keeps.

use std::{collections::HashMap, sync::atomic::AtomicUsize};

use proptest::prelude::*;

use super::*;

/// One entry with a value of that length.
fn size(id: usize, value: usize) -> usize {
    256 + key(id).as_str().len() + value
}

fn bytes(length: usize) -> Bytes {
    Bytes::from(vec![7; length])
}

fn put(store: &MemoryStore, id: usize, length: usize, ttl: Duration) -> Result<bool, StoreError> {
    now(store.create(&key(id), bytes(length), ttl))
}

fn find(store: &MemoryStore, id: usize) -> Option<Stored> {
    now(store.get(&key(id))).unwrap()
}

fn save(store: &MemoryStore, id: usize, length: usize) -> Result<Option<Stamp>, StoreError> {
    let stamp = find(store, id).unwrap().stamp;
    now(store.save(&key(id), bytes(length), stamp, MINUTE))
}

fn delete(store: &MemoryStore, id: usize) -> bool {
    now(store.delete(&key(id))).unwrap()
}

fn is_full<T>(result: &Result<T, StoreError>) -> bool {
    matches!(result, Err(StoreError::Full))
}

/// That what is counted is what is there.
fn assert_exact(store: &MemoryStore) {
    let shards = store.shared.shards.all();
    let held = shards
        .map(|shard| lock(shard).size())
        .fold(Size::default(), Size::plus);
    assert_eq!((store.len(), store.bytes()), (held.entries, held.bytes));
}

#[tokio::test(start_paused = true)]
async fn a_store_without_bytes_left_refuses_until_something_expires() {
    let store = MemoryStore::new().max_bytes(size(0, 500) + size(1, 500));
    assert!(put(&store, 0, 500, MINUTE).unwrap());
    assert!(is_full(&put(&store, 1, 501, MINUTE)));
    assert_eq!((store.len(), store.bytes()), (1, size(0, 500)));
    assert!(put(&store, 1, 500, 2 * MINUTE).unwrap());
    assert!(!put(&store, 1, 5000, MINUTE).unwrap(), "it is there");
    assert!(is_full(&put(&store, 2, 0, MINUTE)));
    advance(MINUTE).await;
    assert!(put(&store, 2, 499, MINUTE).unwrap());
    assert_eq!(store.bytes(), size(1, 500) + size(2, 499));
    assert!(is_full(&put(&store, 3, 0, MINUTE)));
    assert!(delete(&store, 1));
    assert_eq!(store.bytes(), size(2, 499));
    assert!(put(&store, 3, 501, MINUTE).unwrap());
    assert_exact(&store);
    advance(MINUTE).await;
    store.purge().await.unwrap();
    assert_eq!(store.bytes(), 0);
}

#[tokio::test(start_paused = true)]
async fn what_is_refused_for_its_bytes_takes_no_place() {
    let store = MemoryStore::new().max_entries(1).max_bytes(1000);
    for _ in 0..3 {
        assert!(is_full(&put(&store, 0, 1000, MINUTE)));
    }
    assert!(put(&store, 0, 100, MINUTE).unwrap());
    assert!(
        is_full(&put(&store, 1, 0, MINUTE)),
        "one entry is the limit"
    );
    assert_eq!(store.bytes(), size(0, 100));
}

#[tokio::test(start_paused = true)]
async fn a_value_that_grows_too_much_leaves_the_old_one() {
    let store = MemoryStore::new().max_bytes(size(0, 100) + size(1, 200));
    put(&store, 0, 100, MINUTE).unwrap();
    put(&store, 1, 100, 2 * MINUTE).unwrap();
    let before = find(&store, 1).unwrap();
    let refused = now(store.save(&key(1), bytes(201), before.stamp, 9 * MINUTE));
    assert!(is_full(&refused));
    let after = find(&store, 1).unwrap();
    assert_eq!(
        (after.value, after.stamp, after.remaining),
        (before.value, before.stamp, before.remaining)
    );
    let unknown = Stamp::new(u64::MAX);
    let missed = now(store.save(&key(1), bytes(201), unknown, MINUTE));
    assert_eq!(missed.unwrap(), None, "another one's stamp comes first");
    let missed = now(store.save(&key(2), bytes(201), unknown, MINUTE));
    assert_eq!(missed.unwrap(), None);

    assert!(save(&store, 1, 200).unwrap().is_some());
    assert!(is_full(&save(&store, 0, 101)));
    assert!(save(&store, 1, 150).unwrap().is_some());
    assert!(save(&store, 0, 150).unwrap().is_some());
    assert_eq!(store.bytes(), size(0, 150) + size(1, 150));
    advance(MINUTE / 2).await;
    assert!(save(&store, 1, 150).unwrap().is_some());
    advance(MINUTE / 2).await;
    assert!(save(&store, 1, 400).unwrap().is_some(), "the other expired");
    assert_eq!((store.len(), store.bytes()), (1, size(1, 400)));
    assert_exact(&store);
}

#[tokio::test(start_paused = true)]
async fn an_expired_entry_gives_its_bytes_to_the_same_key() {
    let store = MemoryStore::new().max_bytes(size(0, 300));
    for length in [200, 300, 100, 0, 300] {
        assert!(put(&store, 0, length, MINUTE).unwrap());
        assert_eq!((store.len(), store.bytes()), (1, size(0, length)));
        advance(MINUTE).await;
        assert!(is_full(&put(&store, 1, 301, MINUTE)));
        assert_exact(&store);
    }
    assert!(put(&store, 0, 1, MINUTE).unwrap());
    advance(MINUTE).await;
    assert!(!delete(&store, 0));
    assert_eq!(store.bytes(), 0);
}

#[tokio::test(start_paused = true)]
async fn one_large_value_takes_the_room_of_many_expired_ones() {
    const MANY: usize = 9000;
    let store = MemoryStore::new().max_bytes(MANY * 300);
    for id in 0..MANY {
        put(&store, id, 10, MINUTE).unwrap();
    }
    assert!(is_full(&put(&store, MANY, MANY * 290, MINUTE)));
    advance(MINUTE).await;
    assert!(put(&store, MANY, MANY * 290, MINUTE).unwrap());
    assert_exact(&store);
}

#[tokio::test(start_paused = true)]
async fn a_lower_limit_is_for_what_comes() {
    let store = MemoryStore::new();
    put(&store, 0, 500, MINUTE).unwrap();
    let store = store.clone().max_bytes(100);
    assert!(is_full(&save(&store, 0, 501)));
    assert!(save(&store, 0, 500).unwrap().is_some());
    assert!(save(&store, 0, 400).unwrap().is_some());
    assert!(is_full(&put(&store, 1, 0, MINUTE)));
    advance(MINUTE).await;
    assert!(put(&store, 0, 300, MINUTE).unwrap(), "in the expired place");
    assert_eq!(store.bytes(), size(0, 300));
    assert!(delete(&store, 0));
    assert!(is_full(&put(&store, 0, 300, MINUTE)));
    let _ = store.clone().max_bytes(usize::MAX);
    assert!(put(&store, 0, 300, MINUTE).unwrap());
}

#[test]
fn a_hundred_thousand_sessions_fit() {
    const SESSIONS: usize = 100_000;
    let store = MemoryStore::new().max_entries(SESSIONS);
    for id in 0..SESSIONS {
        let key = Key::new("", "session", &format!("{id:032}"));
        assert!(now(store.create(&key, bytes(250), 60 * MINUTE)).unwrap());
    }
    assert_eq!(store.len(), SESSIONS);
    assert_exact(&store);
}

/// Purges without letting anybody run in between.
fn free_all(store: &MemoryStore) {
    for shard in store.shared.shards.all() {
        while store.shared.free(shard, store.shared.clock.now()).more {}
    }
}

#[test]
fn never_more_bytes_than_the_limit_on_many_threads() {
    const MAX: usize = 20_000;
    let store = MemoryStore::new().max_bytes(MAX);
    thread::scope(|scope| {
        for thread in 0..4 {
            let store = &store;
            scope.spawn(move || {
                for round in 0..4000 {
                    // Some keys are one thread's, some are everybody's.
                    let id = if round % 3 == 0 {
                        round % 10
                    } else {
                        1000 * thread + round % 90
                    };
                    let ttl = Duration::from_micros(round as u64 % 300);
                    let _ = put(store, id, round * 31 % 2000, ttl);
                    assert!(store.bytes() <= MAX);
                    if let Some(found) = find(store, id) {
                        let value = bytes(round * 17 % 2000);
                        let _ = now(store.save(&key(id), value, found.stamp, ttl));
                        assert!(store.bytes() <= MAX);
                    }
                    if round % 7 == 0 {
                        delete(store, id);
                    }
                    if round % 500 == 0 {
                        free_all(store);
                    }
                }
            });
        }
    });
    assert_exact(&store);
    thread::sleep(Duration::from_millis(1));
    assert!(put(&store, 0, MAX - size(0, 0), MINUTE).unwrap());
    assert_eq!((store.len(), store.bytes()), (1, MAX));
    assert!(delete(&store, 0));
    assert_eq!((store.len(), store.bytes()), (0, 0));
}

#[test]
fn creators_at_once_fill_the_store_to_the_byte() {
    const MAX: usize = 100 * 1000;
    let store = MemoryStore::new().max_bytes(MAX);
    let created = AtomicUsize::new(0);
    thread::scope(|scope| {
        for thread in 0..4 {
            let (store, created) = (&store, &created);
            scope.spawn(move || {
                for round in 0..100 {
                    let id = 1000 * thread + round;
                    match put(store, id, 1000 - size(id, 0), MINUTE) {
                        Ok(true) => created.fetch_add(1, Ordering::Relaxed),
                        refused => {
                            assert!(is_full(&refused));
                            0
                        }
                    };
                    assert!(store.bytes() <= MAX);
                }
            });
        }
    });
    assert_eq!(created.load(Ordering::Relaxed), 100);
    assert_eq!((store.len(), store.bytes()), (100, MAX));
    assert_exact(&store);
}

#[derive(Debug, Clone)]
enum Step {
    Create(usize, usize, u64),
    Save(usize, usize, u64, bool),
    Touch(usize, u64),
    Delete(usize),
    Wait(u64),
    Purge,
}

fn step() -> impl Strategy<Value = Step> {
    let (id, length, ttl) = (0..8_usize, 0..600_usize, 0..6_u64);
    prop_oneof![
        6 => (id.clone(), length.clone(), ttl.clone())
            .prop_map(|(id, length, ttl)| Step::Create(id, length, ttl)),
        4 => (id.clone(), length, ttl.clone(), any::<bool>())
            .prop_map(|(id, length, ttl, stale)| Step::Save(id, length, ttl, stale)),
        2 => (id.clone(), ttl).prop_map(|(id, ttl)| Step::Touch(id, ttl)),
        2 => id.prop_map(Step::Delete),
        2 => (1..4_u64).prop_map(Step::Wait),
        1 => Just(Step::Purge),
    ]
}

/// A store that forgets at once what has expired: it refuses what the real one refuses.
#[derive(Default)]
struct Model {
    now: u64,
    /// Length and when it expires.
    live: HashMap<usize, (usize, u64)>,
}

impl Model {
    const MAX_ENTRIES: usize = 5;
    const MAX_BYTES: usize = 2500;

    fn bytes(&self) -> usize {
        let live = self.live.iter();
        live.map(|(id, (length, _))| size(*id, *length)).sum()
    }

    fn forget(&mut self) {
        self.live.retain(|_, (_, expires)| *expires > self.now);
    }

    /// Puts a value if it fits.
    fn put(&mut self, id: usize, length: usize, ttl: u64) -> bool {
        let before = self.live.get(&id).map_or(0, |old| size(id, old.0));
        let after = size(id, length);
        let fits = self.bytes() - before + after <= Self::MAX_BYTES;
        let fits = fits && (before > 0 || self.live.len() < Self::MAX_ENTRIES);
        if fits {
            self.live.insert(id, (length, self.now + ttl));
            self.forget();
        }
        fits
    }

    fn create(&mut self, store: &MemoryStore, id: usize, length: usize, ttl: u64) {
        let created = put(store, id, length, Duration::from_secs(ttl));
        if self.live.contains_key(&id) {
            assert!(!created.unwrap());
        } else if self.put(id, length, ttl) {
            assert!(created.unwrap());
        } else {
            assert!(is_full(&created));
        }
    }

    fn save(&mut self, store: &MemoryStore, id: usize, length: usize, ttl: u64, stale: bool) {
        let found = find(store, id).map(|it| it.stamp);
        let expected = found.filter(|_| !stale).unwrap_or(Stamp::new(0));
        let lifetime = Duration::from_secs(ttl);
        let saved = now(store.save(&key(id), bytes(length), expected, lifetime));
        if stale || !self.live.contains_key(&id) {
            assert_eq!(saved.unwrap(), None);
        } else if self.put(id, length, ttl) {
            assert!(saved.unwrap().is_some_and(|it| it != expected));
        } else {
            assert!(is_full(&saved));
            assert_eq!(find(store, id).map(|it| it.stamp), found);
        }
    }

    async fn take(&mut self, step: &Step, store: &MemoryStore) {
        match *step {
            Step::Create(id, length, ttl) => self.create(store, id, length, ttl),
            Step::Save(id, length, ttl, stale) => self.save(store, id, length, ttl, stale),
            Step::Touch(id, ttl) => {
                let touched = now(store.touch(&key(id), Duration::from_secs(ttl)));
                let entry = self.live.get_mut(&id);
                assert_eq!(touched.unwrap(), entry.is_some());
                if let Some((_, expires)) = entry {
                    *expires = self.now + ttl;
                }
            }
            Step::Delete(id) => {
                assert_eq!(delete(store, id), self.live.remove(&id).is_some());
            }
            Step::Wait(seconds) => {
                advance(Duration::from_secs(seconds)).await;
                self.now += seconds;
            }
            Step::Purge => {
                store.purge().await.unwrap();
                assert_eq!(
                    (store.len(), store.bytes()),
                    (self.live.len(), self.bytes())
                );
            }
        }
        self.forget();
    }

    /// That the store holds the same, and has counted it.
    fn compare(&self, store: &MemoryStore) {
        for id in 0..8 {
            let found = find(store, id).map(|it| (it.value.len(), it.remaining.as_secs()));
            let live = self.live.get(&id);
            assert_eq!(found, live.map(|it| (it.0, it.1 - self.now)));
        }
        assert_exact(store);
        assert!(store.bytes() <= Self::MAX_BYTES && store.len() <= Self::MAX_ENTRIES);
    }
}

proptest! {
    #[test]
    fn bytes_are_counted_exactly(steps in proptest::collection::vec(step(), 1..60)) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async {
            let store = MemoryStore::new()
                .max_entries(Model::MAX_ENTRIES)
                .max_bytes(Model::MAX_BYTES);
            let mut model = Model::default();
            for step in steps.into_iter().chain([Step::Purge]) {
                model.take(&step, &store).await;
                model.compare(&store);
            }
            (0..8).for_each(|id| {
                delete(&store, id);
            });
            assert_eq!((store.len(), store.bytes()), (0, 0));
        });
    }
}
