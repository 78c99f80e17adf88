//! What came of a request, on whatever transport.

use bytes::Bytes;
use mcp_core::Message;
use serde_json::Value;

use super::{http::Response, parse};

/// What came of a request.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// What was said before the reply.
    pub(crate) notes: Vec<Value>,
    pub(crate) reply: Option<Value>,
    /// The HTTP status, where there is one.
    pub(crate) status: Option<u16>,
    /// The session that the reply opens.
    pub(crate) session: Option<String>,
}

impl Outcome {
    /// What the dispatcher has said.
    pub(crate) fn of(messages: Vec<Message>) -> Self {
        let mut outcome = Self {
            notes: Vec::new(),
            reply: None,
            status: None,
            session: None,
        };
        for message in messages {
            match message {
                Message::Notification(body) => outcome.notes.push(parse(utf8(&body))),
                Message::Reply(reply) => {
                    assert!(outcome.reply.is_none(), "two replies");
                    outcome.reply = reply.body.as_ref().map(|body| parse(utf8(body)));
                }
            }
        }
        outcome
    }

    /// What an HTTP response has said.
    pub(crate) fn of_response(response: &Response) -> Self {
        let mut notes = response.messages();
        let answered = notes.last().is_some_and(|it| it.get("method").is_none());
        Self {
            reply: if answered { notes.pop() } else { None },
            notes,
            status: Some(response.status),
            session: response.header("mcp-session-id").map(str::to_owned),
        }
    }

    pub(crate) fn result(&self) -> &Value {
        let result = self.reply.as_ref().and_then(|reply| reply.get("result"));
        result.unwrap_or_else(|| panic!("no result: {self:?}"))
    }

    pub(crate) fn error(&self) -> &Value {
        let error = self.reply.as_ref().and_then(|reply| reply.get("error"));
        error.unwrap_or_else(|| panic!("no error: {self:?}"))
    }

    pub(crate) fn code(&self) -> i64 {
        self.error()["code"].as_i64().unwrap()
    }

    /// Whether it is the result of a tool that failed.
    pub(crate) fn is_tool_error(&self) -> bool {
        let result = self.reply.as_ref().map(|reply| &reply["result"]["isError"]);
        result == Some(&Value::Bool(true))
    }

    /// The notifications of one method.
    pub(crate) fn notes_of(&self, method: &str) -> Vec<&Value> {
        let named = self.notes.iter().filter(|note| note["method"] == method);
        named.map(|note| &note["params"]).collect()
    }
}

pub(crate) fn utf8(body: &Bytes) -> &str {
    std::str::from_utf8(body).unwrap()
}
