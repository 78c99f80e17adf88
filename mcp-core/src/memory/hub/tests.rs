//! Tests of the hub in memory: the contract, its limits, and what it gives back.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicUsize},
    },
    task::{Context, Poll, Wake, Waker},
    thread,
};

use tokio::time::advance;

use super::{subscription::MemorySubscription, topic::Topic, *};
use crate::{
    memory::shards::lock,
    testing::{HubContract, hub_contract},
};

const MINUTE: Duration = Duration::from_secs(60);

fn key(id: usize) -> Key {
    Key::new("", "stream", &id.to_string())
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

fn publish(hub: &MemoryHub, id: usize, message: &[u8]) -> Position {
    now(hub.publish(&key(id), Bytes::copy_from_slice(message), MINUTE)).unwrap()
}

fn subscribe(hub: &MemoryHub, id: usize) -> Box<dyn Subscription> {
    now(hub.subscribe(&key(id), Start::Now)).unwrap()
}

fn poll(subscription: &mut dyn Subscription) -> Poll<Result<Delivery, HubError>> {
    subscription.poll_next(&mut Context::from_waker(Waker::noop()))
}

/// The message, or how it ended, or `-`.
fn poll_text(subscription: &mut Box<dyn Subscription>) -> String {
    match poll(&mut **subscription) {
        Poll::Ready(Ok(delivery)) => String::from_utf8(delivery.message.to_vec()).unwrap(),
        Poll::Ready(Err(error)) => format!("{error:?}"),
        Poll::Pending => "-".to_owned(),
    }
}

fn replay(hub: &MemoryHub, id: usize, after: Position) -> String {
    match now(hub.replay(&key(id), after, 9)) {
        Ok(found) => found
            .iter()
            .map(|it| str::from_utf8(&it.message).unwrap())
            .collect(),
        Err(error) => format!("{error:?}"),
    }
}

fn topic(hub: &MemoryHub, id: usize) -> Arc<Topic> {
    Arc::clone(&hub.shared.topics.of(&key(id))[&key(id)])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn contract_on_many_threads() {
    let hub = MemoryHub::new();
    hub_contract(hub.clone(), hub.clone()).await;
    hub.purge().await.unwrap();
    assert_eq!(
        (hub.topics(), hub.bytes()),
        (0, 0),
        "nothing is left behind"
    );
}

#[tokio::test]
async fn contract_on_one_thread() {
    let hub = MemoryHub::new();
    hub_contract(hub.clone(), hub).await;
}

#[tokio::test(start_paused = true)]
async fn contract_in_paused_time() {
    let hub = MemoryHub::new().max_topic_bytes(usize::MAX);
    let contract = HubContract::default().trims_by_age_alone();
    contract.check(hub.clone(), hub).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn contract_while_others_use_and_purge_the_hub() {
    let hub = MemoryHub::new();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let noise = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                publish(&hub, 0, b"noise");
                hub.shared
                    .topics
                    .all()
                    .for_each(|it| hub.shared.remove_idle(it));
                now(hub.delete(&key(0))).unwrap();
            }
        });
        tokio::task::block_in_place(|| {
            let contract = hub_contract(hub.clone(), hub.clone());
            tokio::runtime::Handle::current().block_on(contract);
        });
        done.store(true, Ordering::Relaxed);
        noise.join().unwrap();
    });
}

#[tokio::test(start_paused = true)]
async fn a_full_hub_refuses_until_something_expires() {
    let hub = MemoryHub::new().max_bytes(3000);
    let message = Bytes::from(vec![0; 1000 - 64]);
    hub.publish(&key(0), message.clone(), MINUTE).await.unwrap();
    let reader = subscribe(&hub, 0);
    hub.publish(&key(0), message.clone(), 2 * MINUTE)
        .await
        .unwrap();
    assert_eq!(hub.bytes(), 2512);
    for _ in 0..3 {
        let refused = hub.publish(&key(1), message.clone(), MINUTE).await;
        assert!(matches!(refused, Err(HubError::Full)));
        let refused = hub.publish(&key(0), message.clone(), MINUTE).await;
        assert!(matches!(refused, Err(HubError::Full)));
    }
    assert_eq!(hub.topics(), 1, "a refused message leaves no topic");
    assert_eq!(
        replay(&hub, 0, reader.position()).len(),
        936,
        "nor trims one"
    );
    advance(MINUTE).await;
    hub.publish(&key(1), message.clone(), MINUTE)
        .await
        .unwrap_err();
    hub.publish(&key(0), message.clone(), MINUTE).await.unwrap();
    advance(MINUTE).await;
    hub.publish(&key(1), message.clone(), MINUTE).await.unwrap();
    assert_eq!(hub.bytes(), 1512);
    let too_large = Bytes::from(vec![0; 3000]);
    hub.publish(&key(1), too_large, MINUTE).await.unwrap_err();
}

