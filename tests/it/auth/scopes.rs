//! What needs scopes, and how those are told of it who lack them: RFC 6750 section 3.1;
//! `basic/authorization` of 2025-11-25 and 2026-07-28, "Scope Challenge Handling".

use mcp_core::{
    Dispatcher, Exchange, FailureKind, Incoming, Message, Principal, Registry, RegistryBuilder,
    ServerConfig, SessionMode, State, prompt, resource, template, tool,
};
use mcp_http_actix::{Endpoint, bind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::{
    INITIALIZED, calling,
    events::Events,
    http::{Request, Response, Server},
    init, legacy,
    login::{METADATA, bearer, door, guarded, guarded_by, of},
    modern,
    probe::Probe,
    session::Session,
    stdio::Stdio,
};

#[derive(Deserialize, JsonSchema)]
struct Named {
    name: String,
}

/// One of everything for which something is needed, and a tool for everybody.
fn builder(probe: &Probe) -> RegistryBuilder {
    Registry::builder("files", "1")
        .state(probe.clone())
        .tool(tool("look", async || "seen"))
        .tool(tool("write", write).scopes(["files:write", "audit:log"]))
        .tool(tool("read", async || "read").scopes(["files:read"]))
        .resource(
            resource("file:///log", async || "log")
                .scopes(["audit:read"])
                .subscribable(),
        )
        .template(
            template("file:///docs/{name}", async |it: Named| it.name)
                .scopes(["docs:read"])
                .suggest("name", ["a"])
                .subscribable(),
        )
        .prompt(
            prompt("draft", async |it: Named| it.name)
                .scopes(["draft"])
                .suggest("name", ["a"]),
        )
}

/// Says something before it has anything to say, so that its answer is a stream.
async fn write((): (), exchange: Exchange, State(probe): State<Probe>) -> &'static str {
    probe.note("write");
    exchange.progress(1.0, None).await;
    "written"
}

fn registry(mode: SessionMode) -> Registry {
    let mut config = ServerConfig::default();
    config.sessions.mode = mode;
    builder(&Probe::default()).build(config).unwrap()
}

/// The challenge for an operation that needs `scopes`, besides what everybody needs.
fn step_up(scopes: &str) -> String {
    format!(
        r#"Bearer error="insufficient_scope", scope="{scopes}", resource_metadata="{METADATA}", error_description="the token lacks a scope that this needs""#
    )
}

fn assert_denied(response: &Response, scopes: &str) {
    assert_eq!(response.status, 403, "{response:?}");
    assert_eq!(response.all("www-authenticate"), [step_up(scopes)]);
    assert!(!response.is_stream());
    let message = response.message();
    assert_eq!(message["error"]["code"], -32600);
}

/// Every operation that needs something: its method, params, and what it needs.
fn operations() -> Vec<(&'static str, Value, &'static str)> {
    let complete =
        |reference: Value| json!({"ref": reference, "argument": {"name": "name", "value": ""}});
    let listen = |uris: &[&str]| json!({"notifications": {"resourceSubscriptions": uris}});
    vec![
        (
            "tools/call",
            calling("write", json!({})),
            "audit:log files:write mcp:use",
        ),
        (
            "tools/call",
            calling("read", json!({})),
            "files:read mcp:use",
        ),
        (
            "resources/read",
            json!({"uri": "file:///log"}),
            "audit:read mcp:use",
        ),
        (
            "resources/read",
            json!({"uri": "file:///docs/a"}),
            "docs:read mcp:use",
        ),
        (
            "prompts/get",
            json!({"name": "draft", "arguments": {"name": "a"}}),
            "draft mcp:use",
        ),
        (
            "completion/complete",
            complete(json!({"type": "ref/prompt", "name": "draft"})),
            "draft mcp:use",
        ),
        (
            "completion/complete",
            complete(json!({"type": "ref/resource", "uri": "file:///docs/{name}"})),
            "docs:read mcp:use",
        ),
        // All at once, not one after another.
        (
            "subscriptions/listen",
            listen(&["file:///log", "file:///docs/a"]),
            "audit:read docs:read mcp:use",
        ),
    ]
}

