//! A hub in memory.

mod shared;
mod subscription;
#[cfg(test)]
mod tests;
mod topic;
mod waiting;

use std::{
    fmt,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use tokio::task::yield_now;

use self::shared::Shared;
use crate::{Delivery, Hub, HubError, Key, Position, Start, Subscription, hub::TOLD_KEEP};

/// A [`Hub`] for one process.
///
/// Clones share their topics. Limits count 64 bytes for each message, and 512 for each topic that
/// has any, besides the messages themselves.
///
/// Messages of one topic leave in their order: one that was to be kept for a shorter time than one
/// before it is kept as long as that.
#[derive(Clone, Default)]
pub struct MemoryHub {
    shared: Arc<Shared>,
}

impl MemoryHub {
    /// A hub without topics, which keeps up to 1 MiB of a topic and 64 MiB of all.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How much of one topic is kept; the oldest messages leave for the newest.
    ///
    /// The newest message is always kept, however large it is.
    #[must_use]
    pub fn max_topic_bytes(self, bytes: usize) -> Self {
        self.shared.max_topic_bytes.store(bytes, Ordering::Relaxed);
        self
    }

    /// How much is kept of all topics; one message more is refused with [`HubError::Full`] unless
    /// expired ones can make room.
    #[must_use]
    pub fn max_bytes(self, bytes: usize) -> Self {
        self.shared.max_bytes.store(bytes, Ordering::Relaxed);
        self
    }

    /// How much is kept of all topics, with expired messages that are not freed yet.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.shared.bytes.load(Ordering::Relaxed)
    }

    /// How many topics there are, with idle ones that are not freed yet.
    #[must_use]
    pub fn topics(&self) -> usize {
        self.shared.topics()
    }
}

impl fmt::Debug for MemoryHub {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("MemoryHub")
            .field("topics", &self.topics())
            .field("bytes", &self.bytes())
            .field("max_topic_bytes", &self.shared.max_topic_bytes)
            .field("max_bytes", &self.shared.max_bytes)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Hub for MemoryHub {
    async fn publish(
        &self,
        topic: &Key,
        message: Bytes,
        keep: Duration,
    ) -> Result<Position, HubError> {
        match self.shared.publish(topic, &message, keep) {
            Err(HubError::Full) if self.shared.may_purge() => {
                self.purge().await?;
                self.shared.publish(topic, &message, keep)
            }
            published => published,
        }
    }

    async fn tell(&self, topic: &Key, message: Bytes) -> Result<(), HubError> {
        if self.shared.is_heard(topic) {
            self.publish(topic, message, TOLD_KEEP).await?;
        }
        Ok(())
    }

    async fn touch(&self, topic: &Key, keep: Duration) -> Result<(), HubError> {
        self.shared.touch(topic, keep);
        Ok(())
    }

    async fn subscribe(
        &self,
        topic: &Key,
        start: Start,
    ) -> Result<Box<dyn Subscription>, HubError> {
        Ok(Box::new(self.shared.subscribe(topic, start)?))
    }

    async fn replay(
        &self,
        topic: &Key,
        after: Position,
        limit: usize,
    ) -> Result<Vec<Delivery>, HubError> {
        self.shared.replay(topic, after, limit)
    }

    async fn delete(&self, topic: &Key) -> Result<(), HubError> {
        self.shared.delete(topic);
        Ok(())
    }

    /// # Cancel safety
    ///
    /// Lets other tasks run in between; dropped there, the rest stays for the next time.
    async fn purge(&self) -> Result<(), HubError> {
        for shard in self.shared.topics.all() {
            for slice in shared::topics_of(shard).chunks(SLICE) {
                self.shared.expire(slice);
                yield_now().await;
            }
            self.shared.remove_idle(shard);
            yield_now().await;
        }
        Ok(())
    }
}

/// Topics that are looked at in one go.
const SLICE: usize = 256;
