//! An answer as a stream of server-sent events.
//!
//! Source: `basic/transports` of each revision; the event stream format of the HTML standard.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use actix_web::body::{BodySize, MessageBody};
use bytes::{BufMut, Bytes, BytesMut};
use mcp_core::{Answer, Message};
use tokio::time::{Instant, Sleep};

/// An answer that survives its client where the revision says so.
///
/// Dropped unfinished, it goes on in the background, unless a disconnect is a cancellation.
pub(crate) struct Driven {
    answer: Option<Answer>,
}

impl Driven {
    pub(crate) fn new(answer: Answer) -> Self {
        Self {
            answer: Some(answer),
        }
    }

    pub(crate) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Message>> {
        match &mut self.answer {
            Some(answer) => answer.poll_next(context),
            None => Poll::Ready(None),
        }
    }
}

impl Drop for Driven {
    fn drop(&mut self) {
        let Some(answer) = self.answer.take() else {
            return;
        };
        if answer.is_done() || answer.disconnect_cancels() {
            return;
        }
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(answer.detach());
        }
    }
}

/// Events that are ready, and the rest of the answer if there is any.
pub(crate) struct Events {
    ready: BytesMut,
    rest: Option<Driven>,
}

impl Events {
    pub(crate) fn new(rest: Driven) -> Self {
        Self {
            ready: BytesMut::with_capacity(256),
            rest: Some(rest),
        }
    }

    pub(crate) fn push(&mut self, message: Message) {
        let (body, last) = match message {
            Message::Notification(body) => (Some(body), false),
            Message::Reply(reply) => (reply.body, true),
        };
        if let Some(body) = body {
            self.ready.reserve(body.len() + 24);
            self.ready.put(&b"event: message\ndata: "[..]);
            self.ready.put(body);
            self.ready.put(&b"\n\n"[..]);
        }
        if last {
            self.rest = None;
        }
    }

    pub(crate) fn push_comment(&mut self) {
        self.ready.put(&b": keep-alive\n\n"[..]);
    }

    /// Takes whatever the handler has said already, so that it leaves in one write.
    pub(crate) fn collect(&mut self, context: &mut Context<'_>) {
        while self.ready.len() < CHUNK {
            let Some(rest) = &mut self.rest else {
                return;
            };
            match rest.poll_next(context) {
                Poll::Pending => return,
                Poll::Ready(Some(message)) => self.push(message),
                Poll::Ready(None) => self.rest = None,
            }
        }
    }

    /// All events, if there is nothing to wait for.
    pub(crate) fn complete(&mut self) -> Option<Bytes> {
        self.rest.is_none().then(|| self.ready.split().freeze())
    }

    pub(crate) fn stream(self, keep_alive: Duration) -> EventStream {
        let sleep = Box::pin(tokio::time::sleep(keep_alive));
        EventStream {
            events: self,
            keep_alive,
            sleep,
        }
    }
}

/// The body of an event stream: events as they come, comments while none do.
pub(crate) struct EventStream {
    events: Events,
    keep_alive: Duration,
    sleep: Pin<Box<Sleep>>,
}

impl MessageBody for EventStream {
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
        Poll::Ready(Some(Ok(this.events.ready.split().freeze())))
    }
}

const CHUNK: usize = 32 << 10;
