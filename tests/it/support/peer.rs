//! A scripted client: one way to speak, on every transport, in every revision.

use std::{cell::Cell, sync::Arc, time::Duration};

use bytes::Bytes;
use mcp_codec::{Era, Revision};
use mcp_core::{Connection, Dispatcher, Incoming, Message, Registry};
use serde_json::{Map, Value, json};
use tokio::{task::JoinHandle, time::timeout};

use super::{
    INITIALIZED,
    http::{PATIENCE, Request, Response, Server},
    matrix::{Need, Transport},
    outcome::Outcome,
    probe::Probe,
    stdio::Stdio,
};

/// A client of one server, in one revision, on one transport; its handshake is behind it.
pub(crate) struct Peer {
    pub(crate) revision: Revision,
    pub(crate) transport: Transport,
    pub(crate) probe: Probe,
    pub(crate) registry: Registry,
    /// What `initialize` or `server/discover` told.
    pub(crate) server: Value,
    wire: Wire,
    next: Cell<i64>,
}

enum Wire {
    Bytes(Dispatcher, Arc<Connection>),
    Http(Server),
    Stdio(Stdio),
}

/// A request that was sent.
pub(crate) struct Ticket {
    id: Value,
    work: Work,
}

enum Work {
    Bytes(JoinHandle<Vec<Message>>),
    Http(JoinHandle<Response>),
    Stdio(usize),
}

impl Peer {
    /// A client that has made its handshake, or asked for the description that replaces it.
    pub(crate) async fn new(
        transport: Transport,
        revision: Revision,
        registry: Registry,
        probe: Probe,
        server: Option<&Server>,
    ) -> Self {
        let wire = match (transport, server) {
            (Transport::Bytes, _) => {
                Wire::Bytes(Dispatcher::new(registry.clone()), Connection::new())
            }
            (Transport::Http, Some(server)) => Wire::Http(server.clone()),
            (Transport::Http, None) => Wire::Http(Server::of(registry.clone())),
            (Transport::Stdio, _) => Wire::Stdio(Stdio::start(registry.clone())),
        };
        let mut peer = Self {
            revision,
            transport,
            probe,
            registry,
            server: Value::Null,
            wire,
            next: Cell::new(0),
        };
        peer.server = peer.introduce().await;
        peer
    }

    async fn introduce(&self) -> Value {
        if self.is_modern() {
            let outcome = self.call("server/discover", json!({})).await;
            return outcome.result().clone();
        }
        let params = json!({
            "protocolVersion": self.version(),
            "capabilities": {"elicitation": {}},
            "clientInfo": {"name": "peer", "version": "0"},
        });
        let outcome = self.call("initialize", params).await;
        self.tell(INITIALIZED).await;
        // Once this is answered, the end of the handshake has been read.
        self.call("ping", json!({})).await;
        outcome.result().clone()
    }

    fn is_modern(&self) -> bool {
        self.revision.era() == Era::Modern
    }

