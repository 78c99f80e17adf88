//! What workers tell one another: topics with ordered, replayable messages.

use std::{
    fmt,
    future::poll_fn,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;

use crate::{BoxError, Key};

/// Topics to publish to and subscribe to, across all workers.
///
/// [`MemoryHub`](crate::MemoryHub) serves one process. An implementation passes
/// [`testing::hub_contract`](crate::testing::hub_contract).
///
/// A publisher never waits for a subscriber. Subscriptions are many and cheap: ten thousand
/// streams of one process may subscribe to one topic, so an implementation over a network listens
/// once and hands on.
#[async_trait]
pub trait Hub: fmt::Debug + Send + Sync + 'static {
    /// Publishes a message, which can be replayed for at least `keep`, and says where it stands.
    ///
    /// Messages of one topic are forgotten in their order.
    ///
    /// # Errors
    ///
    /// [`HubError::Full`] where the hub takes no more; what the backend failed with.
    async fn publish(
        &self,
        topic: &Key,
        message: Bytes,
        keep: Duration,
    ) -> Result<Position, HubError>;

    /// Tells who is subscribed already; whoever subscribes later need not hear of it.
    ///
    /// For a hub that can tell whether anybody is, which saves keeping the message.
    ///
    /// # Errors
    ///
    /// As [`Hub::publish`].
    async fn tell(&self, topic: &Key, message: Bytes) -> Result<(), HubError> {
        self.publish(topic, message, TOLD_KEEP).await.map(drop)
    }

    /// Keeps what is kept of a topic for at least `keep` from now on.
    ///
    /// A topic that nobody has published to is no mistake.
    ///
    /// # Errors
    ///
    /// What the backend failed with.
    async fn touch(&self, topic: &Key, keep: Duration) -> Result<(), HubError>;

    /// The messages of a topic, from `start` on.
    ///
    /// A topic that nobody has published to is no mistake.
    ///
    /// # Errors
    ///
    /// [`HubError::Trimmed`] where messages after `start` are kept no more; what the backend
    /// failed with.
    async fn subscribe(&self, topic: &Key, start: Start)
    -> Result<Box<dyn Subscription>, HubError>;

    /// Up to `limit` messages after a position, without waiting for more.
    ///
    /// # Errors
    ///
    /// As [`Hub::subscribe`].
    async fn replay(
        &self,
        topic: &Key,
        after: Position,
        limit: usize,
    ) -> Result<Vec<Delivery>, HubError>;

    /// Forgets a topic and its messages; who is subscribed is told [`HubError::Deleted`].
    ///
    /// # Errors
    ///
    /// What the backend failed with.
    async fn delete(&self, topic: &Key) -> Result<(), HubError>;

    /// Frees what nobody can ask for any more; called every now and then.
    ///
    /// A backend that does so by itself has nothing to do.
    ///
    /// # Errors
    ///
    /// What the backend failed with.
    async fn purge(&self) -> Result<(), HubError> {
        Ok(())
    }
}

/// How long a reader may take to fetch what it is told.
pub(crate) const TOLD_KEEP: Duration = Duration::from_secs(10);

#[async_trait]
impl<H: Hub + ?Sized> Hub for Arc<H> {
    async fn publish(
        &self,
        topic: &Key,
        message: Bytes,
        keep: Duration,
    ) -> Result<Position, HubError> {
        (**self).publish(topic, message, keep).await
    }

    async fn tell(&self, topic: &Key, message: Bytes) -> Result<(), HubError> {
        (**self).tell(topic, message).await
    }

    async fn touch(&self, topic: &Key, keep: Duration) -> Result<(), HubError> {
        (**self).touch(topic, keep).await
    }

    async fn subscribe(
        &self,
        topic: &Key,
        start: Start,
    ) -> Result<Box<dyn Subscription>, HubError> {
        (**self).subscribe(topic, start).await
    }

    async fn replay(
        &self,
        topic: &Key,
        after: Position,
        limit: usize,
    ) -> Result<Vec<Delivery>, HubError> {
        (**self).replay(topic, after, limit).await
    }

    async fn delete(&self, topic: &Key) -> Result<(), HubError> {
        (**self).delete(topic).await
    }

    async fn purge(&self) -> Result<(), HubError> {
        (**self).purge().await
    }
}

/// The messages of one topic as one subscriber receives them.
pub trait Subscription: Send {
    /// Where the subscriber stands: [`Start::After`] it goes on with what was not delivered yet.
    fn position(&self) -> Position;

    /// The next message.
    ///
    /// # Errors
    ///
    /// [`HubError::Trimmed`] where the subscriber has fallen behind what is kept: it is cut off,
    /// not waited for. [`HubError::Deleted`] where the topic was deleted. Neither is followed by
    /// anything.
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Result<Delivery, HubError>>;
}

impl dyn Subscription {
    /// Waits for the next message.
    ///
    /// # Errors
    ///
    /// As [`Subscription::poll_next`].
    ///
    /// # Cancel safety
    ///
    /// Safe.
    pub async fn next(&mut self) -> Result<Delivery, HubError> {
        poll_fn(|context| self.poll_next(context)).await
    }
}

/// Where a message stands among those of its topic.
///
/// Later messages have larger positions. A position is never used again for its topic, also after
/// the topic was deleted or the process was started anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position(u64);

impl Position {
    /// A position of a backend's own numbering.
    #[must_use]
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// Where a subscription begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a topic is read from now on or from a position on"
)]
pub enum Start {
    /// With the next message that is published.
    Now,
    /// With the first message after a position; one of a topic that is gone, or that was never
    /// given, is [`HubError::Trimmed`].
    After(Position),
}

/// A message of a topic.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Delivery {
    /// Where it stands.
    pub position: Position,
    /// What was published.
    pub message: Bytes,
}

impl Delivery {
    /// A message at its position.
    #[must_use]
    pub fn new(position: Position, message: Bytes) -> Self {
        Self { position, message }
    }
}

impl fmt::Debug for Delivery {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Delivery")
            .field("position", &self.position)
            .field("message", &self.message.len())
            .finish()
    }
}

/// Why a hub could not do what it was asked to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HubError {
    /// Messages that were asked for are kept no more.
    #[error("messages of this topic were lost to the reader")]
    Trimmed,
    /// The topic was deleted.
    #[error("the topic was deleted")]
    Deleted,
    /// It takes no more messages until some have expired.
    #[error("the hub is full")]
    Full,
    /// The backend failed.
    #[error("the hub failed")]
    Backend(#[source] BoxError),
}
