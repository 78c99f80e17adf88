//! Positions, and where a reader begins.

use super::{Handles, messages};
use crate::{
    Delivery, Position, Start,
    testing::{at_work, broken, fresh_key},
};

pub(super) async fn check(hubs: &Handles) {
    positions_rise(hubs).await;
    now_is_from_now_on(hubs).await;
    after_is_from_there_on(hubs).await;
    replay_is_what_was_delivered(hubs).await;
    replay_comes_in_pieces(hubs).await;
    all_see_one_order(hubs).await;
}

async fn positions_rise([first, second]: &Handles) {
    let topic = fresh_key();
    let mut last = first.subscribe(&topic, Start::Now).await.position();
    for hub in [first, second, second, first] {
        let position = hub.publish(&topic, b"x").await;
        assert!(position > last, "later messages have larger positions");
        last = position;
    }
    first.delete(&topic).await;
}

async fn now_is_from_now_on([first, second]: &Handles) {
    let topic = fresh_key();
    first.publish(&topic, b"before").await;
    let mut readers = Vec::new();
    for hub in [first, second] {
        readers.push(hub.subscribe(&topic, Start::Now).await);
    }
    let position = first.publish(&topic, b"after").await;
    for reader in &mut readers {
        let delivery = reader.next().await;
        assert_eq!(
            delivery.message,
            &b"after"[..],
            "now is what is published next"
        );
        assert_eq!(delivery.position, position, "publish tells the position");
        reader.assert_silent("each message is delivered once");
    }
    first.delete(&topic).await;
}

async fn after_is_from_there_on([first, second]: &Handles) {
    let topic = fresh_key();
    let one = first.publish(&topic, b"one").await;
    let two = second.publish(&topic, b"two").await;
    let mut from_one = second.subscribe(&topic, Start::After(one)).await;
    let mut from_two = first.subscribe(&topic, Start::After(two)).await;
    from_one.gets(b"two", "after is the message after").await;
    first.publish(&topic, b"three").await;
    from_one
        .gets(b"three", "what was kept is followed by what is new")
        .await;
    from_two
        .gets(b"three", "after the newest is what comes")
        .await;
    let mut resumed = second
        .subscribe(&topic, Start::After(from_one.position()))
        .await;
    first.publish(&topic, b"four").await;
    resumed
        .gets(b"four", "a reader resumes at its position")
        .await;
    first.delete(&topic).await;
}

async fn replay_is_what_was_delivered([first, second]: &Handles) {
    let topic = fresh_key();
    let mut live = second.subscribe(&topic, Start::Now).await;
    let start = live.position();
    let large = vec![0xa5; 64 << 10];
    let sent = [&b""[..], b"\0\xff\r\n", &large, b"same", b"same"];
    for message in sent {
        first.publish(&topic, message).await;
    }
    let delivered = live.read(sent.len()).await;
    assert!(messages(&delivered) == sent, "messages arrive as they are");
    for hub in [first, second] {
        let replayed = hub.replay(&topic, start).await;
        assert!(replayed == delivered, "a replay is what was delivered");
        let mut late = hub.subscribe(&topic, Start::After(start)).await;
        let read = late.read(sent.len()).await;
        assert!(read == delivered, "a late reader reads what was delivered");
    }
    first.delete(&topic).await;
}

async fn replay_comes_in_pieces([first, second]: &Handles) {
    let topic = fresh_key();
    let reader = first.subscribe(&topic, Start::Now).await;
    for number in 0..5 {
        first.publish(&topic, &[number]).await;
    }
    let (mut after, mut pieces) = (reader.position(), Vec::new());
    for expected in [2, 2, 1, 0] {
        let piece = second.try_replay(&topic, after, 2).await;
        let piece = piece.unwrap_or_else(|| broken("replay finds what is kept", &"trimmed"));
        assert_eq!(piece.len(), expected, "replay gives up to the limit");
        after = piece.last().map_or(after, |it| it.position);
        pieces.extend(piece);
    }
    let whole = [[0], [1], [2], [3], [4]];
    assert!(messages(&pieces) == whole, "pieces make up the whole");
    let none = second.try_replay(&topic, reader.position(), 0).await;
    assert_eq!(none, Some(Vec::new()), "a limit of none gives none");
    first.delete(&topic).await;
}

async fn all_see_one_order(hubs: &Handles) {
    let topic = fresh_key();
    let [first, _] = hubs;
    let mut readers = Vec::new();
    for hub in hubs.iter().cycle().take(6) {
        readers.push(hub.subscribe(&topic, Start::Now).await);
    }
    let reading = readers.into_iter().map(|mut reader| async move {
        let start = reader.position();
        let deliveries = reader.read(PUBLISHERS * EACH).await;
        reader.assert_silent("each message is delivered once");
        (start, deliveries)
    });
    let reading = at_work(reading);
    let publishing = hubs.iter().cycle().take(PUBLISHERS).enumerate();
    let publishing = at_work(publishing.map(|(publisher, hub)| {
        let (hub, topic) = (hub.clone(), topic.clone());
        async move {
            let mut sent = Vec::new();
            for number in 0..EACH {
                let message = format!("{publisher}/{number}").into_bytes();
                let position = hub.publish(&topic, &message).await;
                sent.push(Delivery::new(position, message.into()));
            }
            sent
        }
    }));
    let order = one_order(publishing.join_all().await);
    for (start, deliveries) in reading.join_all().await {
        assert!(
            deliveries == order,
            "all see each message once, in one order"
        );
        let replayed = first.replay(&topic, start).await;
        assert!(replayed == order, "a replay has the order that all saw");
    }
    first.delete(&topic).await;
}

/// What was sent, by position.
fn one_order(sent: Vec<Vec<Delivery>>) -> Vec<Delivery> {
    for of_one in &sent {
        let rises = of_one.is_sorted_by_key(|it| it.position);
        assert!(rises, "a publisher's messages stand in its order");
    }
    let mut order: Vec<Delivery> = sent.into_iter().flatten().collect();
    order.sort_by_key(|it| it.position);
    let mut positions: Vec<Position> = order.iter().map(|it| it.position).collect();
    positions.dedup();
    assert_eq!(positions.len(), order.len(), "no two have one position");
    order
}

const PUBLISHERS: usize = 4;

/// Messages of each of them.
const EACH: usize = 50;
