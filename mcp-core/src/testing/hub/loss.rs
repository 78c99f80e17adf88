//! What is kept no more: nobody gets something else in its place.

use tokio::time::sleep;

use super::{Handle, Handles, Reader};
use crate::{
    HubError, Key, Position, Start,
    testing::{LONG, OVER, SHORT, at_work, broken, done, fresh_key},
};

pub(super) async fn check(hubs: &Handles, trims_within: Option<usize>) {
    what_expired_is_not_replayed(hubs).await;
    what_is_touched_is_kept(hubs).await;
    subscribers_are_told_of_a_deletion(hubs).await;
    positions_outlive_a_deletion(hubs).await;
    deleting_nothing_is_no_mistake(hubs).await;
    if let Some(most) = trims_within {
        one_who_falls_behind_is_cut_off(hubs, most).await;
    }
}

async fn what_expired_is_not_replayed([first, second]: &Handles) {
    let topic = fresh_key();
    let mut slow = second.subscribe(&topic, Start::Now).await;
    let start = slow.position();
    let mut last = start;
    for message in [b"one", b"two"] {
        last = first.publish_for(&topic, message, SHORT).await;
    }
    sleep(OVER).await;
    for purged in [false, true] {
        for hub in [first, second] {
            if purged {
                hub.purge().await;
            }
            assert_lost(hub, &topic, start, "what has expired is lost").await;
            let rest = hub.try_replay(&topic, last, 9).await;
            let none = rest.is_none_or(|rest| rest.is_empty());
            assert!(none, "nothing is replayed that has expired");
        }
    }
    let new = first.publish(&topic, b"new").await;
    assert!(new > last, "positions rise after messages have expired");
    assert_lost(second, &topic, start, "what has expired is lost").await;
    // Some may have been handed on before they expired; but none can be left out.
    let mut read = Vec::new();
    let cut_off = read_on(&mut slow, new, &mut read).await;
    let all = [&b"one"[..], b"two", b"new"];
    let whole = read == all.get(..read.len()).unwrap_or_default();
    assert!(whole, "no reader is left with a gap it knows nothing of");
    assert!(
        cut_off || read.len() == all.len(),
        "who is not cut off gets each message"
    );
    first.delete(&topic).await;
}

async fn what_is_touched_is_kept([first, second]: &Handles) {
    let topic = fresh_key();
    first.touch(&topic, LONG).await;
    let kept = first.publish_for(&topic, b"kept", SHORT).await;
    let more = first.publish_for(&topic, b"more", SHORT).await;
    second.touch(&topic, LONG).await;
    sleep(OVER).await;
    second.purge().await;
    let rest = first.try_replay(&topic, kept, 9).await;
    let rest: Vec<Position> = rest.iter().flatten().map(|it| it.position).collect();
    assert_eq!(rest, [more], "what is touched is kept for longer");
    first.delete(&topic).await;
}

/// Reads up to a position; true where the reader is cut off before.
async fn read_on(reader: &mut Reader, last: Position, read: &mut Vec<Vec<u8>>) -> bool {
    loop {
        match done("a subscriber goes on or is cut off", reader.0.next()).await {
            Ok(delivery) => {
                read.push(delivery.message.to_vec());
                if delivery.position >= last {
                    return false;
                }
            }
            Err(HubError::Trimmed) => return true,
            Err(error) => broken("a subscriber does not fail", &error),
        }
    }
}

async fn assert_lost(hub: &Handle, topic: &Key, after: Position, promise: &str) {
    let replayed = hub.try_replay(topic, after, 9).await;
    assert!(replayed.is_none(), "replay: {promise}");
    assert!(hub.refuses(topic, after).await, "subscribe: {promise}");
}

