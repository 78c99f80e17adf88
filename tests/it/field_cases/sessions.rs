//! A13, A14 and A16: who has a session, and who has not.

use std::{sync::Arc, time::Duration};

use actix_web::HttpRequest;
use futures_util::{StreamExt as _, stream};
use mcp_core::{Principal, Rate, Registry};
use mcp_http_actix::Endpoint;
use serde_json::json;

use crate::support::{
    INITIALIZED,
    http::{Request, Response, Server},
    init, legacy,
    lively::{self, WATCHED},
    login::{bearer, guarded, of},
    modern,
    probe::Probe,
    session::Session,
    until,
    workers::Shared,
};

/// What serves, and what it keeps.
fn registry(change: impl Fn(&mut mcp_core::ServerConfig)) -> (Registry, Shared) {
    let shared = Shared::default();
    let mut config = shared.config();
    change(&mut config);
    (lively::with(&Probe::default(), config), shared)
}

/// A server, and what it keeps.
fn server(change: impl Fn(&mut mcp_core::ServerConfig)) -> (Server, Registry, Shared) {
    let (registry, shared) = registry(change);
    (Server::of(registry.clone()), registry, shared)
}

fn a13_check(response: &Response, status: u16) {
    assert_eq!(response.status, status, "{response:?}");
    assert!(!response.is_stream());
    assert_eq!(response.header("mcp-session-id"), None);
}

// req: http-session-terminated-404, http-session-missing-400, http-2026-session-header-ignored
#[tokio::test]
async fn a13_expired_or_unknown_session() {
    let (server, _, shared) = server(|config| {
        (config.sessions.idle, config.sessions.handshake) =
            (Duration::from_millis(400), Duration::from_millis(400));
        // What is decided later does not hide it.
        config.limits.max_streams = 0;
    });
    let session = Session::open(&server).await;
    assert!(session.id.bytes().all(|it| it.is_ascii_graphic()));
    until(|| shared.store.is_empty()).await;

    let list = || Request::post(legacy(1, "tools/list", json!({})));
    let mut unknown = vec![session.clone()];
    let ids = ["", "made-up", "ü", &"x".repeat(4000)].map(str::to_owned);
    unknown.extend(ids.map(|id| Session {
        id,
        ..session.clone()
    }));
    for session in unknown {
        for request in [list(), Request::get(), Request::bare("DELETE")] {
            a13_check(&session.send(request).await, 404);
        }
        assert_eq!(session.post(INITIALIZED).await.status, 404);
    }
    let without = session.dressed(list()).without("Mcp-Session-Id");
    a13_check(&server.send(&without).await, 400);
    let list = Request::modern("tools/list", modern(1, "tools/list", json!({})));
    let response = server
        .send(&list.header("Mcp-Session-Id", &session.id))
        .await;
    assert_eq!(response.status, 200);
    assert_eq!(response.header("mcp-session-id"), None);
}

/// A missing or a bad token wins, and a good one of anybody finds an ended session gone.
// req: http-session-terminated-404, auth-401-without-token, auth-every-request
#[tokio::test]
async fn a13_credentials_come_before_the_session_and_quotas_after() {
    let (registry, _) = registry(|config| {
        config.limits.max_streams = 0;
        config.limits.rate = Some(Rate::new(1, 4));
    });
    let server = guarded(registry);
    let alice = of("alice", "");
    let session = Session::of(&server, "2025-11-25", &[("Authorization", &alice)]).await;
    assert_eq!(session.delete().await.status, 204);
    for request in [
        Request::post(legacy(1, "tools/list", json!({}))),
        Request::get(),
        Request::bare("DELETE"),
    ] {
        let request = session.dressed(request);
        for _ in 0..5 {
            a13_check(&server.send(&request).await, 404);
            a13_check(&server.send(&request.clone().of(&of("bob", ""))).await, 404);
            let nothing = request.clone().without("Authorization");
            a13_check(&server.send(&nothing).await, 401);
            a13_check(&server.send(&request.clone().of("Bearer junk")).await, 401);
        }
    }
}

/// The client that finds its session gone begins anew, and may still name the old one.
// req: http-session-id-on-initialize
#[tokio::test]
async fn a13_a_client_starts_over() {
    let (server, _, _) = server(|_| {});
    let session = Session::open(&server).await;
    assert_eq!(session.delete().await.status, 204);
    let response = session.post(init("2025-11-25")).await;
    assert_eq!(response.status, 200);
    let id = response.header("mcp-session-id").unwrap().to_owned();
    assert_ne!(id, session.id);
    let anew = Session { id, ..session };
    assert_eq!(anew.status().await, 200);
}

