//! What the clones of a hub and its subscriptions share.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, UNIX_EPOCH},
};

use bytes::Bytes;

use super::{
    subscription::MemorySubscription,
    topic::{State, Topic},
};
use crate::{
    Delivery, HubError, Key, Position, Start,
    clock::time_of_day,
    memory::{
        clock::{Clock, Moment},
        shards::{Shards, lock, shrink},
    },
};

/// Locks are taken in this order: a shard of `topics`, then a topic; never two of a kind.
pub(super) struct Shared {
    pub(super) topics: Shards<Topics>,
    /// The newest position of all topics: a topic that is not there has lost all up to here.
    newest: AtomicU64,
    pub(super) bytes: AtomicUsize,
    pub(super) max_topic_bytes: AtomicUsize,
    pub(super) max_bytes: AtomicUsize,
    clock: Clock,
    /// When a full hub may look for expired messages again.
    next_purge: AtomicU64,
}

type Topics = HashMap<Key, Arc<Topic>>;

impl Shared {
    pub(super) fn publish(
        &self,
        key: &Key,
        message: &[u8],
        keep: Duration,
    ) -> Result<Position, HubError> {
        // A copy: a slice would keep the whole body alive that it was cut from.
        let message = Bytes::copy_from_slice(message);
        let max = self.max_topic_bytes.load(Ordering::Relaxed);
        loop {
            let topic = self.topic(key);
            let mut state = self.lock(&topic);
            if state.is_gone() {
                continue;
            }
            let room = state.room_for(message.len(), max);
            if !self.resize(state.bytes(), room.bytes) {
                drop(state);
                self.forget_if_idle(key);
                return Err(HubError::Full);
            }
            // Numbered under the lock, so that a topic is in the order of its positions.
            let position = self.next_position();
            state.push(&room, position, message, self.clock.now().plus(keep));
            let woken = state.waiting.take();
            drop(state);
            woken.wake();
            return Ok(position);
        }
    }

    /// Keeps what is kept of a topic for longer.
    pub(super) fn touch(&self, key: &Key, keep: Duration) {
        let topic = self.topics.of(key).get(key).cloned();
        if let Some(topic) = topic {
            self.lock(&topic).keep_until(self.clock.now().plus(keep));
        }
    }

    /// Whether anybody is subscribed to a topic.
    pub(super) fn is_heard(&self, key: &Key) -> bool {
        let topic = self.topics.of(key).get(key).cloned();
        topic.is_some_and(|topic| lock(&topic.state).subscribers > 0)
    }

    pub(super) fn subscribe(
        self: &Arc<Self>,
        key: &Key,
        start: Start,
    ) -> Result<MemorySubscription, HubError> {
        loop {
            let topic = match start {
                Start::Now => self.topic(key),
                Start::After(position) => self.topic_after(key, position)?,
            };
            let mut state = self.lock(&topic);
            if state.is_gone() {
                continue;
            }
            let cursor = match start {
                Start::Now => state.last(),
                Start::After(position) => state.after(position).map(|_| position)?,
            };
            state.subscribers += 1;
            drop(state);
            return Ok(MemorySubscription::new(Arc::clone(self), topic, cursor));
        }
    }

    pub(super) fn replay(
        &self,
        key: &Key,
        after: Position,
        limit: usize,
    ) -> Result<Vec<Delivery>, HubError> {
        loop {
            let topics = self.topics.of(key);
            let found = topics.get(key).cloned();
            let newest = self.newest();
            drop(topics);
            let Some(topic) = found.filter(|_| after <= newest) else {
                return (after == newest).then(Vec::new).ok_or(HubError::Trimmed);
            };
            let state = self.lock(&topic);
            if !state.is_gone() {
                return Ok(state.after(after)?.take(limit).collect());
            }
        }
    }

    pub(super) fn delete(&self, key: &Key) {
        let mut topics = self.topics.of(key);
        // Nobody knows the position that is the newest from here on: before it, all are lost.
        self.next_position();
        let Some(topic) = topics.remove(key) else {
            return;
        };
        let (freed, woken) = lock(&topic.state).delete();
        drop(topics);
        self.bytes.fetch_sub(freed, Ordering::Relaxed);
        woken.wake();
    }

