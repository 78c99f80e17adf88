//! Keys that are fetched, kept for a while, and served on while they cannot be fetched.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};

use mcp_core::{BoxError, auth::AuthError};
use tokio::{runtime::Handle, sync::watch, time::timeout};

use crate::{
    ConfigError,
    clock::{Clock, passed},
    http::{Address, Fetched, Fetcher},
    keys::{discovery::Issuer, set::KeySet},
};

/// How long fetched keys are kept, and how often they are asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Caching {
    pub(crate) at_least: Duration,
    pub(crate) at_most: Duration,
    pub(crate) refresh_after: Duration,
    pub(crate) stale_for: Duration,
    pub(crate) timeout: Duration,
}

impl Default for Caching {
    fn default() -> Self {
        Self {
            at_least: Duration::from_mins(1),
            at_most: Duration::from_hours(1),
            refresh_after: Duration::from_secs(30),
            stale_for: Duration::from_hours(24),
            timeout: Duration::from_secs(10),
        }
    }
}

#[derive(Debug)]
pub(crate) enum Place {
    Keys(Address),
    Issuer(Issuer),
}

/// The keys at an address, or wherever an issuer says that they are.
#[derive(Debug)]
pub(crate) struct RemoteKeys(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    place: Place,
    fetcher: Fetcher,
    caching: Caching,
    clock: Clock,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    held: Option<Held>,
    /// When the last fetch began.
    attempted: Option<SystemTime>,
    /// Why it failed, if it did.
    failure: Option<String>,
    /// The fetch under way: its end is told by dropping the sender.
    flight: Option<watch::Receiver<()>>,
}

#[derive(Debug, Clone)]
struct Held {
    keys: Arc<KeySet>,
    fetched: SystemTime,
    fresh_for: Duration,
}

impl RemoteKeys {
    pub(crate) fn new(place: Place, caching: Caching, clock: Clock) -> Result<Self, ConfigError> {
        let address = match &place {
            Place::Keys(address) => address,
            Place::Issuer(issuer) => issuer.address(),
        };
        Ok(Self(Arc::new(Shared {
            fetcher: Fetcher::new(address, caching.timeout)?,
            place,
            caching,
            clock,
            state: Mutex::default(),
        })))
    }

    /// The keys, if they are fresh.
    pub(crate) fn at_hand(&self, now: SystemTime) -> Option<Arc<KeySet>> {
        let state = self.0.state();
        let held = state.held.as_ref()?;
        let fresh = !passed(now, held.fetched, held.fresh_for);
        fresh.then(|| Arc::clone(&held.keys))
    }

    /// The keys. They are fetched where they are not fresh; where that fails, the last ones are
    /// good for a while.
    pub(crate) async fn current(&self, now: SystemTime) -> Result<Arc<KeySet>, AuthError> {
        if let Some(keys) = self.at_hand(now) {
            return Ok(keys);
        }
        let flight = self.fetch(now);
        // In an outage nobody waits for what will fail again.
        if let Some(keys) = self.last(true) {
            return Ok(keys);
        }
        self.wait(flight).await;
        let last = self.last(false);
        last.ok_or_else(|| self.0.state().unavailable())
    }

    /// The last keys, if they may still be used: at any time, or in an outage alone.
    fn last(&self, in_outage: bool) -> Option<Arc<KeySet>> {
        let now = self.0.clock.now();
        let state = self.0.state();
        let held = state.held.as_ref()?;
        let usable = !passed(now, held.fetched, self.0.caching.stale_for);
        let wanted = usable && (state.failure.is_some() || !in_outage);
        wanted.then(|| Arc::clone(&held.keys))
    }

    /// Other keys than those, if there are any: asked for now, or as often as is allowed.
    pub(crate) async fn newer(
        &self,
        than: &KeySet,
        now: SystemTime,
    ) -> Result<Option<Arc<KeySet>>, AuthError> {
        if let Some(keys) = self.0.state().other(than) {
            return Ok(Some(keys));
        }
        let flight = self.fetch(now);
        self.wait(flight).await;
        let state = self.0.state();
        match state.other(than) {
            None if state.failure.is_some() => Err(state.unavailable()),
            other => Ok(other),
        }
    }

