//! A call in progress, as its transport sees it.

mod batch;
mod running;

use std::{
    fmt,
    future::{Future, poll_fn},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use mcp_codec::{Reply, Resumption, ServerResult};

use batch::Batch;
pub(crate) use running::Running;

use crate::{
    EventStream, HandlerError, Registry,
    session::HeldSession,
    stream::{Listening, StreamId},
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
    Opening(Opening),
    Running(Running),
    Listening(Box<Listening>),
    Batch(Batch),
    Done,
}

/// What has to be looked up first.
struct Opening {
    future: Pin<Box<dyn Future<Output = Answer> + Send>>,
    disconnect_cancels: bool,
}

/// What comes out of a call next, with what only a stream can act on.
pub(crate) enum Step {
    Notification(Bytes),
    Reply(Reply),
    /// The stream is to end here, and the client to come back after a while.
    Pause(Duration),
    /// Somebody else now writes this stream.
    Taken(StreamId, u64),
}

impl Step {
    /// What it says, if it says anything.
    pub(crate) fn into_message(self) -> Option<Bytes> {
        match self {
            Self::Notification(message) => Some(message),
            Self::Reply(reply) => reply.body,
            Self::Pause(_) | Self::Taken(..) => None,
        }
    }
}

/// How an answer begins, which decides the form it takes over HTTP.
#[derive(Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "an answer is nothing, one message or a stream"
)]
pub enum Begun {
    /// There is nothing to say: 202.
    Nothing,
    /// One message in one piece.
    Reply(Reply),
    /// A stream of events.
    Stream(EventStream),
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

impl Answer {
    pub(crate) fn ready(reply: Reply) -> Self {
        Self {
            state: State::Ready(reply),
        }
    }

    /// An answer for which something has to be looked up first.
    ///
    /// `disconnect_cancels` says whether that may be dropped with its client.
    pub(crate) fn opening(
        disconnect_cancels: bool,
        future: impl Future<Output = Self> + Send + 'static,
    ) -> Self {
        Self {
            state: State::Opening(Opening {
                future: Box::pin(future),
                disconnect_cancels,
            }),
        }
    }

    pub(crate) fn listening(listening: Listening) -> Self {
        Self {
            state: State::Listening(Box::new(listening)),
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

    /// The reply to one who is turned away; nothing, and nothing taken, for anything else.
    pub(crate) fn take_denial(&mut self) -> Option<Reply> {
        match &self.state {
            State::Ready(reply) if !reply.challenges.is_empty() => {
                match std::mem::replace(&mut self.state, State::Done) {
                    State::Ready(reply) => Some(reply),
                    _ => None,
                }
            }
            _ => None,
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
        loop {
            return Poll::Ready(match self.poll_step(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(None) => None,
                Poll::Ready(Some(Step::Notification(message))) => {
                    Some(Message::Notification(message))
                }
                Poll::Ready(Some(Step::Reply(reply))) => Some(Message::Reply(reply)),
                Poll::Ready(Some(Step::Pause(_) | Step::Taken(..))) => continue,
            });
        }
    }

    pub(crate) fn poll_step(&mut self, context: &mut Context<'_>) -> Poll<Option<Step>> {
        let step = loop {
            let polled = match &mut self.state {
                State::Done => return Poll::Ready(None),
                State::Ready(_) => {
                    let State::Ready(reply) = std::mem::replace(&mut self.state, State::Done)
                    else {
                        return Poll::Ready(None);
                    };
                    return Poll::Ready(Some(Step::Reply(reply)));
                }
                State::Opening(opening) => match opening.future.as_mut().poll(context) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(answer) => {
                        *self = answer;
                        continue;
                    }
                },
                State::Running(running) => running.poll(context),
                State::Listening(listening) => listening.poll_step(context),
                State::Batch(batch) => batch.poll(context),
            };
            match polled {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(step) => break step,
            }
        };
        if matches!(step, None | Some(Step::Reply(_))) {
            self.state = State::Done;
        }
        Poll::Ready(step)
    }

    /// How the answer begins; the rest of it goes into the stream, if it is one.
    ///
    /// A reply that comes first is one message where the client takes JSON (`json`), and always
    /// where it is a refusal: a stream has no status.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when it is not called again.
    pub fn poll_begin(&mut self, context: &mut Context<'_>, json: bool) -> Poll<Begun> {
        let step = match self.poll_step(context) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(step) => step,
        };
        Poll::Ready(match step {
            None => Begun::Nothing,
            Some(Step::Reply(reply)) if json || reply.status != 200 => Begun::Reply(reply),
            Some(step) => Begun::Stream(EventStream::of_call(self.take(), Some(step))),
        })
    }

    /// The stream of an answer that has not begun yet, for a client that is to wait no longer.
    #[must_use]
    pub fn into_events(self) -> EventStream {
        EventStream::of_call(self, None)
    }

    /// Takes the answer out, to be driven elsewhere; nothing is left here.
    #[must_use]
    pub fn take(&mut self) -> Self {
        let state = std::mem::replace(&mut self.state, State::Done);
        Self { state }
    }

    /// The subscription that it is; nothing, and nothing taken, for anything else.
    pub(crate) fn take_listening(&mut self) -> Option<Box<Listening>> {
        match self.take().state {
            State::Listening(listening) => Some(listening),
            state => {
                self.state = state;
                None
            }
        }
    }

    /// How the answer's stream can be taken up again, if it can.
    pub(crate) fn resumable(&self) -> Option<(Registry, Arc<HeldSession>, Resumption)> {
        match &self.state {
            State::Running(running) => running.resumable(),
            State::Batch(batch) => batch.waiting.iter().find_map(Self::resumable),
            State::Ready(_) | State::Opening(_) | State::Listening(_) | State::Done => None,
        }
    }

    /// Whether a notification has waited for its reader for longer than readers are given.
    pub(crate) fn is_overdue(&self) -> bool {
        match &self.state {
            State::Running(running) => running.is_overdue(),
            State::Batch(batch) => batch.waiting.iter().any(Self::is_overdue),
            State::Ready(_) | State::Opening(_) | State::Listening(_) | State::Done => false,
        }
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
            State::Ready(_) | State::Listening(_) | State::Done => true,
            State::Opening(opening) => opening.disconnect_cancels,
            State::Running(running) => running.disconnect_cancels(),
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
            State::Opening(_) => "opening",
            State::Listening(_) => "listening",
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
