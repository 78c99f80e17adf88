//! The contract of a hub.

mod delivery;
mod loss;
mod order;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
    time::Duration,
};

use bytes::Bytes;

use super::{LONG, broken, done, sound};
use crate::{Delivery, Hub, HubError, Key, Position, Start, Subscription};

/// Holds two handles on one hub to the contract of [`Hub`], with [`HubContract::default`].
///
/// # Panics
///
/// Panics where a promise is broken.
pub async fn hub_contract(first: impl Hub, second: impl Hub) {
    HubContract::default().check(first, second).await;
}

/// The contract of a [`Hub`], with what differs from one to another.
#[derive(Debug, Clone)]
pub struct HubContract {
    trims_within: Option<usize>,
}

impl HubContract {
    /// How many bytes of one topic may be published before the oldest of them are trimmed.
    ///
    /// 64 MiB by default. The contract publishes that much, unless messages are trimmed earlier.
    #[must_use]
    pub fn trims_within(self, bytes: usize) -> Self {
        Self {
            trims_within: Some(bytes),
        }
    }

    /// For a hub that trims by age alone: no reader is cut off for what is published meanwhile.
    #[must_use]
    pub fn trims_by_age_alone(self) -> Self {
        Self { trims_within: None }
    }

    /// Holds two handles on one hub to the contract.
    ///
    /// # Panics
    ///
    /// Panics where a promise is broken.
    pub async fn check(&self, first: impl Hub, second: impl Hub) {
        let hubs = [Handle(Arc::new(first)), Handle(Arc::new(second))];
        order::check(&hubs).await;
        delivery::check(&hubs).await;
        loss::check(&hubs, self.trims_within).await;
    }
}

impl Default for HubContract {
    fn default() -> Self {
        Self {
            trims_within: Some(64 << 20),
        }
    }
}

/// A hub whose failures are broken promises.
#[derive(Clone)]
struct Handle(Arc<dyn Hub>);

type Handles = [Handle; 2];

impl Handle {
    async fn publish(&self, topic: &Key, message: &[u8]) -> Position {
        self.publish_for(topic, message, LONG).await
    }

    async fn publish_for(&self, topic: &Key, message: &[u8], keep: Duration) -> Position {
        let message = Bytes::copy_from_slice(message);
        let publishing = self.0.publish(topic, message, keep);
        sound("publish waits for nobody", publishing).await
    }

    async fn tell(&self, topic: &Key, message: &[u8]) {
        let message = Bytes::copy_from_slice(message);
        sound("tell waits for nobody", self.0.tell(topic, message)).await;
    }

    async fn touch(&self, topic: &Key, keep: Duration) {
        sound("touch waits for nobody", self.0.touch(topic, keep)).await;
    }

    async fn subscribe(&self, topic: &Key, start: Start) -> Reader {
        let subscribing = self.0.subscribe(topic, start);
        Reader(sound("subscribe finds what is kept", subscribing).await)
    }

    /// Whether one may not subscribe there, for messages that are kept no more.
    async fn refuses(&self, topic: &Key, after: Position) -> bool {
        let subscribing = self.0.subscribe(topic, Start::After(after));
        match done("subscribe answers", subscribing).await {
            Ok(_) => false,
            Err(HubError::Trimmed) => true,
            Err(error) => broken("subscribe does not fail", &error),
        }
    }

    async fn replay(&self, topic: &Key, after: Position) -> Vec<Delivery> {
        let replaying = self.0.replay(topic, after, usize::MAX);
        sound("replay finds what is kept", replaying).await
    }

    /// As [`Handle::replay`]; `None` where messages after the position are kept no more.
    async fn try_replay(
        &self,
        topic: &Key,
        after: Position,
        limit: usize,
    ) -> Option<Vec<Delivery>> {
        let replaying = self.0.replay(topic, after, limit);
        match done("replay answers", replaying).await {
            Ok(deliveries) => Some(deliveries),
            Err(HubError::Trimmed) => None,
            Err(error) => broken("replay does not fail", &error),
        }
    }

    async fn delete(&self, topic: &Key) {
        sound("delete answers", self.0.delete(topic)).await;
    }

    async fn purge(&self) {
        sound("purge answers", self.0.purge()).await;
    }
}

/// A subscription whose failures are broken promises, unless they are asked for.
struct Reader(Box<dyn Subscription>);

impl Reader {
    fn position(&self) -> Position {
        self.0.position()
    }

    async fn next(&mut self) -> Delivery {
        sound("a subscriber gets each message", self.0.next()).await
    }

    async fn read(&mut self, count: usize) -> Vec<Delivery> {
        let mut deliveries = Vec::new();
        for _ in 0..count {
            deliveries.push(self.next().await);
        }
        deliveries
    }

    /// Fails unless exactly this is next.
    async fn gets(&mut self, message: &[u8], promise: &str) {
        let delivery = self.next().await;
        assert!(delivery.message == message, "{promise}");
    }

    /// How it ends, after what may come before.
    async fn end(&mut self, mut meanwhile: impl FnMut(Delivery)) -> HubError {
        loop {
            match done("a subscriber is told the end", self.0.next()).await {
                Ok(delivery) => meanwhile(delivery),
                Err(error) => return error,
            }
        }
    }

    /// Asks for the next message once, without waiting.
    fn poll(&mut self, waker: &Waker) -> Poll<Result<Delivery, HubError>> {
        self.0.poll_next(&mut Context::from_waker(waker))
    }

    /// Fails if there is a message; waits for nothing.
    fn assert_silent(&mut self, promise: &str) {
        if let Poll::Ready(Ok(_)) = self.poll(Waker::noop()) {
            broken(promise, &"there was a message");
        }
    }
}

/// Whether a waker was woken.
#[derive(Default)]
struct Flag(AtomicBool);

impl Flag {
    fn is_raised(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Release);
    }
}

fn messages(deliveries: &[Delivery]) -> Vec<&[u8]> {
    deliveries.iter().map(|it| &it.message[..]).collect()
}
