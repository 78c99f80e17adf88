//! What is known of a message's revision besides its body.

use std::fmt;

use crate::{Headers, Revision};

/// Whether a handshake has been, could be or will be made on this connection.
#[derive(Debug, Clone, Copy, Default)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a handshake is made, awaited or not known of"
)]
pub enum HandshakeState {
    /// HTTP without a session: nobody can know.
    #[default]
    Unknown,
    /// A connection that begins with one, before it was made.
    Awaited,
    /// The revision that was negotiated.
    Done(Revision),
}

/// What a message says about its revision outside its body.
#[derive(Clone, Copy, Default)]
#[non_exhaustive]
pub struct Hints<'a> {
    /// The headers, where the transport has any.
    pub headers: Option<&'a dyn Headers>,
    /// What is known of a handshake.
    pub handshake: HandshakeState,
    /// The one revision that the endpoint's address names.
    pub pinned: Option<&'a str>,
}

impl fmt::Debug for Hints<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Hints")
            .field("headers", &self.headers.is_some())
            .field("handshake", &self.handshake)
            .field("pinned", &self.pinned)
            .finish()
    }
}

impl<'a> Hints<'a> {
    /// What the transport knows.
    #[must_use]
    pub fn new(
        headers: Option<&'a dyn Headers>,
        handshake: HandshakeState,
        pinned: Option<&'a str>,
    ) -> Self {
        Self {
            headers,
            handshake,
            pinned,
        }
    }
}
