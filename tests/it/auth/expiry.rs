//! No stream outlives the credentials that it was opened with.

use std::time::{Duration, Instant};

use mcp_codec::Change;
use mcp_core::{Registry, ServerConfig};
use mcp_http_actix::Endpoint;
use serde_json::json;

use crate::support::{
    events::Events,
    http::{Request, Server},
    legacy, lively,
    login::{USE, bearer, door, guarded},
    modern,
    probe::Probe,
    session::Session,
    until,
};

/// A token of Alice that is good for so many seconds.
fn good_for(seconds: i64) -> String {
    bearer(&json!({"sub": "alice", "scope": USE, "exp": seconds}))
}

fn server() -> (Server, Registry) {
    let registry = lively::with(&Probe::default(), ServerConfig::default());
    (guarded(registry.clone()), registry)
}

fn listen() -> Request {
    let method = "subscriptions/listen";
    let params = json!({"notifications": {"toolsListChanged": true}});
    Request::modern(method, modern(7, method, params))
}

#[tokio::test]
async fn a_subscription_ends_with_its_result() {
    let (server, registry) = server();
    let begun = Instant::now();
    let mut short = Events::open(&server, &listen().of(&good_for(2))).await;
    let _long = Events::open(&server, &listen().of(&good_for(600))).await;
    until(|| registry.open_streams() == 2).await;
    let mut last = None;
    while let Some(event) = short.next().await {
        last = Some(event);
    }
    let lasted = begun.elapsed();
    assert!(lasted > Duration::from_secs(1), "{lasted:?}");
    let last = last.unwrap().message();
    assert_eq!(last["id"], 7);
    assert!(last["result"].is_object(), "{last}");
    assert_eq!(registry.open_streams(), 1);
}

#[tokio::test]
async fn the_stream_of_a_session_ends_and_a_later_token_takes_it_up() {
    let (server, registry) = server();
    let token = good_for(2);
    let session = Session::of(&server, "2025-11-25", &[("Authorization", &token)]).await;
    let mut stream = session.listen().await;
    let place = stream.next().await.unwrap().place().to_owned();
    assert_eq!(stream.next().await, None);
    until(|| registry.open_streams() == 0).await;

    let refreshed = session.with("Authorization", &good_for(600));
    registry.announce(Change::Tools);
    let mut again = refreshed.resume(&place).await;
    let heard = again.next().await.unwrap();
    assert!(
        heard.is_empty() || heard.data.contains("tools/list_changed"),
        "{heard:?}"
    );
}

/// Its client could open no other in its place, and shows its token with every message.
#[tokio::test]
async fn a_connection_of_http_sse_goes_on_with_later_tokens() {
    let registry = lively::with(&Probe::default(), ServerConfig::default());
    let endpoint = Endpoint::new(registry).authorization(door().build().unwrap());
    let bound = mcp_http_actix::bind(endpoint, "127.0.0.1:0", "/mcp").unwrap();
    let server = Server::run(bound.sse("/sse", "/messages"));
    let opening = Request::get().target("/sse").of(&good_for(1));
    let mut events = Events::open(&server, &opening).await;
    let address = events.next().await.unwrap().data;
    tokio::time::sleep(Duration::from_millis(1300)).await;
    let ping = Request::post(legacy(1, "ping", json!({}))).target(&address);
    assert_eq!(server.send(&ping.of(&good_for(600))).await.status, 202);
    assert_eq!(events.next().await.unwrap().message()["id"], 1);
}
