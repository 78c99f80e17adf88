//! What handlers keep in a session, and in sessions that they hand out themselves.

use std::fmt;

use bytes::Bytes;
use serde::{Serialize, de::DeserializeOwned};

use super::{Record, new_id};
use crate::{BoxError, Key, Registry, StoreError, backplane::Backplane, caller::Caller};

/// Values that outlive a call, kept by name where every worker finds them.
///
/// They are gone with their session: when it is ended, or was idle for
/// [`SessionConfig::idle`](crate::SessionConfig::idle).
#[derive(Clone)]
pub struct Session {
    registry: Registry,
    key: Key,
    /// Whether the first value makes the session.
    on_demand: bool,
}

/// Why a session's values could not be read or changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The session has ended, or its handle is not one of ours or of somebody else.
    #[error("there is no such session")]
    Gone,
    /// Others changed the session at the same time, again and again.
    #[error("the session is changed by too many at once")]
    Conflict,
    /// The session would hold more than [`Limits::max_session_bytes`](crate::Limits::max_session_bytes).
    #[error("a session holds at most {0} bytes")]
    TooLarge(usize),
    /// A value is no JSON, or not of the type that is asked for.
    #[error("the value of {name:?} is not of that type")]
    Type {
        /// The name of the value.
        name: String,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// The caller has [`Limits::max_sessions_per_principal`](crate::Limits::max_sessions_per_principal).
    #[error("the caller has too many sessions")]
    TooMany,
    /// The store takes no more until something has expired.
    #[error("the session store is full")]
    Full,
    /// The store failed.
    #[error("the session store failed")]
    Store(#[source] BoxError),
}

impl From<StoreError> for SessionError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Full => Self::Full,
            error => Self::Store(error.into()),
        }
    }
}

impl Session {
    pub(crate) fn new(registry: Registry, key: Key) -> Self {
        Self {
            registry,
            key,
            on_demand: false,
        }
    }

    /// A session that is kept from its first value on.
    pub(crate) fn on_demand(registry: Registry, key: Key) -> Self {
        Self {
            on_demand: true,
            ..Self::new(registry, key)
        }
    }

    async fn change<R>(
        &self,
        mut change: impl FnMut(&mut Record) -> Result<(bool, R), SessionError> + Send,
    ) -> Result<R, SessionError> {
        let registry = &self.registry;
        match registry.change_record(&self.key, &mut change).await {
            Err(SessionError::Gone) if self.on_demand => {}
            changed => return changed,
        }
        let (store, idle) = (&registry.backplane().store, registry.config().sessions.idle);
        // Somebody else may have made it meanwhile, which is as well.
        let record = Record::default().write();
        store.create(&self.key, record, idle).await?;
        registry.change_record(&self.key, &mut change).await
    }

    /// The value of that name, if there is one.
    ///
    /// # Errors
    ///
    /// [`SessionError`]; `Type` where the value is of another type.
    pub async fn get<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, SessionError> {
        let read = |record: &mut Record| Ok((false, read(record, name)?));
        self.change(read).await
    }

    /// Sets the value of that name, whatever it was.
    ///
    /// # Errors
    ///
    /// [`SessionError`].
    pub async fn set<T: Serialize + Sync>(
        &self,
        name: &str,
        value: &T,
    ) -> Result<(), SessionError> {
        let text = text(name, value)?;
        let write = |record: &mut Record| {
            record.values.insert(key(name), text.clone());
            Ok((true, ()))
        };
        self.change(write).await
    }

    /// Makes a new value of the one of that name, and gives it back; `None` removes it.
    ///
    /// `change` runs again where somebody else changed the session meanwhile, so that no update
    /// is lost: it has to do nothing else.
    ///
    /// # Errors
    ///
    /// [`SessionError`].
    pub async fn update<T: Serialize + DeserializeOwned + Send>(
        &self,
        name: &str,
        mut change: impl FnMut(Option<T>) -> Option<T> + Send,
    ) -> Result<Option<T>, SessionError> {
        let update = |record: &mut Record| {
            let new = change(read(record, name)?);
            match &new {
                Some(value) => record.values.insert(key(name), text(name, value)?),
                None => record.values.remove(name.as_bytes()),
            };
            Ok((true, new))
        };
        self.change(update).await
    }

    /// Removes the value of that name; false where there is none.
    ///
    /// # Errors
    ///
    /// [`SessionError`].
    pub async fn remove(&self, name: &str) -> Result<bool, SessionError> {
        let remove = |record: &mut Record| {
            let removed = record.values.remove(name.as_bytes()).is_some();
            Ok((removed, removed))
        };
        self.change(remove).await
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Session").finish_non_exhaustive()
    }
}

