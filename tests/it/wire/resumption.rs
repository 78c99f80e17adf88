//! Streams that break off and are taken up again, at the same worker or at another.

use std::{collections::BTreeSet, time::Duration};

use mcp_core::Change;
use serde_json::{Value, json};

use crate::support::{
    events::{Event, Events, messages},
    http::{Request, Server},
    lively::{self, WATCHED},
    probe::Probe,
    session::Session,
    text, until,
    workers::Workers,
};

const RESUMABLE: [&str; 3] = ["2025-11-25", "2025-06-18", "2025-03-26"];

/// Two workers, and what their handlers leave behind.
fn workers() -> (Workers, Probe) {
    let probe = Probe::default();
    (Workers::new(|config| lively::with(&probe, config)), probe)
}

/// What messages of a call say, as short as can be.
fn said(messages: &[Value]) -> Vec<String> {
    let short = |it: &Value| match it.get("result") {
        Some(result) => text(result).to_owned(),
        None => format!("step {}", it["params"]["progress"]),
    };
    messages.iter().map(short).collect()
}

/// The next event that is a message, and what it says.
async fn step(events: &mut Events) -> (Event, String) {
    loop {
        let event = events.event().await;
        if !event.is_empty() {
            let said = said(&[event.message()]).remove(0);
            return (event, said);
        }
    }
}

// req: http-2025-11-resume-via-get, http-resume-same-stream-only, http-sse-carries-response
#[tokio::test]
async fn a_call_is_taken_up_behind_its_first_step() {
    let (workers, probe) = workers();
    for version in RESUMABLE {
        for at in 0..2 {
            // All is said before the client is back, or the rest of it afterwards.
            for late in [false, true] {
                probe.clear();
                let session = Session::of(&workers.servers[0], version, &[]).await;
                probe.note("go 1");
                let mut call = session.call(1, "steps", json!({"n": 3})).await;
                let (first, step_1) = step(&mut call).await;
                assert_eq!(step_1, "step 1.0");
                drop(call);
                let go = || probe.note_all(&["go 2", "go 3", "go on"]);
                if !late {
                    go();
                    probe.until("steps done").await;
                }
                let here = session.at(&workers.servers[at]);
                let resumed = here.resume(first.place()).await;
                if late {
                    go();
                }
                let rest = messages(&resumed.rest().await);
                assert_eq!(said(&rest), ["step 2.0", "step 3.0", "3"], "{version}");
                // What can be replayed once can be replayed again.
                let again = here.resume(first.place()).await.rest().await;
                assert_eq!(messages(&again), rest, "{version}");
            }
        }
    }
    assert_eq!(workers.registries[0].open_streams(), 0);
    assert_eq!(workers.registries[1].open_streams(), 0);
}

// req: http-2025-11-event-id-names-stream
#[tokio::test]
async fn a_call_is_taken_up_again_and_again() {
    const STEPS: usize = 6;
    let (workers, probe) = workers();
    let session = Session::open(&workers.servers[0]).await;
    probe.note("go 1");
    let mut stream = session.call(1, "steps", json!({"n": STEPS})).await;
    let mut all = Vec::new();
    for at in 1..=STEPS {
        probe.note(format!("go {at}"));
        let (event, said) = step(&mut stream).await;
        all.push(said);
        let here = session.at(&workers.servers[at % 2]);
        let next = here.resume(event.place()).await;
        // The one before has nothing more to say, whether it is still read or not.
        assert_eq!(messages(&stream.rest().await), [json!(null); 0]);
        stream = next;
    }
    probe.note("go on");
    all.extend(said(&messages(&stream.rest().await)));
    let expected: Vec<String> = (1..=STEPS).map(|it| format!("step {it}.0")).collect();
    assert_eq!(all[..STEPS], expected);
    assert_eq!(all[STEPS..], [STEPS.to_string()]);
}

#[tokio::test]
async fn behind_the_reply_there_is_nothing_to_wait_for() {
    let (workers, probe) = workers();
    probe.note_all(&["go 1", "go on"]);
    let session = Session::open(&workers.servers[0]).await;
    let events = session.call(1, "steps", json!({"n": 1})).await.rest().await;
    let last = events.last().unwrap();
    assert!(last.message().get("result").is_some());
    for server in &workers.servers {
        let live = server
            .open(&session.at(server).resuming(last.place()))
            .await;
        // An error, or a stream that ends; it does not stay open for nothing.
        let response = live.rest().await;
        assert!(response.status == 400 || response.messages().is_empty());
    }
}

