//! Who gets what, and is woken for it.

use std::{
    sync::Arc,
    task::{Poll, Waker},
    time::Duration,
};

use tokio::{
    task::yield_now,
    time::{sleep, timeout},
};

use super::{Flag, Handle, Handles, Reader};
use crate::{
    Delivery, Key, Start,
    testing::{at_work, broken, done, fresh_key, unique},
};

pub(super) async fn check(hubs: &Handles) {
    topics_are_apart(hubs).await;
    all_of_many_are_told(hubs).await;
    who_listens_is_told(hubs).await;
    one_who_waits_is_woken(hubs).await;
    the_newest_waker_is_woken(hubs).await;
    waiting_can_be_given_up(hubs).await;
    who_is_gone_is_no_matter(hubs).await;
    purging_takes_nothing(hubs).await;
}

async fn topics_are_apart([first, second]: &Handles) {
    let (name, id) = (unique(), unique());
    let topic = Key::new(&name, "contract", &id);
    let others = [
        Key::new("", "contract", &id),
        Key::new(&format!("{name}/"), "contract", &id),
        Key::new(&name, "other", &id),
        Key::new(&name, "contract", &format!("{id}*")),
        Key::new(&name, "contract", &id.to_uppercase()),
        Key::new(&name, "contract", "*"),
        Key::new(&name, "contract", ""),
    ];
    let mut reader = second.subscribe(&topic, Start::Now).await;
    let start = reader.position();
    let mut strangers = Vec::new();
    for other in &others {
        strangers.push(second.subscribe(other, Start::Now).await);
        first.publish(other, b"of another").await;
    }
    first.publish(&topic, b"own").await;
    reader
        .gets(b"own", "a topic has its own messages alone")
        .await;
    let replayed = first.replay(&topic, start).await;
    assert_eq!(replayed.len(), 1, "a replay has its own messages alone");
    for (stranger, other) in strangers.iter_mut().zip(&others) {
        stranger.gets(b"of another", "each topic has its own").await;
        stranger.assert_silent("a topic has its own messages alone");
        first.delete(other).await;
    }
    first.publish(&topic, b"more").await;
    reader
        .gets(b"more", "deleting one topic deletes no other")
        .await;
    first.delete(&topic).await;
}

async fn who_listens_is_told([first, second]: &Handles) {
    let topic = fresh_key();
    first.tell(&topic, b"to nobody").await;
    let mut reader = second.subscribe(&topic, Start::Now).await;
    first.tell(&topic, b"told").await;
    reader.gets(b"told", "who is subscribed is told").await;
    first.publish(&topic, b"published").await;
    reader
        .gets(b"published", "what is told and published is in one order")
        .await;
    first.delete(&topic).await;
}

async fn all_of_many_are_told(hubs: &Handles) {
    let topic = fresh_key();
    let mut readers = Vec::new();
    for hub in hubs.iter().cycle().take(500) {
        readers.push(hub.subscribe(&topic, Start::Now).await);
    }
    let reading = at_work(readers.into_iter().map(|mut reader| async move {
        let delivery: Delivery = reader.next().await;
        delivery.message == b"all"[..]
    }));
    let [first, _] = hubs;
    yield_now().await;
    first.publish(&topic, b"all").await;
    let told = reading.join_all().await;
    assert!(told.into_iter().all(|it| it), "every subscriber is told");
    first.delete(&topic).await;
}

async fn one_who_waits_is_woken(hubs: &Handles) {
    for (publisher, subscriber) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let (Some(publisher), Some(subscriber)) = (hubs.get(publisher), hubs.get(subscriber))
        else {
            continue;
        };
        let topic = fresh_key();
        let mut reader = subscriber.subscribe(&topic, Start::Now).await;
        let waiting = at_work([async move {
            for message in [b"one", b"two"] {
                reader.gets(message, "one who waits is woken").await;
            }
        }]);
        for message in [b"one", b"two"] {
            // Time to fall asleep; where it was not enough, less is tested.
            sleep(PAUSE).await;
            publisher.publish(&topic, message).await;
        }
        waiting.join_all().await;
        publisher.delete(&topic).await;
    }
}

async fn the_newest_waker_is_woken([first, second]: &Handles) {
    let topic = fresh_key();
    let mut reader = second.subscribe(&topic, Start::Now).await;
    let mut newest = Arc::new(Flag::default());
    for _ in 0..3 {
        newest = Arc::new(Flag::default());
        let waker = Waker::from(Arc::clone(&newest));
        for _ in 0..2 {
            let pending = reader.poll(&waker).is_pending();
            assert!(pending, "there is nothing before something is published");
        }
    }
    first.publish(&topic, b"x").await;
    woken(&mut reader, newest).await;
    first.delete(&topic).await;
}

/// Polls as a task does: only when it was woken.
async fn woken(reader: &mut Reader, mut flag: Arc<Flag>) {
    loop {
        done("the waker of the last poll is woken", async {
            while !flag.is_raised() {
                sleep(Duration::from_millis(1)).await;
            }
        })
        .await;
        flag = Arc::new(Flag::default());
        match reader.poll(&Waker::from(Arc::clone(&flag))) {
            Poll::Pending => {}
            Poll::Ready(Ok(_)) => return,
            Poll::Ready(Err(error)) => broken("a subscriber gets each message", &error),
        }
    }
}

async fn waiting_can_be_given_up([first, second]: &Handles) {
    let topic = fresh_key();
    let mut reader = second.subscribe(&topic, Start::Now).await;
    for message in [b"one", b"two"] {
        let waiting = timeout(PAUSE, reader.0.next()).await;
        assert!(waiting.is_err(), "there is nothing before it is published");
        first.publish(&topic, message).await;
        reader
            .gets(message, "giving up waiting loses nothing")
            .await;
    }
    first.delete(&topic).await;
}

async fn who_is_gone_is_no_matter([first, second]: &Handles) {
    let topic = fresh_key();
    let mut stays = second.subscribe(&topic, Start::Now).await;
    for number in 0..20 {
        let mut goes: [Reader; 2] = [
            first.subscribe(&topic, Start::Now).await,
            second.subscribe(&topic, Start::Now).await,
        ];
        stays.assert_silent("there is nothing before it is published");
        let [waits, reads] = &mut goes;
        waits.assert_silent("there is nothing before it is published");
        publish_and_read(first, &topic, number, reads).await;
        drop(goes);
        stays.gets(&[number], "who stays gets each message").await;
    }
    drop(stays);
    first.publish(&topic, b"nobody").await;
    first.delete(&topic).await;
}

async fn publish_and_read(hub: &Handle, topic: &Key, number: u8, reader: &mut Reader) {
    hub.publish(topic, &[number]).await;
    reader.gets(&[number], "each gets each message").await;
}

async fn purging_takes_nothing([first, second]: &Handles) {
    let topic = fresh_key();
    let mut reader = second.subscribe(&topic, Start::Now).await;
    let start = reader.position();
    for hub in [first, second] {
        hub.purge().await;
    }
    first.publish(&topic, b"kept").await;
    for hub in [first, second] {
        hub.purge().await;
        let replayed = hub.replay(&topic, start).await;
        assert_eq!(replayed.len(), 1, "purge leaves what is to be kept");
    }
    reader
        .gets(b"kept", "purge leaves subscribers their topic")
        .await;
    first.delete(&topic).await;
}

/// Time for a task to fall asleep.
const PAUSE: Duration = Duration::from_millis(5);
