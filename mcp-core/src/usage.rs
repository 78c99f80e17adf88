//! What the server is at, and what it has refused, for whoever watches over it.

use std::{
    borrow::Cow,
    sync::atomic::{AtomicU64, Ordering},
};

use crate::{Failure, FailureKind, Registry};

/// What one process is at, and what it has refused since it began.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// Handlers at work.
    pub calls: usize,
    /// Streams that wait for changes or replay.
    pub streams: usize,
    /// Bytes of bodies that are held, of those that count to `Limits::max_bodies`.
    pub bodies: usize,
    /// How often a request was refused, for each reason for which it ever was.
    pub refusals: Vec<(FailureKind, u64)>,
}

impl Usage {
    /// How often a request was refused for that reason.
    #[must_use]
    pub fn refused(&self, kind: FailureKind) -> u64 {
        let found = self.refusals.iter().find(|(it, _)| *it == kind);
        found.map_or(0, |(_, count)| *count)
    }
}

impl Registry {
    /// What this process is at, and what it has refused, for whoever watches over it.
    #[must_use]
    pub fn usage(&self) -> Usage {
        let backplane = self.backplane();
        Usage {
            calls: backplane.budget.calls(),
            streams: backplane.gauges.open(),
            bodies: backplane.room.taken(),
            refusals: backplane.refusals.all(),
        }
    }

    /// Counts a refusal and says it to the log: every one of them passes here, whoever words it.
    pub(crate) fn note_refusal(&self, failure: &Failure) {
        self.backplane().refusals.count(failure.kind);
        let kind = failure.kind;
        tracing::debug!(
            ?kind,
            reason = reason(failure),
            setting = setting(kind),
            "refused"
        );
    }
}

/// What the log may have of a refusal: what is wrong with parameters can quote them.
fn reason(failure: &Failure) -> Option<&str> {
    match (failure.kind, &failure.message) {
        (FailureKind::InvalidParams | FailureKind::Internal, Cow::Owned(_)) => None,
        (_, message) => Some(message),
    }
}

/// What an operator changes who wants to serve such requests.
const fn setting(kind: FailureKind) -> Option<&'static str> {
    match kind {
        FailureKind::TooLarge => Some("Limits::max_body, Limits::max_values"),
        FailureKind::HeadersTooLarge => Some("Limits::max_headers"),
        FailureKind::TooSlow => Some("Limits::read_timeout"),
        FailureKind::UnsupportedVersion => Some("ServerConfig::revisions"),
        _ => None,
    }
}

/// Counts refusals.
#[derive(Debug, Default)]
pub(crate) struct Refusals {
    counts: [AtomicU64; WATCHED.len()],
}

impl Refusals {
    /// Counts one more, if the reason is of those that say something of the callers.
    pub(crate) fn count(&self, kind: FailureKind) {
        let place = WATCHED.iter().position(|it| *it == kind);
        if let Some(count) = place.and_then(|at| self.counts.get(at)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn all(&self) -> Vec<(FailureKind, u64)> {
        let counts = self.counts.iter().map(|it| it.load(Ordering::Relaxed));
        let counted = WATCHED.iter().copied().zip(counts);
        counted.filter(|(_, count)| *count > 0).collect()
    }
}

/// Reasons that say something of the callers, or of how large the server is.
const WATCHED: [FailureKind; 13] = [
    FailureKind::Parse,
    FailureKind::InvalidRequest,
    FailureKind::Forbidden,
    FailureKind::Unauthorized,
    FailureKind::InsufficientScope,
    FailureKind::SessionNotFound,
    FailureKind::InvalidCursor,
    FailureKind::InvalidRequestState,
    FailureKind::TooLarge,
    FailureKind::HeadersTooLarge,
    FailureKind::TooSlow,
    FailureKind::TooManyRequests,
    FailureKind::Overloaded,
];