    pub(crate) fn version(&self) -> &'static str {
        self.revision.version().as_str()
    }

    /// Whether the peer can have what a scenario needs.
    pub(crate) fn has(&self, need: Need) -> bool {
        need.is_met(self.transport, self.revision)
    }

    /// A request, and what comes of it.
    pub(crate) async fn call(&self, method: &str, params: Value) -> Outcome {
        self.call_with(method, params, json!({})).await
    }

    /// A request with more in its `_meta`.
    pub(crate) async fn call_with(&self, method: &str, params: Value, meta: Value) -> Outcome {
        let ticket = self.begin(method, params, meta).await;
        self.outcome(ticket).await
    }

    /// `tools/call`.
    pub(crate) async fn tool(&self, name: &str, arguments: Value) -> Outcome {
        self.call("tools/call", super::calling(name, arguments))
            .await
    }

    /// `tools/call` with the arguments as they are written.
    pub(crate) async fn tool_text(&self, name: &str, arguments: &str) -> Outcome {
        let id = self.id();
        let arguments = if arguments.is_empty() {
            String::new()
        } else {
            format!(",\"arguments\":{arguments}")
        };
        let meta = Value::Object(self.meta(json!({})));
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{name}"{arguments},"_meta":{meta}}}}}"#
        );
        let ticket = self.begin_text(id, "tools/call", Some(name), body).await;
        self.outcome(ticket).await
    }

    fn id(&self) -> Value {
        let id = self.next.get();
        self.next.set(id + 1);
        // Both types, and the integer 0, whatever the scenario.
        if id % 3 == 2 {
            json!(format!("id-{id}"))
        } else {
            json!(id)
        }
    }

    fn meta(&self, more: Value) -> Map<String, Value> {
        let Value::Object(mut meta) = more else {
            panic!("`_meta` is an object")
        };
        if self.is_modern() {
            for (key, content) in [
                ("protocolVersion", json!(self.version())),
                ("clientCapabilities", json!({"elicitation": {}})),
                ("clientInfo", json!({"name": "peer", "version": "0"})),
            ] {
                let key = format!("io.modelcontextprotocol/{key}");
                meta.entry(key).or_insert(content);
            }
        }
        meta
    }

    /// Sends a request without waiting for it.
    pub(crate) async fn begin(&self, method: &str, mut params: Value, meta: Value) -> Ticket {
        let id = self.id();
        let meta = self.meta(meta);
        if !meta.is_empty() {
            params["_meta"] = Value::Object(meta);
        }
        let name = params.get("name").or_else(|| params.get("uri"));
        let name = name.and_then(Value::as_str).map(str::to_owned);
        let body = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.begin_text(id, method, name.as_deref(), body.to_string())
            .await
    }

    async fn begin_text(
        &self,
        id: Value,
        method: &str,
        name: Option<&str>,
        body: String,
    ) -> Ticket {
        let work = match &self.wire {
            Wire::Bytes(dispatcher, connection) => {
                let body = Bytes::from(body);
                let incoming = Incoming::new(body).connection(connection);
                let mut answer = dispatcher.answer(&incoming);
                Work::Bytes(tokio::spawn(async move {
                    let mut messages = Vec::new();
                    while let Some(message) = answer.next().await {
                        messages.push(message);
                    }
                    messages
                }))
            }
            Wire::Http(server) => {
                let request = self.dressed(method, name, body);
                let server = server.clone();
                Work::Http(tokio::spawn(async move { server.send(&request).await }))
            }
            Wire::Stdio(stdio) => {
                let from = stdio.len();
                stdio.send(&body).await;
                Work::Stdio(from)
            }
        };
        Ticket { id, work }
    }

    fn dressed(&self, method: &str, name: Option<&str>, body: String) -> Request {
        let request = Request::post(body).header("MCP-Protocol-Version", self.version());
        if !self.is_modern() {
            return request;
        }
        let request = request.header("Mcp-Method", method);
        match name {
            Some(name) => request.header("Mcp-Name", &mcp_codec::headers::encode(name)),
            None => request,
        }
    }

    /// A message that gets no answer.
    pub(crate) async fn tell(&self, body: &str) {
        match &self.wire {
            Wire::Bytes(dispatcher, connection) => {
                let incoming = Incoming::new(Bytes::from(body.to_owned())).connection(connection);
                let mut answer = dispatcher.answer(&incoming);
                while let Some(message) = answer.next().await {
                    let Message::Reply(reply) = message else {
                        panic!("{message:?}")
                    };
                    assert_eq!(reply.body, None, "{body}");
                }
            }
            Wire::Http(server) => {
                let request = Request::post(body).header("MCP-Protocol-Version", self.version());
                let response = server.send(&request).await;
                assert_eq!((response.status, response.text()), (202, ""), "{body}");
            }
            Wire::Stdio(stdio) => stdio.send(body).await,
        }
    }

    /// `notifications/cancelled`.
    pub(crate) async fn cancel(&self, ticket: &Ticket) {
        let params = json!({"requestId": ticket.id, "reason": "the test says so"});
        let body = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
        self.tell(&body.to_string()).await;
    }

    /// Waits for what comes of a request.
    pub(crate) async fn outcome(&self, ticket: Ticket) -> Outcome {
        let Ticket { id, work } = ticket;
        let outcome = match work {
            Work::Bytes(task) => {
                let messages = timeout(PATIENCE, task).await.expect("no answer").unwrap();
                Outcome::of(messages)
            }
            Work::Http(task) => {
                let response = timeout(PATIENCE, task).await.expect("no answer").unwrap();
                let mut notes = response.messages();
                Outcome {
                    reply: notes.pop(),
                    notes,
                    status: Some(response.status),
                }
            }
            Work::Stdio(from) => self.read_stdio(&id, from).await,
        };
        self.check(&id, &outcome);
        outcome
    }

    async fn read_stdio(&self, id: &Value, from: usize) -> Outcome {
        let Wire::Stdio(stdio) = &self.wire else {
            panic!("no stdio")
        };
        let reply = stdio.answer(id).await;
        let messages = stdio.messages();
        let between = messages.iter().skip(from).take_while(|it| **it != reply);
        Outcome {
            notes: between
                .filter(|it| it.get("method").is_some())
                .cloned()
                .collect(),
            reply: Some(reply),
            status: None,
        }
    }

    /// Waits a moment for a request that is not to be answered.
    pub(crate) async fn silence(&self, ticket: Ticket) {
        let Ticket { id, work } = ticket;
        match work {
            Work::Bytes(task) => {
                let messages = timeout(PATIENCE, task).await.expect("no end").unwrap();
                let outcome = Outcome::of(messages);
                assert!(outcome.reply.is_none(), "{outcome:?}");
            }
            Work::Http(_) => panic!("an HTTP request is always answered"),
            Work::Stdio(_) => {
                let Wire::Stdio(stdio) = &self.wire else {
                    panic!("no stdio")
                };
                tokio::time::sleep(Duration::from_millis(50)).await;
                let messages = stdio.messages();
                let answered = messages.iter().find(|it| it.get("id") == Some(&id));
                assert_eq!(answered, None);
            }
        }
    }

    /// Unasked notifications that have come; stdio alone has any.
    pub(crate) async fn heard(&self, method: &str) -> Value {
        let Wire::Stdio(stdio) = &self.wire else {
            panic!("no stdio")
        };
        stdio.first(|it| it["method"] == method).await
    }

    /// Everything that has come; stdio alone remembers.
    pub(crate) fn transcript(&self) -> Vec<Value> {
        let Wire::Stdio(stdio) = &self.wire else {
            panic!("no stdio")
        };
        stdio.messages()
    }

    /// What holds for every answer in this revision.
    fn check(&self, id: &Value, outcome: &Outcome) {
        for note in &outcome.notes {
            assert!(note["method"].is_string(), "not a notification: {note}");
        }
        let Some(reply) = &outcome.reply else { return };
        assert_eq!(reply.get("id"), Some(id), "{reply}");
        let Some(result) = reply.get("result") else {
            return;
        };
        if self.is_modern() {
            assert_eq!(result["resultType"], "complete", "{reply}");
            let info = &result["_meta"]["io.modelcontextprotocol/serverInfo"];
            assert!(
                info["name"].is_string() && info["version"].is_string(),
                "{reply}"
            );
        } else {
            assert_eq!(result.get("resultType"), None, "{reply}");
            assert_eq!(result.get("ttlMs"), None, "{reply}");
        }
    }
}
