//! Golden vectors: a message in, a status, a reply and notifications out, for every revision.
//!
//! `vectors/DATE/METHOD/CASE.json`, found by walking the folder. `MCP_BLESS=1` rewrites what is
//! expected; a reviewer reads the difference against the specification.

mod asking;
mod cases;
mod content;
mod coverage;
mod fixture;
mod newest_cases;
mod projection;
mod random;
mod text;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use mcp_core::{Connection, Dispatcher, HeaderValue, Headers, Incoming, Message};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

pub(crate) use text::compact;

/// One message, how it arrives, and what becomes of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Vector {
    /// What it shows.
    note: String,
    /// Which server of the fixture answers; the one with everything by default.
    server: Option<String>,
    /// `http` or `stdio`.
    transport: String,
    /// The HTTP headers; absent on stdio.
    headers: Option<BTreeMap<String, String>>,
    /// What was sent before on the same connection; by default, a handshake revision's handshake
    /// on stdio and nothing on HTTP.
    before: Option<Vec<String>>,
    /// The message as it arrives; `{{cursor}}` and `{{state}}` stand for the last cursor and the
    /// last request state given out before.
    pub(crate) body: String,
    /// The HTTP status.
    pub(crate) status: Option<u16>,
    /// The reply as it leaves, or null where there is none.
    pub(crate) reply: Option<Box<RawValue>>,
    /// What is said before the reply.
    #[serde(default)]
    pub(crate) notifications: Vec<Box<RawValue>>,
}

/// What came of a vector.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    status: Option<u16>,
    reply: Option<String>,
    notifications: Vec<String>,
}

/// A vector with the place it was found at.
pub(crate) struct Found {
    pub(crate) date: String,
    pub(crate) method: String,
    pub(crate) case: String,
    path: PathBuf,
    pub(crate) vector: Vector,
}

impl Found {
    pub(crate) fn name(&self) -> String {
        format!("{}/{}/{}", self.date, self.method, self.case)
    }
}

/// Every vector, in the order of its path.
pub(crate) fn all() -> Vec<Found> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("it/vectors");
    let mut files = Vec::new();
    collect(&root, &mut files);
    files.sort();
    files.into_iter().map(|path| found(&root, path)).collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|it| it == "json") {
            files.push(path);
        }
    }
}

fn found(root: &Path, path: PathBuf) -> Found {
    let within = path.strip_prefix(root).unwrap().with_extension("");
    let parts: Vec<&str> = within.iter().map(|it| it.to_str().unwrap()).collect();
    let [date, method @ .., case] = &*parts else {
        panic!("{} is not DATE/METHOD/CASE.json", path.display());
    };
    let text = fs::read_to_string(&path).unwrap();
    let vector =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    Found {
        date: (*date).to_owned(),
        method: method.join("/"),
        case: (*case).to_owned(),
        path,
        vector,
    }
}

/// The headers of a vector.
struct Given<'a>(&'a BTreeMap<String, String>);

impl Headers for Given<'_> {
    fn value(&self, name: &str) -> HeaderValue<'_> {
        let found = self
            .0
            .iter()
            .find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map_or(HeaderValue::Absent, |(_, value)| {
            HeaderValue::Once(value.as_bytes())
        })
    }
}

/// Runs `future` where time passes only when everybody waits.
pub(crate) fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap()
        .block_on(future)
}

async fn outcome(found: &Found, dispatcher: &Dispatcher) -> Outcome {
    let vector = &found.vector;
    let connection = (vector.transport == "stdio").then(Connection::new);
    let headers = vector.headers.as_ref().map(Given);
    let incoming = |body: String| {
        let mut incoming = Incoming::new(body.into());
        incoming.connection = connection.as_ref();
        incoming.headers = headers.as_ref().map(|it| it as &dyn Headers);
        incoming
    };
    let (mut cursor, mut state) = (String::new(), String::new());
    for body in before(found) {
        for message in messages(dispatcher, &incoming(body)).await {
            let Message::Reply(reply) = message else {
                continue;
            };
            let reply = reply.body.unwrap_or_default();
            let reply: serde_json::Value = serde_json::from_slice(&reply).unwrap_or_default();
            if let Some(next) = reply["result"]["nextCursor"].as_str() {
                next.clone_into(&mut cursor);
            }
            if let Some(next) = reply["result"]["requestState"].as_str() {
                next.clone_into(&mut state);
            }
        }
    }
    let body = vector.body.replace("{{cursor}}", &cursor);
    let body = body.replace("{{state}}", &state);
    let messages = messages(dispatcher, &incoming(body)).await;
    read(messages, vector.transport == "http")
}

