//! Pagination cursors: sealed positions that open for their own listing and caller alone.
//!
//! Source: `server/utilities/pagination` of every revision.

use std::fmt;

use mcp_state::{KeyRing, Purpose, Sealer};

use crate::caller::Caller;

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

    /// The cursor behind `last`, the name of the last entry that was listed to a caller.
    pub(crate) fn after(&self, caller: &Caller, listing: &str, last: &str) -> Option<String> {
        let binding = caller.binding(listing);
        self.sealer.seal(last.as_bytes(), binding.as_bytes()).ok()
    }

    /// The name of the last entry that was listed, out of a cursor.
    pub(crate) fn open(&self, caller: &Caller, listing: &str, cursor: &str) -> Option<String> {
        match self.sealer.open(cursor, caller.binding(listing).as_bytes()) {
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
