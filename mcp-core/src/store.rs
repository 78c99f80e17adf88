//! Where what belongs to a session is kept, for every worker to find.

use std::{fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;

use crate::Key;

/// An error of a backend, erased.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Small values under keys, each with a time to live: all that workers have to share for sessions.
///
/// [`MemoryStore`](crate::MemoryStore) serves one process. An implementation passes
/// [`testing::session_store_contract`](crate::testing::session_store_contract).
///
/// A value whose time has run out is gone: no method ever returns, changes or counts it.
///
/// # Cancel safety
///
/// A method that is dropped may or may not have taken effect; it never takes half of it.
#[async_trait]
pub trait SessionStore: fmt::Debug + Send + Sync + 'static {
    /// Keeps `value` under `key` where nothing is kept yet; false where something is.
    ///
    /// # Errors
    ///
    /// [`StoreError::Full`] where the store takes no more.
    async fn create(&self, key: &Key, value: Bytes, ttl: Duration) -> Result<bool, StoreError>;

    /// What is kept under `key`.
    ///
    /// # Errors
    ///
    /// What the backend failed with.
    async fn get(&self, key: &Key) -> Result<Option<Stored>, StoreError>;

    /// What is kept under `key`, for a store that knows without waiting; `None` for one that has
    /// to wait.
    ///
    /// Saves every request of a session a future; nothing depends on it.
    fn get_now(&self, key: &Key) -> Option<Option<Stored>> {
        let _ = key;
        None
    }

    /// Replaces what is kept under `key` if it still is what `expected` stamped, and lets it live
    /// for `ttl` from now on.
    ///
    /// `None` where it has changed or is gone; nothing is changed then.
    ///
    /// # Errors
    ///
    /// [`StoreError::Full`] where the store takes no more; nothing is changed then either.
    async fn save(
        &self,
        key: &Key,
        value: Bytes,
        expected: Stamp,
        ttl: Duration,
    ) -> Result<Option<Stamp>, StoreError>;

    /// Lets what is kept under `key` live for `ttl` from now on, however long it had; false where
    /// nothing is kept. The stamp stays.
    ///
    /// # Errors
    ///
    /// What the backend failed with.
    async fn touch(&self, key: &Key, ttl: Duration) -> Result<bool, StoreError>;

    /// Forgets what is kept under `key`; false where nothing is kept.
    ///
    /// # Errors
    ///
    /// What the backend failed with.
    async fn delete(&self, key: &Key) -> Result<bool, StoreError>;

    /// Frees what expired values still occupy; called every now and then.
    ///
    /// A backend that does so by itself has nothing to do.
    ///
    /// # Errors
    ///
    /// What the backend failed with.
    async fn purge(&self) -> Result<(), StoreError> {
        Ok(())
    }
}

#[async_trait]
impl<S: SessionStore + ?Sized> SessionStore for Arc<S> {
    async fn create(&self, key: &Key, value: Bytes, ttl: Duration) -> Result<bool, StoreError> {
        (**self).create(key, value, ttl).await
    }

    async fn get(&self, key: &Key) -> Result<Option<Stored>, StoreError> {
        (**self).get(key).await
    }

    fn get_now(&self, key: &Key) -> Option<Option<Stored>> {
        (**self).get_now(key)
    }

    async fn save(
        &self,
        key: &Key,
        value: Bytes,
        expected: Stamp,
        ttl: Duration,
    ) -> Result<Option<Stamp>, StoreError> {
        (**self).save(key, value, expected, ttl).await
    }

    async fn touch(&self, key: &Key, ttl: Duration) -> Result<bool, StoreError> {
        (**self).touch(key, ttl).await
    }

    async fn delete(&self, key: &Key) -> Result<bool, StoreError> {
        (**self).delete(key).await
    }

    async fn purge(&self) -> Result<(), StoreError> {
        (**self).purge().await
    }
}

/// What a store keeps under one key.
#[derive(Clone)]
#[non_exhaustive]
pub struct Stored {
    /// The value.
    pub value: Bytes,
    /// Which of the values that were kept under the key it is.
    pub stamp: Stamp,
    /// How long it still lives.
    pub remaining: Duration,
}

impl Stored {
    /// A value as it was found.
    #[must_use]
    pub fn new(value: Bytes, stamp: Stamp, remaining: Duration) -> Self {
        Self {
            value,
            stamp,
            remaining,
        }
    }
}

impl fmt::Debug for Stored {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Stored")
            .field("value", &self.value.len())
            .field("stamp", &self.stamp)
            .field("remaining", &self.remaining)
            .finish()
    }
}

/// Tells one value of a key from the one before and the one after it.
///
/// Never the same again for one key, also where it was deleted and created anew in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Stamp(u64);

impl Stamp {
    /// A stamp of a backend's own numbering.
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

/// Why a store could not do what it was asked to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// It takes no more entries, or nothing larger, until some have expired.
    #[error("the store is full")]
    Full,
    /// The backend failed.
    #[error("the store failed")]
    Backend(#[source] BoxError),
}