// req: http-2025-11-sse-retry-before-close, http-2025-11-early-close-needs-event-id
#[tokio::test]
async fn a_handler_ends_its_stream_and_the_client_comes_back() {
    let (workers, probe) = workers();
    for at in 0..2 {
        probe.clear();
        let session = Session::open(&workers.servers[0]).await;
        let events = session.call(1, "pause", json!({})).await.rest().await;
        assert!(events.iter().all(Event::is_empty), "{events:?}");
        assert_eq!(events[0].retry, Some(1000));
        let last = events.last().unwrap();
        assert_eq!((events.len(), last.retry), (2, Some(1234)));
        for place in [last.place(), events[0].place()] {
            let here = session.at(&workers.servers[at]);
            let mut resumed = here.resume(place).await;
            if place == events[0].place() {
                // Taken up from its beginning, the stream ends where it has ended before.
                let again = resumed.rest().await;
                assert_eq!((again.len(), again[0].retry), (1, Some(1234)));
                continue;
            }
            assert_eq!(step(&mut resumed).await.1, "step 1.0");
            probe.note("go on");
            assert_eq!(said(&messages(&resumed.rest().await)), ["true"]);
        }
    }
}

// req: http-sse-not-closed-early
#[tokio::test]
async fn a_client_that_would_not_come_back_keeps_its_stream() {
    let (workers, probe) = workers();
    probe.note("go on");
    for version in ["2025-06-18", "2025-03-26", "2024-11-05"] {
        let session = Session::of(&workers.servers[0], version, &[]).await;
        let events = session.call(1, "pause", json!({})).await.rest().await;
        assert_eq!(said(&messages(&events)), ["step 1.0", "false"], "{version}");
        assert!(events.iter().all(|it| it.retry.is_none()));
    }
    let session = Session::open(&workers.servers[0]).await;
    let json = Request::post(crate::support::legacy(
        1,
        "tools/call",
        json!({"name": "pause"}),
    ));
    let response = session.send(json.with("Accept", "application/json")).await;
    assert_eq!(text(&response.message()["result"]), "false");
}

// req: http-no-broadcast
#[tokio::test]
async fn a_reconnect_wins_over_the_stream_it_replaces() {
    let (workers, probe) = workers();
    let [first, second] = &workers.servers;
    for server in [first, second] {
        probe.clear();
        let session = Session::open(first).await;
        // The stream of a call.
        probe.note("go 1");
        let mut old = session.call(1, "steps", json!({"n": 2})).await;
        let (event, _) = step(&mut old).await;
        let mut new = session.at(server).resume(event.place()).await;
        assert_eq!(messages(&old.rest().await), [json!(null); 0]);
        probe.note("go 2");
        assert_eq!(step(&mut new).await.1, "step 2.0");
        probe.note("go on");
        assert_eq!(said(&messages(&new.rest().await)), ["2"]);
        // The stream of the session.
        let old = session.listen().await;
        let mut new = session.at(server).listen().await;
        workers.registries[0].announce(Change::Tools);
        assert_eq!(messages(&old.rest().await), [json!(null); 0]);
        let told = new.message().await;
        assert_eq!(told["method"], "notifications/tools/list_changed");
        workers.registries[1].announce(Change::Prompts);
        let told = new.message().await;
        assert_eq!(told["method"], "notifications/prompts/list_changed");
    }
}

#[tokio::test]
async fn the_stream_of_a_session_is_taken_up_with_what_changed_in_between() {
    let (workers, _) = workers();
    let [one, other] = &workers.registries;
    for version in RESUMABLE {
        for server in &workers.servers {
            let session = Session::of(&workers.servers[0], version, &[]).await;
            session
                .ask("resources/subscribe", json!({"uri": WATCHED[1]}))
                .await;
            let mut stream = session.listen().await;
            one.announce(Change::Tools);
            let seen = loop {
                let event = stream.event().await;
                if !event.is_empty() {
                    break event;
                }
            };
            drop(stream);
            other.resource_updated(WATCHED[0]);
            other.resource_updated(WATCHED[1]);
            one.announce(Change::Prompts);
            let mut stream = session.at(server).resume(seen.place()).await;
            one.announce(Change::Resources);
            let mut told = Vec::new();
            for _ in 0..3 {
                told.push(stream.message().await["method"].clone());
            }
            let expected = [
                "resources/updated",
                "prompts/list_changed",
                "resources/list_changed",
            ];
            let expected = expected.map(|it| format!("notifications/{it}"));
            assert_eq!(told, expected, "{version}");
        }
    }
}

// req: http-event-id-unique
#[tokio::test]
async fn no_two_events_of_a_session_have_one_id() {
    let (workers, probe) = workers();
    probe.note_all(&["go 1", "go 2", "go on"]);
    let session = Session::open(&workers.servers[0]).await;
    let mut events = Vec::new();
    let mut get = session.at(&workers.servers[1]).listen().await;
    for at in 0..4 {
        let here = session.at(&workers.servers[at % 2]);
        let call = here.call(1, "steps", json!({"n": 2})).await;
        events.extend(call.rest().await);
        workers.registries[at % 2].announce(Change::Tools);
        events.push(get.event().await);
    }
    let places: BTreeSet<&str> = events.iter().map(Event::place).collect();
    assert_eq!(places.len(), events.len());
}

