//! The contract of a session store.

mod lifetime;

use std::{collections::HashSet, sync::Arc, time::Duration};

use bytes::Bytes;
use tokio::task::yield_now;

use super::{LONG, at_work, broken, fresh_key, sound, unique};
use crate::{Key, SessionStore, Stamp, Stored};

/// Holds two handles on one session store to the contract of [`SessionStore`].
///
/// The store has to have room for some fifty entries, and is left without those it made, as far
/// as they do not expire by themselves.
///
/// # Panics
///
/// Panics where a promise is broken.
pub async fn session_store_contract(first: impl SessionStore, second: impl SessionStore) {
    let stores = [Handle(Arc::new(first)), Handle(Arc::new(second))];
    creates_once(&stores).await;
    one_of_many_creates(&stores).await;
    absent_stays_absent(&stores).await;
    saves_what_was_seen(&stores).await;
    stamps_never_repeat(&stores).await;
    loses_no_update(&stores).await;
    keeps_any_bytes(&stores).await;
    keeps_keys_apart(&stores).await;
    lifetime::check(&stores).await;
}

/// A store whose failures are broken promises.
#[derive(Clone)]
struct Handle(Arc<dyn SessionStore>);

type Handles = [Handle; 2];

impl Handle {
    async fn create(&self, key: &Key, value: &[u8], ttl: Duration) -> bool {
        let value = Bytes::copy_from_slice(value);
        sound("create answers", self.0.create(key, value, ttl)).await
    }

    async fn get(&self, key: &Key) -> Option<Stored> {
        sound("get answers", self.0.get(key)).await
    }

    /// What is kept where something has to be.
    async fn kept(&self, key: &Key) -> Stored {
        let found = self.get(key).await;
        found.unwrap_or_else(|| broken("a live value is found", &"nothing is kept"))
    }

    async fn value(&self, key: &Key) -> Option<Bytes> {
        self.get(key).await.map(|stored| stored.value)
    }

    async fn save(&self, key: &Key, value: &[u8], seen: Stamp, ttl: Duration) -> Option<Stamp> {
        let value = Bytes::copy_from_slice(value);
        sound("save answers", self.0.save(key, value, seen, ttl)).await
    }

    async fn touch(&self, key: &Key, ttl: Duration) -> bool {
        sound("touch answers", self.0.touch(key, ttl)).await
    }

    async fn delete(&self, key: &Key) -> bool {
        sound("delete answers", self.0.delete(key)).await
    }
}

async fn creates_once([first, second]: &Handles) {
    let key = fresh_key();
    let created = first.create(&key, b"one", LONG).await;
    assert!(created, "create keeps a value where nothing is kept");
    let again = second.create(&key, b"two", LONG).await;
    assert!(!again, "create is false where something is kept");
    for store in [first, second] {
        let value = store.value(&key).await;
        assert_eq!(
            value.as_deref(),
            Some(&b"one"[..]),
            "create replaces nothing"
        );
    }
    assert!(second.delete(&key).await, "delete forgets what is kept");
    assert_eq!(first.value(&key).await, None, "what is deleted is gone");
    assert!(!first.delete(&key).await, "delete is false the second time");
    let anew = first.create(&key, b"three", LONG).await;
    assert!(anew, "create works where something was deleted");
    first.delete(&key).await;
}

async fn one_of_many_creates(stores: &Handles) {
    let [first, _] = stores;
    for _ in 0..8 {
        let key = fresh_key();
        let tasks = stores
            .iter()
            .cycle()
            .take(16)
            .enumerate()
            .map(|(at, store)| {
                let (store, key) = (store.clone(), key.clone());
                async move {
                    let value = at.to_string();
                    let created = store.create(&key, value.as_bytes(), LONG).await;
                    created.then_some(value)
                }
            });
        let winners: Vec<String> = at_work(tasks)
            .join_all()
            .await
            .into_iter()
            .flatten()
            .collect();
        let [winner] = winners.as_slice() else {
            broken("exactly one of many creates", &winners.len());
        };
        for store in stores {
            let value = store.value(&key).await;
            assert_eq!(
                value.as_deref(),
                Some(winner.as_bytes()),
                "what is kept is what the one wrote that was told so"
            );
        }
        assert!(first.delete(&key).await, "it is kept once");
    }
}

async fn absent_stays_absent(stores: &Handles) {
    for store in stores {
        let key = fresh_key();
        assert!(store.get(&key).await.is_none(), "get finds nothing");
        assert!(!store.touch(&key, LONG).await, "touch finds nothing");
        let saved = store.save(&key, b"x", Stamp::new(0), LONG).await;
        assert!(saved.is_none(), "save finds nothing");
        assert!(!store.delete(&key).await, "delete finds nothing");
        assert!(store.get(&key).await.is_none(), "none of them made it");
    }
}

