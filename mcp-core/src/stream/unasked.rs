//! What a connection with a handshake hears without asking.

use std::{
    collections::VecDeque,
    fmt,
    future::{Future, poll_fn},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use mcp_codec::Notice;

use crate::{Connection, HubError, Registry, Start, Subscription};

type Subscribing = Pin<Box<dyn Future<Output = Result<Box<dyn Subscription>, HubError>> + Send>>;

/// The changes that a connection with a handshake hears of, once it is ready for them.
pub struct Unasked {
    registry: Registry,
    connection: Arc<Connection>,
    state: State,
    ready: VecDeque<Bytes>,
}

enum State {
    Subscribing(Subscribing),
    On(Box<dyn Subscription>),
    Deaf,
}

impl Unasked {
    pub(crate) fn new(registry: Registry, connection: Arc<Connection>) -> Self {
        Self {
            state: State::Subscribing(subscribe(&registry)),
            registry,
            connection,
            ready: VecDeque::new(),
        }
    }

    /// The next notification, to be written as it is.
    ///
    /// # Cancel safety
    ///
    /// Safe: nothing is lost when it is dropped.
    pub async fn next(&mut self) -> Bytes {
        poll_fn(|context| self.poll_next(context)).await
    }

    /// As [`Unasked::next`], for a transport that polls.
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Bytes> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Poll::Ready(message);
            }
            match &mut self.state {
                State::Deaf => return Poll::Pending,
                State::Subscribing(subscribing) => match subscribing.as_mut().poll(context) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(Ok(subscription)) => self.state = State::On(subscription),
                    Poll::Ready(Err(error)) => {
                        tracing::error!(%error, "changes cannot be heard");
                        self.state = State::Deaf;
                    }
                },
                State::On(subscription) => match subscription.poll_next(context) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(Ok(delivery)) => self.take(delivery.message),
                    Poll::Ready(Err(error)) => {
                        tracing::warn!(%error, "changes were missed");
                        self.state = State::Subscribing(subscribe(&self.registry));
                        self.tell_all();
                    }
                },
            }
        }
    }

    fn take(&mut self, message: Bytes) {
        let wanted = self.connection.wanted();
        if let (Some(wanted), Some(notice)) = (wanted, Notice::read(message))
            && wanted.wants(notice.change())
        {
            self.ready.push_back(notice.message());
        }
    }

    /// What was missed is unknown, so that anything may have changed.
    fn tell_all(&mut self) {
        if let Some(wanted) = self.connection.wanted() {
            let everything = wanted.everything();
            self.ready
                .extend(everything.map(|change| Notice::new(change).message()));
        }
    }
}

impl fmt::Debug for Unasked {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Unasked").finish_non_exhaustive()
    }
}

fn subscribe(registry: &Registry) -> Subscribing {
    let registry = registry.clone();
    Box::pin(async move { registry.backplane().changes(Start::Now).await })
}
