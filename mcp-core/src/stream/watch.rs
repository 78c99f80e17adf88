//! Hearing what other workers tell of a session.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use mcp_codec::Failure;

use super::{StreamId, hub_failure};
use crate::{
    HubError, Registry, Subscription,
    session::{Control, HeldSession},
};

type Subscribing = Pin<Box<dyn Future<Output = Result<Box<dyn Subscription>, HubError>> + Send>>;

/// Hears what other workers tell of a session.
pub(crate) struct Watch {
    registry: Registry,
    session: Arc<HeldSession>,
    state: State,
}

/// A stream that was taken over.
pub(crate) struct Claim {
    pub(crate) watch: Watch,
    /// Tells this writer of the stream from others.
    pub(crate) writer: u64,
    /// The session as it is now.
    pub(crate) session: Arc<HeldSession>,
}

enum State {
    Subscribing(Subscribing),
    On(Box<dyn Subscription>),
    Deaf,
}

impl Watch {
    /// Listens from the first poll on.
    pub(crate) fn new(registry: Registry, session: Arc<HeldSession>) -> Self {
        let state = State::Subscribing(subscribe(&registry, &session));
        Self {
            registry,
            session,
            state,
        }
    }

    /// Takes a stream of the session over from whoever has it.
    ///
    /// In this order: of two who do so at once, each hears of the other, and the later one stays;
    /// and what is read of the session is not older than what is heard.
    pub(crate) async fn claim(
        registry: &Registry,
        session: &Arc<HeldSession>,
        stream: StreamId,
    ) -> Result<Claim, Failure> {
        let backplane = registry.backplane();
        let control = backplane.control(session).await;
        let control = control.map_err(|error| hub_failure(&error))?;
        let writer = rand::random();
        let taken = Control::Taken(stream, writer);
        backplane.tell(session, &taken).await;
        let session = registry.find_session(&session.id, &session.caller).await?;
        let session = Arc::new(session);
        let watch = Self {
            registry: registry.clone(),
            session: Arc::clone(&session),
            state: State::On(control),
        };
        Ok(Claim {
            watch,
            writer,
            session,
        })
    }

    /// Whether what is told from now on is heard.
    pub(crate) fn is_on(&self) -> bool {
        matches!(self.state, State::On(_))
    }

    /// What is told next; `None` where something was missed.
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Control>> {
        loop {
            match &mut self.state {
                State::Deaf => return Poll::Pending,
                State::Subscribing(subscribing) => match subscribing.as_mut().poll(context) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(Ok(subscription)) => self.state = State::On(subscription),
                    Poll::Ready(Err(error)) => {
                        tracing::error!(%error, "a session's messages cannot be heard");
                        self.state = State::Deaf;
                    }
                },
                State::On(subscription) => match subscription.poll_next(context) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(Ok(delivery)) => {
                        if let Some(control) = Control::read(&delivery.message) {
                            return Poll::Ready(Some(control));
                        }
                    }
                    Poll::Ready(Err(HubError::Deleted)) => {
                        return Poll::Ready(Some(Control::Ended));
                    }
                    Poll::Ready(Err(error)) => {
                        tracing::warn!(%error, "messages of a session were missed");
                        self.state = State::Subscribing(subscribe(&self.registry, &self.session));
                        return Poll::Ready(None);
                    }
                },
            }
        }
    }
}

fn subscribe(registry: &Registry, session: &Arc<HeldSession>) -> Subscribing {
    let (registry, session) = (registry.clone(), Arc::clone(session));
    Box::pin(async move { registry.backplane().control(&session).await })
}