fn request(method: &'static str, params: Value) -> Request {
    let name = params.get("name").or_else(|| params.get("uri"));
    let name = name.and_then(Value::as_str).map(str::to_owned);
    let request = Request::modern(method, modern(7, method, params));
    match name {
        Some(name) => request.header("Mcp-Name", &name),
        None => request,
    }
}

// req: auth-insufficient-scope-challenge, auth-2026-single-challenge, auth-403-and-400
#[tokio::test]
async fn whatever_needs_scopes_names_all_that_it_needs() {
    let server = guarded(registry(SessionMode::Stateful));
    for (method, params, scopes) in operations() {
        let request = request(method, params);
        let response = server
            .send(&request.clone().of(&of("alice", "other")))
            .await;
        assert_denied(&response, scopes);
        assert_eq!(response.message()["id"], 7, "{method}");
        // The same situation gets the same words (2025-11-25, "Runtime Insufficient Scope Errors").
        let again = server.send(&request.clone().of(&of("bob", ""))).await;
        assert_eq!((again.text(), again.status), (response.text(), 403));
        // What was asked for is enough.
        let stepped_up = bearer(&json!({"sub": "alice", "scope": scopes}));
        let live = server.open(&request.of(&stepped_up)).await;
        assert_eq!(live.status(), 200, "{method}");
    }
}

// req: auth-insufficient-scope-challenge
#[tokio::test]
async fn so_it_does_in_a_session() {
    let server = guarded(registry(SessionMode::Stateful));
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let poor = of("alice", "");
        let session = Session::of(&server, version, &[("Authorization", &poor)]).await;
        let mut operations = operations();
        operations.pop();
        let watched = [
            ("file:///log", "audit:read mcp:use"),
            ("file:///docs/a", "docs:read mcp:use"),
        ];
        for (uri, needs) in watched {
            operations.push(("resources/subscribe", json!({"uri": uri}), needs));
        }
        for (method, params, scopes) in operations {
            let body = legacy(7, method, params);
            let response = session.post(body.as_str()).await;
            assert_denied(&response, scopes);
            let rich = bearer(&json!({"sub": "alice", "scope": scopes}));
            let response = session.with("Authorization", &rich).post(body).await;
            assert_eq!(response.status, 200, "{method}: {response:?}");
            assert!(
                response.messages()[0].get("error").is_none(),
                "{response:?}"
            );
        }
    }
}

/// A stream that is open cannot carry a status any more.
// req: auth-insufficient-scope-challenge
#[tokio::test]
async fn it_is_decided_before_a_stream_is_opened_and_a_handler_runs() {
    let probe = Probe::default();
    let server = guarded(builder(&probe).build(ServerConfig::default()).unwrap());
    let mut params = calling("write", json!({}));
    params["_meta"] = json!({"progressToken": 1});
    let request = request("tools/call", params).with("Accept", "text/event-stream");
    let response = server.send(&request.clone().of(&of("alice", ""))).await;
    assert_denied(&response, "audit:log files:write mcp:use");
    assert_eq!(probe.notes(), [""; 0]);
    let partly = server
        .send(&request.clone().of(&of("alice", "files:write")))
        .await;
    assert_denied(&partly, "audit:log files:write mcp:use");
    let response = server
        .send(&request.of(&of("alice", "files:write audit:log")))
        .await;
    assert_eq!((response.status, response.is_stream()), (200, true));
    assert_eq!(probe.notes(), ["write"]);
}