async fn saves_what_was_seen([first, second]: &Handles) {
    let key = fresh_key();
    first.create(&key, b"one", LONG).await;
    let seen = first.kept(&key).await.stamp;
    assert_eq!(second.kept(&key).await.stamp, seen, "all see one stamp");
    let Some(saved) = first.save(&key, b"two", seen, LONG).await else {
        broken("save replaces what is unchanged", &"it was refused");
    };
    assert_ne!(saved, seen, "a saved value has a stamp of its own");
    let found = second.kept(&key).await;
    assert_eq!(found.value, &b"two"[..], "save replaces the value");
    assert_eq!(found.stamp, saved, "save tells the stamp that get shows");
    let late = second.save(&key, b"late", seen, LONG).await;
    assert!(late.is_none(), "save refuses what has changed since");
    let found = first.kept(&key).await;
    assert_eq!(found.value, &b"two"[..], "a refused save changes nothing");
    assert_eq!(found.stamp, saved, "a refused save leaves the stamp");
    first.delete(&key).await;
    let late = second.save(&key, b"late", saved, LONG).await;
    assert!(late.is_none(), "save refuses what was deleted");
    assert!(first.get(&key).await.is_none(), "save brings nothing back");
}

async fn stamps_never_repeat([first, second]: &Handles) {
    let key = fresh_key();
    let mut stamps = HashSet::new();
    for _ in 0..4 {
        first.create(&key, b"same", LONG).await;
        let mut seen = second.kept(&key).await.stamp;
        assert!(stamps.insert(seen), "a value created anew has a new stamp");
        for old in stamps.iter().copied().filter(|old| *old != seen) {
            let saved = first.save(&key, b"old", old, LONG).await;
            assert!(saved.is_none(), "save refuses the stamp of a former value");
        }
        for store in [second, first] {
            let saved = store.save(&key, b"same", seen, LONG).await;
            seen = saved.unwrap_or_else(|| broken("save replaces what is unchanged", &"not"));
            assert!(stamps.insert(seen), "the same value saved has a new stamp");
        }
        second.delete(&key).await;
    }
}

async fn loses_no_update(stores: &Handles) {
    let key = fresh_key();
    let [first, _] = stores;
    first.create(&key, b"0", LONG).await;
    let tasks = stores.iter().cycle().take(8).map(|store| {
        let (store, key) = (store.clone(), key.clone());
        async move {
            for _ in 0..INCREMENTS {
                increment(&store, &key).await;
            }
        }
    });
    let tasks = at_work(tasks).join_all().await.len();
    assert_eq!(
        number(&first.kept(&key).await.value),
        tasks * INCREMENTS,
        "concurrent saves lose no update"
    );
    first.delete(&key).await;
}

async fn increment(store: &Handle, key: &Key) {
    for _ in 0..ATTEMPTS {
        let found = store.kept(key).await;
        yield_now().await;
        let next = (number(&found.value) + 1).to_string();
        if let Some(stamp) = store.save(key, next.as_bytes(), found.stamp, LONG).await {
            assert_ne!(stamp, found.stamp, "a saved value has a new stamp");
            return;
        }
    }
    broken("one of those that save at a time succeeds", &"none did");
}

fn number(value: &[u8]) -> usize {
    let text = std::str::from_utf8(value).ok();
    text.and_then(|text| text.parse().ok())
        .unwrap_or_else(|| broken("a value is kept as it is", &"it is no number"))
}

async fn keeps_any_bytes([first, second]: &Handles) {
    let every: Vec<u8> = (0..=u8::MAX).collect();
    let large = every.repeat(256);
    for value in [&b""[..], b"\0", b"\xff\xfe\r\n", &every, &large] {
        let key = fresh_key();
        assert!(first.create(&key, value, LONG).await, "any bytes are kept");
        let found = second.kept(&key).await;
        assert!(found.value == value, "bytes are kept as they are");
        let saved = second.save(&key, value, found.stamp, LONG).await;
        assert!(saved.is_some(), "any bytes are saved");
        let found = first.kept(&key).await;
        assert!(found.value == value, "bytes are saved as they are");
        first.delete(&key).await;
    }
}

async fn keeps_keys_apart([first, second]: &Handles) {
    let name = unique();
    let long = "k".repeat(500);
    let mut keys = Vec::new();
    for odd in ODD.iter().copied().chain([long.as_str()]) {
        keys.push(Key::new(&name, "contract", odd));
        keys.push(Key::new(&format!("{name}{odd}"), "contract", "id"));
        keys.push(Key::new(&name, "other", odd));
    }
    let distinct: HashSet<Key> = keys.iter().cloned().collect();
    for key in &distinct {
        let created = first.create(key, key.as_str().as_bytes(), LONG).await;
        assert!(created, "keys that differ do not collide: {}", key.as_str());
    }
    for key in &distinct {
        let value = second.value(key).await;
        assert_eq!(
            value.as_deref(),
            Some(key.as_str().as_bytes()),
            "each key has its own value"
        );
    }
    for key in &distinct {
        assert!(second.delete(key).await, "deleting one deletes no other");
    }
}

/// Of each of the tasks that count.
const INCREMENTS: usize = 20;

/// As many as others can spoil, and some more.
const ATTEMPTS: usize = 1000;

/// Ids that a careless backend takes apart, folds or cuts.
const ODD: [&str; 16] = [
    "", " ", "a", "A", "a ", "a/b", "a:b", "a\0b", "a\nb", "*", "a*", "[a]", "%61", "é",
    "e\u{301}", "'; --",
];
