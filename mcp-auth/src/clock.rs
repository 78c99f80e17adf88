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

/// Whether that much time has passed since then.
///
/// Of two requests the one that looked at the clock first may be the later one here, so that what
/// is a little ahead has not passed. A clock that was set back by more has passed everything, so
/// that nothing waits for a time that was never meant.
pub(crate) fn passed(now: SystemTime, then: SystemTime, time: Duration) -> bool {
    match now.duration_since(then) {
        Ok(since) => since >= time,
        Err(ahead) => ahead.duration() > A_LITTLE,
    }
}

const A_LITTLE: Duration = Duration::from_mins(1);

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::passed;

    #[test]
    fn time_passes_and_is_set_back() {
        let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        let check = |now, then| passed(at(now), at(then), Duration::from_secs(30));
        assert!(check(130, 100));
        assert!(!check(129, 100));
        assert!(!check(99, 100), "two requests at once");
        assert!(check(100, 1000), "the clock was set back");
    }
}
