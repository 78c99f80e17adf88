//! Sessions over HTTP: headers, batches, the time before a handshake is over.

use std::time::Duration;

use mcp_core::{Change, ServerConfig, SessionMode};
use serde_json::{Value, json};

use crate::support::{
    INITIALIZED, calling,
    events::messages,
    http::{Request, Server},
    init, legacy,
    lively::{self, WATCHED},
    probe::Probe,
    session::Session,
    text,
};

fn server() -> Server {
    Server::of(lively::lively(&Probe::default()))
}

fn ping() -> Request {
    Request::post(legacy(1, "ping", json!({})))
}

// req: http-version-header-invalid-400
#[tokio::test]
async fn a_version_header_that_is_none_gets_400_whatever_the_method() {
    let session = Session::open(&server()).await;
    for version in ["2099-01-01", "", "latest"] {
        for request in [ping(), Request::get(), Request::bare("DELETE")] {
            let request = session.dressed(request);
            let request = request.with("MCP-Protocol-Version", version);
            let response = session.server.open(&request).await;
            assert_eq!(response.status(), 400, "{version} {request:?}");
        }
    }
    assert_eq!(session.status().await, 200, "it is still there");
}

// req: http-2025-03-no-version-header, http-version-header-default
#[tokio::test]
async fn the_session_knows_its_version() {
    let server = server();
    for version in ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] {
        let session = Session::of(&server, version, &[]).await;
        let body = legacy(1, "tools/call", calling("client", json!({})));
        let request = session.dressed(Request::post(body));
        let bare = request.clone().without("MCP-Protocol-Version");
        for request in [request, bare] {
            let message = server.send(&request).await.message();
            let known: Value = serde_json::from_str(text(&message["result"])).unwrap();
            assert_eq!(
                (&known["version"], &known["name"]),
                (&json!(version), &json!("t"))
            );
        }
        for request in [Request::get(), Request::bare("DELETE")] {
            let request = session.dressed(request).without("MCP-Protocol-Version");
            let live = server.open(&request).await;
            assert!([200, 204].contains(&live.status()), "{version}");
        }
    }
}

// req: http-header-names-case-insensitive
#[tokio::test]
async fn the_session_is_named_once_in_any_case() {
    let session = Session::open(&server()).await;
    for name in ["mcp-session-id", "MCP-SESSION-ID", "Mcp-Session-ID"] {
        let request = session.dressed(ping()).without("Mcp-Session-Id");
        let request = request.header(name, &format!("  {}\t", session.id));
        assert_eq!(session.server.send(&request).await.status, 200, "{name}");
    }
    let twice = session
        .dressed(ping())
        .header("Mcp-Session-Id", &session.id);
    assert_eq!(session.server.send(&twice).await.status, 400);
}

// req: http-get-sse-or-405, http-session-missing-400
#[tokio::test]
async fn without_a_session_there_is_no_stream_and_nothing_to_end() {
    let server = server();
    for (request, status) in [
        (Request::get(), 405),
        (Request::bare("DELETE"), 400),
        (ping(), 400),
        (Request::post(INITIALIZED), 400),
        (Request::post(format!("[{INITIALIZED}]")), 400),
    ] {
        let request = request.header("MCP-Protocol-Version", "2025-03-26");
        let response = server.send(&request).await;
        assert_eq!(response.status, status, "{request:?}");
    }
    let session = Session::open(&server).await;
    let json = session.dressed(Request::get().with("Accept", "application/json"));
    assert_eq!(server.send(&json).await.status, 406);
}

// req: http-notification-202, http-client-response-202
#[tokio::test]
async fn what_has_no_answer_gets_202_in_a_session_too() {
    let session = Session::open(&server()).await;
    for body in [
        INITIALIZED,
        r#"{"jsonrpc":"2.0","method":"notifications/acme"}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}"#,
    ] {
        let response = session.post(body).await;
        assert_eq!((response.status, response.text()), (202, ""), "{body}");
    }
}

