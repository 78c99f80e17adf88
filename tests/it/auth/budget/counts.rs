//! How much a caller may have at once: calls, streams, sessions.

use std::time::{Duration, Instant};

use mcp_core::{FailureKind, ServerConfig};
use serde_json::json;

use super::{Site, assert_later, call, list};
use crate::support::{
    events::Events,
    http::{PATIENCE, Request, Server},
    init,
    login::of,
    modern, until,
};

#[tokio::test]
async fn there_are_so_many_calls_of_one_person() {
    let site = Site::new(|limits| limits.max_calls_per_principal = 2);
    let hold = call("hold", json!({})).of(&of("alice", ""));
    let held = [
        tokio::spawn(opened(site.server.clone(), hold.clone())),
        tokio::spawn(opened(site.server.clone(), hold)),
    ];
    until(|| site.probe.count("hold began") == 2).await;
    assert_eq!(site.registry.usage().calls, 2);
    assert_later(&site.send("alice", call("now", json!({}))).await, 429);
    assert_eq!(
        site.send("alice", list()).await.status,
        200,
        "no handler works for it"
    );
    assert_eq!(site.send("bob", call("now", json!({}))).await.status, 200);
    site.assert_counted(FailureKind::TooManyRequests, 1);
    held.iter().for_each(tokio::task::JoinHandle::abort);
    until(|| site.registry.usage().calls == 0).await;
    assert_eq!(site.send("alice", call("now", json!({}))).await.status, 200);
}

/// A call that goes on until its client goes.
async fn opened(server: Server, request: Request) {
    server.send(&request).await;
}

#[tokio::test]
async fn there_are_so_many_calls_in_all() {
    let site = Site::new(|limits| limits.max_calls = 2);
    let people = ["alice", "bob"];
    let held = people.map(|who| {
        let hold = call("hold", json!({})).of(&of(who, ""));
        tokio::spawn(opened(site.server.clone(), hold))
    });
    until(|| site.probe.count("hold began") == 2).await;
    for who in ["alice", "carol"] {
        assert_later(&site.send(who, call("now", json!({}))).await, 503);
    }
    site.assert_counted(FailureKind::Overloaded, 2);
    held.iter().for_each(tokio::task::JoinHandle::abort);
    until(|| site.registry.usage().calls == 0).await;
    assert_eq!(site.send("carol", call("now", json!({}))).await.status, 200);
}

#[tokio::test]
async fn there_are_so_many_streams_of_one_person_and_in_all() {
    let site = Site::new(|limits| {
        (limits.max_streams, limits.max_streams_per_principal) = (3, 2);
    });
    let listen = |who: &str| {
        let method = "subscriptions/listen";
        let filter = json!({"notifications": {"toolsListChanged": true}});
        Request::modern(method, modern(1, method, filter)).of(&of(who, ""))
    };
    let mut held = Vec::new();
    for _ in 0..2 {
        held.push(Events::open(&site.server, &listen("alice")).await);
    }
    assert_later(&site.server.send(&listen("alice")).await, 429);
    let session = site.session("alice").await;
    assert_later(&session.send(Request::get()).await, 429);
    held.push(Events::open(&site.server, &listen("bob")).await);
    assert_later(&site.server.send(&listen("carol")).await, 503);
    site.assert_counted(FailureKind::TooManyRequests, 2);
    site.assert_counted(FailureKind::Overloaded, 1);
    assert_eq!(site.registry.usage().streams, 3);
    drop(held);
    until(|| site.registry.usage().streams == 0).await;
    session.listen().await;
}

#[tokio::test]
async fn there_are_so_many_sessions() {
    let site = Site::new(|limits| limits.max_sessions = 2);
    let first = site.session("alice").await;
    site.session("bob").await;
    for who in ["alice", "carol"] {
        let response = site.send(who, Request::legacy(init("2025-11-25"))).await;
        assert_later(&response, 503);
    }
    site.assert_counted(FailureKind::Overloaded, 2);
    assert_eq!(first.delete().await.status, 204);
    site.session("carol").await;
}

#[tokio::test]
async fn there_are_so_many_sessions_of_one_person() {
    let site = Site::new(|limits| limits.max_sessions_per_principal = 2);
    let open = async |who| site.send(who, Request::legacy(init("2025-11-25"))).await;
    let first = site.session("alice").await;
    site.session("alice").await;
    for _ in 0..2 {
        assert_later(&open("alice").await, 429);
    }
    site.assert_counted(FailureKind::TooManyRequests, 2);
    site.session("bob").await;
    assert_eq!(first.delete().await.status, 204);
    site.session("alice").await;
    assert_later(&open("alice").await, 429);
}

/// Handles count as sessions do, and an idle one counts no more.
#[tokio::test]
async fn there_are_so_many_handles_of_one_person() {
    let mut config = ServerConfig::default();
    config.limits.max_sessions_per_principal = 2;
    config.sessions.idle = Duration::from_millis(300);
    let site = Site::of(config);
    let open = async |who| {
        let answer = site.send(who, call("open", json!({}))).await.message();
        answer["result"]["isError"] != true
    };
    assert!(open("alice").await && open("alice").await);
    assert!(!open("alice").await && open("bob").await);
    let begun = Instant::now();
    while !open("alice").await {
        assert!(begun.elapsed() < PATIENCE, "expired handles still count");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
