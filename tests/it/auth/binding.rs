//! What belongs to whom: sessions, streams, states, cursors and handles are those of an issuer, a
//! client and a subject, and to everybody else they are not there.

use mcp_core::{PageSize, Registry, ServerConfig};
use mcp_http_actix::{Endpoint, bind};
use serde_json::{Value, json};

use crate::support::{
    INITIALIZED, calling,
    curious::{self, able, confirmed},
    events::Events,
    http::{Request, Response, Server},
    init, legacy,
    lively::{self, WATCHED},
    login::{USE, bearer, door, guarded},
    modern,
    pending::Pending,
    probe::Probe,
    session::Session,
    text,
    workers::Shared,
};

/// Alice, as the client `app` shows her.
fn alice() -> String {
    person("x", "app", "alice", "")
}

/// The same of a token that was issued later, with more scopes and another lifetime.
fn refreshed() -> String {
    bearer(&json!({
        "iss": "x",
        "azp": "app",
        "sub": "alice",
        "scope": "mcp:use files:write",
        "exp": 600,
        "jti": "another",
    }))
}

fn person(issuer: &str, client: &str, subject: &str, more: &str) -> String {
    bearer(&json!({
        "iss": issuer,
        "azp": client,
        "sub": subject,
        "scope": format!("{USE} {more}"),
    }))
}

/// Everybody that Alice is not, however much alike.
fn strangers() -> [String; 6] {
    [
        person("x", "app", "bob", ""),
        person("y", "app", "alice", ""),
        person("x", "other", "alice", ""),
        person("x", "", "appalice", ""),
        person("xapp", "", "alice", "admin"),
        person("", "x", "appalice", ""),
    ]
}

fn server(build: impl Fn(&Probe, ServerConfig) -> Registry) -> (Server, Registry, Probe) {
    let probe = Probe::default();
    let mut config = ServerConfig::default();
    config.page_size = PageSize::new(3).unwrap();
    let registry = build(&probe, config);
    (guarded(registry.clone()), registry, probe)
}

/// An answer as it came, apart from the time it came at.
fn bytes(response: &Response) -> (u16, Vec<String>, String) {
    let names = [
        "content-type",
        "www-authenticate",
        "retry-after",
        "mcp-session-id",
        "allow",
    ];
    let headers = names.iter().flat_map(|name| response.all(name));
    let headers = headers.map(str::to_owned).collect();
    (response.status, headers, response.text().to_owned())
}

// req: security-session-bound-to-user, security-session-not-authentication
#[tokio::test]
async fn somebody_elses_session_looks_like_one_that_never_was() {
    let (server, registry, _) = server(lively::with);
    let alice = Session::of(&server, "2025-11-25", &[("Authorization", &alice())]).await;
    let subscribe = json!({"uri": WATCHED[0]});
    alice.ask("resources/subscribe", subscribe.clone()).await;
    let (stream, _) = alice.listen().await.log();
    let made_up = "A".repeat(alice.id.len());
    for stranger in strangers() {
        let thief = alice.with("Authorization", &stranger);
        let guess = Session {
            id: made_up.clone(),
            ..thief.clone()
        };
        for request in [
            Request::post(legacy(1, "ping", json!({}))),
            Request::post(legacy(1, "tools/call", calling("count", json!({})))),
            Request::post(legacy(1, "resources/unsubscribe", subscribe.clone())),
            Request::post(legacy(1, "logging/setLevel", json!({"level": "error"}))),
            Request::post("[]"),
            Request::post("no json"),
            Request::post(INITIALIZED),
            Request::get(),
            Request::get().header("Last-Event-ID", "x"),
            Request::bare("DELETE"),
        ] {
            let stolen = thief.send(request.clone()).await;
            let guessed = guess.send(request.clone()).await;
            assert_eq!(bytes(&stolen), bytes(&guessed), "{request:?}");
            assert_eq!(stolen.status, 404, "{request:?}");
        }
    }
    // Alice's is as it was: subscribed, streaming, and open to whichever token of hers.
    registry.resource_updated(WATCHED[0]);
    stream.first(|it| it["params"]["uri"] == WATCHED[0]).await;
    let later = alice.with("Authorization", &refreshed());
    assert_eq!(later.tool("count", json!({})).await, "1");
    assert_eq!(alice.tool("count", json!({})).await, "2");
    assert_eq!(later.delete().await.status, 204);
    stream.ended().await;
}

