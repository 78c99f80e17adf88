//! What a handshake leaves behind, and the calls in flight of one connection.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use mcp_codec::{HandshakeState, Revision};
use mcp_types::{LoggingLevel, RequestId};

use crate::exchange::{CallState, Client};

/// One connection whose messages belong together: stdio, or any other stream of messages.
///
/// Keeps what `initialize` settled, the log level, and which calls are in flight, so that
/// `notifications/cancelled` finds them. HTTP requests without a session have none.
#[derive(Default)]
pub struct Connection {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    revision: Option<Revision>,
    initialized: bool,
    client: Client,
    log_level: Option<LoggingLevel>,
    in_flight: HashMap<RequestId, Weak<CallState>>,
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

    /// The revision to send unasked notifications in, once the client is ready for them.
    pub(crate) fn notifiable(&self) -> Option<Revision> {
        let state = self.lock();
        state.revision.filter(|_| state.initialized)
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
