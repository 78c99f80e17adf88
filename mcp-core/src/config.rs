//! Limits, lifetimes and choices of one server.

use std::{num::NonZeroUsize, time::Duration};

use mcp_codec::AdapterSet;
use mcp_state::KeyRing;
use mcp_types::{CacheHints, LoggingLevel};

/// Limits, lifetimes and choices of one server.
#[derive(Debug)]
#[non_exhaustive]
pub struct ServerConfig {
    /// The revisions spoken; all of them by default.
    pub revisions: AdapterSet,
    /// Entries on one page of a listing.
    pub page_size: PageSize,
    /// The keys that seal cursors, and whatever else a client holds.
    ///
    /// `None` makes a key for this process alone, so that another worker cannot read what this
    /// one issued: give every worker the same ring.
    pub keys: Option<KeyRing>,
    /// How long a tool may take unless it says otherwise; `None` is for ever.
    pub call_timeout: Option<Duration>,
    /// From which level on handshake clients get log messages until they set one themselves.
    pub default_log_level: LoggingLevel,
    /// Whether handlers' log messages go to clients at all.
    pub logging: bool,
    /// Messages in one batch of the revision that has batches.
    pub max_batch: usize,
    /// Bytes of notifications that wait for one client; a handler that reports more waits.
    pub max_queued_bytes: usize,
    /// How long, and by whom, the answer to `server/discover` may be kept.
    pub discover_hints: CacheHints,
    /// How long, and by whom, listings may be kept.
    pub listing_hints: CacheHints,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            revisions: AdapterSet::default(),
            page_size: PageSize::default(),
            keys: None,
            call_timeout: None,
            default_log_level: LoggingLevel::Info,
            logging: true,
            max_batch: 100,
            max_queued_bytes: 1 << 20,
            discover_hints: CacheHints::default(),
            listing_hints: CacheHints::default(),
        }
    }
}

/// How many entries a page of a listing has; never none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageSize(NonZeroUsize);

impl PageSize {
    /// A page of `entries`, or `None` for 0.
    #[must_use]
    pub fn new(entries: usize) -> Option<Self> {
        NonZeroUsize::new(entries).map(Self)
    }

    /// The number of entries.
    #[must_use]
    pub fn get(self) -> usize {
        self.0.get()
    }
}

impl Default for PageSize {
    /// 500 entries: more than clients show, few enough for one message.
    fn default() -> Self {
        Self(NonZeroUsize::MIN.saturating_add(499))
    }
}
