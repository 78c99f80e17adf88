//! Streams of events: of a call, of a session, and of what can be replayed.
//!
//! Nothing here knows HTTP: an [`Event`] has the fields of a server-sent event, and a transport
//! frames it.

mod call;
mod changes;
mod event_id;
mod journal;
mod listening;
mod replay;
mod standalone;
mod unasked;
mod wanted;
mod watch;

use std::{
    fmt,
    future::poll_fn,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;

pub(crate) use changes::{Changes, Heard, written};
pub(crate) use event_id::{EventIds, Place, StreamId};
pub(crate) use listening::{Listener, Listening, Shared, can_name};
pub(crate) use replay::Replay;
pub(crate) use standalone::Standalone;
pub use unasked::Unasked;
pub(crate) use wanted::Wanted;
pub(crate) use watch::Watch;

use call::CallStream;

use mcp_codec::Failure;

use crate::{Answer, HubError, answer::Step};

/// One event of a stream, with the fields of the HTML standard's event stream format.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// The type, `message` for all that is JSON-RPC.
    pub name: &'static str,
    /// The id by which the stream can be taken up behind this event.
    pub id: Option<String>,
    /// After how long to come back when the stream has ended.
    pub retry: Option<Duration>,
    /// The message; empty where the event has only an id to tell.
    pub data: Bytes,
}

impl Event {
    pub(crate) fn message(data: Bytes) -> Self {
        Self {
            name: "message",
            id: None,
            retry: None,
            data,
        }
    }

    /// An event of another type, with text that is no message.
    pub(crate) fn named(name: &'static str, text: String) -> Self {
        Self {
            name,
            ..Self::message(Bytes::from(text))
        }
    }

    pub(crate) fn id(mut self, id: Option<String>) -> Self {
        self.id = id;
        self
    }

    pub(crate) fn retry(mut self, after: Duration) -> Self {
        self.retry = Some(after);
        self
    }
}

/// A stream of events, to be framed and written as they come.
///
/// # Cancel safety
///
/// [`EventStream::next`] may be dropped at any time and called again. Dropping the stream ends it;
/// where it is the stream of a call that [outlives its client](EventStream::outlives_client), a
/// transport drives [`EventStream::detach`] instead.
pub struct EventStream {
    source: Source,
    session: Option<Box<str>>,
}

enum Source {
    Call(Box<CallStream>),
    Listening(Box<Listening>),
    Standalone(Box<Standalone>),
    Replay(Box<Replay>),
}

impl EventStream {
    /// The rest of a call, whose first step may have been taken already.
    pub(crate) fn of_call(mut answer: Answer, first: Option<Step>) -> Self {
        let session = match &first {
            Some(Step::Reply(reply)) => reply.session.clone(),
            _ => None,
        };
        let source = match answer.take_listening() {
            Some(mut listening) => {
                first.into_iter().for_each(|step| listening.put_back(step));
                Source::Listening(listening)
            }
            None => Source::Call(Box::new(CallStream::new(answer, first))),
        };
        Self { source, session }
    }

    pub(crate) fn of_session(standalone: Standalone) -> Self {
        Self {
            source: Source::Standalone(Box::new(standalone)),
            session: None,
        }
    }

    pub(crate) fn of_replay(replay: Replay) -> Self {
        Self {
            source: Source::Replay(Box::new(replay)),
            session: None,
        }
    }

    /// The session that the call has opened, for `Mcp-Session-Id`.
    #[must_use]
    pub fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// The next event; `None` at the end of the stream.
    ///
    /// # Cancel safety
    ///
    /// Safe: nothing is lost when it is dropped.
    pub async fn next(&mut self) -> Option<Event> {
        poll_fn(|context| self.poll_next(context)).await
    }

    /// As [`EventStream::next`], for a transport that polls.
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Event>> {
        match &mut self.source {
            Source::Call(call) => call.poll_next(context),
            Source::Listening(listening) => listening.poll_next(context),
            Source::Standalone(standalone) => standalone.poll_next(context),
            Source::Replay(replay) => replay.poll_next(context),
        }
    }

    /// Whether the stream is that of a call which goes on when its client has gone.
    #[must_use]
    pub fn outlives_client(&self) -> bool {
        match &self.source {
            Source::Call(call) => call.outlives_client(),
            Source::Listening(_) | Source::Standalone(_) | Source::Replay(_) => false,
        }
    }

    /// Runs the rest of a call with nobody to read it; what can be replayed is kept.
    pub async fn detach(self) {
        if let Source::Call(call) = self.source {
            call.detach().await;
        }
    }
}

impl fmt::Debug for EventStream {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = match &self.source {
            Source::Call(_) => "call",
            Source::Listening(_) => "subscription",
            Source::Standalone(_) => "session",
            Source::Replay(_) => "replay",
        };
        formatter
            .debug_struct("EventStream")
            .field("source", &source)
            .finish_non_exhaustive()
    }
}

/// A failing hub is nobody's business but the operator's.
pub(crate) fn hub_failure(error: &HubError) -> Failure {
    let incident = crate::outcome::incident();
    let error = error as &dyn std::error::Error;
    tracing::error!(incident, error, "the hub failed");
    Failure::internal(&incident)
}