#[tokio::test(start_paused = true)]
async fn a_full_hub_does_not_search_for_each_message() {
    let hub = MemoryHub::new().max_bytes(600);
    assert!(hub.shared.may_purge());
    assert!(!hub.shared.may_purge());
    now(hub.publish(&key(0), Bytes::new(), MINUTE)).unwrap();
    advance(MINUTE).await;
    now(hub.subscribe(&key(1), Start::Now)).unwrap();
    hub.publish(&key(1), Bytes::new(), MINUTE).await.unwrap();
    now(hub.publish(&key(2), Bytes::new(), MINUTE)).unwrap_err();
}

#[test]
fn the_oldest_leave_for_the_newest() {
    let hub = MemoryHub::new().max_topic_bytes(512 + 3 * 65);
    let mut slow = subscribe(&hub, 0);
    let start = slow.position();
    let positions: Vec<Position> = [b"a", b"b", b"c"]
        .iter()
        .map(|it| publish(&hub, 0, *it))
        .collect();
    assert_eq!(replay(&hub, 0, start), "abc");
    publish(&hub, 0, b"d");
    assert_eq!(replay(&hub, 0, start), "Trimmed");
    assert_eq!(replay(&hub, 0, positions[0]), "bcd");
    assert_eq!(poll_text(&mut slow), "Trimmed");
    assert_eq!(poll_text(&mut slow), "Trimmed");
    let before = hub.bytes();
    let last = publish(&hub, 0, &[b'x'; 5000]);
    assert_eq!(hub.bytes(), 512 + 64 + 5000, "was {before}");
    assert_eq!(replay(&hub, 0, positions[2]), "Trimmed");
    publish(&hub, 0, b"e");
    assert_eq!(replay(&hub, 0, last), "e");
    assert_eq!(hub.bytes(), 512 + 65);
}

#[tokio::test(start_paused = true)]
async fn messages_leave_in_their_order() {
    let hub = MemoryHub::new();
    let mut reader = subscribe(&hub, 0);
    let start = reader.position();
    for (message, minutes) in [("a", 1), ("b", 3), ("c", 2)] {
        let published = hub.publish(&key(0), message.into(), minutes * MINUTE).await;
        published.unwrap();
    }
    assert_eq!(poll_text(&mut reader), "a");
    advance(2 * MINUTE).await;
    assert_eq!(replay(&hub, 0, start), "Trimmed");
    assert_eq!(replay(&hub, 0, reader.position()), "bc");
    assert_eq!(poll_text(&mut reader), "b");
    advance(MINUTE).await;
    assert_eq!(poll_text(&mut reader), "Trimmed");
    assert_eq!(hub.bytes(), 0);
}

#[tokio::test(start_paused = true)]
async fn what_is_kept_for_no_time_is_lost_to_the_reader() {
    let hub = MemoryHub::new();
    let mut reader = subscribe(&hub, 0);
    hub.publish(&key(0), "a".into(), Duration::ZERO)
        .await
        .unwrap();
    assert_eq!(poll_text(&mut reader), "Trimmed");
}

#[tokio::test(start_paused = true)]
async fn positions_of_what_is_not_there() {
    let hub = MemoryHub::new();
    let newest = publish(&hub, 0, b"a");
    let (before, behind) = (newest.get() - 1, newest.get() + 1);
    assert_eq!(
        replay(&hub, 1, newest),
        "",
        "nothing of it can have been lost"
    );
    for lost in [0, before, behind, u64::MAX] {
        let lost = Position::new(lost);
        assert_eq!(replay(&hub, 1, lost), "Trimmed");
        let subscribed = now(hub.subscribe(&key(1), Start::After(lost)));
        assert!(matches!(subscribed.map(|_| ()), Err(HubError::Trimmed)));
    }
    assert_eq!(hub.topics(), 1, "asking makes no topic");
    assert_eq!(replay(&hub, 0, Position::new(behind)), "Trimmed");
    let mut reader = now(hub.subscribe(&key(1), Start::After(newest))).unwrap();
    publish(&hub, 1, b"b");
    assert_eq!(poll_text(&mut reader), "b");
    advance(MINUTE).await;
    hub.purge().await.unwrap();
    assert_eq!(hub.topics(), 1, "someone is subscribed");
    assert_eq!(poll_text(&mut reader), "-");
    assert!(publish(&hub, 0, b"c") > reader.position());
}

