//! A call in progress, as its transport sees it.

use std::{
    fmt,
    future::{Future, poll_fn},
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::{BufMut, Bytes, BytesMut};
use mcp_codec::{Outcome, Reply, Revision, ServerResult, adapter_set};
use mcp_types::RequestId;
use tokio::time::Sleep;

use crate::{
    Connection, HandlerError, catalog::Catalog, exchange::CallState, outcome, outcome::Target,
};

/// The future of a handler, erased.
pub(crate) type HandlerFuture =
    Pin<Box<dyn Future<Output = Result<ServerResult, HandlerError>> + Send>>;

/// The messages of one call, in order, the reply last.
///
/// # Cancel safety
///
/// [`Answer::next`] may be dropped at any time and called again. *Dropping the `Answer` cancels
/// the call*: its handler's future is dropped and [`Exchange::cancelled`](crate::Exchange::cancelled)
/// resolves. A transport whose peer's revision does not take a disconnect for a cancellation
/// ([`Answer::disconnect_cancels`]) drives [`Answer::detach`] instead.
pub struct Answer {
    state: State,
}

enum State {
    Ready(Reply),
    Running(Running),
    Batch(Batch),
    Done,
}

/// One message of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a call sends notifications and one reply"
)]
pub enum Message {
    /// Something that the handler says before it answers.
    Notification(Bytes),
    /// The answer; nothing comes after it.
    Reply(Reply),
}

/// A handler at work.
pub(crate) struct Running {
    future: Option<HandlerFuture>,
    call: Arc<CallState>,
    catalog: Arc<Catalog>,
    target: Target,
    id: RequestId,
    connection: Option<Arc<Connection>>,
    in_flight: bool,
    deadline: Option<Deadline>,
    reply: Option<Reply>,
}

struct Deadline {
    after: Duration,
    sleep: Option<Pin<Box<Sleep>>>,
}

impl Answer {
    pub(crate) fn ready(reply: Reply) -> Self {
        Self {
            state: State::Ready(reply),
        }
    }

    /// A request that is not to be answered at all.
    pub(crate) fn nothing() -> Self {
        Self { state: State::Done }
    }

    pub(crate) fn running(running: Running) -> Self {
        Self {
            state: State::Running(running),
        }
    }

    pub(crate) fn batch(answers: Vec<Self>) -> Self {
        let done = Vec::with_capacity(answers.len());
        Self {
            state: State::Batch(Batch {
                waiting: answers,
                done,
            }),
        }
    }

    /// The next message; the reply is the last one.
    ///
    /// `None` after the reply, and where there is to be no reply because the client has cancelled.
    ///
    /// # Cancel safety
    ///
    /// Safe: nothing is lost when it is dropped.
    pub async fn next(&mut self) -> Option<Message> {
        poll_fn(|context| self.poll_next(context)).await
    }

    /// As [`Answer::next`], for a transport that polls.
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Message>> {
        let message = match &mut self.state {
            State::Done => return Poll::Ready(None),
            State::Ready(_) => {
                let State::Ready(reply) = std::mem::replace(&mut self.state, State::Done) else {
                    return Poll::Ready(None);
                };
                return Poll::Ready(Some(Message::Reply(reply)));
            }
            State::Running(running) => match running.poll(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(message) => message,
            },
            State::Batch(batch) => match batch.poll(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(message) => message,
            },
        };
        if !matches!(message, Some(Message::Notification(_))) {
            self.state = State::Done;
        }
        Poll::Ready(message)
    }

    /// Whether everything has been said.
    #[must_use]
    pub fn is_done(&self) -> bool {
        matches!(self.state, State::Done)
    }

    /// Whether the peer's revision takes a closed response stream for a cancellation.
    #[must_use]
    pub fn disconnect_cancels(&self) -> bool {
        match &self.state {
            State::Ready(_) | State::Done => true,
            State::Running(running) => running.call.revision.disconnect_cancels(),
            State::Batch(batch) => batch.waiting.iter().all(Self::disconnect_cancels),
        }
    }