async fn subscribers_are_told_of_a_deletion([first, second]: &Handles) {
    let topic = fresh_key();
    let mut readers = Vec::new();
    for hub in [first, second] {
        let mut up_to_date = hub.subscribe(&topic, Start::Now).await;
        first.publish(&topic, b"x").await;
        up_to_date.next().await;
        readers.push(up_to_date);
        readers.push(hub.subscribe(&topic, Start::Now).await);
    }
    let ending = at_work(readers.into_iter().map(|mut reader| async move {
        let error = reader.end(|_| {}).await;
        reader.assert_silent("nothing comes after a deletion");
        matches!(error, HubError::Deleted)
    }));
    // Time to fall asleep; where it was not enough, less is tested.
    sleep(SHORT).await;
    first.delete(&topic).await;
    let told = ending.join_all().await;
    assert!(
        told.into_iter().all(|it| it),
        "subscribers are told Deleted"
    );
}

async fn positions_outlive_a_deletion([first, second]: &Handles) {
    let topic = fresh_key();
    let mut newest = Position::new(0);
    for (deleting, publishing) in [(first, second), (second, first)] {
        let reader = second.subscribe(&topic, Start::Now).await;
        let mut old = vec![reader.position()];
        for message in [b"old", b"OLD"] {
            newest = first.publish(&topic, message).await;
            old.push(newest);
        }
        deleting.delete(&topic).await;
        drop(reader);
        for after in &old {
            let rest = first.try_replay(&topic, *after, 9).await;
            let none = rest.is_none_or(|rest| rest.is_empty());
            assert!(none, "nothing is replayed that was deleted");
        }
        let mut reader = first.subscribe(&topic, Start::Now).await;
        let new = publishing.publish(&topic, b"new").await;
        assert!(new > newest, "positions rise after a deletion");
        for hub in [first, second] {
            for after in &old {
                assert_lost(hub, &topic, *after, "what was deleted is lost").await;
            }
        }
        reader.gets(b"new", "a topic can be made anew").await;
        let rest = second.replay(&topic, new).await;
        assert!(rest.is_empty(), "what was deleted does not come back");
    }
    first.delete(&topic).await;
}

async fn deleting_nothing_is_no_mistake([first, second]: &Handles) {
    let topic = fresh_key();
    first.delete(&topic).await;
    let mut reader = second.subscribe(&topic, Start::Now).await;
    first.publish(&topic, b"x").await;
    reader
        .gets(b"x", "a topic outlives an earlier deletion")
        .await;
    first.delete(&topic).await;
    second.delete(&topic).await;
}

/// Publishes until messages are trimmed that `slow` has not asked for.
async fn one_who_falls_behind_is_cut_off([first, second]: &Handles, most: usize) {
    let topic = fresh_key();
    let mut slow = second.subscribe(&topic, Start::Now).await;
    let mut quick = second.subscribe(&topic, Start::Now).await;
    let start = slow.position();
    let mut trimmed = false;
    for number in 0..=most / LARGE {
        first.publish(&topic, &large(number)).await;
        quick
            .gets(&large(number), "who keeps up gets each message")
            .await;
        trimmed = first.try_replay(&topic, start, 1).await.is_none();
        if trimmed {
            break;
        }
    }
    assert!(trimmed, "old messages are trimmed");
    let mut count = 0;
    let error = slow
        .end(|delivery| {
            let next = delivery.message == large(count);
            assert!(next, "no reader is left with a gap it knows nothing of");
            count += 1;
        })
        .await;
    let told = matches!(error, HubError::Trimmed);
    assert!(told, "who falls behind is told Trimmed");
    slow.assert_silent("nothing comes after that");
    assert_lost(second, &topic, start, "what was trimmed is lost").await;
    first.publish(&topic, b"more").await;
    quick.gets(b"more", "who keeps up is not cut off").await;
    slow.assert_silent("nothing comes after that");
    first.delete(&topic).await;
}

/// A large message that shows its number.
fn large(number: usize) -> Vec<u8> {
    let mut message = number.to_be_bytes().to_vec();
    message.resize(LARGE, 0);
    message
}

const LARGE: usize = 64 << 10;