// req: security-session-bound-to-user
#[tokio::test]
async fn a_stream_is_taken_up_by_its_owner_alone() {
    let (server, _, probe) = server(lively::with);
    let alice = Session::of(&server, "2025-11-25", &[("Authorization", &alice())]).await;
    probe.note("go 1");
    let mut call = alice.call(1, "steps", json!({"n": 2})).await;
    let place = call.event().await.place().to_owned();
    for stranger in strangers() {
        let thief = alice.with("Authorization", &stranger);
        let stolen = server.send(&thief.resuming(&place)).await;
        assert_eq!(stolen.status, 404);
        // Nor into a session of one's own.
        let own = Session::of(&server, "2025-11-25", &[("Authorization", &stranger)]).await;
        let live = server.open(&own.resuming(&place)).await;
        let unknown = server.open(&own.resuming("made-up")).await;
        assert_eq!(
            (live.status(), live.header("content-type")),
            (unknown.status(), unknown.header("content-type"))
        );
    }
    let later = alice.with("Authorization", &refreshed());
    let mut resumed = later.resume(&place).await;
    probe.note_all(&["go 2", "go on"]);
    let mut last = Value::Null;
    while let Some(event) = resumed.next().await {
        if !event.is_empty() {
            last = event.message();
        }
    }
    assert_eq!(text(&last["result"]), "2");
}

// req: mrtr-state-replay-bounds, elicit-bound-to-user, security-2026-handle-bound
#[tokio::test]
async fn a_state_comes_back_from_its_owner_alone() {
    // Both ways of keeping one: with the client, and in the store.
    for (tool, arguments) in [("transfer", json!({"amount": 5})), ("bulky", json!({}))] {
        let (server, _, probe) = server(curious::with);
        let call = async |who: &str, params: Value| {
            let request = Request::modern("tools/call", able(1, "tools/call", params));
            server.send(&request.header("Mcp-Name", tool).of(who)).await
        };
        let params = calling(tool, arguments);
        let asked = call(&alice(), params.clone()).await.message();
        let pending = Pending::of(&params, &asked["result"]).unwrap();
        let answers = pending.answers(if tool == "bulky" {
            curious::anything
        } else {
            confirmed
        });
        probe.clear();
        for stranger in strangers() {
            let stolen = call(&stranger, pending.with(&answers)).await;
            let altered = format!("{}A", &pending.token[..pending.token.len() - 1]);
            let unknown = call(&stranger, pending.with_state(&answers, &json!(altered))).await;
            assert_eq!(bytes(&stolen), bytes(&unknown));
            let error = &stolen.message()["error"];
            assert_eq!(error["data"]["reason"], "invalid_request_state", "{error}");
            assert_eq!(probe.notes(), [""; 0]);
        }
        let done = call(&refreshed(), pending.with(&answers)).await.message();
        assert!(done["result"]["resultType"].is_string(), "{done}");
        assert!(done.get("error").is_none(), "{done}");
    }
}

// req: pagination-invalid-cursor-32602
#[tokio::test]
async fn a_cursor_leads_on_its_owner_alone() {
    let (server, _, _) = server(lively::with);
    let list = async |who: &str, cursor: Option<&str>| {
        let params = cursor.map_or_else(|| json!({}), |it| json!({"cursor": it}));
        let request = Request::modern("tools/list", modern(1, "tools/list", params));
        server.send(&request.of(who)).await
    };
    let first = list(&alice(), None).await.message();
    let cursor = first["result"]["nextCursor"].as_str().unwrap().to_owned();
    for stranger in strangers() {
        let stolen = list(&stranger, Some(&cursor)).await;
        let unknown = list(&stranger, Some("made-up")).await;
        assert_eq!(bytes(&stolen), bytes(&unknown));
        assert_eq!(stolen.code(), -32602);
    }
    let next = list(&refreshed(), Some(&cursor)).await.message();
    assert!(next["result"]["tools"][0]["name"].is_string(), "{next}");
    assert_ne!(next["result"]["tools"][0], first["result"]["tools"][0]);
}

// req: security-2026-handle-bound, security-2026-handle-not-authentication
#[tokio::test]
async fn a_handle_serves_its_owner_alone() {
    let (server, _, _) = server(lively::with);
    let call = async |who: &str, name: &str, arguments: Value| {
        let body = modern(1, "tools/call", calling(name, arguments));
        let request = Request::modern("tools/call", body);
        server.send(&request.header("Mcp-Name", name).of(who)).await
    };
    let said = |response: Response| text(&response.message()["result"]).to_owned();
    let handle = said(call(&alice(), "open", json!({})).await);
    for stranger in strangers() {
        for name in ["count", "close"] {
            let stolen = call(&stranger, name, json!({"handle": handle})).await;
            let unknown = call(&stranger, name, json!({"handle": "made-up"})).await;
            assert_eq!(bytes(&stolen), bytes(&unknown), "{name}");
        }
    }
    for (who, count) in [(alice(), "1"), (refreshed(), "2")] {
        assert_eq!(
            said(call(&who, "count", json!({"handle": handle})).await),
            count
        );
    }
}

