//! Limits, lifetimes and choices of one server.

use std::{num::NonZeroUsize, sync::Arc, time::Duration};

use mcp_codec::AdapterSet;
use mcp_state::{KeyRing, RequestStateSecurity};
use mcp_types::{CacheHints, LoggingLevel};

use crate::{Hub, Limits, SessionStore};

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
    /// What a client can make the server spend.
    pub limits: Limits,
    /// How sessions of handshake clients begin and end.
    pub sessions: SessionConfig,
    /// What is kept for streams that break off.
    pub streams: StreamConfig,
    /// How clients are asked in the middle of a call.
    pub asking: AskingConfig,
    /// Where sessions are kept; `None` is this process's memory.
    ///
    /// Workers behind a balancer share a store, a hub and [`ServerConfig::keys`].
    pub store: Option<Arc<dyn SessionStore>>,
    /// What carries changes and replies between workers; `None` is this process's memory.
    pub hub: Option<Arc<dyn Hub>>,
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
            limits: Limits::default(),
            sessions: SessionConfig::default(),
            streams: StreamConfig::default(),
            asking: AskingConfig::default(),
            store: None,
            hub: None,
            discover_hints: CacheHints::default(),
            listing_hints: CacheHints::default(),
        }
    }
}

/// How sessions of handshake clients begin and end.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SessionConfig {
    /// Whether handshake clients have sessions over HTTP.
    pub mode: SessionMode,
    /// How long a session lives while nothing is in flight and no stream is open; 30 min.
    pub idle: Duration,
    /// How long it lives until its client goes on after `initialize`; 30 s.
    pub handshake: Duration,
}

/// Whether handshake clients have sessions over HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a client has to have a session, may have one or has none"
)]
pub enum SessionMode {
    /// `initialize` opens one, and every other request has to name it.
    #[default]
    Stateful,
    /// `initialize` opens one, and a request that names none is served on its own.
    Optional,
    /// There are none: requests stand alone, and nothing is sent that was not asked for.
    Stateless,
}

impl Default for SessionConfig {
    fn default() -> Self {
        Self {
            mode: SessionMode::default(),
            idle: Duration::from_secs(30 * 60),
            handshake: Duration::from_secs(30),
        }
    }
}

/// What is kept for streams that break off.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct StreamConfig {
    /// How long what was sent can be replayed; 5 min.
    pub keep: Duration,
    /// After how long a client comes back to a stream that has ended; 1 s.
    pub retry: Duration,
}

impl Default for StreamConfig {
    fn default() -> Self {
        Self {
            keep: Duration::from_secs(5 * 60),
            retry: Duration::from_secs(1),
        }
    }
}

/// How clients are asked in the middle of a call.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AskingConfig {
    /// How long a question on the stream waits for its answer; 5 min.
    pub timeout: Duration,
    /// How what travels with a question is protected: codec, time to live, audience, whom it is
    /// bound to. `None` seals with [`ServerConfig::keys`] for 10 minutes, for the server's name and
    /// the verified principal.
    pub security: Option<RequestStateSecurity>,
    /// How long state that stays in the store is kept; 10 min.
    pub ttl: Duration,
}

impl Default for AskingConfig {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(5 * 60),
            security: None,
            ttl: Duration::from_secs(10 * 60),
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
