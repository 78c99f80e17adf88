//! A handler at work, until its reply.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use mcp_codec::{InputStyle, Outcome, Reply, Resumption, Revision, ServerResult, adapter_set};
use mcp_types::RequestId;
use tokio::time::Sleep;

use super::{HandlerFuture, Step};
use crate::{
    HandlerError, Registry,
    asking::{in_arguments, suspend},
    auth::Scopes,
    budget::Permit,
    busy::Occupied,
    catalog::Catalog,
    exchange::CallState,
    outbox::Said,
    outcome,
    outcome::Target,
    peer::Peer,
    session::{self, Control, HeldSession},
    stream::Watch,
};

/// A handler at work.
pub(crate) struct Running {
    future: Option<HandlerFuture>,
    call: Arc<CallState>,
    catalog: Arc<Catalog>,
    target: Target,
    id: RequestId,
    in_flight: Option<InFlight>,
    suspended: bool,
    deadline: Option<Deadline>,
    reply: Option<Reply>,
    /// What a caller is told besides that may not do this.
    challenges: Vec<Box<str>>,
    _permit: Permit,
}

/// How a call that takes its time can be found by later messages of its client.
enum InFlight {
    /// Nobody needs to find it.
    Alone,
    /// By the connection's table.
    Listed,
    /// By what is told about the session.
    Watching {
        watch: Box<Watch>,
        _occupied: Occupied,
    },
}

struct Deadline {
    after: Duration,
    sleep: Option<Pin<Box<Sleep>>>,
}

impl Running {
    pub(crate) fn new(
        future: HandlerFuture,
        call: Arc<CallState>,
        catalog: Arc<Catalog>,
        target: Target,
        id: RequestId,
        permit: Permit,
    ) -> Self {
        Self {
            future: Some(future),
            call,
            catalog,
            target,
            id,
            in_flight: None,
            suspended: false,
            deadline: None,
            reply: None,
            challenges: Vec::new(),
            _permit: permit,
        }
    }

    /// How long the handler may take.
    pub(crate) fn within(mut self, limit: Option<Duration>) -> Self {
        self.deadline = limit.map(|after| Deadline { after, sleep: None });
        self
    }

    /// How its stream can be taken up again, if it can.
    pub(super) fn resumable(&self) -> Option<(Registry, Arc<HeldSession>, Resumption)> {
        let call = &self.call;
        let session = Arc::clone(call.peer.session()?);
        Some((call.registry.clone(), session, call.revision.resumption()))
    }

    pub(super) fn is_overdue(&self) -> bool {
        let limit = self.call.registry.config().limits.max_queued_age;
        self.call.outbox.age().is_some_and(|age| age > limit)
    }

    pub(super) fn disconnect_cancels(&self) -> bool {
        self.call.revision.disconnect_cancels()
    }

    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Step>> {
        if self.call.is_cancelled() {
            return self.cancelled();
        }
        if let Some(said) = self.call.outbox.pop() {
            return Poll::Ready(Some(said.into()));
        }
        if self.reply.is_none()
            && let Poll::Ready(result) = self.poll_handler(context)
        {
            let mut reply = self.encode(result);
            reply.challenges = std::mem::take(&mut self.challenges);
            self.reply = Some(reply);
        }
        if let Poll::Ready(said) = self.call.outbox.poll_pop(context.waker()) {
            return Poll::Ready(Some(said.into()));
        }
        if self.reply.is_none() {
            self.register();
            match self.poll_watch(context) {
                Poll::Ready(step) => return Poll::Ready(step),
                Poll::Pending if self.reply.is_none() => return Poll::Pending,
                Poll::Pending => {}
            }
        }
        self.end();
        self.call.outbox.close();
        Poll::Ready(self.reply.take().map(Step::Reply))
    }

    fn cancelled(&mut self) -> Poll<Option<Step>> {
        self.future = None;
        self.end();
        Poll::Ready(None)
    }