/// What is sent first: as the vector says, or the handshake that stdio begins with.
fn before(found: &Found) -> Vec<String> {
    let vector = &found.vector;
    let shakes =
        vector.transport == "stdio" && found.date != "2026-07-28" && found.method != "initialize";
    vector.before.clone().unwrap_or_else(|| {
        let date = &found.date;
        let initialize = format!(
            r#"{{"jsonrpc":"2.0","id":"before","method":"initialize","params":{{"protocolVersion":"{date}","capabilities":{{}},"clientInfo":{{"name":"vectors","version":"1"}}}}}}"#
        );
        let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        if shakes { vec![initialize, initialized.to_owned()] } else { Vec::new() }
    })
}

pub(crate) async fn messages(dispatcher: &Dispatcher, incoming: &Incoming<'_>) -> Vec<Message> {
    let mut answer = dispatcher.answer(incoming);
    let mut messages = Vec::new();
    while let Some(message) = answer.next().await {
        // From here on a subscription says nothing until something changes.
        let subscribed = is_acknowledgement(&message);
        messages.push(message);
        if subscribed {
            break;
        }
    }
    messages
}

/// Whether a message is the first one of a subscription.
pub(crate) fn is_acknowledgement(message: &Message) -> bool {
    match message {
        Message::Notification(body) => {
            let message: serde_json::Value = serde_json::from_slice(body).unwrap();
            message["method"] == "notifications/subscriptions/acknowledged"
        }
        Message::Reply(_) => false,
    }
}

fn read(messages: Vec<Message>, http: bool) -> Outcome {
    let text = |bytes: bytes::Bytes| text::normalised(std::str::from_utf8(&bytes).unwrap());
    let mut outcome = Outcome {
        status: None,
        reply: None,
        notifications: Vec::new(),
    };
    for message in messages {
        match message {
            Message::Notification(bytes) => outcome.notifications.push(text(bytes)),
            Message::Reply(reply) => {
                outcome.status = http.then_some(reply.status);
                outcome.reply = reply.body.map(text);
            }
        }
    }
    outcome
}

/// The vector's file with the outcome for what it expects.
fn written(vector: &Vector, outcome: &Outcome) -> String {
    fn json(value: &(impl Serialize + ?Sized)) -> String {
        serde_json::to_string(value).unwrap()
    }
    let mut members = vec![("note", json(&vector.note))];
    members.extend(vector.server.as_ref().map(|it| ("server", json(it))));
    members.push(("transport", json(&vector.transport)));
    members.extend(vector.headers.as_ref().map(|it| ("headers", json(it))));
    members.extend(vector.before.as_ref().map(|it| ("before", json(it))));
    members.push(("body", json(&vector.body)));
    members.push(("status", json(&outcome.status)));
    members.push((
        "reply",
        outcome.reply.clone().unwrap_or_else(|| "null".to_owned()),
    ));
    members.push((
        "notifications",
        format!("[{}]", outcome.notifications.join(",")),
    ));
    let member = |(key, value): (&str, String)| format!("  \"{key}\": {}", text::pretty(&value, 1));
    let members: Vec<String> = members.into_iter().map(member).collect();
    format!("{{\n{}\n}}\n", members.join(",\n"))
}

#[test]
fn every_vector_is_answered_as_it_says() {
    let bless = std::env::var_os("MCP_BLESS").is_some_and(|it| it == "1");
    let mut wrong = Vec::new();
    for found in all() {
        let vector = &found.vector;
        let dispatcher = fixture::server(vector.server.as_deref().unwrap_or("everything"));
        let outcome = run(outcome(&found, dispatcher));
        if bless {
            fs::write(&found.path, written(vector, &outcome)).unwrap();
            continue;
        }
        let expected = Outcome {
            status: vector.status,
            reply: vector.reply.as_ref().map(|it| compact(it.get())),
            notifications: vector
                .notifications
                .iter()
                .map(|it| compact(it.get()))
                .collect(),
        };
        if outcome != expected {
            wrong.push(format!(
                "{}\n  expected {expected:?}\n  found    {outcome:?}",
                found.name()
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{}\n(MCP_BLESS=1 rewrites them)",
        wrong.join("\n")
    );
}
