//! Who a message is from, as far as earlier messages have settled it.

use std::sync::Arc;

use mcp_codec::{HandshakeState, Hints};
use mcp_types::LoggingLevel;

use crate::{Connection, Incoming, exchange::Client, session::HeldSession};

/// Who a message is from, as far as earlier messages have settled it.
#[derive(Clone)]
pub(crate) enum Peer {
    /// Nobody knows: the message stands alone.
    Stranger,
    /// Whoever is at the other end of a connection.
    Connection(Arc<Connection>),
    /// Whoever has the session's id.
    Session(Arc<HeldSession>),
}

impl Peer {
    pub(crate) fn of(incoming: &Incoming<'_>) -> Self {
        let connection = incoming.connection.cloned();
        connection.map_or(Self::Stranger, Self::Connection)
    }

    pub(crate) fn hints<'a>(&self, incoming: &Incoming<'a>) -> Hints<'a> {
        let handshake = match self {
            Self::Stranger => HandshakeState::Unknown,
            Self::Connection(connection) => connection.handshake(),
            Self::Session(session) => session
                .record
                .revision
                .map_or(HandshakeState::Awaited, HandshakeState::Done),
        };
        Hints::new(incoming.headers, handshake, incoming.pinned)
    }

    /// What the client said about itself when it introduced itself.
    pub(crate) fn client(&self) -> Client {
        match self {
            Self::Stranger => Client::default(),
            Self::Connection(connection) => connection.client(),
            Self::Session(session) => session.record.client.clone(),
        }
    }

    pub(crate) fn log_level(&self) -> Option<LoggingLevel> {
        match self {
            Self::Stranger => None,
            Self::Connection(connection) => connection.log_level(),
            Self::Session(session) => session.record.log_level,
        }
    }

    pub(crate) fn session(&self) -> Option<&Arc<HeldSession>> {
        match self {
            Self::Session(session) => Some(session),
            Self::Stranger | Self::Connection(_) => None,
        }
    }

    pub(crate) fn connection(&self) -> Option<&Arc<Connection>> {
        match self {
            Self::Connection(connection) => Some(connection),
            Self::Stranger | Self::Session(_) => None,
        }
    }
}
