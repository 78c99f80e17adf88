//! A17 to A19: clients that go, clients that come back.

use std::time::{Duration, Instant};

use mcp_http_actix::Endpoint;
use serde_json::{Value, json};

use crate::support::{
    calling,
    events::{Events, messages},
    http::{Request, Server},
    init,
    lively::{self, WATCHED},
    modern,
    probe::Probe,
    session::Session,
    text, until,
};

const KEEP_ALIVE: Duration = Duration::from_millis(150);

/// A stream that nobody reads any more is noticed by what is written to it; a peer that vanishes
/// without a word is a matter of `tests/load`.
// req: http-2026-sse-keepalive
#[tokio::test]
async fn a17_a_stream_whose_client_has_gone_is_gone() {
    let registry = lively::lively(&Probe::default());
    let server = Server::start(Endpoint::new(registry.clone()).keep_alive(KEEP_ALIVE));
    for reset in [false, true] {
        let session = Session::open(&server).await;
        let mut streams = Vec::new();
        for _ in 0..2 {
            let filter = json!({"notifications": {"toolsListChanged": true}});
            let method = "subscriptions/listen";
            let listen = Request::modern(method, modern(1, method, filter));
            streams.push(Events::open(&server, &listen).await);
        }
        streams.push(session.listen().await);
        assert_eq!(registry.open_streams(), 3);
        // While they are read they stay.
        let began = Instant::now();
        for stream in &mut streams {
            stream.comment().await;
            stream.comment().await;
        }
        assert!(began.elapsed() >= KEEP_ALIVE);
        assert_eq!(registry.open_streams(), 3);
        for stream in streams {
            if reset {
                stream.reset();
            }
        }
        let began = Instant::now();
        until(|| registry.open_streams() == 0).await;
        assert!(began.elapsed() < KEEP_ALIVE * 20, "{:?}", began.elapsed());
    }
}

// req: http-disconnect-is-not-cancel, http-2025-11-resume-via-get
#[tokio::test]
async fn a17_a_call_in_a_session_outlives_its_client() {
    let probe = Probe::default();
    let server = Server::start(Endpoint::new(lively::lively(&probe)).keep_alive(KEEP_ALIVE));
    let session = Session::open(&server).await;
    let params = calling("steps", json!({"n": 0}));
    let request = Request::post(crate::support::legacy(1, "tools/call", params));
    // The silence makes it a stream.
    let mut call = Events::open(&server, &session.dressed(request)).await;
    let place = call.event().await;
    assert!(place.is_empty(), "{place:?}");
    call.reset();
    probe.until("steps began").await;
    probe.note("go on");
    probe.until("steps done").await;
    let rest = session.resume(place.place()).await.rest().await;
    let rest = messages(&rest);
    assert_eq!(rest.len(), 1);
    assert_eq!(text(&rest[0]["result"]), "0");
    assert!(!probe.has("steps stopped"));
}

// req: http-2026-disconnect-is-cancel
#[tokio::test]
async fn a17_a_call_without_a_handshake_does_not() {
    let probe = Probe::default();
    let server = Server::of(lively::lively(&probe));
    let params = calling("steps", json!({"n": 0}));
    let request = Request::modern("tools/call", modern(1, "tools/call", params));
    let request = request.header("Mcp-Name", "steps");
    let request = request.header("Mcp-Session-Id", "made-up");
    let task = {
        let server = server.clone();
        tokio::spawn(async move { server.send(&request).await })
    };
    probe.until("steps began").await;
    task.abort();
    probe.until("steps stopped").await;
    probe.note("go on");
    assert!(!probe.has("steps done"));
}

/// A stream of a call, from its first event to its last.
async fn a18_stream(probe: &Probe, session: &Session) -> Events {
    probe.clear();
    probe.note_all(&["go 1", "go 2", "go on"]);
    session.call(1, "steps", json!({"n": 2})).await
}

// req: http-2025-11-sse-priming-event, http-sse-not-closed-early, http-event-id-unique
#[tokio::test]
async fn a18_the_empty_first_event_is_for_those_who_know_it() {
    let probe = Probe::default();
    let server = Server::of(lively::lively(&probe));
    for (version, ids, primed) in [
        ("2024-11-05", false, false),
        ("2025-03-26", true, false),
        ("2025-06-18", true, false),
        ("2025-11-25", true, true),
    ] {
        let session = Session::of(&server, version, &[]).await;
        let events = a18_stream(&probe, &session).await.rest().await;
        let empty: Vec<bool> = events.iter().map(|it| it.is_empty()).collect();
        assert_eq!(empty[0], primed, "{version}: {events:?}");
        assert!(empty[1..].iter().all(|empty| !empty), "{version}");
        assert_eq!(events[0].retry.is_some(), primed, "{version}");
        assert!(events.iter().all(|it| it.id.is_some() == ids), "{version}");
        assert_eq!(messages(&events).len(), 3, "{version}: {events:?}");

        let mut stream = session.listen().await;
        session.tool("touch_tools", json!({})).await;
        let first = stream.event().await;
        assert_eq!(first.is_empty(), primed, "{version}: {first:?}");
        assert_eq!(first.id.is_some(), ids, "{version}");
    }
}

