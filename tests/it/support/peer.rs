//! A scripted client: one way to speak, on every transport, in every revision.

use std::{cell::Cell, time::Duration};

use mcp_codec::{Era, Revision};
use mcp_core::Registry;
use serde_json::{Map, Value, json};

use super::{
    INITIALIZED,
    matrix::{Need, Site, Transport},
    outcome::Outcome,
    probe::Probe,
    subscription::Subscription,
    talk::Talk,
    wire::{Sent, Wire, Work},
};

/// A client of one server, in one revision, on one transport; its handshake is behind it.
pub(crate) struct Peer {
    pub(crate) revision: Revision,
    pub(crate) transport: Transport,
    pub(crate) probe: Probe,
    /// One worker's, where there are several.
    pub(crate) registry: Registry,
    /// What `initialize` or `server/discover` told.
    pub(crate) server: Value,
    /// What it declares that it can do.
    pub(crate) capabilities: Value,
    wire: Wire,
    next: Cell<i64>,
}

/// A request that was sent.
pub(crate) struct Ticket {
    id: Value,
    work: Work,
}

impl Peer {
    /// A client that has made its handshake, or asked for the description that replaces it.
    pub(crate) async fn new(transport: Transport, revision: Revision, site: Site) -> Self {
        let wire = Wire::new(transport, revision.version().as_str(), &site);
        let mut peer = Self {
            revision,
            transport,
            probe: site.probe,
            registry: site.registry,
            server: Value::Null,
            capabilities: site.capabilities,
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
            "capabilities": self.capabilities,
            "clientInfo": {"name": "peer", "version": "0"},
        });
        let outcome = self.call("initialize", params).await;
        assert_eq!(outcome.session.is_some(), self.has(Need::Session));
        self.wire.enter(outcome.session.clone());
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
                ("clientCapabilities", self.capabilities.clone()),
                ("clientInfo", json!({"name": "peer", "version": "0"})),
            ] {
                let key = format!("io.modelcontextprotocol/{key}");
                meta.entry(key).or_insert(content);
            }
        }
        meta
    }

    /// Sends a request without waiting for it.
    pub(crate) async fn begin(&self, method: &str, params: Value, meta: Value) -> Ticket {
        let (id, name, body) = self.request(method, params, meta);
        self.begin_text(id, method, name.as_deref(), body).await
    }

    /// Sends a request whose messages are read as they come.
    pub(crate) async fn talk(&self, method: &str, params: Value) -> Talk {
        let (id, name, body) = self.request(method, params, json!({}));
        let sent = self.sent(method, name.as_deref(), body);
        self.wire.talk(id, sent).await
    }

    /// A request with its id, and the name that is mirrored.
    fn request(
        &self,
        method: &str,
        mut params: Value,
        meta: Value,
    ) -> (Value, Option<String>, String) {
        let id = self.id();
        let meta = self.meta(meta);
        if !meta.is_empty() {
            params["_meta"] = Value::Object(meta);
        }
        let name = params.get("name").or_else(|| params.get("uri"));
        let name = name.and_then(Value::as_str).map(str::to_owned);
        let body = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        (id, name, body.to_string())
    }

    async fn begin_text(
        &self,
        id: Value,
        method: &str,
        name: Option<&str>,
        body: String,
    ) -> Ticket {
        let work = self.wire.begin(self.sent(method, name, body)).await;
        Ticket { id, work }
    }

    fn sent<'a>(&self, method: &'a str, name: Option<&'a str>, body: String) -> Sent<'a> {
        let mirrored = self.is_modern().then_some((method, name));
        Sent { mirrored, body }
    }

    /// A message that gets no answer.
    pub(crate) async fn tell(&self, body: &str) {
        self.wire.tell(body).await;
    }

    /// Answers a question of the server.
    pub(crate) async fn respond(&self, question: &Value, result: Value) {
        let body = json!({"jsonrpc": "2.0", "id": question["id"], "result": result});
        self.tell(&body.to_string()).await;
    }

    /// Answers a question of the server with an error.
    pub(crate) async fn refuse(&self, question: &Value, code: i64) {
        let error = json!({"code": code, "message": "the client says no"});
        let body = json!({"jsonrpc": "2.0", "id": question["id"], "error": error});
        self.tell(&body.to_string()).await;
    }

    /// `notifications/cancelled`.
    pub(crate) async fn cancel(&self, ticket: &Ticket) {
        self.cancel_id(&ticket.id).await;
    }

    pub(crate) async fn cancel_id(&self, id: &Value) {
        let params = json!({"requestId": id, "reason": "the test says so"});
        let body = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
        self.tell(&body.to_string()).await;
    }

    /// Waits for what comes of a request.
    pub(crate) async fn outcome(&self, ticket: Ticket) -> Outcome {
        let Ticket { id, work } = ticket;
        let outcome = self.wire.outcome(&id, work).await;
        self.check(&id, &outcome);
        outcome
    }

    /// Waits a moment for a request that is not to be answered.
    pub(crate) async fn silence(&self, ticket: Ticket) {
        let Ticket { id, work } = ticket;
        let Wire::Stdio(stdio) = &self.wire else {
            let outcome = self.wire.outcome(&id, work).await;
            assert!(outcome.reply.is_none(), "{outcome:?}");
            return;
        };
        tokio::time::sleep(Duration::from_millis(50)).await;
        let messages = stdio.messages();
        let answered = messages.iter().find(|it| it.get("id") == Some(&id));
        assert_eq!(answered, None);
    }

    /// `subscriptions/listen`.
    pub(crate) async fn subscribe(&self, filter: Value) -> Subscription {
        let (id, method) = (self.id(), "subscriptions/listen");
        let params = json!({"notifications": filter, "_meta": self.meta(json!({}))});
        let body = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let sent = self.sent(method, None, body.to_string());
        let reading = self.wire.subscribe(sent).await;
        Subscription::new(id, reading)
    }

    /// Ends a subscription as the transport has it.
    pub(crate) async fn unsubscribe(&self, subscription: &Subscription) {
        if matches!(self.wire, Wire::Http(_)) {
            subscription.leave();
        } else {
            self.cancel_id(&subscription.id).await;
        }
    }

    /// Hears from now on what comes unasked.
    pub(crate) async fn attend(&self) {
        self.wire.attend().await;
    }

    /// Waits for what comes unasked.
    pub(crate) async fn heard(&self, method: &str) -> Value {
        let unasked = self.wire.unasked();
        unasked.first(|it| it["method"] == method).await
    }

    /// All notifications that have come unasked.
    pub(crate) fn unasked(&self) -> Vec<Value> {
        let mut messages = self.wire.unasked().messages();
        messages.retain(|it| it.get("method").is_some());
        messages
    }

    /// What holds for every answer in this revision.
    pub(super) fn check(&self, id: &Value, outcome: &Outcome) {
        for note in &outcome.notes {
            let told = note["method"].is_string() && note.get("id").is_none();
            assert!(told, "not a notification: {note}");
        }
        let Some(reply) = &outcome.reply else { return };
        assert_eq!(reply.get("id"), Some(id), "{reply}");
        let Some(result) = reply.get("result") else {
            return;
        };
        if self.is_modern() {
            let asks = result.get("inputRequests").is_some();
            let kind = if asks { "input_required" } else { "complete" };
            assert_eq!(result["resultType"], kind, "{reply}");
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
