//! The time of day, which is asked for here alone: what outlives the process is dated with it.

use std::time::SystemTime;

/// The time of day: for tokens, credentials and whatever else another process dates as well.
#[expect(
    clippy::disallowed_methods,
    reason = "what outlives the process carries the time of day"
)]
pub(crate) fn time_of_day() -> SystemTime {
    SystemTime::now()
}