#[test]
fn positions_begin_with_the_time() {
    let first = MemoryHub::new();
    thread::sleep(Duration::from_millis(2));
    let second = MemoryHub::new();
    let positions = [publish(&first, 0, b""), publish(&second, 0, b"")];
    assert!(positions.is_sorted());
    assert!(positions[1].get() - positions[0].get() >= 1 << 20);
    assert!(positions[0].get() > 1_700_000_000_000 << 20);
}

#[derive(Default)]
struct Flag(AtomicUsize);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn wakers_are_neither_leaked_nor_cloned_twice() {
    let hub = MemoryHub::new();
    let flags: [Arc<Flag>; 2] = Default::default();
    let counts = || flags.each_ref().map(|it| Arc::strong_count(it) - 1);
    let wakers = flags.each_ref().map(|it| Waker::from(Arc::clone(it)));
    let mut reader = subscribe(&hub, 0);
    for (waker, expected) in [(0, [2, 1]), (0, [2, 1]), (1, [1, 2]), (1, [1, 2])] {
        let pending = reader.poll_next(&mut Context::from_waker(&wakers[waker]));
        assert!(pending.is_pending());
        assert_eq!(counts(), expected);
    }
    publish(&hub, 0, b"a");
    assert_eq!(counts(), [1, 1], "the woken are forgotten");
    assert_eq!(
        flags.each_ref().map(|it| it.0.load(Ordering::Relaxed)),
        [0, 1]
    );
    assert!(poll(&mut *reader).is_ready());
    assert!(
        reader
            .poll_next(&mut Context::from_waker(&wakers[0]))
            .is_pending()
    );
    assert_eq!(counts(), [2, 1]);
    drop(reader);
    assert_eq!(counts(), [1, 1], "a dropped one is forgotten");
    let mut reader = subscribe(&hub, 0);
    assert!(
        reader
            .poll_next(&mut Context::from_waker(&wakers[0]))
            .is_pending()
    );
    now(hub.delete(&key(0))).unwrap();
    assert_eq!(counts(), [1, 1]);
    assert_eq!(flags[0].0.load(Ordering::Relaxed), 1, "a deletion wakes");
    assert_eq!(poll_text(&mut reader), "Deleted");
    assert_eq!(poll_text(&mut reader), "Deleted");
}

#[test]
fn places_of_those_who_left_are_used_again() {
    let hub = MemoryHub::new();
    let mut stays = subscribe(&hub, 0);
    assert!(poll(&mut *stays).is_pending());
    for _ in 0..1000 {
        let mut goes = [subscribe(&hub, 0), subscribe(&hub, 0)];
        assert!(goes.iter_mut().all(|it| poll(&mut **it).is_pending()));
    }
    let topic = topic(&hub, 0);
    assert_eq!(lock(&topic.state).waiting.len(), 3);
    assert_eq!(lock(&topic.state).subscribers, 1);
    drop(stays);
    assert_eq!(lock(&topic.state).waiting.len(), 0);
    assert_eq!(lock(&topic.state).subscribers, 0);
}

#[test]
fn one_who_left_and_came_back_wakes_no_other() {
    let hub = MemoryHub::new();
    let mut readers: Vec<_> = (0..4).map(|_| subscribe(&hub, 0)).collect();
    assert!(readers.iter_mut().all(|it| poll(&mut **it).is_pending()));
    // Old tickets of a former round must not take the places of a new one.
    publish(&hub, 0, b"a");
    let late = readers.split_off(2);
    let flags: [Arc<Flag>; 2] = Default::default();
    for (reader, flag) in readers.iter_mut().zip(&flags) {
        let waker = Waker::from(Arc::clone(flag));
        assert!(poll(&mut **reader).is_ready());
        assert!(
            reader
                .poll_next(&mut Context::from_waker(&waker))
                .is_pending()
        );
    }
    drop(late);
    publish(&hub, 0, b"b");
    assert_eq!(flags.map(|it| it.0.load(Ordering::Relaxed)), [1, 1]);
}

/// Uses the hub while it is woken.
struct Nosy {
    hub: MemoryHub,
    reader: Mutex<Option<Box<dyn Subscription>>>,
}

impl Wake for Nosy {
    fn wake(self: Arc<Self>) {
        let reader = self.reader.lock().unwrap().take();
        if let Some(mut reader) = reader {
            assert_eq!(poll_text(&mut reader), "a");
            publish(&self.hub, 0, b"b");
            assert_eq!(poll_text(&mut reader), "b");
            assert_eq!(self.hub.topics(), 1);
        }
    }
}

#[test]
fn no_lock_is_held_while_waking() {
    let hub = MemoryHub::new();
    let nosy = Arc::new(Nosy {
        hub: hub.clone(),
        reader: Mutex::new(Some(subscribe(&hub, 0))),
    });
    let mut reader = subscribe(&hub, 0);
    let waker = Waker::from(Arc::clone(&nosy));
    assert!(
        reader
            .poll_next(&mut Context::from_waker(&waker))
            .is_pending()
    );
    publish(&hub, 0, b"a");
    assert!(nosy.reader.lock().unwrap().is_none(), "it was woken");
}

