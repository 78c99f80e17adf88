//! A request whose messages are read as they come, so that its questions can be answered.

use mcp_core::{Answer, Message};
use serde_json::Value;

use super::{
    events::Events,
    http::{Live, Response},
    log::Log,
    outcome::utf8,
    parse,
};

/// A request whose messages are read as they come; dropped, its client has gone.
pub(crate) struct Talk {
    /// The id of the request.
    pub(crate) id: Value,
    /// The HTTP status, where there is one.
    pub(crate) status: Option<u16>,
    source: Source,
}

enum Source {
    Line(Box<Answer>),
    Events(Box<Events>),
    Whole(Box<Response>),
    /// Lines from that number on.
    Lines(Log, usize),
    Done,
}

impl Talk {
    pub(super) fn on_line(id: Value, answer: Answer) -> Self {
        Self {
            id,
            status: None,
            source: Source::Line(Box::new(answer)),
        }
    }

    pub(super) async fn over_http(id: Value, live: Live) -> Self {
        let status = Some(live.status());
        let streams = live.header("content-type") == Some("text/event-stream");
        let source = if streams {
            Source::Events(Box::new(Events::of(live)))
        } else {
            Source::Whole(Box::new(live.rest().await))
        };
        Self { id, status, source }
    }

    pub(super) fn in_lines(id: Value, log: Log, from: usize) -> Self {
        Self {
            id,
            status: None,
            source: Source::Lines(log, from),
        }
    }

    /// The next message; `None` behind the reply, and where there is to be none.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        let message = match &mut self.source {
            Source::Line(answer) => {
                let body = match answer.next().await? {
                    Message::Notification(body) => Some(body),
                    Message::Reply(reply) => reply.body,
                };
                body.map(|body| parse(utf8(&body)))
            }
            Source::Events(events) => loop {
                let event = events.next().await?;
                if !event.is_empty() {
                    break Some(event.message());
                }
            },
            Source::Whole(response) => response.messages().pop(),
            Source::Lines(log, at) => loop {
                let message = log.nth(*at).await?;
                *at += 1;
                if message.get("method").is_some() || message.get("id") == Some(&self.id) {
                    break Some(message);
                }
            },
            Source::Done => None,
        };
        if message.as_ref().is_none_or(|it| it.get("method").is_none()) {
            self.source = Source::Done;
        }
        message
    }

    /// The next message, which is a question.
    pub(crate) async fn question(&mut self) -> Value {
        let message = self.next().await.expect("the call has ended");
        assert!(super::is_question(&message), "no question: {message}");
        message
    }

    /// The next message, which is the reply.
    pub(crate) async fn reply(&mut self) -> Value {
        let message = self.next().await.expect("the call has ended");
        assert_eq!(message.get("id"), Some(&self.id), "no reply: {message}");
        message
    }

    /// The reply, whatever comes before it.
    pub(crate) async fn last(&mut self) -> Value {
        loop {
            let message = self.next().await.expect("the call has ended");
            if message.get("method").is_none() {
                return message;
            }
        }
    }
}