// req: http-batch-2025-03-26, jsonrpc-batch-accept-2025-03-26
#[tokio::test]
async fn a_batch_in_a_session() {
    let probe = Probe::default();
    let server = Server::of(lively::lively(&probe));
    let session = Session::of(&server, "2025-03-26", &[]).await;
    let call = |id: i64, name: &str, arguments| {
        let mut params = calling(name, arguments);
        params["_meta"] = json!({"progressToken": id});
        legacy(id, "tools/call", params)
    };
    let body = format!(
        "[{},{},{INITIALIZED}]",
        call(1, "steps", json!({"n": 1})),
        call(2, "count", json!({}))
    );
    probe.note("go 1");
    let request = session.dressed(Request::post(body));
    let mut events = crate::support::events::Events::open(&server, &request).await;
    let first = events.event().await;
    assert_eq!(first.message()["params"]["progressToken"], 1);
    drop(events);
    probe.note("go on");
    let rest = session.resume(first.place()).await.rest().await;
    let replies: Vec<Value> = serde_json::from_str(&rest.last().unwrap().data).unwrap();
    let of = |id: i64| replies.iter().find(|it| it["id"] == id).unwrap();
    assert_eq!(text(&of(1)["result"]), "1");
    assert_eq!(text(&of(2)["result"]), "1");
    assert_eq!(replies.len(), 2);
    let newer = Session::open(&server).await;
    assert_eq!(newer.post("[]").await.status, 400);
}

// req: lifecycle-quiet-before-initialized
#[tokio::test]
async fn nothing_is_announced_before_the_handshake_is_over() {
    let registry = lively::lively(&Probe::default());
    let server = Server::of(registry.clone());
    let response = server.send(&Request::legacy(init("2025-11-25"))).await;
    let id = response.header("mcp-session-id").unwrap().to_owned();
    let early = Session {
        id,
        ..Session::open(&server).await
    };
    let mut stream = early.listen().await;
    registry.announce(Change::Tools);
    assert_eq!(early.post(INITIALIZED).await.status, 202);
    registry.announce(Change::Prompts);
    let first = stream.message().await;
    assert_eq!(first["method"], "notifications/prompts/list_changed");
}

#[tokio::test]
async fn where_sessions_are_optional_both_kinds_of_clients_are_served() {
    let mut config = ServerConfig::default();
    config.sessions.mode = SessionMode::Optional;
    let registry = lively::with(&Probe::default(), config);
    let server = Server::of(registry.clone());
    let alone = ping().header("MCP-Protocol-Version", "2025-11-25");
    assert_eq!(server.send(&alone).await.status, 200);
    assert_eq!(server.send(&Request::get()).await.status, 405);
    let session = Session::open(&server).await;
    session
        .ask("resources/subscribe", json!({"uri": WATCHED[0]}))
        .await;
    let mut stream = session.listen().await;
    registry.resource_updated(WATCHED[0]);
    assert_eq!(stream.message().await["params"]["uri"], WATCHED[0]);
    assert_eq!(session.delete().await.status, 204);
    assert_eq!(session.status().await, 404);
}

/// What a call has said stays while it is at work, however long it is silent.
#[tokio::test]
async fn a_silent_call_is_kept_for_longer_than_what_it_said() {
    const KEEP: Duration = Duration::from_millis(200);
    let probe = Probe::default();
    let mut config = ServerConfig::default();
    config.streams.keep = KEEP;
    config.sessions.idle = Duration::from_secs(3);
    let server = Server::of(lively::with(&probe, config));
    let session = Session::open(&server).await;
    probe.note("go 1");
    let mut call = session.call(1, "steps", json!({"n": 2})).await;
    let place = loop {
        let event = call.event().await;
        if !event.is_empty() {
            break event;
        }
    };
    drop(call);
    // Time is what this is about; meanwhile the housekeeper frees what it can.
    tokio::time::sleep(KEEP * 8).await;
    let resumed = session.resume(place.place()).await;
    probe.note_all(&["go 2", "go on"]);
    assert_eq!(messages(&resumed.rest().await).len(), 2);
}
