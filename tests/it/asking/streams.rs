//! Questions over HTTP: whose answer counts, and streams that break off meanwhile.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use mcp_core::{BoxError, Key, ServerConfig};
use serde_json::{Value, json};

use crate::support::{
    calling,
    curious::{self, capable, filled},
    events::Events,
    http::{Request, Server},
    legacy,
    probe::Probe,
    session::Session,
    text,
    watched::{Operation, Watch, WatchedHub},
    workers::Workers,
};

/// Revisions with forms on the stream.
const PUSHING: [&str; 2] = ["2025-11-25", "2025-06-18"];

fn workers(probe: &Probe) -> Workers {
    Workers::new(|config: ServerConfig| curious::with(probe, config))
}

/// A call that asks, and its stream.
async fn asking(session: &Session) -> Events {
    let body = legacy(1, "tools/call", calling("patient", json!({})));
    Events::open(&session.server, &session.dressed(Request::post(body))).await
}

fn response(question: &Value, said: &str) -> String {
    json!({"jsonrpc": "2.0", "id": question["id"], "result": filled(said)}).to_string()
}

/// The last message of a stream, and what it says.
async fn said(events: Events) -> String {
    let messages = crate::support::events::messages(&events.rest().await);
    text(&messages.last().expect("no reply")["result"]).to_owned()
}

// req: elicit-bound-to-user, security-session-bound-to-user
#[tokio::test]
async fn the_answer_of_another_session_does_nothing() {
    let probe = Probe::default();
    let workers = workers(&probe);
    for version in PUSHING {
        for at in 0..2 {
            let server = &workers.servers[0];
            let mine = Session::declaring(server, version, &capable(), &[]).await;
            let other = Session::declaring(server, version, &capable(), &[]).await;
            let mut events = asking(&mine).await;
            let question = events.question().await;
            let other = other.at(&workers.servers[at]);
            for body in [
                response(&question, "theirs"),
                json!({"jsonrpc": "2.0", "id": question["id"], "error": {"code": -1, "message": "no"}})
                    .to_string(),
            ] {
                let taken = other.post(body).await;
                assert_eq!((taken.status, taken.text()), (202, ""));
            }
            let here = mine.at(&workers.servers[at]);
            assert_eq!(here.post(response(&question, "mine")).await.status, 202);
            assert_eq!(said(events).await, "mine");
        }
    }
}

/// Without a session there is nobody to answer for.
#[tokio::test]
async fn the_answer_of_a_stranger_does_nothing() {
    let probe = Probe::default();
    let workers = workers(&probe);
    let session = Session::declaring(&workers.servers[0], PUSHING[0], &capable(), &[]).await;
    let mut events = asking(&session).await;
    let question = events.question().await;
    let body = response(&question, "theirs");
    let stranger = workers.servers[0]
        .send(&Request::legacy(body.clone()))
        .await;
    assert_eq!(stranger.status, 400, "{stranger:?}");
    let lost = session.with("Mcp-Session-Id", "made-up");
    let request = lost
        .dressed(Request::post(body))
        .with("Mcp-Session-Id", "made-up");
    assert_eq!(workers.servers[0].send(&request).await.status, 404);
    assert_eq!(session.post(response(&question, "mine")).await.status, 202);
    assert_eq!(said(events).await, "mine");
}

/// The place of the last event before a client goes: its question, or the empty first event.
async fn broken(session: &Session, primed: bool) -> (Value, String) {
    let mut events = asking(session).await;
    let first = events.event().await;
    let question = if first.is_empty() {
        events.event().await
    } else {
        first.clone()
    };
    let place = if primed { &first } else { &question };
    (question.message(), place.place().to_owned())
}

// req: http-2025-11-resume-via-get, http-disconnect-is-not-cancel
#[tokio::test]
async fn a_question_outlives_its_stream() {
    let probe = Probe::default();
    let workers = workers(&probe);
    for primed in [true, false] {
        for (resumes, answers) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let session =
                Session::declaring(&workers.servers[0], PUSHING[0], &capable(), &[]).await;
            let (question, place) = broken(&session, primed).await;
            let mut resumed = session.at(&workers.servers[resumes]).resume(&place).await;
            if primed {
                assert_eq!(resumed.question().await, question, "it is there again");
            }
            let here = session.at(&workers.servers[answers]);
            assert_eq!(here.post(response(&question, "mine")).await.status, 202);
            assert_eq!(said(resumed).await, "mine");
            assert!(!probe.has("stopped"));
        }
    }
}

