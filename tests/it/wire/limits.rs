//! How many streams, sessions and values there may be, and what ends with a session.

use std::sync::Arc;

use actix_web::HttpRequest;
use mcp_core::{MemoryStore, Principal, Registry, ServerConfig};
use mcp_http_actix::Endpoint;
use serde_json::json;

use crate::support::{
    INITIALIZED,
    events::{Events, messages},
    http::{Request, Response, Server},
    init, legacy,
    lively::{self, MADE, WATCHED},
    matrix::{Need, each_of},
    modern,
    probe::Probe,
    session::Session,
    text, until,
    workers::Workers,
};

fn server(change: impl Fn(&mut ServerConfig)) -> (Server, Registry) {
    let mut config = ServerConfig::default();
    change(&mut config);
    let registry = lively::with(&Probe::default(), config);
    (Server::of(registry.clone()), registry)
}

/// The server has too much to do.
fn busy(response: &Response) {
    refused(response, 503);
}

/// One caller has too much open.
fn greedy(response: &Response) {
    refused(response, 429);
}

fn refused(response: &Response, status: u16) {
    assert_eq!(response.status, status, "{response:?}");
    let seconds = response.header("retry-after").expect("no Retry-After");
    assert!(seconds.parse::<u32>().is_ok_and(|it| it > 0), "{seconds}");
    assert_eq!(response.header("mcp-session-id"), None);
    assert!(response.message()["error"].is_object());
}

fn listen() -> Request {
    let method = "subscriptions/listen";
    let filter = json!({"notifications": {"toolsListChanged": true}});
    Request::modern(method, modern(1, method, filter))
}

#[tokio::test]
async fn there_are_so_many_streams_in_all() {
    let (server, registry) = server(|config| config.limits.max_streams = 3);
    let (a, b) = tokio::join!(Session::open(&server), Session::open(&server));
    let held = [
        a.listen().await,
        b.listen().await,
        Events::open(&server, &listen()).await,
    ];
    let c = Session::open(&server).await;
    busy(&c.send(Request::get()).await);
    busy(&server.send(&listen()).await);
    // Calls are none of those, and go on.
    assert_eq!(c.tool("now", json!({})).await, "It is now.");
    drop(held);
    until(|| registry.open_streams() == 0).await;
    c.listen().await;
}

#[tokio::test]
async fn there_are_so_many_streams_of_one_session() {
    let probe = Probe::default();
    let mut config = ServerConfig::default();
    config.limits.max_streams_per_session = 2;
    let registry = lively::with(&probe, config);
    let server = Server::of(registry.clone());
    let session = Session::open(&server).await;
    probe.note("go 1");
    let mut held = Vec::new();
    for id in 0..2 {
        let mut call = session.call(id, "steps", json!({"n": 1})).await;
        let place = call.event().await;
        held.push(session.resume(place.place()).await);
    }
    assert_eq!(registry.open_streams(), 2);
    greedy(&session.send(Request::get()).await);
    let other = Session::open(&server).await;
    let of_other = other.listen().await;
    drop(held);
    until(|| registry.open_streams() == 1).await;
    session.listen().await;
    drop(of_other);
    probe.note("go on");
}

/// However often its client reconnects, a session has one stream of its own.
#[tokio::test]
async fn a_session_reconnects_as_often_as_it_likes() {
    let (server, registry) = server(|config| config.limits.max_streams_per_session = 2);
    let session = Session::open(&server).await;
    let mut held = vec![session.listen().await];
    for _ in 0..10 {
        let stream = session.listen().await;
        held.pop().unwrap().rest().await;
        held.push(stream);
        until(|| registry.open_streams() == 1).await;
    }
}

fn named(request: &HttpRequest) -> Option<Principal> {
    let name = request.headers().get("x-name")?.to_str().ok()?;
    Some(Principal::new("test", name))
}

#[tokio::test]
async fn there_are_so_many_streams_of_one_person() {
    let mut config = ServerConfig::default();
    config.limits.max_streams_per_principal = 2;
    let registry = lively::with(&Probe::default(), config);
    let server = Server::start(Endpoint::new(registry.clone()).identify(named));
    let of = async |name| Session::of(&server, "2025-11-25", &[("X-Name", name)]).await;
    let (a, b, other) = (of("alice").await, of("alice").await, of("bob").await);
    let held = [a.listen().await, b.listen().await];
    greedy(&server.send(&listen().header("X-Name", "alice")).await);
    greedy(&of("alice").await.send(Request::get()).await);
    other.listen().await;
    // Strangers share no limit with one another.
    let listen = listen();
    let strangers = [(); 3].map(|()| Events::open(&server, &listen));
    let strangers = futures_util::future::join_all(strangers).await;
    drop((held, strangers));
    until(|| registry.open_streams() == 0).await;
    a.listen().await;
}

#[tokio::test]
async fn a_store_that_is_full_opens_no_session() {
    let store = Arc::new(MemoryStore::new().max_entries(2));
    let (server, _) = server(|config| config.store = Some(Arc::clone(&store) as _));
    let (first, _second) = tokio::join!(Session::open(&server), Session::open(&server));
    for _ in 0..2 {
        busy(&server.send(&Request::legacy(init("2025-11-25"))).await);
    }
    assert_eq!(store.len(), 2);
    assert_eq!(first.status().await, 200);
    // A handler cannot open one either, and tells nothing of the reason.
    let answer = first.ask("tools/call", json!({"name": "open"})).await;
    assert_eq!(answer["result"]["isError"], true);
    assert!(
        text(&answer["result"]).contains("internal error"),
        "{answer}"
    );
    assert_eq!(first.delete().await.status, 204);
    Session::open(&server).await;
}