/// Sessions that a handler hands out by itself, for clients that have none of the protocol's.
///
/// A handle is an ordinary value: return it from a tool, and take it as an argument of the next.
#[derive(Clone)]
pub struct Sessions {
    registry: Registry,
    caller: Caller,
}

impl Sessions {
    pub(crate) fn new(registry: Registry, caller: Caller) -> Self {
        Self { registry, caller }
    }

    /// Opens a session, and gives its handle for the client to keep.
    ///
    /// # Security
    ///
    /// The handle is sealed and belongs to the principal of this call: nobody else can use it.
    /// Where nobody is verified, whoever has it can.
    ///
    /// # Errors
    ///
    /// [`SessionError::TooMany`] where the caller has as many as one may have,
    /// [`SessionError::Full`] where the store takes no more.
    pub async fn open(&self) -> Result<(String, Session), SessionError> {
        let id = new_id();
        let record = Record {
            owner: Bytes::copy_from_slice(self.caller.owner().as_bytes()),
            ..Record::default()
        };
        let backplane = self.registry.backplane();
        let key = Backplane::handle_key(&self.caller, &id);
        let handle = backplane
            .handles
            .seal(id.as_bytes(), self.caller.owner().as_bytes());
        let handle = handle.map_err(|error| SessionError::Store(error.into()))?;
        let config = self.registry.config();
        let (idle, who) = (config.sessions.idle, self.caller.account());
        let held = backplane.holdings.hold(&config.limits, who, &key, idle);
        held.map_err(|_| SessionError::TooMany)?;
        let error = match backplane.store.create(&key, record.write(), idle).await {
            Ok(true) => return Ok((handle, Session::new(self.registry.clone(), key))),
            Ok(false) => SessionError::Conflict,
            Err(error) => error.into(),
        };
        backplane.holdings.release(&key);
        Err(error)
    }

    /// The session of a handle that came back from the client; its idle clock starts anew.
    ///
    /// # Security
    ///
    /// `handle` may be attacker controlled: unknown, ended, foreign and forged ones are all
    /// [`SessionError::Gone`].
    ///
    /// # Errors
    ///
    /// [`SessionError`].
    pub async fn find(&self, handle: &str) -> Result<Session, SessionError> {
        let key = self.key(handle)?;
        let backplane = self.registry.backplane();
        let idle = self.registry.config().sessions.idle;
        if !backplane.store.touch(&key, idle).await? {
            return Err(SessionError::Gone);
        }
        backplane.holdings.extend(&key, idle);
        Ok(Session::new(self.registry.clone(), key))
    }

    /// Ends the session of a handle, with all its values; false where it has ended already.
    ///
    /// # Security
    ///
    /// As [`Sessions::find`].
    ///
    /// # Errors
    ///
    /// [`SessionError`].
    pub async fn end(&self, handle: &str) -> Result<bool, SessionError> {
        let key = self.key(handle)?;
        let backplane = self.registry.backplane();
        let ended = backplane.store.delete(&key).await?;
        backplane.holdings.release(&key);
        Ok(ended)
    }

    fn key(&self, handle: &str) -> Result<Key, SessionError> {
        let handles = &self.registry.backplane().handles;
        let id = handles.open(handle, self.caller.owner().as_bytes());
        let id = id.map_err(|error| {
            tracing::info!(reason = ?error, "a session handle was refused");
            SessionError::Gone
        })?;
        let id = String::from_utf8(id).map_err(|_| SessionError::Gone)?;
        Ok(Backplane::handle_key(&self.caller, &id))
    }
}

impl fmt::Debug for Sessions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Sessions").finish_non_exhaustive()
    }
}

fn key(name: &str) -> Bytes {
    Bytes::copy_from_slice(name.as_bytes())
}

fn read<T: DeserializeOwned>(record: &Record, name: &str) -> Result<Option<T>, SessionError> {
    let value = record.values.get(name.as_bytes());
    let value = value.map(|text| serde_json::from_slice(text)).transpose();
    value.map_err(|source| wrong(name, source))
}

fn text<T: Serialize>(name: &str, value: &T) -> Result<Bytes, SessionError> {
    let text = serde_json::to_vec(value).map_err(|source| wrong(name, source))?;
    Ok(Bytes::from(text))
}

fn wrong(name: &str, source: serde_json::Error) -> SessionError {
    let name = name.to_owned();
    SessionError::Type { name, source }
}