    /// Locks a topic, without what has expired of it.
    pub(super) fn lock<'t>(&self, topic: &'t Topic) -> MutexGuard<'t, State> {
        let mut state = lock(&topic.state);
        let freed = state.expire(|| self.clock.now());
        self.bytes.fetch_sub(freed, Ordering::Relaxed);
        state
    }

    /// The topic, made where there is none.
    fn topic(&self, key: &Key) -> Arc<Topic> {
        let mut topics = self.topics.of(key);
        if let Some(topic) = topics.get(key) {
            return Arc::clone(topic);
        }
        let topic = Arc::new(Topic::new(self.newest()));
        topics.insert(key.clone(), Arc::clone(&topic));
        topic
    }

    /// As [`Shared::topic`], for a reader of what is after a position.
    fn topic_after(&self, key: &Key, position: Position) -> Result<Arc<Topic>, HubError> {
        let mut topics = self.topics.of(key);
        let newest = self.newest();
        // Of a position that is yet to come nothing can be said, so nothing is promised.
        if position > newest {
            return Err(HubError::Trimmed);
        }
        if let Some(topic) = topics.get(key) {
            return Ok(Arc::clone(topic));
        }
        if position < newest {
            return Err(HubError::Trimmed);
        }
        let topic = Arc::new(Topic::new(newest));
        topics.insert(key.clone(), Arc::clone(&topic));
        Ok(topic)
    }

    /// The newest position, to be read under the lock of the topic's shard.
    fn newest(&self) -> Position {
        Position::new(self.newest.load(Ordering::Relaxed))
    }

    fn next_position(&self) -> Position {
        Position::new(self.newest.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Lets a topic take `after` bytes instead of `before`, if that many are left.
    fn resize(&self, before: usize, after: usize) -> bool {
        let Some(more) = after.checked_sub(before) else {
            self.bytes.fetch_sub(before - after, Ordering::Relaxed);
            return true;
        };
        let max = self.max_bytes.load(Ordering::Relaxed);
        let grown = |bytes: usize| bytes.checked_add(more).filter(|grown| *grown <= max);
        self.bytes
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, grown)
            .is_ok()
    }

    /// Whether it is time to look for what has expired: not for each of many refused messages.
    pub(super) fn may_purge(&self) -> bool {
        let now = self.clock.now();
        let next = now.plus(PURGE_INTERVAL).nanoseconds();
        let due = |due| (Moment::from_nanoseconds(due) <= now).then_some(next);
        self.next_purge
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, due)
            .is_ok()
    }

    /// Frees what has expired of some topics.
    pub(super) fn expire(&self, topics: &[Arc<Topic>]) {
        for topic in topics {
            drop(self.lock(topic));
        }
    }

    /// Removes the topics of a shard that nobody needs.
    pub(super) fn remove_idle(&self, shard: &Mutex<Topics>) {
        let mut topics = lock(shard);
        topics.retain(|_, topic| !lock(&topic.state).remove_if_idle());
        shrink(&mut topics);
    }

    /// Removes a topic that was made for a message which is not kept after all.
    fn forget_if_idle(&self, key: &Key) {
        let mut topics = self.topics.of(key);
        let topic = topics.get(key);
        if topic.is_some_and(|topic| lock(&topic.state).remove_if_idle()) {
            topics.remove(key);
        }
    }

    pub(super) fn topics(&self) -> usize {
        self.topics.all().map(|shard| lock(shard).len()).sum()
    }
}

impl Default for Shared {
    fn default() -> Self {
        Self {
            topics: Shards::default(),
            newest: AtomicU64::new(first_position()),
            bytes: AtomicUsize::new(0),
            max_topic_bytes: AtomicUsize::new(MAX_TOPIC_BYTES),
            max_bytes: AtomicUsize::new(MAX_BYTES),
            clock: Clock::default(),
            next_purge: AtomicU64::new(0),
        }
    }
}

/// The topics of a shard as they are now.
pub(super) fn topics_of(shard: &Mutex<Topics>) -> Vec<Arc<Topic>> {
    lock(shard).values().cloned().collect()
}

/// Larger than what any process before has used, with a million messages each millisecond.
fn first_position() -> u64 {
    let since = time_of_day().duration_since(UNIX_EPOCH);
    let since = since.unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or_default() << 20
}

const MAX_TOPIC_BYTES: usize = 1 << 20;
const MAX_BYTES: usize = 64 << 20;
const PURGE_INTERVAL: Duration = Duration::from_millis(100);
