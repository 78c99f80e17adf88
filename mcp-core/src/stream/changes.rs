//! The changes of a server, as one listener hears them.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::{Buf, BufMut, Bytes, BytesMut};
use mcp_codec::Notice;
use tokio::time::Instant;

use crate::{HubError, Position, Registry, Start, Subscription};

type Subscribing = Pin<Box<dyn Future<Output = Result<Box<dyn Subscription>, HubError>> + Send>>;

/// The changes of a server, as one listener hears them.
pub(crate) struct Changes {
    registry: Registry,
    /// What is of another one is not heard.
    namespace: Box<str>,
    state: State,
    /// When the listener last asked for more.
    asked: Instant,
}

enum State {
    Subscribing(Subscribing),
    On(Box<dyn Subscription>),
    Deaf,
}

/// What a listener is told next.
pub(crate) enum Heard {
    /// A change, and where it stands.
    Change(Notice, Position),
    /// More has changed than is kept: anything may have.
    Missed,
    /// The same, because the listener does not read: it is to be cut off.
    TooSlow,
}

impl Changes {
    /// Hears from the first poll on.
    pub(crate) fn new(registry: Registry) -> Self {
        let state = State::Subscribing(subscribe(&registry));
        Self::with(registry, Box::default(), state)
    }

    /// Hears already, from a place on.
    pub(crate) async fn begin(
        registry: Registry,
        namespace: Box<str>,
        start: Start,
    ) -> Result<Self, HubError> {
        let state = State::On(registry.backplane().changes(start).await?);
        Ok(Self::with(registry, namespace, state))
    }

    fn with(registry: Registry, namespace: Box<str>, state: State) -> Self {
        Self {
            registry,
            namespace,
            state,
            asked: Instant::now(),
        }
    }

    /// Where it stands, once it hears.
    pub(crate) fn position(&self) -> Option<Position> {
        match &self.state {
            State::On(subscription) => Some(subscription.position()),
            State::Subscribing(_) | State::Deaf => None,
        }
    }

    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Heard> {
        let silence = self.asked.elapsed();
        self.asked = Instant::now();
        loop {
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
                    Poll::Ready(Ok(delivery)) => {
                        if let Some(notice) = read(delivery.message, &self.namespace) {
                            return Poll::Ready(Heard::Change(notice, delivery.position));
                        }
                    }
                    Poll::Ready(Err(error)) => return Poll::Ready(self.missed(silence, &error)),
                },
            }
        }
    }

    /// A burst of changes is made up for; a listener that does not read is not waited for.
    fn missed(&mut self, silence: Duration, error: &HubError) -> Heard {
        self.state = State::Subscribing(subscribe(&self.registry));
        if silence > self.registry.config().limits.max_queued_age {
            tracing::warn!(?silence, "a reader is too slow for the changes");
            return Heard::TooSlow;
        }
        tracing::info!(%error, "changes were missed: everything is told as changed");
        Heard::Missed
    }
}

/// A change as it is published: to everybody, or to one namespace alone.
pub(crate) fn written(notice: &Notice, namespace: Option<&str>) -> Bytes {
    let Some(namespace) = namespace else {
        return notice.as_bytes().clone();
    };
    let mut out = BytesMut::with_capacity(5 + namespace.len() + notice.as_bytes().len());
    out.put_u8(NAMESPACED);
    out.put_u32(u32::try_from(namespace.len()).unwrap_or(u32::MAX));
    out.put_slice(namespace.as_bytes());
    out.put_slice(notice.as_bytes());
    out.freeze()
}

/// A change that `namespace` is to hear of.
fn read(mut message: Bytes, namespace: &str) -> Option<Notice> {
    if let Some((&[NAMESPACED, length @ ..], _)) = message.split_first_chunk::<5>() {
        message.advance(5);
        let length = usize::try_from(u32::from_be_bytes(length)).ok()?;
        if message.get(..length)? != namespace.as_bytes() {
            return None;
        }
        message.advance(length);
    }
    Notice::read(message)
}

/// No kind of notice begins with it.
const NAMESPACED: u8 = b'n';

fn subscribe(registry: &Registry) -> Subscribing {
    let registry = registry.clone();
    Box::pin(async move { registry.backplane().changes(Start::Now).await })
}
