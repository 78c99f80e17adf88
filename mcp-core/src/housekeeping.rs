//! What has to be done every now and then, by one task for the whole server.

use std::{
    convert::Infallible,
    future::{Future, poll_fn},
    task::Poll,
    time::Duration,
};

use futures_util::{StreamExt as _, stream};
use tokio::time::{Interval, MissedTickBehavior};

use crate::{Key, Registry, backplane::Publication};

impl Registry {
    /// Keeps the sessions of running calls and open streams alive, frees what has expired, and
    /// finishes what a slow store or hub left unfinished; never resolves.
    ///
    /// A transport runs it beside its requests. However many run for one registry, one at a time
    /// works, and another takes over when that one is dropped.
    ///
    /// # Cancel safety
    ///
    /// Safe.
    pub fn housekeeping(&self) -> impl Future<Output = Infallible> + Send + use<> {
        let registry = self.clone();
        async move {
            let _turn = registry.housekeeper().lock().await;
            tokio::select! {
                never = registry.keep_alive() => never,
                never = registry.keep_clean() => never,
            }
        }
    }

    fn tick(&self) -> Interval {
        let every = self.config().sessions.idle / 3;
        let every = every.clamp(Duration::from_millis(50), Duration::from_secs(30));
        let mut tick = tokio::time::interval(every);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        tick
    }

    /// Frees what has expired; apart, since it may take its time.
    async fn keep_clean(&self) -> Infallible {
        let mut tick = self.tick();
        loop {
            tick.tick().await;
            self.purge().await;
        }
    }

    async fn keep_alive(&self) -> Infallible {
        let backplane = self.backplane();
        let mut tick = self.tick();
        let mut publications = Vec::new();
        loop {
            let ticked = tokio::select! {
                _ = tick.tick() => true,
                () = backplane.wake.notified() => false,
                () = finish(&mut publications), if !publications.is_empty() => false,
            };
            publications.append(&mut backplane.outgoing());
            self.touch(backplane.busy.released()).await;
            if ticked {
                self.touch(backplane.busy.all()).await;
            }
        }
    }

    /// Lets busy sessions live on.
    async fn touch(&self, keys: Vec<Key>) {
        let backplane = self.backplane();
        let (store, holdings) = (&backplane.store, &backplane.holdings);
        let idle = self.config().sessions.idle;
        let touch = |key: Key| async move {
            match store.touch(&key, idle).await {
                Ok(true) => holdings.extend(&key, idle),
                // It has ended elsewhere.
                Ok(false) => holdings.release(&key),
                Err(error) => tracing::warn!(%error, "a busy session could not be kept alive"),
            }
        };
        stream::iter(keys).for_each_concurrent(32, touch).await;
    }

    async fn purge(&self) {
        let backplane = self.backplane();
        backplane.budget.purge(&self.config().limits);
        backplane.holdings.purge();
        if let Err(error) = backplane.store.purge().await {
            tracing::warn!(%error, "expired sessions could not be freed");
        }
        if let Err(error) = backplane.hub.purge().await {
            tracing::warn!(%error, "expired messages could not be freed");
        }
    }
}

/// Drives publications until all are done.
async fn finish(publications: &mut Vec<Publication>) {
    poll_fn(|context| {
        publications.retain_mut(|it| it.as_mut().poll(context).is_pending());
        if publications.is_empty() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
}