    /// Hears what other requests of the session say about this one.
    fn poll_watch(&mut self, context: &mut Context<'_>) -> Poll<Option<Step>> {
        let Some(InFlight::Watching { watch, .. }) = &mut self.in_flight else {
            return Poll::Pending;
        };
        while let Poll::Ready(control) = watch.poll(context) {
            let Some(control) = control else { continue };
            match control {
                Control::Cancelled(id) if id == self.id => {
                    self.call.cancel();
                    return self.cancelled();
                }
                Control::Ended => {
                    self.call.cancel();
                    self.future = None;
                    self.reply = Some(self.encode(session::not_found().into()));
                    return Poll::Pending;
                }
                Control::Taken(stream, writer) => {
                    return Poll::Ready(Some(Step::Taken(stream, writer)));
                }
                Control::Answered(id, answer) => {
                    self.call.deliver(&id, &answer);
                }
                Control::Cancelled(_) | Control::Watched => {}
            }
        }
        if watch.is_on() {
            self.call.hears();
        }
        Poll::Pending
    }

    fn poll_handler(&mut self, context: &mut Context<'_>) -> Poll<Outcome> {
        let Some(future) = &mut self.future else {
            return Poll::Pending;
        };
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context)));
        let outcome = match polled {
            Ok(Poll::Ready(Err(HandlerError::Suspended))) if self.may_suspend() => {
                return self.suspend(context);
            }
            Ok(Poll::Ready(Err(HandlerError::InsufficientScope(scopes)))) => self.denied(&scopes),
            Ok(Poll::Ready(result)) => {
                outcome::of_handler(result, &self.target, self.call.revision.era())
            }
            Err(panic) => outcome::of_panic(&*panic, &self.target),
            Ok(Poll::Pending) => {
                let Some(deadline) = &mut self.deadline else {
                    return Poll::Pending;
                };
                let after = deadline.after;
                let sleep = deadline
                    .sleep
                    .get_or_insert_with(|| Box::pin(tokio::time::sleep(after)));
                if sleep.as_mut().poll(context).is_pending() {
                    return Poll::Pending;
                }
                outcome::of_timeout(after, &self.target)
            }
        };
        // A panic in a destructor is the handler's own as well.
        let future = self.future.take();
        let _ = catch_unwind(AssertUnwindSafe(|| drop(future)));
        Poll::Ready(outcome)
    }

    /// The handler has found out that the caller may not do this.
    fn denied(&mut self, scopes: &Scopes) -> Outcome {
        let denied = self.call.gate().deny(scopes);
        self.challenges = denied.challenges;
        denied.failure.into()
    }

    /// Whether the handler itself has ended, and not what words its questions.
    fn may_suspend(&self) -> bool {
        !self.suspended && self.call.origin.is_some()
    }

    /// The handler leaves to ask: its questions become the result.
    fn suspend(&mut self, context: &mut Context<'_>) -> Poll<Outcome> {
        self.suspended = true;
        let handler = self.future.replace(suspend(&self.call));
        let _ = catch_unwind(AssertUnwindSafe(|| drop(handler)));
        self.poll_handler(context)
    }

    fn encode(&self, outcome: Outcome) -> Reply {
        let revision: Revision = self.call.revision;
        if let Outcome::Failure(failure) = &outcome {
            self.call.registry.note_refusal(failure);
        }
        let outcome = match outcome {
            Outcome::Result(ServerResult::InputRequired(asked))
                if revision.input_style() == InputStyle::InArguments =>
            {
                in_arguments::result(&asked).into()
            }
            outcome => outcome,
        };
        adapter_set::render(revision, Some(&self.id), outcome, &self.catalog.manifest)
    }

    /// Makes a call that is not ready at once findable for later messages of its client.
    fn register(&mut self) {
        if self.in_flight.is_some() {
            return;
        }
        self.in_flight = Some(match &self.call.peer {
            Peer::Stranger => InFlight::Alone,
            Peer::Connection(connection) => {
                connection.begin(self.id.clone(), &self.call);
                self.call.hears();
                InFlight::Listed
            }
            Peer::Session(session) => {
                let registry = self.call.registry.clone();
                InFlight::Watching {
                    _occupied: registry.backplane().busy.enter(session.key()),
                    watch: Box::new(Watch::new(registry, Arc::clone(session))),
                }
            }
        });
    }

    fn end(&mut self) {
        if let (Some(InFlight::Listed), Peer::Connection(connection)) =
            (self.in_flight.take(), &self.call.peer)
        {
            connection.end(&self.id);
        }
    }
}

impl From<Said> for Step {
    fn from(said: Said) -> Self {
        match said {
            Said::Notification(message) => Self::Notification(message),
            Said::Pause(after) => Self::Pause(after),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
        if self.future.is_some() {
            self.call.cancel();
            let future = self.future.take();
            let _ = catch_unwind(AssertUnwindSafe(|| drop(future)));
        }
    }
}
