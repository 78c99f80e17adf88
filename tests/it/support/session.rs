//! A session over HTTP, message by message.

use serde_json::{Value, json};

use super::{
    INITIALIZED, calling,
    events::Events,
    http::{Request, Response, Server},
    legacy,
};

/// A session that a server has opened.
#[derive(Debug, Clone)]
pub(crate) struct Session {
    pub(crate) server: Server,
    pub(crate) id: String,
    pub(crate) version: &'static str,
    /// More headers of each request.
    pub(crate) headers: Vec<(&'static str, String)>,
}

impl Session {
    /// A session in the newest revision that has any.
    pub(crate) async fn open(server: &Server) -> Self {
        Self::of(server, "2025-11-25", &[]).await
    }

    /// A session with its handshake behind it.
    pub(crate) async fn of(
        server: &Server,
        version: &'static str,
        headers: &[(&'static str, &str)],
    ) -> Self {
        Self::declaring(server, version, &json!({}), headers).await
    }

    /// The same of a client that declares those capabilities.
    pub(crate) async fn declaring(
        server: &Server,
        version: &'static str,
        capabilities: &Value,
        headers: &[(&'static str, &str)],
    ) -> Self {
        let mut session = Self {
            server: server.clone(),
            id: String::new(),
            version,
            headers: headers
                .iter()
                .map(|(name, value)| (*name, (*value).to_owned()))
                .collect(),
        };
        let request = session.dressed(Request::post(super::init_with(version, capabilities)));
        let response = server.send(&request.without("Mcp-Session-Id")).await;
        assert_eq!(response.message()["result"]["protocolVersion"], version);
        let id = response.header("mcp-session-id").expect("no session");
        id.clone_into(&mut session.id);
        let response = session.post(INITIALIZED).await;
        assert_eq!(response.status, 202);
        session
    }

    /// The same session at another worker.
    pub(crate) fn at(&self, server: &Server) -> Self {
        Self {
            server: server.clone(),
            ..self.clone()
        }
    }

    /// The same session in the hands of somebody with that header.
    pub(crate) fn with(&self, name: &'static str, value: &str) -> Self {
        let mut session = self.clone();
        session.headers.retain(|(it, _)| *it != name);
        session.headers.push((name, value.to_owned()));
        session
    }

    /// A request with the session's headers.
    pub(crate) fn dressed(&self, request: Request) -> Request {
        let request = request
            .with("MCP-Protocol-Version", self.version)
            .with("Mcp-Session-Id", &self.id);
        let headers = self.headers.iter();
        headers.fold(request, |request, (name, value)| request.with(name, value))
    }

    pub(crate) async fn send(&self, request: Request) -> Response {
        self.server.send(&self.dressed(request)).await
    }

    pub(crate) async fn post(&self, body: impl Into<Vec<u8>>) -> Response {
        self.send(Request::post(body)).await
    }

    /// A request, and the message that answers it.
    pub(crate) async fn ask(&self, method: &str, params: Value) -> Value {
        let response = self.post(legacy(1, method, params)).await;
        let mut messages = response.messages();
        messages
            .pop()
            .unwrap_or_else(|| panic!("no answer to {method}: {response:?}"))
    }

    /// The first text that a tool answers with.
    pub(crate) async fn tool(&self, name: &str, arguments: Value) -> String {
        let answer = self.ask("tools/call", calling(name, arguments)).await;
        super::text(&answer["result"]).to_owned()
    }

    /// A call with progress, as a stream.
    pub(crate) async fn call(&self, id: i64, name: &str, arguments: Value) -> Events {
        let mut params = calling(name, arguments);
        params["_meta"] = json!({"progressToken": id});
        let request = Request::post(legacy(id, "tools/call", params));
        Events::open(&self.server, &self.dressed(request)).await
    }

    /// The stream of what it hears unasked.
    pub(crate) async fn listen(&self) -> Events {
        Events::open(&self.server, &self.dressed(Request::get())).await
    }

    pub(crate) fn resuming(&self, place: &str) -> Request {
        self.dressed(Request::get().header("Last-Event-ID", place))
    }

    /// The stream of an event, from behind that event.
    pub(crate) async fn resume(&self, place: &str) -> Events {
        Events::open(&self.server, &self.resuming(place)).await
    }

    pub(crate) async fn delete(&self) -> Response {
        self.send(Request::bare("DELETE")).await
    }

    /// The status of a plain request.
    pub(crate) async fn status(&self) -> u16 {
        self.post(legacy(1, "ping", json!({}))).await.status
    }
}
