//! Backends that break a promise are found out.

use std::fmt;

use async_trait::async_trait;
use bytes::Bytes;

use super::*;
use crate::{
    Delivery, Hub, HubError, MemoryHub, MemoryStore, Position, SessionStore, Stamp, Start,
    StoreError, Stored, Subscription,
};

/// What the contract says in the end; empty where it is kept.
async fn verdict(contract: impl Future<Output = ()> + Send + 'static) -> String {
    let mut task = JoinSet::new();
    task.spawn(contract);
    let Err(error) = task.join_next().await.unwrap() else {
        return String::new();
    };
    let text = error.into_panic();
    let text = text.downcast::<String>().map(|text| *text);
    text.unwrap_or_else(|text| (*text.downcast::<&str>().unwrap()).to_owned())
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum StoreFault {
    None,
    CreateReplaces,
    DeleteForgets,
    GetMissesEmpty,
    KeysAreFolded,
    SaveIgnoresStamp,
    SaveKeepsTtl,
    StampsAreHashes,
    TouchShortens,
}

struct FaultyStore(MemoryStore, StoreFault);

impl fmt::Debug for FaultyStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.1.fmt(formatter)
    }
}

impl FaultyStore {
    fn key(&self, key: &Key) -> Key {
        match self.1 {
            StoreFault::KeysAreFolded => Key::new("", "x", &key.as_str().to_lowercase()),
            _ => key.clone(),
        }
    }
}

#[async_trait]
impl SessionStore for FaultyStore {
    async fn create(&self, key: &Key, value: Bytes, ttl: Duration) -> Result<bool, StoreError> {
        let key = self.key(key);
        if self.1 == StoreFault::CreateReplaces {
            self.0.delete(&key).await?;
        }
        self.0.create(&key, value, ttl).await
    }

    async fn get(&self, key: &Key) -> Result<Option<Stored>, StoreError> {
        let mut found = self.0.get(&self.key(key)).await?;
        match self.1 {
            StoreFault::GetMissesEmpty => found = found.filter(|it| !it.value.is_empty()),
            StoreFault::StampsAreHashes => {
                if let Some(stored) = &mut found {
                    stored.stamp = Stamp::new(stored.value.iter().map(|it| u64::from(*it)).sum());
                }
            }
            _ => {}
        }
        Ok(found)
    }

    async fn save(
        &self,
        key: &Key,
        value: Bytes,
        mut expected: Stamp,
        mut ttl: Duration,
    ) -> Result<Option<Stamp>, StoreError> {
        let key = self.key(key);
        if let Some(found) = self.0.get(&key).await? {
            match self.1 {
                StoreFault::SaveIgnoresStamp => expected = found.stamp,
                StoreFault::SaveKeepsTtl => ttl = found.remaining,
                StoreFault::StampsAreHashes => expected = found.stamp,
                _ => {}
            }
        }
        self.0.save(&key, value, expected, ttl).await
    }

    async fn touch(&self, key: &Key, ttl: Duration) -> Result<bool, StoreError> {
        let ttl = match self.1 {
            StoreFault::TouchShortens => ttl.min(SHORT),
            _ => ttl,
        };
        self.0.touch(&self.key(key), ttl).await
    }

    async fn delete(&self, key: &Key) -> Result<bool, StoreError> {
        match self.1 {
            StoreFault::DeleteForgets => Ok(self.0.get(key).await?.is_some()),
            _ => self.0.delete(&self.key(key)).await,
        }
    }
}

async fn check_store(fault: StoreFault, expected: &str) {
    let store = MemoryStore::new();
    let [first, second] = [store.clone(), store].map(|it| FaultyStore(it, fault));
    let found = verdict(session_store_contract(first, second)).await;
    assert!(found.contains(expected), "{fault:?}: {found}");
    assert_eq!(found.is_empty(), fault == StoreFault::None, "{found}");
}

#[tokio::test(start_paused = true)]
async fn faults_of_a_store_are_found() {
    check_store(StoreFault::None, "").await;
    check_store(
        StoreFault::CreateReplaces,
        "create is false where something is kept",
    )
    .await;
    check_store(StoreFault::DeleteForgets, "what is deleted is gone").await;
    check_store(StoreFault::GetMissesEmpty, "a live value is found").await;
    check_store(StoreFault::KeysAreFolded, "do not collide").await;
    check_store(
        StoreFault::SaveIgnoresStamp,
        "save refuses what has changed",
    )
    .await;
    check_store(StoreFault::SaveKeepsTtl, "save sets what remains").await;
    check_store(StoreFault::StampsAreHashes, "save").await;
    check_store(StoreFault::TouchShortens, "touch sets what remains").await;
}