fn a14_requests() -> [(Request, bool); 6] {
    let params = r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}"#;
    let no_method = format!(r#"{{"params":{params}}}"#);
    let evil = |name| Request::legacy(init("2025-11-25")).with(name, "http://evil.example");
    [
        (Request::legacy(legacy(1, "ping", json!({}))), true),
        (Request::legacy(no_method), true),
        // A JSON-RPC error is 200 in this era.
        (Request::legacy(legacy(1, "initialize", json!({}))), false),
        (evil("Host"), true),
        (evil("Origin"), true),
        (Request::get(), true),
    ]
}

// req: http-session-id-on-initialize
#[tokio::test]
async fn a14_only_a_valid_permitted_initialize_creates_a_session() {
    let (server, registry, shared) = server(|_| {});
    for (request, refused) in a14_requests() {
        let responses = stream::iter(0..300).map(|_| server.send(&request));
        let responses: Vec<Response> = responses.buffer_unordered(20).collect().await;
        for response in responses {
            assert_eq!(response.status >= 400, refused, "{response:?}");
            assert!(response.status < 500, "{response:?}");
            assert_eq!(response.header("mcp-session-id"), None);
            assert!(response.message()["error"].is_object());
        }
        assert_eq!(shared.store.len(), 0, "{request:?}");
        assert_eq!(shared.hub.topics(), 0, "{request:?}");
        assert_eq!(registry.open_streams(), 0, "{request:?}");
    }
    Session::open(&server).await;
    assert_eq!(shared.store.len(), 1);
}

/// The same where credentials are asked for: neither junk nor too little of a scope opens one.
// req: http-session-id-on-initialize, auth-401-without-token
#[tokio::test]
async fn a14_without_credentials_that_count_no_session_is_created() {
    let (registry, shared) = registry(|_| {});
    let server = guarded(registry.clone());
    let init = || Request::legacy(init("2025-11-25"));
    let weak = bearer(&json!({"sub": "alice", "scope": "other"}));
    for (request, status) in [
        (init(), 401),
        (init().of("Bearer junk"), 401),
        (init().of("Bearer ?"), 400),
        (init().of(&weak), 403),
        (Request::get().of("Bearer junk"), 401),
        (
            Request::legacy(legacy(1, "ping", json!({}))).of(&of("alice", "")),
            400,
        ),
    ] {
        let responses = stream::iter(0..300).map(|_| server.send(&request));
        let responses: Vec<Response> = responses.buffer_unordered(20).collect().await;
        for response in responses {
            assert!([status, 429].contains(&response.status), "{response:?}");
            assert_eq!(response.header("mcp-session-id"), None);
        }
        assert_eq!(shared.store.len(), 0, "{request:?}");
        assert_eq!(shared.hub.topics(), 0, "{request:?}");
        assert_eq!(registry.open_streams(), 0, "{request:?}");
    }
    Session::of(&server, "2025-11-25", &[("Authorization", &of("bob", ""))]).await;
    assert_eq!(shared.store.len(), 1);
}

#[tokio::test]
async fn a14_a_client_that_never_goes_on_is_soon_forgotten() {
    let (server, _, shared) = server(|config| {
        config.sessions.idle = Duration::from_secs(3);
        config.sessions.handshake = Duration::from_millis(600);
    });
    let silent = server.send(&Request::legacy(init("2025-11-25"))).await;
    let goes_on = Session::open(&server).await;
    assert_eq!(shared.store.len(), 2);
    until(|| shared.store.len() == 1).await;
    assert_eq!(goes_on.status().await, 200);
    let id = silent.header("mcp-session-id").unwrap().to_owned();
    assert_eq!(Session { id, ..goes_on }.status().await, 404);
}

/// `Bearer SUBJECT@ISSUER`, with anything behind a dot; everybody else is nobody.
fn named(request: &HttpRequest) -> Option<Principal> {
    let header = request.headers().get("authorization")?.to_str().ok()?;
    let token = header.strip_prefix("Bearer ")?;
    let (subject, rest) = token.split_once('@')?;
    let issuer = rest.split('.').next()?;
    Some(Principal::new(issuer, subject))
}

