//! What a handshake leaves behind, and the calls in flight of one connection.

use std::{
    collections::{HashMap, HashSet},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use bytes::Bytes;
use mcp_codec::{HandshakeState, Revision};
use mcp_types::{LoggingLevel, RequestId};

use crate::{
    Key, Registry, Session,
    backplane::Backplane,
    busy::Occupied,
    caller::Caller,
    closing::{Closed, Closing},
    exchange::{CallState, Client},
    session::new_id,
    stream::Wanted,
};

/// One connection whose messages belong together: stdio, or any other stream of messages.
///
/// Keeps what `initialize` settled, the log level, and which calls are in flight, so that
/// `notifications/cancelled` finds them. HTTP requests without a session have none.
#[derive(Default)]
pub struct Connection {
    state: Mutex<State>,
    closing: Arc<Closing>,
}

#[derive(Default)]
struct State {
    revision: Option<Revision>,
    initialized: bool,
    client: Client,
    log_level: Option<LoggingLevel>,
    in_flight: HashMap<RequestId, Weak<CallState>>,
    watched: HashSet<Box<str>>,
    values: Option<Values>,
}

/// The place in the store where handlers keep values of this connection.
struct Values {
    key: Key,
    _occupied: Occupied,
}

impl Connection {
    /// A connection on which nothing has been said.
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::new(Self::default())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends what stays open on it, subscriptions, each as its protocol has it.
    pub fn close(&self) {
        self.closing.close();
    }

    pub(crate) fn closed(&self) -> Closed {
        self.closing.closed()
    }

    pub(crate) fn handshake(&self) -> HandshakeState {
        self.lock()
            .revision
            .map_or(HandshakeState::Awaited, HandshakeState::Done)
    }

    pub(crate) fn settle(&self, revision: Revision, client: Client) {
        let mut state = self.lock();
        state.revision = Some(revision);
        state.client = client;
    }

    pub(crate) fn initialized(&self) {
        self.lock().initialized = true;
    }

    /// What the client hears of unasked, once it is ready for it.
    pub(crate) fn wanted(&self) -> Option<Wanted> {
        let state = self.lock();
        if state.revision.is_none() || !state.initialized {
            return None;
        }
        let mut wanted = Wanted::lists();
        wanted.watched.clone_from(&state.watched);
        Some(wanted)
    }

    /// A name that no other connection has while this one lasts.
    pub(crate) fn name(&self) -> String {
        format!("{:p}", std::ptr::from_ref(self))
    }

    /// Watches a resource; false where it watches `max` already.
    pub(crate) fn watch(&self, uri: &str, max: usize) -> bool {
        let mut state = self.lock();
        let room = state.watched.len() < max || state.watched.contains(uri);
        if room {
            state.watched.insert(uri.into());
        }
        room
    }

    pub(crate) fn unwatch(&self, uri: &str) {
        self.lock().watched.remove(uri);
    }

    /// The values that handlers keep for this client, once it has introduced itself.
    pub(crate) fn session(&self, registry: &Registry, caller: &Caller) -> Option<Session> {
        let mut state = self.lock();
        state.revision?;
        let values = state.values.get_or_insert_with(|| {
            let key = Backplane::session_key(caller, &new_id());
            Values {
                _occupied: registry.backplane().busy.enter(key.clone()),
                key,
            }
        });
        Some(Session::on_demand(registry.clone(), values.key.clone()))
    }

    pub(crate) fn client(&self) -> Client {
        self.lock().client.clone()
    }

    pub(crate) fn log_level(&self) -> Option<LoggingLevel> {
        self.lock().log_level
    }

    pub(crate) fn set_log_level(&self, level: LoggingLevel) {
        self.lock().log_level = Some(level);
    }

    pub(crate) fn is_in_flight(&self, id: &RequestId) -> bool {
        let state = self.lock();
        state
            .in_flight
            .get(id)
            .is_some_and(|call| call.strong_count() > 0)
    }

    pub(crate) fn begin(&self, id: RequestId, call: &Arc<CallState>) {
        self.lock().in_flight.insert(id, Arc::downgrade(call));
    }

    pub(crate) fn end(&self, id: &RequestId) {
        self.lock().in_flight.remove(id);
    }

    /// Hands a client's answer to the call that waits for it; one that nobody waits for is late.
    pub(crate) fn deliver(&self, id: &RequestId, answer: &Bytes) {
        let calls: Vec<_> = self
            .lock()
            .in_flight
            .values()
            .filter_map(Weak::upgrade)
            .collect();
        if !calls.iter().any(|call| call.deliver(id, answer)) {
            tracing::debug!(%id, "an answer that nobody waits for was ignored");
        }
    }

    /// Cancels a call; an id that is not in flight is no mistake.
    pub(crate) fn cancel(&self, id: &RequestId) {
        let call = self.lock().in_flight.remove(id);
        if let Some(call) = call.and_then(|call| call.upgrade()) {
            call.cancel();
        }
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        formatter
            .debug_struct("Connection")
            .field("revision", &state.revision)
            .field("in_flight", &state.in_flight.len())
            .finish_non_exhaustive()
    }
}
