//! A store and a hub that say under which names they are used.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use mcp_core::{
    Delivery, Hub, HubError, Key, MemoryHub, MemoryStore, Position, SessionStore, Stamp, Start,
    StoreError, Stored, Subscription,
};

/// The names under which something was kept or told.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names(Arc<Mutex<BTreeSet<String>>>);

impl Names {
    fn note(&self, key: &Key) {
        self.0.lock().unwrap().insert(key.as_str().to_owned());
    }

    pub(crate) fn all(&self) -> BTreeSet<String> {
        self.0.lock().unwrap().clone()
    }
}

/// A store in memory.
#[derive(Debug, Default)]
pub(crate) struct SpiedStore {
    pub(crate) names: Names,
    store: MemoryStore,
}

#[async_trait]
impl SessionStore for SpiedStore {
    async fn create(&self, key: &Key, value: Bytes, ttl: Duration) -> Result<bool, StoreError> {
        self.names.note(key);
        self.store.create(key, value, ttl).await
    }

    async fn get(&self, key: &Key) -> Result<Option<Stored>, StoreError> {
        self.names.note(key);
        self.store.get(key).await
    }

    fn get_now(&self, key: &Key) -> Option<Option<Stored>> {
        self.names.note(key);
        self.store.get_now(key)
    }

    async fn save(
        &self,
        key: &Key,
        value: Bytes,
        expected: Stamp,
        ttl: Duration,
    ) -> Result<Option<Stamp>, StoreError> {
        self.names.note(key);
        self.store.save(key, value, expected, ttl).await
    }

    async fn touch(&self, key: &Key, ttl: Duration) -> Result<bool, StoreError> {
        self.names.note(key);
        self.store.touch(key, ttl).await
    }

    async fn delete(&self, key: &Key) -> Result<bool, StoreError> {
        self.names.note(key);
        self.store.delete(key).await
    }
}

/// A hub in memory.
#[derive(Debug, Default)]
pub(crate) struct SpiedHub {
    pub(crate) names: Names,
    hub: MemoryHub,
}

#[async_trait]
impl Hub for SpiedHub {
    async fn publish(
        &self,
        topic: &Key,
        message: Bytes,
        keep: Duration,
    ) -> Result<Position, HubError> {
        self.names.note(topic);
        self.hub.publish(topic, message, keep).await
    }

    async fn tell(&self, topic: &Key, message: Bytes) -> Result<(), HubError> {
        self.names.note(topic);
        self.hub.tell(topic, message).await
    }

    async fn touch(&self, topic: &Key, keep: Duration) -> Result<(), HubError> {
        self.names.note(topic);
        self.hub.touch(topic, keep).await
    }

    async fn subscribe(
        &self,
        topic: &Key,
        start: Start,
    ) -> Result<Box<dyn Subscription>, HubError> {
        self.names.note(topic);
        self.hub.subscribe(topic, start).await
    }

    async fn replay(
        &self,
        topic: &Key,
        after: Position,
        limit: usize,
    ) -> Result<Vec<Delivery>, HubError> {
        self.names.note(topic);
        self.hub.replay(topic, after, limit).await
    }

    async fn delete(&self, topic: &Key) -> Result<(), HubError> {
        self.names.note(topic);
        self.hub.delete(topic).await
    }
}