fn tampered(place: &str) -> Vec<String> {
    let mut tampered: Vec<String> = (0..place.len())
        .step_by(5)
        .map(|at| {
            let other = if place.as_bytes()[at] == b'A' {
                "B"
            } else {
                "A"
            };
            format!("{}{other}{}", &place[..at], &place[at + 1..])
        })
        .collect();
    tampered.retain(|it| it != place);
    tampered.extend(["7".to_owned(), "ü".to_owned(), "x".repeat(5000)]);
    tampered.push(place[..place.len() - 2].to_owned());
    tampered
}

// req: http-resume-same-stream-only
#[tokio::test]
async fn an_id_that_was_tampered_with_opens_nothing_old() {
    let (workers, probe) = workers();
    probe.note_all(&["go 1", "go on"]);
    let session = Session::open(&workers.servers[0]).await;
    let events = session.call(1, "steps", json!({"n": 1})).await.rest().await;
    for place in tampered(events[0].place()) {
        let mut stream = session.resume(&place).await;
        workers.registries[0].announce(Change::Tools);
        let first = stream.message().await;
        assert_eq!(first["method"], "notifications/tools/list_changed");
    }
}

/// Workers that forget at once what was sent.
fn forgetful(probe: &Probe) -> Workers {
    Workers::new(|mut config| {
        config.streams.keep = Duration::from_millis(50);
        config.sessions.idle = Duration::from_secs(5);
        lively::with(probe, config)
    })
}

#[tokio::test]
async fn what_is_kept_no_more_is_refused_at_once() {
    let probe = Probe::default();
    let workers = forgetful(&probe);
    probe.note_all(&["go 1", "go on"]);
    let session = Session::open(&workers.servers[0]).await;
    let events = session.call(1, "steps", json!({"n": 1})).await.rest().await;
    let [registry, _] = &workers.registries;
    // A topic that has kept nothing is not there any more.
    until(|| workers.shared.hub.topics() == 0).await;
    for server in &workers.servers {
        // Behind the reply, the last of them, nothing is kept anyway.
        for event in &events[..events.len() - 1] {
            let response = server.send(&session.resuming(event.place())).await;
            assert_eq!(response.status, 400, "{response:?}");
        }
    }
    assert_eq!(registry.open_streams(), 0);
    assert_eq!(session.delete().await.status, 204);
    let request = session.resuming(events[0].place());
    assert_eq!(session.send(request).await.status, 404);
}

/// What was missed is unknown; then anything may have changed, and it is better told once more.
#[tokio::test]
async fn changes_that_are_kept_no_more_are_told_as_a_change_of_everything() {
    let workers = forgetful(&Probe::default());
    let session = Session::open(&workers.servers[0]).await;
    session
        .ask("resources/subscribe", json!({"uri": WATCHED[0]}))
        .await;
    let mut stream = session.listen().await;
    let place = stream.event().await;
    drop(stream);
    until(|| workers.registries[0].open_streams() == 0).await;
    workers.registries[1].announce(Change::Prompts);
    // What is kept for 50 ms is gone then.
    tokio::time::sleep(Duration::from_millis(150)).await;
    let mut stream = session.at(&workers.servers[1]).resume(place.place()).await;
    let mut told = BTreeSet::new();
    for _ in 0..4 {
        let message = stream.message().await;
        told.insert(message["method"].as_str().unwrap().to_owned());
    }
    let expected = [
        "prompts/list_changed",
        "resources/list_changed",
        "resources/updated",
        "tools/list_changed",
    ];
    let expected = expected.map(|it| format!("notifications/{it}"));
    assert_eq!(told, expected.into());
}

// req: http-2026-session-header-ignored, http-2026-last-event-id-ignored
#[tokio::test]
async fn the_new_era_takes_up_nothing() {
    let (workers, probe) = workers();
    probe.note_all(&["go 1", "go on"]);
    let server: &Server = &workers.servers[0];
    let session = Session::open(server).await;
    let events = session.call(1, "steps", json!({"n": 1})).await.rest().await;
    for request in [Request::get(), Request::bare("DELETE")] {
        let request = session.dressed(request.header("Last-Event-ID", events[0].place()));
        let request = request.with("MCP-Protocol-Version", "2026-07-28");
        let response = server.send(&request).await;
        assert_eq!(response.status, 405, "{response:?}");
    }
    let params = json!({"name": "now", "arguments": {}});
    let body = crate::support::modern(1, "tools/call", params);
    let request = Request::modern("tools/call", body).header("Mcp-Name", "now");
    let request = request.header("Last-Event-ID", events[0].place());
    let request = request.header("Mcp-Session-Id", &session.id);
    let response = server.send(&request).await;
    assert_eq!(response.messages().len(), 1);
    assert_eq!(text(&response.message()["result"]), "It is now.");
    assert_eq!(session.status().await, 200);
}
