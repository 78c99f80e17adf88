//! What a client can make the server spend, and how it is told that this was enough.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use mcp_core::{
    Dispatcher, FailureKind, Incoming, Limits, Message, Principal, Rate, Registry, Reply,
    ServerConfig,
};
use serde_json::{Value, json};
use tokio::time::advance;

use crate::support::{
    INITIALIZED, calling,
    events::Events,
    http::{PATIENCE, Request, Response, Server},
    init, legacy, lively,
    login::{Given, guarded, of},
    modern,
    probe::Probe,
    session::Session,
    until,
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
