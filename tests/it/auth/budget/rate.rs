//! How often a caller may come.

use std::{sync::Arc, time::Duration};

use mcp_core::{Dispatcher, FailureKind, Incoming, Message, Principal, Rate, Reply, ServerConfig};
use serde_json::json;
use tokio::time::advance;

use super::{Site, assert_later};
use crate::support::{
    INITIALIZED, calling,
    http::{Request, Response},
    legacy, lively,
    login::{Given, of},
    modern,
    probe::Probe,
    session::Session,
};

/// A server that is called directly, so that its clock can be set.
struct Clocked {
    dispatcher: Dispatcher,
}

impl Clocked {
    fn new(rate: Option<Rate>) -> Self {
        let mut config = ServerConfig::default();
        config.limits.rate = rate;
        let registry = lively::with(&Probe::default(), config);
        Self {
            dispatcher: Dispatcher::new(registry),
        }
    }

    async fn send(&self, incoming: Incoming<'_>) -> Reply {
        let headers = Given(vec![
            ("mcp-protocol-version", "2026-07-28".into()),
            ("mcp-method", "tools/list".into()),
        ]);
        let mut answer = self.dispatcher.answer(&incoming.headers(&headers));
        match answer.next().await {
            Some(Message::Reply(reply)) => reply,
            other => panic!("{other:?}"),
        }
    }

    /// Status and `Retry-After` of a request of that person.
    async fn of(&self, subject: &str) -> (u16, Option<u32>) {
        let principal = Arc::new(Principal::new("x", subject));
        let body = modern(1, "tools/list", json!({}));
        let incoming = Incoming::new(body.into()).principal(Some(&principal));
        let reply = self.send(incoming).await;
        (reply.status, reply.retry_after)
    }

    /// The same of a stranger at that address.
    async fn at(&self, source: Option<&str>) -> u16 {
        let body = modern(1, "tools/list", json!({}));
        self.send(Incoming::new(body.into()).source(source))
            .await
            .status
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_sends_too_many_is_told_when_to_come_back() {
    let clocked = Clocked::new(Some(Rate::new(1, 3)));
    for _ in 0..3 {
        assert_eq!(clocked.of("alice").await, (200, None));
    }
    for _ in 0..5 {
        assert_eq!(clocked.of("alice").await, (429, Some(1)));
    }
    // What was refused has cost nothing, and whoever waits as long as it was told is served.
    advance(Duration::from_secs(1)).await;
    assert_eq!(clocked.of("alice").await, (200, None));
    assert_eq!(clocked.of("alice").await.0, 429);
    let usage = clocked.dispatcher.registry().usage();
    assert_eq!(usage.refused(FailureKind::TooManyRequests), 6);
}

#[tokio::test(start_paused = true)]
async fn a_bucket_that_is_left_alone_fills_up_and_no_further() {
    let clocked = Clocked::new(Some(Rate::new(2, 4)));
    let burst = async || {
        let mut served = 0;
        while clocked.of("alice").await.0 == 200 {
            served += 1;
        }
        served
    };
    assert_eq!(burst().await, 4);
    advance(Duration::from_secs(1)).await;
    assert_eq!(burst().await, 2);
    advance(Duration::from_secs(3600)).await;
    assert_eq!(burst().await, 4);
}

#[tokio::test(start_paused = true)]
async fn principals_do_not_affect_one_another() {
    let clocked = Clocked::new(Some(Rate::new(1, 2)));
    while clocked.of("alice").await.0 == 200 {}
    assert_eq!(clocked.of("bob").await.0, 200);
    // Nor do strangers that can be told apart; the others have no limit of their own.
    while clocked.at(Some("192.0.2.1")).await == 200 {}
    assert_eq!(clocked.at(Some("192.0.2.2")).await, 200);
    for _ in 0..50 {
        assert_eq!(clocked.at(None).await, 200);
    }
    assert_eq!(clocked.of("bob").await.0, 200);
    assert_eq!(clocked.of("bob").await.0, 429);
}

#[tokio::test(start_paused = true)]
async fn without_a_rate_nobody_is_told_to_wait() {
    let clocked = Clocked::new(None);
    for _ in 0..1000 {
        assert_eq!(clocked.of("alice").await.0, 200);
    }
}

/// The first answer that says that it was too many: on a slow machine the next token may be there.
async fn turned_away(session: &Session, request: &Request) -> Response {
    for _ in 0..50 {
        let response = session.send(request.clone()).await;
        if response.status == 429 {
            return response;
        }
    }
    panic!("nobody minds");
}

/// The least burst that makes sense lets a client begin: its handshake, and what it lists.
#[tokio::test]
async fn a_burst_lets_a_handshake_through() {
    let site = Site::new(|limits| limits.rate = Some(Rate::new(1, 10)));
    let session = site.session("alice").await;
    for method in [
        "tools/list",
        "prompts/list",
        "resources/list",
        "resources/templates/list",
        "logging/setLevel",
        "ping",
    ] {
        let params = if method == "logging/setLevel" {
            json!({"level": "info"})
        } else {
            json!({})
        };
        let answer = session.ask(method, params).await;
        assert!(answer.get("error").is_none(), "{method}: {answer}");
    }
    session.listen().await;
    let ping = Request::post(legacy(1, "ping", json!({})));
    assert_later(&turned_away(&session, &ping).await, 429);
    let notification = turned_away(&session, &Request::post(INITIALIZED)).await;
    assert_eq!((notification.status, notification.text()), (429, ""));
    assert!(notification.header("retry-after").is_some());
    // A session that is not there is not hidden by it (A13).
    let unknown = Session {
        id: "A".repeat(32),
        ..session.clone()
    };
    assert_eq!(unknown.status().await, 404);
    // Somebody else begins as if nothing were.
    site.session("bob").await;
    assert!(site.registry.usage().refused(FailureKind::TooManyRequests) > 0);
}

/// Each message of a batch is one.
#[tokio::test]
async fn a_batch_is_no_way_around_it() {
    let site = Site::new(|limits| limits.rate = Some(Rate::new(1, 6)));
    let who = of("alice", "");
    let session = Session::of(&site.server, "2025-03-26", &[("Authorization", &who)]).await;
    let calls = (0..10).map(|id| {
        legacy(
            id,
            "tools/call",
            calling("echo", json!({"text": id.to_string()})),
        )
    });
    let batch = format!("[{}]", calls.collect::<Vec<_>>().join(","));
    session.post(batch).await;
    // Two of the six were the handshake; time goes on while this runs.
    let ran = site.probe.notes().len();
    assert!((4..10).contains(&ran), "{ran}");
}
