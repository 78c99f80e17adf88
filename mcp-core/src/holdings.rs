//! What each caller holds in the session store: sessions and handles, as far as this process has
//! opened them.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use crate::{
    Failure, FailureKind, Key, Limits,
    budget::{Owner, Who},
};

/// The sessions and handles of this process whose callers are told apart.
///
/// Each is held until it is released, or until its time to live is over as this process knows it:
/// one that another worker alone keeps alive counts no more.
#[derive(Debug, Default)]
pub(crate) struct Holdings {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    held: HashMap<Key, Held>,
    counts: HashMap<Owner, usize>,
}

#[derive(Debug)]
struct Held {
    owner: Owner,
    until: Instant,
}

impl Holdings {
    /// Counts one more, which lives for `ttl`, if its caller may have it.
    ///
    /// Nobody in particular has no limit but that of the store.
    pub(crate) fn hold(
        &self,
        limits: &Limits,
        who: Who<'_>,
        key: &Key,
        ttl: Duration,
    ) -> Result<(), Failure> {
        let Some(owner) = who.owner() else {
            return Ok(());
        };
        let mut state = self.lock();
        let count = state.counts.get(&owner).copied().unwrap_or_default();
        if count >= limits.max_sessions_per_principal {
            drop(state);
            let setting = "Limits::max_sessions_per_principal";
            tracing::info!(setting, "a session was refused: its caller has too many");
            let message = "too many sessions of yours are open";
            return Err(Failure::new(FailureKind::TooManyRequests, message));
        }
        let until = Instant::now() + ttl;
        state.counts.insert(owner.clone(), count + 1);
        state.held.insert(key.clone(), Held { owner, until });
        Ok(())
    }

    /// One that is counted lives for `ttl` from now on.
    pub(crate) fn extend(&self, key: &Key, ttl: Duration) {
        if let Some(held) = self.lock().held.get_mut(key) {
            held.until = Instant::now() + ttl;
        }
    }

    /// One that is counted has ended.
    pub(crate) fn release(&self, key: &Key) {
        let mut state = self.lock();
        if let Some(held) = state.held.remove(key) {
            state.discount(&held.owner);
        }
    }

    /// Forgets those whose time is over.
    pub(crate) fn purge(&self) {
        let now = Instant::now();
        let mut state = self.lock();
        let over = state.held.extract_if(|_, held| held.until <= now);
        let over: Vec<_> = over.map(|(_, held)| held.owner).collect();
        over.iter().for_each(|owner| state.discount(owner));
        state.held.shrink_to(SMALL);
        state.counts.shrink_to(SMALL);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn discount(&mut self, owner: &Owner) {
        if let Some(count) = self.counts.get_mut(owner) {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(owner);
            }
        }
    }
}

/// How many may be kept room for.
const SMALL: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn limits() -> Limits {
        Limits {
            max_sessions_per_principal: 2,
            ..Limits::default()
        }
    }

    fn key(id: &str) -> Key {
        Key::new("", "session", id)
    }

    #[tokio::test(start_paused = true)]
    async fn each_caller_has_a_number_of_its_own() {
        let (holdings, limits) = (Holdings::default(), limits());
        let hold = |who, id| holdings.hold(&limits, who, &key(id), SECOND).is_ok();
        let (alice, there) = (Who::Principal("alice"), Who::Stranger("alice"));
        assert!(hold(alice, "1") && hold(alice, "2") && !hold(alice, "3"));
        assert!(hold(there, "4") && hold(there, "5") && !hold(there, "6"));
        assert!(["7", "8", "9"].iter().all(|id| hold(Who::Nobody, id)));
        holdings.release(&key("1"));
        holdings.release(&key("1"));
        assert!(hold(alice, "3") && !hold(alice, "1"));
        for id in ["2", "3", "4", "5"] {
            holdings.release(&key(id));
        }
        let state = holdings.lock();
        assert!(state.held.is_empty() && state.counts.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn what_has_expired_counts_no_more() {
        let (holdings, limits) = (Holdings::default(), limits());
        let alice = Who::Principal("alice");
        let hold = |id| holdings.hold(&limits, alice, &key(id), SECOND).is_ok();
        assert!(hold("1") && hold("2"));
        tokio::time::advance(SECOND / 2).await;
        holdings.extend(&key("1"), SECOND);
        holdings.extend(&key("unknown"), SECOND);
        tokio::time::advance(SECOND / 2).await;
        holdings.purge();
        assert!(hold("3") && !hold("4"));
        tokio::time::advance(SECOND).await;
        holdings.purge();
        assert!(holdings.lock().counts.is_empty());
    }
}
