//! Sessions whose idle clock stands still: a call is in flight, or a stream is open.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;

use crate::Key;

/// Which sessions this process is at work for.
#[derive(Debug)]
pub(crate) struct Busy {
    state: Mutex<State>,
    wake: Arc<Notify>,
}

#[derive(Debug, Default)]
struct State {
    counts: HashMap<Key, usize>,
    /// Those that have just become idle: their clock starts anew.
    released: Vec<Key>,
}

/// Keeps one session's idle clock from running.
#[derive(Debug)]
pub(crate) struct Occupied {
    busy: Arc<Busy>,
    key: Key,
}

impl Busy {
    pub(crate) fn new(wake: Arc<Notify>) -> Self {
        Self {
            state: Mutex::default(),
            wake,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn enter(self: &Arc<Self>, key: Key) -> Occupied {
        *self.lock().counts.entry(key.clone()).or_default() += 1;
        Occupied {
            busy: Arc::clone(self),
            key,
        }
    }

    /// Those that are busy.
    pub(crate) fn all(&self) -> Vec<Key> {
        self.lock().counts.keys().cloned().collect()
    }

    /// Those that have become idle since the last time.
    pub(crate) fn released(&self) -> Vec<Key> {
        std::mem::take(&mut self.lock().released)
    }

    /// A session that has ended has no clock.
    pub(crate) fn forget(&self, key: &Key) {
        self.lock().counts.remove(key);
    }
}

impl Drop for Occupied {
    fn drop(&mut self) {
        let mut state = self.busy.lock();
        let Some(count) = state.counts.get_mut(&self.key) else {
            return;
        };
        *count -= 1;
        if *count == 0 {
            state.counts.remove(&self.key);
            state.released.push(self.key.clone());
            drop(state);
            self.busy.wake.notify_one();
        }
    }
}
