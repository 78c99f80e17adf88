//! What a client can make the server spend, in one place.

use std::{num::NonZeroU32, time::Duration};

/// What a client can make the server spend.
///
/// Everything here is counted in one process; `n` workers together allow `n` times as much. What is
/// refused says so: 413 for what is too large, 429 for a caller that does or holds too much, 503 for
/// a server that has too much to do, the latter two with `Retry-After`; and
/// [`Registry::usage`](crate::Registry::usage) counts it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Limits {
    /// The largest body of an HTTP request, in bytes; 4 MiB.
    pub max_body: usize,
    /// Bytes of bodies that are held at once, until their calls are answered; 12 MiB, and at least
    /// twice `max_body`.
    ///
    /// As they fill up, ever smaller bodies find room: none may be larger than what is left. Up to
    /// 16 KiB always do, and do not count.
    pub max_bodies: usize,
    /// The longest line on stdio, in bytes; 16 MiB.
    pub max_line: usize,
    /// All the headers of an HTTP request together, in bytes; 32 KiB.
    pub max_headers: usize,
    /// Messages in one batch of the revision that has batches; 100.
    pub max_batch: usize,
    /// How deep arrays and objects of a message may lie in one another; 128.
    pub max_depth: usize,
    /// How many values a message may have: texts, numbers, arrays, objects; 50,000.
    ///
    /// Read into a tree, one of a few bytes may take up hundreds.
    pub max_values: usize,
    /// How long a client may take to send a body; 30 s.
    pub read_timeout: Duration,
    /// Sessions and other entries of the memory store; 10,000. A store of your own has its own.
    pub max_sessions: usize,
    /// Sessions and session handles of one principal; 1000. Those that strangers open count by their
    /// source, as for `rate`.
    pub max_sessions_per_principal: usize,
    /// How many bytes a session may hold with all its values, and a handle's values; 256 KiB.
    pub max_session_bytes: usize,
    /// How many resources a session or a subscription may watch; 1000.
    pub max_watched: usize,
    /// Up to how many bytes of state travel with a question; what is larger stays in the session
    /// store, and a handle travels. 16 KiB.
    pub max_carried: usize,
    /// Up to how many bytes of state stay in the store; 256 KiB.
    pub max_stored: usize,
    /// Streams that wait for changes or replay; 20,000.
    pub max_streams: usize,
    /// The same for one principal; 200.
    pub max_streams_per_principal: usize,
    /// The same for one session or one connection; 16.
    pub max_streams_per_session: usize,
    /// Bytes of notifications of one call that wait for its client; 1 MiB.
    pub max_queued: usize,
    /// How long a notification may wait for its client before the client is cut off; 30 s.
    pub max_queued_age: Duration,
    /// Handlers at work; 10,000.
    pub max_calls: usize,
    /// The same for one principal; 1000.
    pub max_calls_per_principal: usize,
    /// How many messages one principal may send; 200 a second, after a burst of 400.
    ///
    /// Strangers are told apart by what the transport knows of their source, if it knows
    /// anything; otherwise they have no limit of their own.
    pub rate: Option<Rate>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_body: 4 << 20,
            max_bodies: 12 << 20,
            max_line: 16 << 20,
            max_headers: 32 << 10,
            max_batch: 100,
            max_depth: 128,
            max_values: 50_000,
            read_timeout: Duration::from_secs(30),
            max_sessions: 10_000,
            max_sessions_per_principal: 1000,
            max_session_bytes: 256 << 10,
            max_watched: 1000,
            max_carried: 16 << 10,
            max_stored: 256 << 10,
            max_streams: 20_000,
            max_streams_per_principal: 200,
            max_streams_per_session: 16,
            max_queued: 1 << 20,
            max_queued_age: Duration::from_secs(30),
            max_calls: 10_000,
            max_calls_per_principal: 1000,
            rate: Some(Rate::default()),
        }
    }
}

/// How many messages may come: so many at once, then so many a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    per_second: NonZeroU32,
    burst: NonZeroU32,
}

impl Rate {
    /// So many a second, after a `burst`; neither is taken for less than 1.
    ///
    /// The burst has to let a handshake through, with what a client lists at first: 10 at least.
    #[must_use]
    pub fn new(per_second: u32, burst: u32) -> Self {
        let positive = |number| NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN);
        Self {
            per_second: positive(per_second),
            burst: positive(burst),
        }
    }

    pub(crate) fn per_second(self) -> f64 {
        f64::from(self.per_second.get())
    }

    pub(crate) fn burst(self) -> f64 {
        f64::from(self.burst.get())
    }
}

impl Default for Rate {
    fn default() -> Self {
        Self::new(200, 400)
    }
}