#[tokio::test(start_paused = true)]
async fn abandoned_topics_leave_nothing_behind() {
    let hub = MemoryHub::new();
    let readers: Vec<_> = (0..1000).map(|id| subscribe(&hub, id)).collect();
    for id in 0..1000 {
        publish(&hub, id, b"a");
    }
    drop(readers);
    hub.purge().await.unwrap();
    assert_eq!(hub.topics(), 1000, "messages are kept");
    advance(MINUTE).await;
    let reader = subscribe(&hub, 7);
    hub.purge().await.unwrap();
    assert_eq!((hub.topics(), hub.bytes()), (1, 0), "one is subscribed to");
    drop(reader);
    hub.purge().await.unwrap();
    assert_eq!(hub.topics(), 0);
    let shards = hub.shared.topics.all();
    let capacity: usize = shards.map(|it| lock(it).capacity()).sum();
    assert!(capacity < 2000, "{capacity}");
}

#[tokio::test(start_paused = true)]
async fn a_topic_gives_back_the_room_of_a_flood() {
    let hub = MemoryHub::new();
    let mut reader = subscribe(&hub, 0);
    for _ in 0..10_000 {
        publish(&hub, 0, b"a");
    }
    advance(MINUTE / 2).await;
    publish(&hub, 0, b"b");
    advance(MINUTE / 2).await;
    assert_eq!(poll_text(&mut reader), "Trimmed");
    assert_eq!(hub.bytes(), 512 + 65);
    assert!(lock(&topic(&hub, 0).state).capacity() <= 64);
}

#[test]
fn a_subscription_is_small() {
    assert!(size_of::<MemorySubscription>() <= 64);
    assert!(size_of::<Topic>() <= 200, "{}", size_of::<Topic>());
}

#[test]
fn a_topic_that_is_being_removed_loses_no_message() {
    let hub = MemoryHub::new();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let purging = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                hub.shared
                    .topics
                    .all()
                    .for_each(|it| hub.shared.remove_idle(it));
            }
        });
        let read = |id| {
            for round in 0..5000 {
                let mut reader = subscribe(&hub, id);
                let sent = publish(&hub, id, b"x");
                assert_eq!(poll_text(&mut reader), "x", "in round {round}");
                assert_eq!(reader.position(), sent);
                drop(reader);
                now(hub.delete(&key(id))).unwrap();
            }
        };
        let reading = [scope.spawn(move || read(0)), scope.spawn(move || read(1))];
        let failed = reading.map(|it| it.join().is_err());
        done.store(true, Ordering::Relaxed);
        purging.join().unwrap();
        assert_eq!(failed, [false, false]);
    });
}

#[test]
fn publishers_and_deletions_at_once_leave_no_gap() {
    let hub = MemoryHub::new();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..3000 {
                    publish(&hub, 0, b"x");
                }
            });
        }
        scope.spawn(|| {
            for _ in 0..500 {
                let mut reader = subscribe(&hub, 0);
                let start = reader.position();
                now(hub.delete(&key(0))).unwrap();
                assert_eq!(replay(&hub, 0, start), "Trimmed");
                while let Poll::Ready(Ok(_)) = poll(&mut *reader) {}
                assert_eq!(poll_text(&mut reader), "Deleted");
            }
        });
    });
    now(hub.delete(&key(0))).unwrap();
    assert_eq!((hub.topics(), hub.bytes()), (0, 0));
}

#[test]
fn ten_thousand_subscribers_are_woken_at_once() {
    let hub = MemoryHub::new();
    let flag = Arc::new(Flag::default());
    let waker = Waker::from(Arc::clone(&flag));
    let mut readers: Vec<_> = (0..10_000).map(|_| subscribe(&hub, 0)).collect();
    for round in 1..=3 {
        for reader in &mut readers {
            assert!(
                reader
                    .poll_next(&mut Context::from_waker(&waker))
                    .is_pending()
            );
        }
        publish(&hub, 0, b"a");
        assert_eq!(flag.0.load(Ordering::Relaxed), round * 10_000);
        assert!(readers.iter_mut().all(|it| poll_text(it) == "a"));
    }
}

#[test]
fn shows_numbers_alone() {
    let hub = MemoryHub::new();
    publish(&hub, 0, b"secret");
    assert_eq!(
        format!("{hub:?}"),
        "MemoryHub { topics: 1, bytes: 582, max_topic_bytes: 1048576, max_bytes: 67108864, .. }"
    );
}
