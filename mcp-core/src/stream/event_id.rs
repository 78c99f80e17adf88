//! Event ids: sealed places in one stream of one session.
//!
//! Source: `basic/transports` of 2025-03-26 to 2025-11-25, "Resumability and Redelivery".

use std::fmt;

use mcp_state::{KeyRing, Purpose, Sealer};
use rand::Rng;

use crate::Position;

/// Tells the streams of one session apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct StreamId([u8; Self::SIZE]);

impl StreamId {
    pub(crate) const SIZE: usize = 16;
    /// The stream that a GET opens: there is one of it in each session.
    pub(crate) const STANDALONE: Self = Self([0; Self::SIZE]);

    /// A stream that nobody can guess.
    pub(crate) fn random() -> Self {
        let mut bytes = [0; Self::SIZE];
        rand::rng().fill_bytes(&mut bytes);
        Self(bytes)
    }

    pub(crate) fn from_bytes(bytes: [u8; Self::SIZE]) -> Self {
        Self(bytes)
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// As text, for a key.
    pub(crate) fn text(&self) -> String {
        use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
        URL_SAFE_NO_PAD.encode(self.0)
    }
}

impl fmt::Debug for StreamId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("StreamId").finish_non_exhaustive()
    }
}

/// Where an event stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) stream: StreamId,
    pub(crate) position: Position,
    /// Whether nothing comes after it: it is the reply.
    pub(crate) last: bool,
}

impl Place {
    const SIZE: usize = StreamId::SIZE + 9;
}

/// Seals and opens the event ids of one server.
pub(crate) struct EventIds {
    sealer: Sealer,
}

impl EventIds {
    pub(crate) fn new(keys: &KeyRing) -> Self {
        Self {
            sealer: Sealer::new(keys, Purpose::EventId).with_max_token_len(256),
        }
    }

    /// The id of what stands at a place.
    pub(crate) fn seal(&self, session: &str, place: Place) -> Option<String> {
        let mut bytes = [0; Place::SIZE];
        let (stream, rest) = bytes.split_at_mut(StreamId::SIZE);
        stream.copy_from_slice(place.stream.as_bytes());
        let (position, last) = rest.split_at_mut(8);
        position.copy_from_slice(&place.position.get().to_be_bytes());
        last.fill(u8::from(place.last));
        self.sealer.seal(&bytes, session.as_bytes()).ok()
    }

    /// The place that an id of this session names.
    ///
    /// # Security
    ///
    /// An id of another session, of another purpose or of nobody names none.
    pub(crate) fn open(&self, session: &str, id: &str) -> Option<Place> {
        let bytes = match self.sealer.open(id, session.as_bytes()) {
            Ok(bytes) => bytes,
            Err(error) => {
                tracing::info!(reason = ?error, "an event id was refused");
                return None;
            }
        };
        let (stream, rest) = bytes.split_first_chunk::<{ StreamId::SIZE }>()?;
        let (position, last) = rest.split_first_chunk::<8>()?;
        Some(Place {
            stream: StreamId(*stream),
            position: Position::new(u64::from_be_bytes(*position)),
            last: last == [1],
        })
    }
}

impl fmt::Debug for EventIds {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("EventIds").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_id_opens_in_its_own_session_alone() {
        let ids = EventIds::new(&KeyRing::ephemeral());
        let place = Place {
            stream: StreamId::random(),
            position: Position::new(77),
            last: true,
        };
        let id = ids.seal("session-a", place).unwrap();
        assert_eq!(ids.open("session-a", &id), Some(place));
        assert_eq!(ids.open("session-b", &id), None);
        assert_eq!(ids.open("session-a", "no-such-id"), None);
        let others = EventIds::new(&KeyRing::ephemeral());
        assert_eq!(others.open("session-a", &id), None);
    }
}
