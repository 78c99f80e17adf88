//! What a handler finds out itself: that these arguments need more than the caller may do.
//!
//! Source: `basic/authorization` of 2025-11-25, "Runtime Insufficient Scope Errors".

use mcp_core::{
    Dispatcher, Elicited, Exchange, HandlerError, Incoming, Message, Registry, ServerConfig, State,
    prompt, tool,
};
use mcp_http_actix::Endpoint;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::{
    calling,
    curious::able,
    http::{Request, Response, Server},
    legacy,
    login::{METADATA, door, guarded, guarded_by, of},
    modern,
    pending::Pending,
    probe::Probe,
    session::Session,
    text,
};

#[derive(Deserialize, JsonSchema)]
struct Path {
    path: String,
}

#[derive(Deserialize, JsonSchema)]
struct Sure {
    sure: bool,
}

async fn read(
    Path { path }: Path,
    exchange: Exchange,
    State(probe): State<Probe>,
) -> Result<String, HandlerError> {
    if path.starts_with("/etc/") {
        exchange.require_scopes(["files:admin"])?;
    }
    probe.note("read");
    Ok(format!("content of {path}"))
}

/// Asks first, and finds out only then.
async fn remove(Path { path }: Path, exchange: Exchange) -> Result<String, HandlerError> {
    let sure = exchange.elicit::<Sure>("sure", "Really?").await?;
    if !matches!(sure, Elicited::Accepted(Sure { sure: true })) {
        return Ok("kept".to_owned());
    }
    exchange.require_scopes(["files:admin"])?;
    Ok(format!("{path} is gone"))
}

fn registry() -> (Registry, Probe) {
    registry_with(|_| ())
}

fn registry_with(change: impl Fn(&mut ServerConfig)) -> (Registry, Probe) {
    let probe = Probe::default();
    let mut config = ServerConfig::default();
    change(&mut config);
    let registry = Registry::builder("files", "1")
        .state(probe.clone())
        .tool(tool("read", read).scopes(["files:read"]))
        .tool(tool("remove", remove).asks().single_use())
        .prompt(prompt("about", async |it: Path, exchange: Exchange| {
            exchange.require_scopes(["files:admin"])?;
            Ok::<_, HandlerError>(it.path)
        }))
        .build(config)
        .unwrap();
    (registry, probe)
}

fn call(params: Value) -> Request {
    let name = params["name"].as_str().unwrap().to_owned();
    let body = modern(1, "tools/call", params);
    Request::modern("tools/call", body).header("Mcp-Name", &name)
}

/// A call of a client that can be asked.
fn asking(params: Value) -> Request {
    let name = params["name"].as_str().unwrap().to_owned();
    let body = able(1, "tools/call", params);
    Request::modern("tools/call", body).header("Mcp-Name", &name)
}

fn reading(path: &str) -> Request {
    call(calling("read", json!({"path": path})))
}

fn assert_denied(response: &Response) {
    assert_eq!(response.status, 403, "{response:?}");
    let challenge = format!(
        r#"Bearer error="insufficient_scope", scope="files:admin mcp:use", resource_metadata="{METADATA}", error_description="the token lacks a scope that this needs""#
    );
    assert_eq!(response.all("www-authenticate"), [challenge]);
    assert!(!response.is_stream());
    assert_eq!(response.message()["error"]["code"], -32600);
    assert_eq!(response.message()["id"], 1);
}

#[tokio::test]
async fn a_handler_turns_away_who_lacks_what_its_arguments_need() {
    let (registry, probe) = registry();
    let server = guarded(registry.clone());
    let reader = of("alice", "files:read");
    let response = server.send(&reading("/home/a").of(&reader)).await;
    assert_eq!(text(&response.message()["result"]), "content of /home/a");
    probe.clear();
    assert_denied(&server.send(&reading("/etc/shadow").of(&reader)).await);
    assert_eq!(probe.notes(), [""; 0]);
    let counted = registry.usage();
    assert_eq!(counted.refused(mcp_core::FailureKind::InsufficientScope), 1);

    let admin = of("alice", "files:read files:admin");
    let response = server.send(&reading("/etc/shadow").of(&admin)).await;
    assert_eq!(
        text(&response.message()["result"]),
        "content of /etc/shadow"
    );
    assert_eq!(probe.notes(), ["read"]);
}