#[tokio::test]
async fn two_stores_are_not_one() {
    let found = verdict(session_store_contract(
        MemoryStore::new(),
        MemoryStore::new(),
    ))
    .await;
    assert!(
        found.contains("create is false where something is kept"),
        "{found}"
    );
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum HubFault {
    None,
    DeleteIsSilent,
    DeliversTwice,
    HidesTrimming,
    IgnoresStart,
    NeverTrims,
    ReplayIgnoresLimit,
    TopicsAreFolded,
    TouchDoesNothing,
    WakesTheFirst,
}

struct FaultyHub(MemoryHub, HubFault);

impl fmt::Debug for FaultyHub {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.1.fmt(formatter)
    }
}

impl FaultyHub {
    fn topic(&self, topic: &Key) -> Key {
        match self.1 {
            HubFault::TopicsAreFolded => Key::new("", "x", &topic.as_str().to_lowercase()),
            _ => topic.clone(),
        }
    }
}

#[async_trait]
impl Hub for FaultyHub {
    async fn publish(
        &self,
        topic: &Key,
        message: Bytes,
        keep: Duration,
    ) -> Result<Position, HubError> {
        if self.1 == HubFault::DeliversTwice {
            self.0.publish(topic, message.clone(), keep).await?;
        }
        self.0.publish(&self.topic(topic), message, keep).await
    }

    async fn subscribe(
        &self,
        topic: &Key,
        start: Start,
    ) -> Result<Box<dyn Subscription>, HubError> {
        let topic = self.topic(topic);
        let start = match self.1 {
            HubFault::IgnoresStart => Start::Now,
            _ => start,
        };
        let inner = match self.0.subscribe(&topic, start).await {
            Err(HubError::Trimmed) if self.1 == HubFault::HidesTrimming => {
                self.0.subscribe(&topic, Start::Now).await?
            }
            subscribed => subscribed?,
        };
        let waker = None;
        let fault = self.1;
        Ok(Box::new(FaultySubscription {
            inner,
            waker,
            fault,
        }))
    }

    async fn replay(
        &self,
        topic: &Key,
        after: Position,
        limit: usize,
    ) -> Result<Vec<Delivery>, HubError> {
        let limit = match self.1 {
            HubFault::ReplayIgnoresLimit => usize::MAX,
            _ => limit,
        };
        self.0.replay(&self.topic(topic), after, limit).await
    }

    async fn touch(&self, topic: &Key, keep: Duration) -> Result<(), HubError> {
        match self.1 {
            HubFault::TouchDoesNothing => Ok(()),
            _ => self.0.touch(&self.topic(topic), keep).await,
        }
    }

    async fn delete(&self, topic: &Key) -> Result<(), HubError> {
        match self.1 {
            HubFault::DeleteIsSilent => Ok(()),
            _ => self.0.delete(&self.topic(topic)).await,
        }
    }
}

struct FaultySubscription {
    inner: Box<dyn Subscription>,
    waker: Option<std::task::Waker>,
    fault: HubFault,
}

impl Subscription for FaultySubscription {
    fn position(&self) -> Position {
        self.inner.position()
    }

    fn poll_next(
        &mut self,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Result<Delivery, HubError>> {
        if self.fault != HubFault::WakesTheFirst {
            return self.inner.poll_next(context);
        }
        let waker = self.waker.get_or_insert_with(|| context.waker().clone());
        self.inner
            .poll_next(&mut std::task::Context::from_waker(waker))
    }
}

async fn check_hub(fault: HubFault, expected: &str) {
    let mut hub = MemoryHub::new();
    if fault == HubFault::NeverTrims {
        hub = hub.max_topic_bytes(usize::MAX).max_bytes(usize::MAX);
    }
    let [first, second] = [hub.clone(), hub].map(|it| FaultyHub(it, fault));
    let contract = HubContract::default().trims_within(4 << 20);
    let found = verdict(async move { contract.check(first, second).await }).await;
    assert!(found.contains(expected), "{fault:?}: {found}");
    assert_eq!(found.is_empty(), fault == HubFault::None, "{found}");
}

#[tokio::test(start_paused = true)]
async fn faults_of_a_hub_are_found() {
    check_hub(HubFault::None, "").await;
    check_hub(HubFault::DeleteIsSilent, "is told the end").await;
    check_hub(HubFault::DeliversTwice, "publish tells the position").await;
    check_hub(HubFault::HidesTrimming, "what has expired is lost").await;
    check_hub(HubFault::IgnoresStart, "subscriber gets each message").await;
    check_hub(HubFault::NeverTrims, "old messages are trimmed").await;
    check_hub(HubFault::ReplayIgnoresLimit, "replay gives up to the limit").await;
    check_hub(HubFault::TopicsAreFolded, "").await;
    check_hub(HubFault::TouchDoesNothing, "touched is kept").await;
    check_hub(HubFault::WakesTheFirst, "the waker of the last poll").await;
}

#[tokio::test(start_paused = true)]
async fn two_hubs_are_not_one() {
    let found = verdict(hub_contract(MemoryHub::new(), MemoryHub::new())).await;
    assert!(!found.is_empty());
}
