//! Tests of the store in memory: the contract, its limits, and what it gives back.

mod budget;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Waker},
    thread,
};

use tokio::time::advance;

use super::*;
use crate::testing::session_store_contract;

const MINUTE: Duration = Duration::from_secs(60);

fn key(id: usize) -> Key {
    Key::new("", "session", &id.to_string())
}

async fn create(store: &MemoryStore, id: usize, ttl: Duration) -> Result<bool, StoreError> {
    store
        .create(&key(id), Bytes::from_static(b"value"), ttl)
        .await
}

fn capacity(store: &MemoryStore) -> usize {
    let shards = store.shared.shards.all();
    shards.map(|shard| lock(shard).capacity()).sum()
}

/// What a future comes to that never waits.
fn now<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    match future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("it waits"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn contract_on_many_threads() {
    let store = MemoryStore::new();
    session_store_contract(store.clone(), store.clone()).await;
    store.purge().await.unwrap();
    assert_eq!(
        (store.len(), store.bytes()),
        (0, 0),
        "the contract leaves nothing behind"
    );
}

#[tokio::test]
async fn contract_on_one_thread() {
    let store = MemoryStore::new();
    session_store_contract(store.clone(), store).await;
}

#[tokio::test(start_paused = true)]
async fn contract_in_paused_time() {
    let store = MemoryStore::new();
    session_store_contract(store.clone(), store).await;
}

#[tokio::test(start_paused = true)]
async fn a_full_store_refuses_until_something_expires() {
    let store = MemoryStore::new().max_entries(3);
    for (id, ttl) in [(0, MINUTE), (1, 2 * MINUTE), (2, 3 * MINUTE)] {
        assert!(create(&store, id, ttl).await.unwrap());
    }
    assert!(!create(&store, 0, MINUTE).await.unwrap(), "it is there");
    assert!(matches!(
        create(&store, 3, MINUTE).await,
        Err(StoreError::Full)
    ));
    assert_eq!(store.len(), 3);
    advance(MINUTE).await;
    assert!(create(&store, 3, MINUTE).await.unwrap());
    assert!(matches!(
        create(&store, 4, MINUTE).await,
        Err(StoreError::Full)
    ));
    assert!(store.delete(&key(2)).await.unwrap());
    assert!(create(&store, 4, MINUTE).await.unwrap());
    assert!(matches!(
        create(&store, 5, MINUTE).await,
        Err(StoreError::Full)
    ));
}

#[tokio::test(start_paused = true)]
async fn an_expired_entry_gives_its_place_to_the_same_key() {
    let store = MemoryStore::new().max_entries(1);
    for _ in 0..3 {
        assert!(create(&store, 0, MINUTE).await.unwrap());
        assert!(!create(&store, 0, MINUTE).await.unwrap());
        advance(MINUTE).await;
        assert_eq!(store.len(), 1);
    }
    assert!(!store.delete(&key(0)).await.unwrap());
    assert!(store.is_empty());
}

#[tokio::test(start_paused = true)]
async fn many_touched_entries_hide_no_expired_one() {
    let store = MemoryStore::new().max_entries(10_000);
    for id in 0..10_000 {
        create(&store, id, MINUTE).await.unwrap();
    }
    for id in 1..10_000 {
        store.touch(&key(id), 2 * MINUTE).await.unwrap();
    }
    advance(MINUTE).await;
    assert!(create(&store, 10_000, MINUTE).await.unwrap());
    assert!(matches!(
        create(&store, 10_001, MINUTE).await,
        Err(StoreError::Full)
    ));
}

#[test]
fn never_more_than_the_limit_on_many_threads() {
    let store = MemoryStore::new().max_entries(100);
    thread::scope(|scope| {
        for thread in 0..4 {
            let store = &store;
            scope.spawn(move || {
                for round in 0..2000 {
                    let id = thread * 10_000 + round;
                    let ttl = Duration::from_micros(round as u64 % 50);
                    let _ = now(create(store, id, ttl));
                    assert!(store.len() <= 100);
                    if round % 7 == 0 {
                        let _ = now(store.delete(&key(id)));
                    }
                }
            });
        }
    });
    thread::sleep(Duration::from_millis(1));
    for id in 0..100 {
        assert!(now(create(&store, id, MINUTE)).unwrap(), "{id}");
    }
    assert!(now(create(&store, 100, MINUTE)).is_err());
    assert_eq!(store.len(), 100);
}

#[tokio::test(start_paused = true)]
async fn purging_gives_memory_back() {
    let store = MemoryStore::new().max_entries(50_000);
    for id in 0..50_000 {
        create(&store, id, MINUTE).await.unwrap();
    }
    create(&store, 50_000, MINUTE).await.unwrap_err();
    assert!(capacity(&store) >= 50_000);
    store.purge().await.unwrap();
    assert_eq!(store.len(), 50_000, "nothing has expired");
    advance(MINUTE).await;
    assert_eq!(store.len(), 50_000, "nobody has purged");
    store.purge().await.unwrap();
    assert_eq!(store.len(), 0);
    assert!(capacity(&store) < 2000, "{}", capacity(&store));
}

#[tokio::test(start_paused = true)]
async fn deleted_entries_leave_no_deadlines() {
    let store = MemoryStore::new();
    for round in 0..50_000 {
        assert!(create(&store, round, 60 * MINUTE).await.unwrap());
        assert!(store.delete(&key(round)).await.unwrap());
    }
    assert!(capacity(&store) < 16 * 1024, "{}", capacity(&store));
    store.purge().await.unwrap();
    assert_eq!(store.len(), 0);
}

#[tokio::test(start_paused = true)]
async fn renewed_entries_leave_no_deadlines() {
    let store = MemoryStore::new();
    create(&store, 0, 60 * MINUTE).await.unwrap();
    for round in 0..50_000 {
        // Each time shorter than before, then longer.
        let ttl = 60 * MINUTE - Duration::from_millis(round);
        assert!(store.touch(&key(0), ttl).await.unwrap());
        assert!(store.touch(&key(0), 90 * MINUTE).await.unwrap());
    }
    assert!(capacity(&store) < 1024, "{}", capacity(&store));
    for _ in 0..10 {
        advance(60 * MINUTE).await;
        store.purge().await.unwrap();
        assert!(store.touch(&key(0), 61 * MINUTE).await.unwrap());
    }
    advance(61 * MINUTE).await;
    assert_eq!(store.len(), 1);
    store.purge().await.unwrap();
    assert_eq!(store.len(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_shortest_and_the_longest_time() {
    let store = MemoryStore::new();
    assert!(create(&store, 0, Duration::ZERO).await.unwrap());
    assert!(store.get(&key(0)).await.unwrap().is_none());
    assert!(create(&store, 1, Duration::MAX).await.unwrap());
    advance(Duration::from_secs(1 << 30)).await;
    store.purge().await.unwrap();
    assert_eq!(store.len(), 1);
    assert!(store.touch(&key(1), Duration::MAX).await.unwrap());
}

#[test]
fn a_value_does_not_keep_the_body_it_was_cut_from() {
    struct Body(Arc<AtomicBool>);
    impl AsRef<[u8]> for Body {
        fn as_ref(&self) -> &[u8] {
            &[7; 4096]
        }
    }
    impl Drop for Body {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let freed = Arc::new(AtomicBool::new(false));
    let body = Bytes::from_owner(Body(Arc::clone(&freed)));
    let store = MemoryStore::new();
    assert!(now(store.create(&key(0), body.slice(..10), MINUTE)).unwrap());
    let stamp = now(store.get(&key(0))).unwrap().unwrap().stamp;
    let saved = now(store.save(&key(0), body.slice(..20), stamp, MINUTE));
    assert!(saved.unwrap().is_some());
    drop(body);
    assert!(freed.load(Ordering::Relaxed));
}

#[test]
fn shows_numbers_alone() {
    let store = MemoryStore::new();
    let value = Bytes::from_static(b"secret");
    now(store.create(&Key::new("", "x", "secret"), value, MINUTE)).unwrap();
    assert_eq!(
        format!("{store:?}"),
        "MemoryStore { entries: 1, bytes: 273, max_entries: 10000, max_bytes: 67108864, .. }"
    );
}
