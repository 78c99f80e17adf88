//! A stream as the body of a response: server-sent events, and comments while there are none.
//!
//! Source: `basic/transports` of each revision; the event stream format of the HTML standard.

use std::{
    fmt::Write as _,
    future::Future,
    mem::take,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use actix_web::body::{BodySize, MessageBody};
use bytes::{BufMut, Bytes, BytesMut};
use mcp_core::{Answer, Begun, Event, EventStream};
use tokio::time::{Instant, Sleep};

/// An answer that survives its client where the revision says so.
///
/// Dropped before it has begun, it goes on in the background, unless a disconnect is a
/// cancellation.
pub(crate) struct Pending {
    answer: Option<Answer>,
}

impl Pending {
    pub(crate) fn new(answer: Answer) -> Self {
        Self {
            answer: Some(answer),
        }
    }

    /// How the answer begins, once it does.
    pub(crate) fn poll_begin(&mut self, context: &mut Context<'_>, json: bool) -> Poll<Begun> {
        match &mut self.answer {
            Some(answer) => answer.poll_begin(context, json),
            None => Poll::Ready(Begun::Nothing),
        }
    }

    /// The stream of an answer that has not begun yet.
    pub(crate) fn into_events(mut self) -> Option<EventStream> {
        self.answer.take().map(Answer::into_events)
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        let Some(answer) = self.answer.take() else {
            return;
        };
        if !answer.is_done() && !answer.disconnect_cancels() {
            spawn(answer.detach());
        }
    }
}

/// Events that are ready, and the rest of the stream if there is any.
pub(crate) struct Events {
    ready: BytesMut,
    rest: Option<EventStream>,
}

impl Events {
    pub(crate) fn new(rest: EventStream) -> Self {
        Self {
            ready: BytesMut::new(),
            rest: Some(rest),
        }
    }

    pub(crate) fn push_comment(&mut self) {
        self.ready.put(&b": keep-alive\n\n"[..]);
    }

    /// Takes whatever is said already, so that it leaves in one write.
    pub(crate) fn collect(&mut self, context: &mut Context<'_>) {
        while self.ready.len() < CHUNK {
            let Some(rest) = &mut self.rest else {
                return;
            };
            match rest.poll_next(context) {
                Poll::Pending => return,
                Poll::Ready(Some(event)) => self.push(&event),
                Poll::Ready(None) => self.over(),
            }
        }
    }

    fn push(&mut self, event: &Event) {
        let ready = &mut self.ready;
        let id = event.id.as_ref().map_or(0, String::len);
        ready.reserve(event.data.len() + id + FRAME);
        if !event.data.is_empty() {
            ready.put(&b"event: "[..]);
            ready.put(event.name.as_bytes());
            ready.put_u8(b'\n');
        }
        if let Some(id) = &event.id {
            ready.put(&b"id: "[..]);
            ready.put(id.as_bytes());
            ready.put_u8(b'\n');
        }
        if let Some(after) = event.retry {
            // Writing to a growing buffer does not fail.
            let _ = writeln!(ready, "retry: {}", after.as_millis());
        }
        ready.put(&b"data: "[..]);
        ready.put(&*event.data);
        ready.put(&b"\n\n"[..]);
    }

    /// The stream has ended; its call may not have.
    fn over(&mut self) {
        if let Some(rest) = self.rest.take()
            && rest.outlives_client()
        {
            spawn(rest.detach());
        }
    }

    /// All events, if there is nothing to wait for.
    pub(crate) fn complete(&mut self) -> Option<Bytes> {
        self.rest.is_none().then(|| take(&mut self.ready).freeze())
    }

    pub(crate) fn stream(self, keep_alive: Duration) -> Body {
        let sleep = Box::pin(tokio::time::sleep(keep_alive));
        Body {
            events: self,
            keep_alive,
            sleep,
        }
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        self.over();
    }
}

/// The body of an event stream: events as they come, comments while none do.
pub(crate) struct Body {
    events: Events,
    keep_alive: Duration,
    sleep: Pin<Box<Sleep>>,
}

impl MessageBody for Body {
    type Error = actix_web::Error;

    fn size(&self) -> BodySize {
        BodySize::Stream
    }

    fn poll_next(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Self::Error>>> {
        let this = self.get_mut();
        this.events.collect(context);
        if this.events.ready.is_empty() {
            if this.events.rest.is_none() {
                return Poll::Ready(None);
            }
            if this.sleep.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            this.events.push_comment();
        }
        let deadline = Instant::now() + this.keep_alive;
        this.sleep.as_mut().reset(deadline);
        Poll::Ready(Some(Ok(take(&mut this.events.ready).freeze())))
    }
}

/// Runs what outlives its client, while there is a runtime.
fn spawn(rest: impl Future<Output = ()> + Send + 'static) {
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        runtime.spawn(rest);
    }
}

const CHUNK: usize = 32 << 10;
/// What is around data and id: the names of the fields, and the ends of their lines.
const FRAME: usize = 32;
