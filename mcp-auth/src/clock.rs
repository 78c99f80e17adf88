//! The time that tokens and keys are judged by.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, SystemTime},
};

/// Where the time comes from.
#[derive(Clone)]
pub(crate) struct Clock(Arc<dyn Fn() -> SystemTime + Send + Sync>);

impl Clock {
    pub(crate) fn new(now: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    pub(crate) fn now(&self) -> SystemTime {
        (self.0)()
    }
}

impl Default for Clock {
    fn default() -> Self {
        #[expect(
            clippy::disallowed_methods,
            reason = "tokens and keys expire by the time of day"
        )]
        Self::new(SystemTime::now)
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Clock").finish_non_exhaustive()
    }
}

/// Whether that much time has passed since then. A clock that was set back has passed it, so that
/// nothing waits for a time that was never meant.
pub(crate) fn passed(now: SystemTime, then: SystemTime, time: Duration) -> bool {
    now.duration_since(then).map_or(true, |it| it >= time)
}
