//! The end of a server, asked for once and heard by every stream; and the earlier end of a stream
//! whose client shows credentials that expire.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};

use tokio::{
    sync::{Notify, futures::OwnedNotified},
    time::{Sleep, sleep},
};

use crate::{caller::Caller, clock::time_of_day};

/// Whether the server is to end.
#[derive(Debug, Default)]
pub(crate) struct Closing {
    asked: AtomicBool,
    notify: Arc<Notify>,
}

/// Resolves when the server is to end, or what the caller has shown is not good any more.
pub(crate) struct Closed {
    closing: Arc<Closing>,
    notified: Pin<Box<OwnedNotified>>,
    expired: Option<Pin<Box<Sleep>>>,
}

impl Closing {
    pub(crate) fn is_closed(&self) -> bool {
        self.asked.load(Ordering::Acquire)
    }

    pub(crate) fn close(&self) {
        self.asked.store(true, Ordering::Release);
        self.notify.notify_waiters();
    }

    pub(crate) fn closed(self: &Arc<Self>) -> Closed {
        Closed {
            closing: Arc::clone(self),
            notified: Box::pin(Arc::clone(&self.notify).notified_owned()),
            expired: None,
        }
    }

    /// The same for a stream of a caller: no stream outlives the credentials it was opened with.
    /// Whoever has others by then comes back with them.
    pub(crate) fn closed_for(self: &Arc<Self>, caller: &Caller) -> Closed {
        let expires = caller.principal().and_then(|it| it.expires);
        let left = expires.map(|at| at.duration_since(time_of_day()).unwrap_or_default());
        Closed {
            expired: left.map(|left| Box::pin(sleep(left))),
            ..self.closed()
        }
    }
}

impl Closed {
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        // Registered before the flag is looked at, so that a close in between is not missed.
        let notified = self.notified.as_mut().poll(context).is_ready();
        let expired = self.expired.as_mut();
        if notified || self.closing.is_closed() {
            Poll::Ready(())
        } else if expired.is_some_and(|it| it.as_mut().poll(context).is_ready()) {
            tracing::info!("a stream has ended: the credentials it was opened with have expired");
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

impl fmt::Debug for Closed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Closed").finish_non_exhaustive()
    }
}
