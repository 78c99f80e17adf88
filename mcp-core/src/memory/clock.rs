//! Time as the memory backends count it.

use std::time::Duration;

use tokio::time::Instant;

/// Counts from when it was made; tests may pause it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    start: Instant,
}

impl Clock {
    pub(super) fn now(&self) -> Moment {
        Moment(nanoseconds(
            Instant::now().saturating_duration_since(self.start),
        ))
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self {
            start: Instant::now(),
        }
    }
}

/// A point in time of one [`Clock`]: half as large as an instant, and it cannot overflow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Moment(u64);

impl Moment {
    pub(super) fn plus(self, time: Duration) -> Self {
        Self(self.0.saturating_add(nanoseconds(time)))
    }

    /// How long it is from here to `later`.
    pub(super) fn until(self, later: Self) -> Duration {
        Duration::from_nanos(later.0.saturating_sub(self.0))
    }

    pub(super) const fn from_nanoseconds(nanoseconds: u64) -> Self {
        Self(nanoseconds)
    }

    pub(super) const fn nanoseconds(self) -> u64 {
        self.0
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
