//! Sessions of handshake clients: opened by `initialize`, found by their id, ended by DELETE or
//! by idleness.
//!
//! Source: `basic/transports` of 2025-03-26 to 2025-11-25, "Session Management".

mod control;
mod record;
mod values;

use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use mcp_codec::{Failure, FailureKind};
use rand::Rng;

pub(crate) use control::Control;
pub(crate) use record::Record;
pub use values::{Session, SessionError, Sessions};

use crate::{
    Key, Registry, StoreError, Stored, backplane::Backplane, caller::Caller, stream::StreamId,
};

/// A session as one request finds it.
pub(crate) struct HeldSession {
    pub(crate) id: Box<str>,
    /// Whose it is.
    pub(crate) caller: Caller,
    pub(crate) record: Record,
}

impl HeldSession {
    pub(crate) fn key(&self) -> Key {
        Backplane::session_key(&self.caller, &self.id)
    }

    /// What the workers that serve it tell one another.
    pub(crate) fn control_topic(&self) -> Key {
        Key::new(self.caller.namespace(), "control", &self.id)
    }

    /// What one call's stream has sent.
    pub(crate) fn stream_topic(&self, stream: StreamId) -> Key {
        let id = format!("{}/{}", self.id, stream.text());
        Key::new(self.caller.namespace(), "stream", &id)
    }

    /// All that the stream of an HTTP+SSE connection is to send.
    pub(crate) fn outbox_topic(&self) -> Key {
        Key::new(self.caller.namespace(), "outbox", &self.id)
    }
}

/// An id that nobody can guess: 192 bits, 32 visible characters.
pub(crate) fn new_id() -> Box<str> {
    let mut bytes = [0; 24];
    rand::rng().fill_bytes(&mut bytes);
    URL_SAFE_NO_PAD.encode(bytes).into()
}

/// How a request for an unknown, ended or foreign session is answered.
pub(crate) fn not_found() -> Failure {
    Failure::new(
        FailureKind::SessionNotFound,
        "session not found: send `initialize` to open one",
    )
}

/// A failing store is nobody's business but the operator's.
pub(crate) fn store_failure(error: &StoreError) -> Failure {
    let incident = crate::outcome::incident();
    if matches!(error, StoreError::Full) {
        let setting = "Limits::max_sessions";
        tracing::warn!(setting, "a session was refused: the store takes no more");
        return Failure::new(
            FailureKind::Overloaded,
            "the server holds as much as it can",
        );
    }
    let error = error as &dyn std::error::Error;
    tracing::error!(incident, error, "the session store failed");
    Failure::internal(&incident)
}

/// What a session's own requests are told of it.
pub(crate) fn failure(error: SessionError) -> Failure {
    match error {
        SessionError::Gone => not_found(),
        SessionError::Full => store_failure(&StoreError::Full),
        SessionError::TooLarge(_) => {
            Failure::new(FailureKind::InvalidParams, "the session holds too much")
        }
        error => {
            let incident = crate::outcome::incident();
            let error = &error as &dyn std::error::Error;
            tracing::error!(incident, error, "a session could not be changed");
            Failure::internal(&incident)
        }
    }
}

/// Whether an id may be one that was given out, which spares the store the others.
fn plausible(id: &str) -> bool {
    id.len() <= MAX_ID && id.bytes().all(|byte| byte.is_ascii_graphic())
}

impl Registry {
    /// Opens a session.
    pub(crate) async fn open_session(
        &self,
        caller: &Caller,
        record: &Record,
        ttl: Duration,
    ) -> Result<Box<str>, Failure> {
        let id = new_id();
        let key = Backplane::session_key(caller, &id);
        let (backplane, limits) = (self.backplane(), &self.config().limits);
        backplane
            .holdings
            .hold(limits, caller.account(), &key, ttl)?;
        let failure = match backplane.store.create(&key, record.write(), ttl).await {
            Ok(true) => return Ok(id),
            // 192 random bits do not come twice: the store is not what it seems.
            Ok(false) => Failure::internal(&crate::outcome::incident()),
            Err(error) => store_failure(&error),
        };
        backplane.holdings.release(&key);
        Err(failure)
    }