/// The case to the letter: tokens of Alice and Bob, another issuer, a refreshed token.
// req: security-session-bound-to-user, security-session-not-authentication, auth-every-request
#[tokio::test]
async fn a16_a_refreshed_token_goes_on_and_nobody_elses_does() {
    let registry = lively::lively(&Probe::default());
    let server = guarded(registry.clone());
    let token = |issuer: &str, subject: &str, id: &str| {
        bearer(&json!({"iss": issuer, "sub": subject, "scope": "mcp:use", "jti": id, "exp": 60}))
    };
    let a1 = token("X", "alice", "1");
    let alice = Session::of(&server, "2025-11-25", &[(AUTHORIZATION, &a1)]).await;
    let (stream, _) = alice.listen().await.log();
    let ping = || Request::post(legacy(1, "ping", json!({})));
    for (request, other) in [
        (ping(), token("X", "bob", "2")),
        (Request::get(), token("X", "bob", "2")),
        (Request::bare("DELETE"), token("X", "bob", "2")),
        (ping(), token("Y", "alice", "3")),
    ] {
        a13_check(&alice.with(AUTHORIZATION, &other).send(request).await, 404);
    }
    let a2 = alice.with(AUTHORIZATION, &token("X", "alice", "4"));
    assert_eq!(a2.status().await, 200);
    registry.announce(mcp_core::Change::Tools);
    stream
        .first(|it| it["method"] == "notifications/tools/list_changed")
        .await;
    assert_eq!(a2.delete().await.status, 204);
    stream.ended().await;
}

/// A server that knows who asks.
fn identifying() -> (Server, Registry) {
    let registry = lively::lively(&Probe::default());
    let endpoint = Endpoint::new(registry.clone()).identify(named);
    (Server::start(endpoint), registry)
}

const AUTHORIZATION: &str = "Authorization";

// req: security-session-bound-to-user, security-session-not-authentication
// req: security-verify-all-requests
#[tokio::test]
async fn a16_a_session_belongs_to_a_person() {
    let (server, registry) = identifying();
    let version = "2025-11-25";
    let alice = Session::of(&server, version, &[(AUTHORIZATION, "Bearer alice@x.1")]).await;
    let subscribe = json!({"uri": WATCHED[0]});
    alice.ask("resources/subscribe", subscribe.clone()).await;
    let (stream, _) = alice.listen().await.log();
    for other in [
        "Bearer bob@x.1",
        "Bearer alice@y.1",
        "Bearer @x.1",
        "Bearer alice",
        "Basic abc",
    ] {
        let thief = alice.with(AUTHORIZATION, other);
        for request in [
            Request::post(legacy(1, "ping", json!({}))),
            Request::post(legacy(1, "resources/unsubscribe", subscribe.clone())),
            Request::post(INITIALIZED),
            Request::get(),
            Request::bare("DELETE"),
        ] {
            a13_check(&thief.send(request).await, 404);
        }
    }
    let refreshed = alice.with(AUTHORIZATION, "Bearer alice@x.2");
    assert_eq!(refreshed.status().await, 200);
    registry.resource_updated(WATCHED[0]);
    let updated = |it: &serde_json::Value| it["params"]["uri"] == WATCHED[0];
    stream.first(updated).await;
    assert_eq!(refreshed.delete().await.status, 204);
    stream.ended().await;
    assert_eq!(alice.status().await, 404);
}

// req: security-2026-handle-bound, security-2026-handle-not-authentication
#[tokio::test]
async fn a16_so_does_a_handle() {
    let (server, _) = identifying();
    let call = async |who: &str, name: &str, arguments| {
        let params = json!({"name": name, "arguments": arguments});
        let request = Request::modern("tools/call", modern(1, "tools/call", params));
        let request = request.header("Mcp-Name", name).header(AUTHORIZATION, who);
        let message = server.send(&request).await.message();
        crate::support::text(&message["result"]).to_owned()
    };
    let handle = call("Bearer alice@x.1", "open", json!({})).await;
    let given = || json!({"handle": handle});
    for thief in ["Bearer bob@x.1", "Bearer alice@y.1", "nobody"] {
        assert_eq!(call(thief, "count", given()).await, "gone");
        assert_eq!(call(thief, "close", given()).await, "gone");
    }
    assert_eq!(call("Bearer alice@x.2", "count", given()).await, "1");
    assert_eq!(call("Bearer alice@x.1", "close", given()).await, "true");
}

// req: http-session-id-unguessable, security-session-id-random
#[tokio::test]
async fn session_ids_are_long_and_never_twice() {
    let (server, _, _) = server(|_| {});
    let server = Arc::new(server);
    let opened = stream::iter(0..200).map(|_| Session::open(&server));
    let ids: Vec<String> = opened.buffer_unordered(20).map(|it| it.id).collect().await;
    let distinct: std::collections::BTreeSet<&str> = ids.iter().map(|it| &it[..8]).collect();
    assert_eq!(distinct.len(), ids.len());
    assert!(
        ids.iter().all(|id| id.len() == 32),
        "192 bits: {:?}",
        ids[0]
    );
}
