//! What a client can make the server spend, and how it is told that this was enough.

mod counts;
mod rate;

use std::time::Duration;

use mcp_core::{FailureKind, Limits, Registry, ServerConfig};
use serde_json::{Value, json};

use crate::support::{
    INITIALIZED, calling,
    http::{Request, Response, Server},
    legacy, lively,
    login::{guarded, of},
    modern,
    probe::Probe,
    session::Session,
};

/// A server with those limits, and what it counts.
struct Site {
    server: Server,
    registry: Registry,
    probe: Probe,
}

impl Site {
    fn new(change: impl Fn(&mut Limits)) -> Self {
        let mut config = ServerConfig::default();
        change(&mut config.limits);
        Self::of(config)
    }

    fn of(config: ServerConfig) -> Self {
        let probe = Probe::default();
        let registry = lively::with(&probe, config);
        let server = guarded(registry.clone());
        Self {
            server,
            registry,
            probe,
        }
    }

    async fn session(&self, who: &str) -> Session {
        Session::of(
            &self.server,
            "2025-11-25",
            &[("Authorization", &of(who, ""))],
        )
        .await
    }

    async fn send(&self, who: &str, request: Request) -> Response {
        self.server.send(&request.of(&of(who, ""))).await
    }

    /// What was refused, which is counted once.
    fn assert_counted(&self, kind: FailureKind, times: u64) {
        let usage = self.registry.usage();
        assert_eq!(usage.refused(kind), times, "{usage:?}");
    }
}

fn list() -> Request {
    Request::modern("tools/list", modern(1, "tools/list", json!({})))
}

fn call(name: &str, arguments: Value) -> Request {
    let body = modern(1, "tools/call", calling(name, arguments));
    Request::modern("tools/call", body).header("Mcp-Name", name)
}

/// Refused for a while: the answer says for how long.
fn assert_later(response: &Response, status: u16) {
    assert_eq!(response.status, status, "{response:?}");
    let seconds = response.header("retry-after").expect("no Retry-After");
    assert!(seconds.parse::<u32>().is_ok_and(|it| it > 0), "{seconds}");
    assert_eq!(response.header("mcp-session-id"), None);
    assert!(response.message()["error"].is_object());
}

// req: security-2026-header-limits
#[tokio::test]
async fn what_is_too_large_too_long_or_too_slow_is_refused_before_it_is_read() {
    let site = Site::new(|limits| {
        limits.max_body = 2000;
        limits.max_headers = 4000;
        limits.read_timeout = Duration::from_millis(100);
    });
    let large = call("echo", json!({"text": "x".repeat(3000)}));
    for request in [large.clone(), large.chunked()] {
        assert_eq!(site.send("alice", request).await.status, 413);
    }
    site.assert_counted(FailureKind::TooLarge, 2);
    let stuffed = list().header("X-Padding", &"x".repeat(5000));
    assert_eq!(site.send("alice", stuffed).await.status, 431);
    let many = (0..400).fold(list(), |it, at| it.header(&format!("X-{at}"), "1"));
    assert!([400, 431].contains(&site.send("alice", many).await.status));
    let counted = site.registry.usage().refused(FailureKind::HeadersTooLarge);
    assert!(counted >= 1, "{counted}");
    let slow = list().of(&of("alice", ""));
    let response = site.server.unfinished(&slow, 5).await;
    assert_eq!(response.status, 408, "{response:?}");
    site.assert_counted(FailureKind::TooSlow, 1);
    assert_eq!(site.probe.notes(), [""; 0]);
    assert_eq!(site.send("alice", list()).await.status, 200);
}

#[tokio::test]
async fn a_message_is_so_deep_and_a_batch_so_long() {
    let site = Site::new(|limits| (limits.max_depth, limits.max_batch) = (20, 3));
    let nested = |depth: usize| {
        let (open, close) = ("[".repeat(depth), "]".repeat(depth));
        let body = modern(1, "tools/list", json!({"x": 0}));
        Request::modern(
            "tools/list",
            body.replace(r#""x":0"#, &format!("\"x\":{open}{close}")),
        )
    };
    assert_eq!(site.send("alice", nested(18)).await.status, 200);
    for depth in [19, 100, 10_000] {
        let response = site.send("alice", nested(depth)).await;
        assert_eq!((response.status, response.code()), (400, -32600), "{depth}");
    }
    site.assert_counted(FailureKind::InvalidRequest, 3);
    let who = of("alice", "");
    let session = Session::of(&site.server, "2025-03-26", &[("Authorization", &who)]).await;
    let batch = |n: i64| {
        let members = (0..n).map(|id| legacy(id, "ping", json!({})));
        format!("[{}]", members.collect::<Vec<_>>().join(","))
    };
    assert_eq!(session.post(batch(3)).await.status, 200);
    for n in [0, 4, 1000] {
        let response = session.post(batch(n)).await;
        assert_eq!((response.status, response.code()), (400, -32600), "{n}");
    }
    site.assert_counted(FailureKind::InvalidRequest, 6);
}
/// What says something of the callers is counted, each kind by itself.
#[tokio::test]
async fn refusals_are_counted_by_their_kind() {
    let site = Site::new(|_| {});
    let session = site.session("alice").await;
    site.server.send(&list()).await;
    site.server.send(&list().of("Bearer junk")).await;
    site.send("alice", list().with("Host", "evil.example"))
        .await;
    let unknown = Session {
        id: "unknown".to_owned(),
        ..session
    };
    assert_eq!(unknown.post(INITIALIZED).await.status, 404);
    site.send("alice", Request::legacy("{")).await;
    let cursor = modern(1, "tools/list", json!({"cursor": "made-up"}));
    site.send("alice", Request::modern("tools/list", cursor))
        .await;
    for (kind, times) in [
        (FailureKind::Unauthorized, 2),
        (FailureKind::Forbidden, 1),
        (FailureKind::SessionNotFound, 1),
        (FailureKind::Parse, 1),
        (FailureKind::InvalidCursor, 1),
        (FailureKind::InsufficientScope, 0),
    ] {
        site.assert_counted(kind, times);
    }
    let usage = site.registry.usage();
    assert_eq!(usage.refusals.len(), 5, "{usage:?}");
    assert_eq!((usage.calls, usage.streams), (0, 0));
}