fn narrow(probe: &Probe, mut config: ServerConfig) -> Registry {
    config.limits.max_watched = 2;
    config.limits.max_session_bytes = 2000;
    lively::with(probe, config)
}

#[tokio::test]
async fn a_client_watches_so_many_resources() {
    let needs = [Need::Connection, Need::Handshake];
    each_of(narrow, &needs, async |peer| {
        let subscribe = async |method: &str, uri: &str| {
            let answer = peer.call(method, json!({"uri": uri})).await;
            answer.reply.unwrap()
        };
        for uri in [WATCHED[0], WATCHED[1], WATCHED[0]] {
            let answer = subscribe("resources/subscribe", uri).await;
            assert_eq!(answer["result"], json!({}));
        }
        let answer = subscribe("resources/subscribe", MADE).await;
        assert_eq!(answer["error"]["code"], -32602);
        subscribe("resources/unsubscribe", WATCHED[0]).await;
        let answer = subscribe("resources/subscribe", MADE).await;
        assert_eq!(answer["result"], json!({}));
    })
    .await;
    each_of(narrow, &[Need::RequestContext], async |peer| {
        let filter = json!({"resourceSubscriptions": [WATCHED[0], WATCHED[1], MADE]});
        let listen = json!({"notifications": filter});
        let answer = peer.call("subscriptions/listen", listen).await;
        assert_eq!(answer.code(), -32602);
    })
    .await;
}

#[tokio::test]
async fn a_session_keeps_so_much() {
    let needs = [Need::Connection, Need::Handshake];
    each_of(narrow, &needs, async |peer| {
        let put = async |name: &str, length: usize| {
            let value = json!({"name": name, "text": "x".repeat(length)});
            let answer = peer.tool("put", value).await;
            text(answer.result()).to_owned()
        };
        assert_eq!(put("a", 1000).await, "kept");
        assert_eq!(put("b", 1000).await, "too large");
        assert_eq!(put("a", 3000).await, "too large");
        assert_eq!(put("b", 10).await, "kept");
        let answer = peer.tool("get", json!({"name": "a"})).await;
        assert_eq!(text(answer.result()).len(), 1000, "as it was");
    })
    .await;
}

// req: http-session-delete, http-session-terminated-404
#[tokio::test]
async fn with_a_session_all_that_belongs_to_it_ends() {
    let probe = Probe::default();
    let workers = Workers::new(|config| lively::with(&probe, config));
    let [first, second] = &workers.servers;
    for (of_stream, of_call, of_end) in [
        (first, first, first),
        (first, second, first),
        (second, second, first),
    ] {
        probe.clear();
        let session = Session::open(first).await;
        let stream = session.at(of_stream).listen().await;
        probe.note("go 1");
        let mut call = session.at(of_call).call(1, "steps", json!({"n": 1})).await;
        let place = call.event().await;
        let other = session.at(of_call).call(2, "steps", json!({"n": 1})).await;
        let other_place = {
            let mut other = other;
            other.event().await
        };
        let taken_up = session.at(of_stream).resume(other_place.place()).await;
        let response = session.at(of_end).delete().await;
        assert_eq!((response.status, response.text()), (204, ""));
        assert_eq!(messages(&stream.rest().await), [json!(null); 0]);
        taken_up.rest().await;
        let rest = messages(&call.rest().await);
        assert!(rest.iter().all(|it| it.get("result").is_none()), "{rest:?}");
        until(|| probe.count("steps stopped") == 2).await;
        for server in &workers.servers {
            gone(&session.at(server), place.place()).await;
        }
    }
    until(|| workers.shared.store.is_empty()).await;
}

async fn gone(session: &Session, place: &str) {
    for request in [
        Request::post(legacy(1, "tools/list", json!({}))),
        Request::post(INITIALIZED),
        Request::get(),
        session.resuming(place),
        Request::bare("DELETE"),
    ] {
        assert_eq!(session.send(request).await.status, 404);
    }
}

// req: cancel-stops-processing, cancel-invalid-ignored
#[tokio::test]
async fn a_session_cancels_its_own_calls_on_every_worker() {
    let probe = Probe::default();
    let workers = Workers::new(|config| lively::with(&probe, config));
    let [first, second] = &workers.servers;
    let (alice, bob) = tokio::join!(Session::open(first), Session::open(first));
    probe.note("go 1");
    let mut call = alice.call(7, "steps", json!({"n": 1})).await;
    call.message().await;
    let cancel = json!({"requestId": 7});
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel});
    let cancel = cancel.to_string();
    for other in [&bob, &bob.at(second)] {
        assert_eq!(other.post(cancel.as_str()).await.status, 202);
    }
    let text_7 = cancel.replace(":7", ":\"7\"");
    assert_eq!(alice.at(second).post(text_7).await.status, 202);
    assert_eq!(alice.status().await, 200);
    assert!(!probe.has("steps stopped"), "it was somebody else's");
    assert_eq!(alice.at(second).post(cancel).await.status, 202);
    probe.until("steps stopped").await;
    assert_eq!(messages(&call.rest().await), [json!(null); 0]);
}

#[tokio::test]
async fn a_server_that_ends_takes_no_more_requests() {
    let (server, registry) = server(|_| {});
    let session = Session::open(&server).await;
    let stream = session.listen().await;
    registry.shut_down();
    stream.rest().await;
    busy(&session.post(legacy(1, "tools/list", json!({}))).await);
    busy(&session.send(Request::get()).await);
    busy(&server.send(&Request::legacy(init("2025-11-25"))).await);
    busy(&server.send(&listen()).await);
}
