//! A store and a hub that somebody watches.

use std::{fmt, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::FutureExt as _;
use mcp_core::{
    BoxError, Delivery, Hub, HubError, Key, MemoryHub, MemoryStore, Position, SessionStore, Stamp,
    Start, StoreError, Stored, Subscription,
};

/// Whoever is told what a store or a hub is about to do.
#[async_trait]
pub(crate) trait Watch: fmt::Debug + Send + Sync + 'static {
    /// The operation runs once this is done, and not at all where it fails.
    async fn before(&self, operation: Operation, key: &Key) -> Result<(), BoxError>;
}

/// What a store or a hub does under a key. Housekeeping has none, and nobody is told of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Create,
    Get,
    GetNow,
    Save,
    Touch,
    Delete,
    Publish,
    Tell,
    Subscribe,
    Replay,
}

/// A store or a hub, and who watches it.
#[derive(Debug)]
pub(crate) struct Watched<T, W> {
    watched: T,
    watch: W,
}

/// A store in memory.
pub(crate) type WatchedStore<W> = Watched<MemoryStore, W>;
/// A hub in memory.
pub(crate) type WatchedHub<W> = Watched<MemoryHub, W>;

impl<T: Default, W: Watch> Watched<T, W> {
    /// An empty one.
    pub(crate) fn by(watch: W) -> Self {
        let watched = T::default();
        Self { watched, watch }
    }
}

impl<T, W: Watch> Watched<T, W> {
    async fn of_store(&self, operation: Operation, key: &Key) -> Result<&T, StoreError> {
        let told = self.watch.before(operation, key).await;
        told.map_err(StoreError::Backend)?;
        Ok(&self.watched)
    }

    async fn of_hub(&self, operation: Operation, topic: &Key) -> Result<&T, HubError> {
        let told = self.watch.before(operation, topic).await;
        told.map_err(HubError::Backend)?;
        Ok(&self.watched)
    }
}

#[async_trait]
impl<S: SessionStore, W: Watch> SessionStore for Watched<S, W> {
    async fn create(&self, key: &Key, value: Bytes, ttl: Duration) -> Result<bool, StoreError> {
        let store = self.of_store(Operation::Create, key).await?;
        store.create(key, value, ttl).await
    }

    async fn get(&self, key: &Key) -> Result<Option<Stored>, StoreError> {
        self.of_store(Operation::Get, key).await?.get(key).await
    }

    /// Where the watch takes its time or fails, it is not known at once.
    fn get_now(&self, key: &Key) -> Option<Option<Stored>> {
        let told = self.of_store(Operation::GetNow, key).now_or_never()?;
        told.ok()?.get_now(key)
    }

    async fn save(
        &self,
        key: &Key,
        value: Bytes,
        expected: Stamp,
        ttl: Duration,
    ) -> Result<Option<Stamp>, StoreError> {
        let store = self.of_store(Operation::Save, key).await?;
        store.save(key, value, expected, ttl).await
    }

    async fn touch(&self, key: &Key, ttl: Duration) -> Result<bool, StoreError> {
        let store = self.of_store(Operation::Touch, key).await?;
        store.touch(key, ttl).await
    }

    async fn delete(&self, key: &Key) -> Result<bool, StoreError> {
        let store = self.of_store(Operation::Delete, key).await?;
        store.delete(key).await
    }

    async fn purge(&self) -> Result<(), StoreError> {
        self.watched.purge().await
    }
}

#[async_trait]
impl<H: Hub, W: Watch> Hub for Watched<H, W> {
    async fn publish(
        &self,
        topic: &Key,
        message: Bytes,
        keep: Duration,
    ) -> Result<Position, HubError> {
        let hub = self.of_hub(Operation::Publish, topic).await?;
        hub.publish(topic, message, keep).await
    }

    async fn tell(&self, topic: &Key, message: Bytes) -> Result<(), HubError> {
        let hub = self.of_hub(Operation::Tell, topic).await?;
        hub.tell(topic, message).await
    }

    async fn touch(&self, topic: &Key, keep: Duration) -> Result<(), HubError> {
        let hub = self.of_hub(Operation::Touch, topic).await?;
        hub.touch(topic, keep).await
    }

    async fn subscribe(
        &self,
        topic: &Key,
        start: Start,
    ) -> Result<Box<dyn Subscription>, HubError> {
        let hub = self.of_hub(Operation::Subscribe, topic).await?;
        hub.subscribe(topic, start).await
    }

    async fn replay(
        &self,
        topic: &Key,
        after: Position,
        limit: usize,
    ) -> Result<Vec<Delivery>, HubError> {
        let hub = self.of_hub(Operation::Replay, topic).await?;
        hub.replay(topic, after, limit).await
    }

    async fn delete(&self, topic: &Key) -> Result<(), HubError> {
        let hub = self.of_hub(Operation::Delete, topic).await?;
        hub.delete(topic).await
    }

    async fn purge(&self) -> Result<(), HubError> {
        self.watched.purge().await
    }
}
