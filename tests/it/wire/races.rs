//! What happens at the same time at two workers.

use mcp_core::Change;
use serde_json::json;

use crate::support::{
    events::messages,
    http::{Request, Response},
    lively::{self, WATCHED},
    probe::Probe,
    session::Session,
    text, until,
    workers::Workers,
};

const ROUNDS: usize = 150;

fn workers(probe: &Probe) -> Workers {
    Workers::new(|config| lively::with(probe, config))
}

/// Whatever opens while its session ends ends as well.
#[tokio::test]
async fn a_stream_that_opens_while_its_session_ends_ends_too() {
    let workers = workers(&Probe::default());
    let [first, second] = &workers.servers;
    for _ in 0..ROUNDS {
        let session = Session::open(first).await;
        let get = session.dressed(Request::get());
        let (live, ended) = tokio::join!(second.open(&get), session.delete());
        assert_eq!(ended.status, 204);
        let response: Response = live.rest().await;
        assert!([200, 404].contains(&response.status), "{response:?}");
    }
    until(|| workers.registries[1].open_streams() == 0).await;
}

/// One of two that come back at once has the stream, and has it whole.
#[tokio::test]
async fn one_of_two_that_come_back_at_once_has_the_stream() {
    let probe = Probe::default();
    let workers = workers(&probe);
    let [first, second] = &workers.servers;
    let session = Session::open(first).await;
    for round in 0..ROUNDS {
        probe.clear();
        probe.note("go 1");
        let mut call = session.call(1, "steps", json!({"n": 1})).await;
        let place = call.event().await;
        drop(call);
        let other = session.at(second);
        let both = tokio::join!(session.resume(place.place()), other.resume(place.place()));
        probe.note("go on");
        let rests = tokio::join!(both.0.rest(), both.1.rest());
        let replies = [rests.0, rests.1].map(|events| {
            let messages = messages(&events);
            messages
                .iter()
                .filter(|it| it.get("result").is_some())
                .count()
        });
        assert_eq!(replies.iter().sum::<usize>(), 1, "{round}: {replies:?}");
    }
}

/// One of two streams of a session that open at once hears of changes.
#[tokio::test]
async fn one_of_two_streams_that_open_at_once_stays() {
    let workers = workers(&Probe::default());
    let [first, second] = &workers.servers;
    let session = Session::open(first).await;
    for round in 0..ROUNDS {
        let other = session.at(second);
        let (one, two) = tokio::join!(session.listen(), other.listen());
        workers.registries[0].announce(Change::Tools);
        let ((one, task_one), (two, task_two)) = (one.log(), two.log());
        until(|| one.len() + two.len() > 0).await;
        until(|| {
            workers
                .registries
                .iter()
                .map(|it| it.open_streams())
                .sum::<usize>()
                == 1
        })
        .await;
        assert_eq!(one.len() + two.len(), 1, "{round}");
        task_one.abort();
        task_two.abort();
        until(|| workers.registries.iter().all(|it| it.open_streams() == 0)).await;
    }
}

/// A subscription counts from its answer on, also for a stream that opens meanwhile.
#[tokio::test]
async fn a_stream_that_opens_while_its_client_subscribes_hears_of_it() {
    let workers = workers(&Probe::default());
    let [first, second] = &workers.servers;
    for _ in 0..ROUNDS {
        let session = Session::open(first).await;
        let other = session.at(second);
        let subscribe = session.ask("resources/subscribe", json!({"uri": WATCHED[0]}));
        let (mut stream, subscribed) = tokio::join!(other.listen(), subscribe);
        assert_eq!(subscribed["result"], json!({}));
        workers.registries[0].resource_updated(WATCHED[0]);
        workers.registries[0].announce(Change::Tools);
        let told = stream.message().await;
        assert_eq!(told["params"]["uri"], WATCHED[0], "{told}");
        session.delete().await;
    }
}

/// Updates of one session on two workers at once are all counted.
#[tokio::test]
async fn values_are_changed_at_two_workers_at_once() {
    let workers = workers(&Probe::default());
    let [first, second] = &workers.servers;
    let session = Session::open(first).await;
    for _ in 0..20 {
        let calls = (0..8).map(|at| {
            let here = session.at(if at % 2 == 0 { first } else { second });
            async move { here.tool("count", json!({})).await }
        });
        futures_util::future::join_all(calls).await;
    }
    let answer = session.ask("tools/call", json!({"name": "count"})).await;
    assert_eq!(text(&answer["result"]), "161");
}