// req: http-2026-last-event-id-ignored
#[tokio::test]
async fn a18_without_a_handshake_there_are_no_ids() {
    let probe = Probe::default();
    let server = Server::of(lively::lively(&probe));
    probe.note_all(&["go 1", "go 2", "go on"]);
    let mut params = calling("steps", json!({"n": 2}));
    params["_meta"] = crate::support::meta();
    params["_meta"]["progressToken"] = json!(1);
    let body = crate::support::legacy(1, "tools/call", params);
    let request = Request::modern("tools/call", body).header("Mcp-Name", "steps");
    let events = Events::open(&server, &request).await.rest().await;
    assert_eq!(events.len(), 3);
    let bare = |it: &crate::support::events::Event| it.id.is_none() && it.retry.is_none();
    assert!(events.iter().all(bare), "{events:?}");
}

/// The answer to `initialize` names the revision that its own stream has to be read in.
// req: http-session-id-on-initialize
#[tokio::test]
async fn a18_the_stream_of_the_handshake_itself() {
    let server = Server::of(lively::lively(&Probe::default()));
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let request = Request::post(init(version)).with("Accept", "text/event-stream");
        let response = server.send(&request).await;
        assert!(response.is_stream());
        assert!(response.header("mcp-session-id").is_some());
        assert!(!response.text().contains("data: \n"), "{}", response.text());
        let messages = response.messages();
        assert_eq!(messages.len(), 1);
        assert_eq!(messages[0]["result"]["protocolVersion"], version);
    }
}

/// What one session of the case has: the places of its two streams, and both still open.
struct A19 {
    session: Session,
    post: Events,
    get: Events,
    places: [String; 2],
}

async fn a19_session(server: &Server) -> A19 {
    let session = Session::open(server).await;
    let subscribe = json!({"uri": WATCHED[0]});
    session.ask("resources/subscribe", subscribe).await;
    let mut get = session.listen().await;
    let mut post = session.call(1, "steps", json!({"n": 3})).await;
    let post_place = post.event().await.place().to_owned();
    let get_place = get.event().await.place().to_owned();
    A19 {
        session,
        post,
        get,
        places: [post_place, get_place],
    }
}

// req: http-resume-same-stream-only, http-2025-11-event-id-names-stream
// req: security-session-bound-to-user
#[tokio::test]
async fn a19_last_event_id_replays_one_stream_of_one_session() {
    let probe = Probe::default();
    let registry = lively::lively(&probe);
    let server = Server::of(registry.clone());
    probe.note("go 1");
    let (s, t) = tokio::join!(a19_session(&server), a19_session(&server));
    probe.note_all(&["go 2", "go 3", "go on"]);
    registry.resource_updated(WATCHED[0]);
    let mut gets = Vec::new();
    for of in [s, t] {
        assert_eq!(of.post.rest().await.len(), 4);
        gets.push((of.session, of.get, of.places));
    }
    for (at, (session, get, places)) in gets.iter_mut().enumerate() {
        get.message().await;
        // 1: only the rest of that POST's stream.
        let rest = messages(&session.resume(&places[0]).await.rest().await);
        let told: Vec<&Value> = rest.iter().map(|it| &it["params"]["progress"]).collect();
        assert_eq!(told[..3], [1.0, 2.0, 3.0], "{at}");
        assert_eq!((rest.len(), text(&rest[3]["result"])), (4, "3"));
    }
    let [s, t] = gets.try_into().ok().unwrap();
    for ((session, get, places), foreign) in [(s, t.2.clone()), (t, [String::new(), String::new()])]
    {
        drop(get);
        // 2: only the rest of the GET stream.
        let mut resumed = session.resume(&places[1]).await;
        let first = resumed.message().await;
        assert_eq!(first["params"]["uri"], WATCHED[0]);
        a19_is_fresh(&session, "no-such-id").await;
        for foreign in foreign.iter().filter(|it| !it.is_empty()) {
            a19_is_fresh(&session, foreign).await;
        }
    }
}

/// Nothing old comes by that id: an error, or a stream that begins now.
async fn a19_is_fresh(session: &Session, place: &str) {
    let mut stream = session.resume(place).await;
    session.tool("touch_tools", json!({})).await;
    let first = stream.message().await;
    assert_eq!(
        first["method"], "notifications/tools/list_changed",
        "{place}"
    );
}