#[tokio::test]
async fn in_a_session_and_for_a_prompt_as_well() {
    let server = guarded(registry().0);
    let token = of("alice", "files:read");
    let session = Session::of(&server, "2025-06-18", &[("Authorization", &token)]).await;
    let params = calling("read", json!({"path": "/etc/shadow"}));
    assert_denied(&session.post(legacy(1, "tools/call", params)).await);
    let params = json!({"name": "about", "arguments": {"path": "x"}});
    assert_denied(&session.post(legacy(1, "prompts/get", params)).await);
}

#[tokio::test]
async fn one_scope_may_cover_another_for_a_handler_too() {
    let implies = |held: &str, needed: &str| held == "root" && needed.starts_with("files:");
    let server = guarded_by(registry().0, door().implies(implies));
    let response = server
        .send(&reading("/etc/shadow").of(&of("alice", "root")))
        .await;
    assert_eq!(
        text(&response.message()["result"]),
        "content of /etc/shadow"
    );
}

/// Whoever was turned away comes back with the same retry, although it counts once.
#[tokio::test]
async fn a_retry_that_was_turned_away_may_come_again() {
    let server = guarded(registry().0);
    let params = calling("remove", json!({"path": "/x"}));
    let (poor, rich) = (of("alice", ""), of("alice", "files:admin"));
    let asked = server.send(&asking(params.clone()).of(&poor)).await;
    let pending = Pending::of(&params, &asked.message()["result"]).expect("no question");
    let retry = pending.answered(|_| json!({"action": "accept", "content": {"sure": true}}));
    assert_denied(&server.send(&asking(retry.clone()).of(&poor)).await);
    for _ in 0..2 {
        let done = server.send(&asking(retry.clone()).of(&rich)).await;
        assert_eq!(text(&done.message()["result"]), "/x is gone");
    }
}

/// What waits in the store does not make a request one of this machine: nor the other way round.
#[tokio::test]
async fn a_state_in_the_store_changes_nothing_of_who_calls() {
    let (registry, _) = registry_with(|config| config.limits.max_carried = 0);
    let params = calling("remove", json!({"path": "/x"}));
    let sure = |_: &Value| json!({"action": "accept", "content": {"sure": true}});

    let anybody = door().require([""; 0]).allow_anonymous();
    let server = guarded_by(registry.clone(), anybody);
    let asked = server.send(&asking(params.clone())).await;
    let pending = Pending::of(&params, &asked.message()["result"]).expect("no question");
    let refused = server.send(&asking(pending.answered(sure))).await;
    assert_eq!(refused.status, 401, "{refused:?}");
    assert!(refused.text().contains("this needs credentials"));

    let dispatcher = Dispatcher::new(registry);
    let local = async |params: Value| {
        let body = able(1, "tools/call", params);
        let mut answer = dispatcher.answer(&Incoming::new(body.into()).local());
        let Some(Message::Reply(reply)) = answer.next().await else {
            panic!("no reply");
        };
        serde_json::from_slice::<Value>(&reply.body.unwrap()).unwrap()
    };
    let asked = local(params.clone()).await;
    let pending = Pending::of(&params, &asked["result"]).expect("no question");
    let done = local(pending.answered(sure)).await;
    assert_eq!(text(&done["result"]), "/x is gone");
}

#[tokio::test]
async fn whoever_started_the_process_needs_no_scopes() {
    let (registry, _) = registry();
    let dispatcher = Dispatcher::new(registry.clone());
    let body = modern(1, "tools/call", calling("read", json!({"path": "/etc/x"})));
    let read = async |incoming: Incoming<'_>| {
        let mut answer = dispatcher.answer(&incoming);
        let Some(Message::Reply(reply)) = answer.next().await else {
            panic!("no reply");
        };
        let body = String::from_utf8(reply.body.unwrap().to_vec()).unwrap();
        body.contains("content of /etc/x")
    };
    let incoming = Incoming::new(body.into());
    // A transport that does not say so is not taken for its pipes.
    assert!(!read(Incoming::new(incoming.body.clone())).await);
    assert!(read(incoming.local()).await);

    // And over a network nobody has them as long as nobody says who may call.
    let server = Server::start(Endpoint::new(registry));
    let response = server
        .send(&call(calling("read", json!({"path": "/home"}))))
        .await;
    assert_eq!(response.status, 403);
}
