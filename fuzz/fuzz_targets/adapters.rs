//! Any message to a whole server, in every revision, over a connection and over HTTP: nothing
//! panics, every request gets one answer under its own id, and a wrong one is not the server's
//! fault.
//!
//! The lines before the message are four headers.

#![no_main]

use std::{
    pin::pin,
    sync::{Arc, LazyLock},
    task::{Context, Poll, Waker},
};

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use mcp_codec::{Envelope, MessageKind};
use mcp_core::{
    Answer, Connection, Dispatcher, Exchange, HandlerError, HeaderValue, Headers, Incoming,
    Message, Registry, ServerConfig, SessionMode, prompt, resource, template, tool,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

struct Sent<'a>(Vec<&'a [u8]>);

const NAMES: [&str; 4] = [
    "mcp-protocol-version",
    "mcp-method",
    "mcp-name",
    "mcp-param-kind",
];

impl Headers for Sent<'_> {
    fn value(&self, name: &str) -> HeaderValue<'_> {
        let line = NAMES.iter().position(|it| *it == name);
        match line.and_then(|line| self.0.get(line)) {
            Some(value) if !value.is_empty() => HeaderValue::Once(value),
            _ => HeaderValue::Absent,
        }
    }
}

#[derive(Deserialize, JsonSchema)]
struct Order {
    /// What is ordered.
    #[schemars(length(min = 1, max = 20))]
    kind: String,
    #[schemars(range(min = 1))]
    count: Option<u8>,
    more: Option<Vec<Value>>,
}

async fn order(Order { kind, count, more }: Order, exchange: Exchange) -> String {
    exchange.progress_message(1.0, 2.0, kind.clone()).await;
    format!("{kind} {count:?} {}", more.map_or(0, |it| it.len()))
}

#[derive(Deserialize, JsonSchema)]
struct Name {
    name: String,
}

async fn ask((): (), exchange: Exchange) -> Result<String, HandlerError> {
    let answer = exchange.elicit::<Name>("name", "Who?").await?;
    Ok(answer.accepted().map(|it| it.name).unwrap_or_default())
}

static RUNTIME: LazyLock<tokio::runtime::Runtime> = LazyLock::new(|| {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_time().build().expect("a runtime")
});

static DISPATCHER: LazyLock<Dispatcher> = LazyLock::new(|| {
    let mut config = ServerConfig::default();
    config.sessions.mode = SessionMode::Optional;
    let registry = Registry::builder("fuzz", "1")
        .tool(tool("order", order))
        .tool(tool("ask", ask))
        .prompt(prompt("greet", async |Name { name }: Name| name))
        .resource(resource("place://a", async || "a").subscribable())
        .template(template(
            "place://{name}/thing",
            async |Name { name }: Name| name,
        ));
    Dispatcher::new(registry.build(config).expect("a registry"))
});

fuzz_target!(|input: &[u8]| {
    let _runtime = RUNTIME.enter();
    let mut lines: Vec<&[u8]> = input.splitn(5, |byte| *byte == b'\n').collect();
    let Some(body) = lines.pop() else { return };
    let headers = Sent(lines);
    let body = Bytes::copy_from_slice(body);
    let connection = Arc::<Connection>::from(Connection::new());
    for incoming in [
        Incoming::new(body.clone()).headers(&headers),
        Incoming::new(body.clone()).headers(&headers).streams(false),
        Incoming::new(body.clone())
            .headers(&headers)
            .pinned(Some("2025-06-18")),
        Incoming::new(body.clone()).connection(&connection),
    ] {
        judge(&body, said(DISPATCHER.answer(&incoming)));
    }
});

/// All that is said before something has to be waited for.
fn said(mut answer: Answer) -> Vec<Message> {
    let mut messages = Vec::new();
    let mut context = Context::from_waker(Waker::noop());
    loop {
        match pin!(answer.next()).as_mut().poll(&mut context) {
            Poll::Ready(Some(message)) => messages.push(message),
            Poll::Ready(None) | Poll::Pending => return messages,
        }
    }
}

fn judge(body: &[u8], messages: Vec<Message>) {
    let mut replies = 0;
    for message in messages {
        match message {
            Message::Notification(body) => {
                let value: Value = serde_json::from_slice(&body).expect("JSON");
                assert!(value["method"].is_string());
            }
            Message::Reply(reply) => {
                replies += 1;
                answered(body, reply.body.as_deref());
            }
        }
    }
    assert!(replies <= 1);
}

fn answered(request: &[u8], reply: Option<&[u8]>) {
    let Some(reply) = reply else { return };
    let value: Value = serde_json::from_slice(reply).expect("JSON");
    let members = value.as_array().cloned().unwrap_or_else(|| vec![value]);
    for member in &members {
        assert_ne!(member["error"]["code"], -32603, "never the server's fault");
        assert!(member.get("result").is_some() != member.get("error").is_some());
    }
    if let (Ok(message), [only]) = (Envelope::parse(request), &*members)
        && message.kind() == MessageKind::Request
        && let Some(found) = only.get("id")
    {
        let sent = serde_json::to_value(message.id().expect("a request")).expect("an id");
        assert_eq!(*found, sent);
    }
}
