//! Any text on its way through an event stream: a reader of the HTML standard's format finds the
//! messages that were said, no more and no fewer. And any `Last-Event-ID`: it replays nothing that
//! nobody was given.

#![no_main]

use std::{
    pin::pin,
    sync::LazyLock,
    task::{Context, Poll, Waker},
};

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use mcp_core::{
    Dispatcher, Exchange, HeaderValue, Headers, Incoming, Message, Registry, ServerConfig,
    SessionMode, tool,
};
use mcp_http_actix::fuzzing;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

struct Sent<'a> {
    session: &'a str,
    place: Option<&'a [u8]>,
}

impl Headers for Sent<'_> {
    fn value(&self, name: &str) -> HeaderValue<'_> {
        match (name, self.place) {
            ("mcp-protocol-version", _) => HeaderValue::Once(b"2025-11-25"),
            ("mcp-session-id", _) if !self.session.is_empty() => {
                HeaderValue::Once(self.session.as_bytes())
            }
            ("last-event-id", Some(place)) => HeaderValue::Once(place),
            _ => HeaderValue::Absent,
        }
    }
}

#[derive(Deserialize, JsonSchema)]
struct Say {
    text: String,
}

async fn say(Say { text }: Say, exchange: Exchange) -> String {
    exchange.progress_message(1.0, None, text.as_str()).await;
    text
}

static RUNTIME: LazyLock<tokio::runtime::Runtime> = LazyLock::new(|| {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_time().build().expect("a runtime")
});

static DISPATCHER: LazyLock<Dispatcher> = LazyLock::new(|| {
    let mut config = ServerConfig::default();
    config.sessions.mode = SessionMode::Optional;
    let registry = Registry::builder("fuzz", "1").tool(tool("say", say));
    Dispatcher::new(registry.build(config).expect("a registry"))
});

/// The session of whoever comes back.
static SESSION: LazyLock<String> = LazyLock::new(|| {
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "0"},
    });
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
    let headers = Sent {
        session: "",
        place: None,
    };
    let incoming = Incoming::new(Bytes::from(body.to_string())).headers(&headers);
    match ready(DISPATCHER.answer(&incoming).next()) {
        Some(Some(Message::Reply(reply))) => reply.session.expect("a session").to_string(),
        other => panic!("{other:?}"),
    }
});

fuzz_target!(|input: &[u8]| {
    let _runtime = RUNTIME.enter();
    if let Ok(text) = std::str::from_utf8(input) {
        is_read_as_said(text);
    }
    let headers = Sent {
        session: &SESSION,
        place: Some(input),
    };
    let incoming = Incoming::new(Bytes::new()).headers(&headers);
    let opened = ready(DISPATCHER.open_stream(&incoming)).expect("nothing to wait for");
    let mut stream = opened.expect("a stream");
    // It begins as the session's own: with a place, and without a message.
    while let Some(event) = ready(stream.next()).flatten() {
        assert_eq!(event.data, Bytes::new());
    }
});

fn is_read_as_said(text: &str) {
    let params =
        json!({"name": "say", "arguments": {"text": text}, "_meta": {"progressToken": text}});
    let body = json!({"jsonrpc": "2.0", "id": text, "method": "tools/call", "params": params});
    let headers = Sent {
        session: "",
        place: None,
    };
    let incoming = Incoming::new(Bytes::from(body.to_string())).headers(&headers);
    let stream = DISPATCHER.answer(&incoming).into_events();
    let written = fuzzing::written(stream).expect("nothing to wait for");
    let messages = read(std::str::from_utf8(&written).expect("UTF-8"));
    let [progress, reply] = &*messages else {
        panic!("{messages:?}");
    };
    assert_eq!(progress["params"]["message"], text);
    assert_eq!(progress["params"]["progressToken"], text);
    assert_eq!(reply["result"]["content"][0]["text"], text);
    assert_eq!(reply["id"], text);
}

/// Reads a stream as the HTML standard has it, section 9.2.6.
fn read(stream: &str) -> Vec<Value> {
    let stream = stream.replace("\r\n", "\n").replace('\r', "\n");
    let (mut messages, mut data) = (Vec::new(), Vec::new());
    for line in stream.split('\n') {
        match line.split_once(':').unwrap_or((line, "")) {
            ("", _) if line.is_empty() && !data.is_empty() => {
                let text = std::mem::take(&mut data).join("\n");
                if !text.is_empty() {
                    messages.push(serde_json::from_str(&text).expect("JSON"));
                }
            }
            ("data", value) => data.push(value.strip_prefix(' ').unwrap_or(value).to_owned()),
            ("event", value) => assert_eq!(value, " message"),
            ("id" | "retry" | "", _) => {}
            other => panic!("{other:?}"),
        }
    }
    assert!(data.is_empty(), "the last event has no end");
    messages
}

fn ready<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future)
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}