    /// Finds a session of its owner at once, where the store knows at once and the idle clock need
    /// not be started anew.
    pub(crate) fn session_now(&self, id: &str, caller: &Caller) -> Option<HeldSession> {
        let key = plausible(id).then(|| Backplane::session_key(caller, id))?;
        let stored = self.backplane().store.get_now(&key)??;
        if self.is_to_be_touched(&stored) {
            return None;
        }
        self.held(id, caller, stored)
    }

    /// Finds a session of its owner, and starts its idle clock anew.
    ///
    /// # Security
    ///
    /// Unknown, ended and foreign sessions are not told apart.
    pub(crate) async fn find_session(
        &self,
        id: &str,
        caller: &Caller,
    ) -> Result<HeldSession, Failure> {
        if !plausible(id) {
            return Err(not_found());
        }
        let store = &self.backplane().store;
        let key = Backplane::session_key(caller, id);
        let stored = store.get(&key).await.map_err(|it| store_failure(&it))?;
        let stored = stored.ok_or_else(not_found)?;
        let touch = self.is_to_be_touched(&stored);
        let session = self.held(id, caller, stored).ok_or_else(not_found)?;
        if touch {
            let idle = self.config().sessions.idle;
            let touched = store.touch(&key, idle).await;
            if !touched.map_err(|it| store_failure(&it))? {
                return Err(not_found());
            }
            self.backplane().holdings.extend(&key, idle);
        }
        Ok(session)
    }

    /// A session in use is touched now and then, not with each request.
    fn is_to_be_touched(&self, stored: &Stored) -> bool {
        let idle = self.config().sessions.idle;
        stored.remaining < idle - idle / 8 || stored.remaining > idle
    }

    fn held(&self, id: &str, caller: &Caller, stored: Stored) -> Option<HeldSession> {
        let record = Record::read(stored.value, &self.config().revisions)?;
        let owned = record.owner == caller.owner().as_bytes();
        owned.then(|| HeldSession {
            id: id.into(),
            caller: caller.clone(),
            record,
        })
    }

    /// Ends a session; whatever belongs to it is told.
    pub(crate) async fn end_session(&self, session: &HeldSession) -> Result<(), Failure> {
        let (backplane, key) = (self.backplane(), session.key());
        let deleted = backplane.store.delete(&key).await;
        deleted.map_err(|it| store_failure(&it))?;
        backplane.busy.forget(&key);
        backplane.holdings.release(&key);
        backplane.tell(session, &Control::Ended).await;
        Ok(())
    }

    /// Changes what is kept of a session, again where somebody else was faster.
    ///
    /// `change` gives back whether anything is to be saved.
    pub(crate) async fn change_record<R>(
        &self,
        key: &Key,
        mut change: impl FnMut(&mut Record) -> Result<(bool, R), SessionError> + Send,
    ) -> Result<R, SessionError> {
        let store = &self.backplane().store;
        let (max, idle) = (
            self.config().limits.max_session_bytes,
            self.config().sessions.idle,
        );
        for attempt in 0..MAX_ATTEMPTS {
            let stored = store.get(key).await?.ok_or(SessionError::Gone)?;
            let record = Record::read(stored.value, &self.config().revisions);
            let mut record = record.ok_or(SessionError::Gone)?;
            let (changed, result) = change(&mut record)?;
            if !changed {
                return Ok(result);
            }
            if record.size() > max {
                return Err(SessionError::TooLarge(max));
            }
            let saved = store.save(key, record.write(), stored.stamp, idle);
            if saved.await?.is_some() {
                self.backplane().holdings.extend(key, idle);
                return Ok(result);
            }
            if attempt > 2 {
                // Many writers at once: let some of them finish.
                let pause = rand::random_range(0..1 << attempt.min(6));
                tokio::time::sleep(Duration::from_millis(pause)).await;
            }
        }
        Err(SessionError::Conflict)
    }
}

const MAX_ID: usize = 128;
const MAX_ATTEMPTS: u32 = 24;
