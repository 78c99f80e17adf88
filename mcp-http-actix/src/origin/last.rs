//! The host that was served last: most requests are for the same one.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A `Host` that was found to be ours, so that it is not taken apart again.
#[derive(Debug, Default)]
pub(super) struct Last(Mutex<String>);

impl Last {
    /// Whether it is that one, to the letter.
    pub(super) fn is(&self, host: &str) -> bool {
        !host.is_empty() && *self.lock() == host
    }

    pub(super) fn remember(&self, host: &str) {
        host.clone_into(&mut self.lock());
    }

    fn lock(&self) -> MutexGuard<'_, String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Each worker has its own.
impl Clone for Last {
    fn clone(&self) -> Self {
        Self::default()
    }
}