    async fn wait(&self, flight: Option<watch::Receiver<()>>) {
        if let Some(mut flight) = flight {
            // Both that the sender is gone and that it takes too long end the waiting.
            let _ = timeout(self.0.fetcher.timeout(), flight.changed()).await;
        }
    }

    /// The fetch that is under way, or a new one where the last one was long enough ago.
    fn fetch(&self, now: SystemTime) -> Option<watch::Receiver<()>> {
        let mut state = self.0.state();
        if let Some(flight) = &state.flight
            && flight.has_changed().is_ok()
        {
            return Some(flight.clone());
        }
        let rate = match state.held {
            Some(_) => self.0.caching.refresh_after,
            None => self.0.caching.refresh_after.min(FIRST_RETRY),
        };
        if state.attempted.is_some_and(|then| !passed(now, then, rate)) {
            return None;
        }
        let Ok(runtime) = Handle::try_current() else {
            state.failure = Some("keys are fetched on a tokio runtime alone".to_owned());
            return None;
        };
        let (sender, receiver) = watch::channel(());
        state.attempted = Some(now);
        state.flight = Some(receiver.clone());
        let shared = Arc::clone(&self.0);
        // A task of its own, one at a time: whoever waits for it may go away, and a client that
        // does so must neither stop the others nor bring another fetch about.
        runtime.spawn(async move {
            shared.refresh().await;
            shared.state().flight = None;
            drop(sender);
        });
        Some(receiver)
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn refresh(&self) {
        let fetched = self.keys().await;
        let now = self.clock.now();
        let mut state = self.state();
        match fetched {
            Ok((text, fresh_for)) => match state.take_in(&text) {
                Ok(keys) => {
                    state.failure = None;
                    let Caching {
                        at_least, at_most, ..
                    } = self.caching;
                    state.held = Some(Held {
                        keys,
                        fetched: now,
                        fresh_for: fresh_for.unwrap_or(UNTOLD).max(at_least).min(at_most),
                    });
                }
                Err(error) => state.fail(&error),
            },
            Err(error) => state.fail(&error),
        }
    }

    async fn keys(&self) -> Result<(String, Option<Duration>), BoxError> {
        let address = match &self.place {
            Place::Keys(address) => address,
            Place::Issuer(issuer) => &issuer.keys(&self.fetcher).await?,
        };
        let Fetched { body, fresh_for } = self.fetcher.get(address).await?;
        let text = String::from_utf8(body.into()).map_err(|_| "the key set is no text")?;
        Ok((text, fresh_for))
    }
}

impl State {
    /// The keys of that text: the same ones where it has not changed, so that what was verified
    /// with them stays verified.
    fn take_in(&self, text: &str) -> Result<Arc<KeySet>, BoxError> {
        if let Some(held) = &self.held
            && held.keys.is_of(text)
        {
            return Ok(Arc::clone(&held.keys));
        }
        let keys = KeySet::parse(text)?;
        if keys.is_empty() {
            tracing::warn!("the issuer's key set has no key for signatures: no token counts");
        }
        tracing::info!(?keys, "the issuer's keys were fetched");
        Ok(Arc::new(keys))
    }

    fn fail(&mut self, error: &BoxError) {
        let held = self.held.is_some();
        tracing::warn!(%error, "the issuer's keys cannot be fetched; last ones are held: {held}");
        self.failure = Some(error.to_string());
    }

    fn other(&self, than: &KeySet) -> Option<Arc<KeySet>> {
        let keys = &self.held.as_ref()?.keys;
        (keys.generation() != than.generation()).then(|| Arc::clone(keys))
    }

    fn unavailable(&self) -> AuthError {
        let why = self.failure.as_deref().unwrap_or("no answer yet");
        AuthError::unavailable(format!("the issuer's keys cannot be fetched: {why}"))
    }
}

/// How long keys are fresh that do not say so.
const UNTOLD: Duration = Duration::from_mins(15);
/// How soon keys are asked for again that were never had.
const FIRST_RETRY: Duration = Duration::from_secs(5);