/// The answer may be there before its client comes back for the result.
// req: http-2025-11-resume-via-get
#[tokio::test]
async fn a_question_is_answered_without_its_stream() {
    let probe = Probe::default();
    let workers = workers(&probe);
    for at in 0..2 {
        let session = Session::declaring(&workers.servers[0], PUSHING[0], &capable(), &[]).await;
        let (question, place) = broken(&session, false).await;
        let here = session.at(&workers.servers[at]);
        assert_eq!(here.post(response(&question, "mine")).await.status, 202);
        assert_eq!(said(here.resume(&place).await).await, "mine");
    }
    assert!(!probe.has("stopped"));
}

// req: http-session-delete
#[tokio::test]
async fn a_call_that_asks_ends_with_its_session() {
    let probe = Probe::default();
    let workers = workers(&probe);
    for at in 0..2 {
        probe.clear();
        let session = Session::declaring(&workers.servers[0], PUSHING[0], &capable(), &[]).await;
        let mut events = asking(&session).await;
        let question = events.question().await;
        assert_eq!(session.at(&workers.servers[at]).delete().await.status, 204);
        probe.until("stopped").await;
        let rest = events.rest().await;
        let rest = crate::support::events::messages(&rest);
        assert!(rest.iter().all(|it| it.get("result").is_none()), "{rest:?}");
        assert_eq!(session.post(response(&question, "late")).await.status, 404);
    }
}

/// A stream that its handler ends asks where the client comes back.
// req: http-2025-11-resume-via-get
#[tokio::test]
async fn a_question_waits_for_a_client_that_was_sent_away() {
    let probe = Probe::default();
    let workers = workers(&probe);
    for at in 0..2 {
        let session = Session::declaring(&workers.servers[0], PUSHING[0], &capable(), &[]).await;
        let body = legacy(1, "tools/call", calling("pausing", json!({})));
        let request = session.dressed(Request::post(body));
        let events = Events::open(&session.server, &request).await.rest().await;
        let place = events.last().unwrap().place();
        let here = session.at(&workers.servers[at]);
        let mut resumed = here.resume(place).await;
        let question = resumed.question().await;
        assert_eq!(here.post(response(&question, "mine")).await.status, 202);
        assert_eq!(said(resumed).await, "mine");
    }
}

/// A watch that lets nobody listen to a hub, once it is set.
#[derive(Debug, Clone, Default)]
struct Deaf(Arc<AtomicBool>);

#[async_trait]
impl Watch for Deaf {
    async fn before(&self, operation: Operation, _topic: &Key) -> Result<(), BoxError> {
        if operation == Operation::Subscribe && self.0.load(Ordering::Relaxed) {
            return Err("it is down".into());
        }
        Ok(())
    }
}

/// Where no answer can be heard, a call does not wait for one.
#[tokio::test]
async fn a_hub_that_fails_does_not_keep_a_call_for_ever() {
    let deaf = Deaf::default();
    let mut config = ServerConfig::default();
    config.hub = Some(Arc::new(WatchedHub::by(deaf.clone())));
    config.asking.timeout = Duration::from_millis(100);
    let server = Server::of(curious::with(&Probe::default(), config));
    let session = Session::declaring(&server, PUSHING[0], &capable(), &[]).await;
    deaf.0.store(true, Ordering::Relaxed);
    let call = session.ask("tools/call", calling("patient", json!({})));
    let reply = tokio::time::timeout(Duration::from_secs(5), call).await;
    let reply = reply.expect("the call waits for ever");
    assert_eq!(reply["result"]["isError"], true, "{reply}");
}

/// Where questions are results, nothing waits for their answers.
// req: mrtr-last-message-on-stream
#[tokio::test]
async fn a_result_that_asks_is_the_last_message_of_its_stream() {
    let probe = Probe::default();
    let workers = workers(&probe);
    let body = curious::able(1, "tools/call", calling("patient", json!({})));
    let request = Request::modern("tools/call", body).header("Mcp-Name", "patient");
    let request = request.with("Accept", "text/event-stream");
    let messages = workers.servers[0].send(&request).await.messages();
    assert_eq!(messages.len(), 1);
    assert_eq!(messages[0]["result"]["resultType"], "input_required");
}