    /// Runs the rest of the call with nobody to read it.
    pub async fn detach(mut self) {
        while self.next().await.is_some() {}
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match &self.state {
            State::Ready(_) => "ready",
            State::Running(_) => "running",
            State::Batch(_) => "batch",
            State::Done => "done",
        };
        formatter
            .debug_struct("Answer")
            .field("state", &state)
            .finish()
    }
}

impl Running {
    pub(crate) fn new(
        future: HandlerFuture,
        call: Arc<CallState>,
        catalog: Arc<Catalog>,
        target: Target,
        id: RequestId,
    ) -> Self {
        Self {
            future: Some(future),
            call,
            catalog,
            target,
            id,
            connection: None,
            in_flight: false,
            deadline: None,
            reply: None,
        }
    }

    /// The connection on which the call can be cancelled.
    pub(crate) fn on(mut self, connection: Option<&Arc<Connection>>) -> Self {
        self.connection = connection.cloned();
        self
    }

    /// How long the handler may take.
    pub(crate) fn within(mut self, limit: Option<Duration>) -> Self {
        self.deadline = limit.map(|after| Deadline { after, sleep: None });
        self
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Message>> {
        if self.call.is_cancelled() {
            self.future = None;
            self.end();
            return Poll::Ready(None);
        }
        if let Some(message) = self.call.outbox.pop() {
            return Poll::Ready(Some(Message::Notification(message)));
        }
        if self.reply.is_none()
            && let Poll::Ready(result) = self.poll_handler(context)
        {
            self.reply = Some(self.encode(result));
        }
        match self.call.outbox.poll_pop(context.waker()) {
            Poll::Ready(message) => Poll::Ready(Some(Message::Notification(message))),
            Poll::Pending => {
                let Some(reply) = self.reply.take() else {
                    self.register();
                    return Poll::Pending;
                };
                self.end();
                self.call.outbox.close();
                Poll::Ready(Some(Message::Reply(reply)))
            }
        }
    }

    fn poll_handler(&mut self, context: &mut Context<'_>) -> Poll<Outcome> {
        let Some(future) = &mut self.future else {
            return Poll::Pending;
        };
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context)));
        let outcome = match polled {
            Ok(Poll::Ready(result)) => outcome::of_handler(result, &self.target),
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

    fn encode(&self, outcome: Outcome) -> Reply {
        let revision: Revision = self.call.revision;
        adapter_set::render(revision, Some(&self.id), outcome, &self.catalog.manifest)
    }

    /// Makes a call that is not ready at once findable for a cancellation.
    fn register(&mut self) {
        if let Some(connection) = &self.connection
            && !std::mem::replace(&mut self.in_flight, true)
        {
            connection.begin(self.id.clone(), &self.call);
        }
    }

    fn end(&mut self) {
        if let Some(connection) = &self.connection
            && std::mem::replace(&mut self.in_flight, false)
        {
            connection.end(&self.id);
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

/// The calls of one batch, answered together.
struct Batch {
    waiting: Vec<Answer>,
    done: Vec<Bytes>,
}

impl Batch {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Message>> {
        let mut at = 0;
        while let Some(answer) = self.waiting.get_mut(at) {
            match answer.poll_next(context) {
                Poll::Pending => at += 1,
                Poll::Ready(Some(Message::Notification(message))) => {
                    return Poll::Ready(Some(Message::Notification(message)));
                }
                Poll::Ready(Some(Message::Reply(reply))) => {
                    self.done.extend(reply.body);
                    self.waiting.remove(at);
                }
                Poll::Ready(None) => {
                    self.waiting.remove(at);
                }
            }
        }
        if self.waiting.is_empty() {
            Poll::Ready(Some(self.reply()))
        } else {
            Poll::Pending
        }
    }

    /// All the replies in one array; 202 where nothing was asked.
    fn reply(&mut self) -> Message {
        if self.done.is_empty() {
            return Message::Reply(Reply::bare(202));
        }
        let size: usize = self.done.iter().map(|body| body.len() + 1).sum();
        let mut body = BytesMut::with_capacity(size + 1);
        for (at, reply) in self.done.drain(..).enumerate() {
            body.put_u8(if at == 0 { b'[' } else { b',' });
            body.put(reply);
        }
        body.put_u8(b']');
        Message::Reply(Reply::new(200, body.freeze()))
    }
}