// req: auth-2026-scope-hierarchy
#[tokio::test]
async fn a_broader_scope_will_do() {
    let hierarchy = |held: &str, needed: &str| {
        held == "admin" || held.strip_suffix(":*") == needed.split(':').next()
    };
    let server = guarded_by(registry(SessionMode::Stateful), door().implies(hierarchy));
    let write = request("tools/call", calling("write", json!({})));
    let status = async |scope: &str| {
        let token = bearer(&json!({"sub": "alice", "scope": scope}));
        server.send(&write.clone().of(&token)).await.status
    };
    assert_eq!(status("admin").await, 200);
    assert_eq!(status("mcp:* files:* audit:*").await, 200);
    assert_eq!(status("mcp:* files:*").await, 403);
    assert_eq!(status("mcp:use file:* audit:*").await, 403);
    // Even what everybody needs can be implied, and nothing is implied by nothing.
    assert_eq!(status("").await, 403);
}

// req: auth-2026-single-challenge
#[tokio::test]
async fn a_batch_is_refused_as_a_whole_for_all_that_it_lacks() {
    let probe = Probe::default();
    let registry = builder(&probe).build(ServerConfig::default()).unwrap();
    let server = guarded(registry.clone());
    let poor = of("alice", "files:read");
    let session = Session::of(&server, "2025-03-26", &[("Authorization", &poor)]).await;
    let call = |id: i64, name: &str| legacy(id, "tools/call", calling(name, json!({})));
    let read = legacy(4, "resources/read", json!({"uri": "file:///log"}));
    let batch = format!(
        "[{},{},{},{read}]",
        call(1, "look"),
        call(2, "read"),
        call(3, "write")
    );
    let response = session.post(batch.as_str()).await;
    assert_denied(&response, "audit:log audit:read files:write mcp:use");
    assert_eq!(response.message().get("id"), None, "of no message alone");
    assert_eq!(probe.notes(), [""; 0], "none of it has run");
    let refused = registry.usage().refused(FailureKind::InsufficientScope);
    assert_eq!(refused, 1, "it is one refusal");
    let rich = of("alice", "files:read files:write audit:log audit:read");
    let response = session.with("Authorization", &rich).post(batch).await;
    assert_eq!(response.status, 200);
    assert_eq!(probe.notes(), ["write"]);
}

/// The transport of 2024-11-05 answers on its stream, but what is refused is refused at once.
#[tokio::test]
async fn on_the_old_transport_the_post_itself_is_refused() {
    let probe = Probe::default();
    let registry = builder(&probe).build(ServerConfig::default()).unwrap();
    let endpoint = Endpoint::new(registry).authorization(door().build().unwrap());
    let bound = bind(endpoint, "127.0.0.1:0", "/mcp").unwrap();
    let server = Server::run(bound.sse("/sse", "/messages"));
    let opening = Request::get().target("/sse").of(&of("alice", ""));
    let mut events = Events::open(&server, &opening).await;
    let address = events.event().await.data;
    let post = |who: &str, body: String| {
        let request = Request::bare("POST").target(&address).body(body);
        let request = request.header("Content-Type", "application/json");
        request.of(who)
    };
    let poor = of("alice", "");
    for body in [init("2024-11-05"), INITIALIZED.to_owned()] {
        let response = server.send(&post(&poor, body)).await;
        assert_eq!(response.status, 202, "{response:?}");
    }
    events.message().await;
    let write = legacy(7, "tools/call", calling("write", json!({})));
    let response = server.send(&post(&poor, write.clone())).await;
    assert_denied(&response, "audit:log files:write mcp:use");
    assert_eq!(probe.notes(), [""; 0]);
    let rich = of("alice", "files:write audit:log");
    assert_eq!(server.send(&post(&rich, write)).await.status, 202);
    assert_eq!(events.message().await["id"], 7);
}

