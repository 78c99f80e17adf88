//! Pagination cursors: sealed positions that open for their own listing alone.
//!
//! Source: `server/utilities/pagination` of every revision.

use std::fmt;

use mcp_state::{KeyRing, Purpose, Sealer};

/// Seals and opens the cursors of one server.
pub(crate) struct Cursors {
    sealer: Sealer,
}

impl Cursors {
    pub(crate) fn new(keys: &KeyRing) -> Self {
        Self {
            sealer: Sealer::new(keys, Purpose::Cursor),
        }
    }

    /// The cursor behind `last`, the name of the last entry that was listed.
    pub(crate) fn after(&self, listing: &str, last: &str) -> Option<String> {
        self.sealer.seal(last.as_bytes(), listing.as_bytes()).ok()
    }

    /// The name of the last entry that was listed, out of a cursor.
    pub(crate) fn open(&self, listing: &str, cursor: &str) -> Option<String> {
        match self.sealer.open(cursor, listing.as_bytes()) {
            Ok(name) => String::from_utf8(name).ok(),
            Err(error) => {
                tracing::info!(listing, reason = ?error, "a cursor was refused");
                None
            }
        }
    }
}

impl fmt::Debug for Cursors {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Cursors").finish_non_exhaustive()
    }
}