/// Two people whose clients use one id for two calls hear of their own alone.
#[tokio::test]
async fn nobody_cancels_or_answers_for_somebody_else() {
    let (server, _, probe) = server(lively::with);
    let of = async |who: &str| Session::of(&server, "2025-11-25", &[("Authorization", who)]).await;
    let (ours, theirs) = (of(&alice()).await, of(&strangers()[0]).await);
    probe.note("go 1");
    let mut call: Events = ours.call(7, "steps", json!({"n": 1})).await;
    call.message().await;
    let cancel = json!({"requestId": 7, "reason": "mine"});
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel});
    assert_eq!(theirs.post(cancel.to_string()).await.status, 202);
    let thief = ours.with("Authorization", &strangers()[0]);
    assert_eq!(thief.post(cancel.to_string()).await.status, 404);
    let answer = json!({"jsonrpc": "2.0", "id": 7, "result": {}}).to_string();
    assert_eq!(thief.post(answer).await.status, 404);
    probe.note("go on");
    let rest = call.rest().await;
    let last = rest.last().unwrap().message();
    assert_eq!(text(&last["result"]), "1");
}

/// Whichever worker is asked.
// req: security-session-bound-to-user
#[tokio::test]
async fn at_another_worker_it_is_no_different() {
    let (probe, shared) = (Probe::default(), Shared::default());
    let worker = || guarded(lively::with(&probe, shared.config()));
    let (first, second) = (worker(), worker());
    let ours = Session::of(&first, "2025-11-25", &[("Authorization", &alice())]).await;
    assert_eq!(ours.tool("count", json!({})).await, "1");
    probe.note("go 1");
    let mut call = ours.call(1, "steps", json!({"n": 1})).await;
    let place = call.event().await.place().to_owned();
    for stranger in strangers() {
        let thief = ours.at(&second).with("Authorization", &stranger);
        for request in [
            Request::post(legacy(1, "ping", json!({}))),
            thief.resuming(&place),
            Request::bare("DELETE"),
        ] {
            assert_eq!(thief.send(request).await.status, 404);
        }
    }
    let later = ours.at(&second).with("Authorization", &refreshed());
    assert_eq!(later.tool("count", json!({})).await, "2");
    let resumed = later.resume(&place).await;
    probe.note("go on");
    let rest = resumed.rest().await;
    assert_eq!(text(&rest.last().unwrap().message()["result"]), "1");
    assert_eq!(later.delete().await.status, 204);
    assert_eq!(ours.status().await, 404);
}

/// A connection of the old transport, whose id is in the address.
// req: security-session-bound-to-user
#[tokio::test]
async fn a_connection_takes_messages_of_its_owner_alone() {
    let endpoint = Endpoint::new(lively::lively(&Probe::default()));
    let endpoint = endpoint.authorization(door().build().unwrap());
    let bound = bind(endpoint, "127.0.0.1:0", "/mcp").unwrap();
    let server = Server::run(bound.sse("/sse", "/messages"));
    let opening = Request::get().target("/sse").of(&alice());
    let mut events = Events::open(&server, &opening).await;
    let address = events.event().await.data;
    let post = async |who: &str, address: &str, body: &str| {
        let request = Request::bare("POST").target(address).body(body);
        let request = request.header("Content-Type", "application/json");
        server.send(&request.of(who)).await
    };
    let begin = init("2024-11-05");
    for stranger in strangers() {
        let stolen = post(&stranger, &address, &begin).await;
        let unknown = post(&stranger, "/messages?session_id=unknown", &begin).await;
        assert_eq!(bytes(&stolen), bytes(&unknown));
        assert_eq!(stolen.status, 404);
    }
    assert_eq!(post(&refreshed(), &address, &begin).await.status, 202);
    let described = events.message().await;
    assert_eq!(described["result"]["protocolVersion"], "2024-11-05");
}

/// What a session may do is what the token of each request permits, not what the first one did.
// req: auth-every-request, security-session-not-authentication
#[tokio::test]
async fn a_session_keeps_no_permission() {
    let registry = Registry::builder("files", "1")
        .tool(mcp_core::tool("write", async || "written").scopes(["files:write"]))
        .build(ServerConfig::default())
        .unwrap();
    let server = guarded(registry);
    let rich = Session::of(&server, "2025-11-25", &[("Authorization", &refreshed())]).await;
    assert_eq!(rich.tool("write", json!({})).await, "written");
    let poor = rich.with("Authorization", &alice());
    let call = legacy(1, "tools/call", calling("write", json!({})));
    assert_eq!(poor.post(call).await.status, 403);
    assert_eq!(rich.tool("write", json!({})).await, "written");
}