/// Who is nobody is told to log in, not that a token lacks something.
#[tokio::test]
async fn where_anybody_may_call_what_needs_scopes_asks_to_log_in() {
    let door = || door().require([] as [&str; 0]).allow_anonymous();
    let server = guarded_by(registry(SessionMode::Stateful), door());
    let look = request("tools/call", calling("look", json!({})));
    assert_eq!(server.send(&look).await.status, 200);
    let write = request("tools/call", calling("write", json!({})));
    let response = server.send(&write).await;
    assert_eq!(response.status, 401, "{response:?}");
    let challenge =
        format!(r#"Bearer scope="audit:log files:write", resource_metadata="{METADATA}""#);
    assert_eq!(response.all("www-authenticate"), [challenge]);
    // Whoever shows a token that does not count is not taken for nobody.
    assert_eq!(server.send(&look.of("Bearer junk")).await.status, 401);
    assert_eq!(server.send(&write.of("Basic abc")).await.status, 401);
}

/// A scope that nobody checks is a door that nobody watches.
#[tokio::test]
async fn without_an_authorization_what_needs_scopes_is_for_nobody() {
    let server = Server::of(registry(SessionMode::Stateful));
    let look = request("tools/call", calling("look", json!({})));
    assert_eq!(server.send(&look).await.status, 200);
    for (method, params, _) in operations() {
        let response = server.send(&request(method, params)).await;
        assert_eq!(response.status, 403, "{method}: {response:?}");
        assert_eq!(response.header("www-authenticate"), None);
    }
    // The application may know who calls, and what that one may do.
    let endpoint = Endpoint::new(registry(SessionMode::Stateful)).identify(|_| {
        let scopes = ["files:write", "audit:log"];
        Some(Principal::new("app", "ops").scopes(scopes))
    });
    let server = Server::start(endpoint);
    let status = async |name: &str| {
        let call = request("tools/call", calling(name, json!({})));
        server.send(&call).await.status
    };
    assert_eq!((status("write").await, status("read").await), (200, 403));
}

/// Whoever starts a process and talks to it over its pipes is its owner.
// req: auth-stdio-environment
#[tokio::test]
async fn on_a_pipe_there_are_no_scopes() {
    let dispatcher = Dispatcher::new(registry(SessionMode::Stateful));
    let call = async |dispatcher: &Dispatcher| {
        let body = modern(1, "tools/call", calling("write", json!({})));
        let mut answer = dispatcher.answer(&Incoming::new(body.into()).local());
        loop {
            match answer.next().await.expect("no answer") {
                Message::Notification(_) => {}
                Message::Reply(reply) => {
                    return serde_json::from_slice::<Value>(&reply.body.unwrap()).unwrap();
                }
            }
        }
    };
    let guarded = dispatcher.clone().authorization(door().build().unwrap());
    for dispatcher in [dispatcher, guarded] {
        let answer = call(&dispatcher).await;
        assert_eq!(crate::support::text(&answer["result"]), "written");
    }
}

/// Any other pair of streams may come from anywhere.
#[tokio::test]
async fn streams_are_the_owners_only_where_that_is_said() {
    let server = || mcp_stdio::Server::new(registry(SessionMode::Stateful));
    let call = modern(1, "tools/call", calling("write", json!({})));
    for (server, allowed) in [(server(), false), (server().local(), true)] {
        let stdio = Stdio::run(server);
        stdio.send(&call).await;
        let answer = stdio.answer(&1.into()).await;
        assert_eq!(answer.get("result").is_some(), allowed, "{answer}");
    }
}

/// What cannot be asked for is a mistake of the program, and found when it starts.
#[test]
fn a_scope_that_is_none_is_refused_at_once() {
    for scope in ["", "a b", "ü", "a\"b", "offline_access"] {
        let build = |builder: RegistryBuilder| {
            let refused = builder.build(ServerConfig::default()).map(drop);
            refused.unwrap_err().to_string()
        };
        let new = || Registry::builder("x", "1");
        let tool = new().tool(tool("write", async || "").scopes([scope]));
        assert!(build(tool).contains("write"), "{scope:?}");
        let resource = new().resource(resource("x://y", async || "").scopes([scope]));
        assert!(build(resource).contains("x://y"), "{scope:?}");
        let prompt = new().prompt(prompt("draft", async || "").scopes([scope]));
        assert!(build(prompt).contains("draft"), "{scope:?}");
    }
}
