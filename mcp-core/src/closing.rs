//! The end of a server: asked for once, heard by every stream.

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

use tokio::sync::{Notify, futures::OwnedNotified};

/// Whether the server is to end.
#[derive(Debug, Default)]
pub(crate) struct Closing {
    asked: AtomicBool,
    notify: Arc<Notify>,
}

/// Resolves when the server is to end.
pub(crate) struct Closed {
    closing: Arc<Closing>,
    notified: Pin<Box<OwnedNotified>>,
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
        }
    }
}

impl Closed {
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        // Registered before the flag is looked at, so that a close in between is not missed.
        let notified = self.notified.as_mut().poll(context).is_ready();
        if notified || self.closing.is_closed() {
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
