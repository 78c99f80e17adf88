//! A15: clients that never send DELETE.

use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use serde_json::json;

use crate::support::{
    http::Server,
    lively::{self, WATCHED},
    probe::Probe,
    session::Session,
    until,
    workers::Shared,
};

const SESSIONS: usize = 1000;

/// A client that does a little, and leaves.
async fn abandon(server: &Server, n: usize) -> Session {
    let session = Session::open(server).await;
    match n % 10 {
        0 => drop(session.ask("tools/list", json!({})).await),
        1 => drop(
            session
                .ask("logging/setLevel", json!({"level": "error"}))
                .await,
        ),
        2 => drop(
            session
                .ask("resources/subscribe", json!({"uri": WATCHED[0]}))
                .await,
        ),
        3 => drop(session.tool("count", json!({})).await),
        4 => drop(session.listen().await),
        _ => {}
    }
    session
}

#[tokio::test]
async fn a15_what_was_abandoned_leaves_nothing_behind() {
    let (probe, shared) = (Probe::default(), Shared::default());
    let mut config = shared.config();
    // Twice the time of the case: busy sessions have to be kept on a busy machine too.
    config.sessions.idle = Duration::from_secs(2);
    config.sessions.handshake = Duration::from_secs(2);
    config.streams.keep = Duration::from_secs(1);
    let registry = lively::with(&probe, config);
    let server = Server::of(registry.clone());

    let (listening, calling) = tokio::join!(Session::open(&server), Session::open(&server));
    let stream = listening.listen().await;
    probe.note("go 1");
    let mut call = calling.call(1, "steps", json!({"n": 1})).await;
    call.message().await;

    let all = stream::iter(0..SESSIONS).map(|n| abandon(&server, n));
    let abandoned: Vec<Session> = all.buffer_unordered(32).collect().await;
    until(|| shared.store.len() <= 2).await;
    let old = stream::iter(abandoned.iter().step_by(7)).map(Session::status);
    let old: Vec<u16> = old.buffer_unordered(32).collect().await;
    assert!(old.iter().all(|status| *status == 404), "{old:?}");

    // Those that are busy are still there.
    assert_eq!(shared.store.len(), 2);
    assert_eq!(
        (listening.status().await, calling.status().await),
        (200, 200)
    );
    assert_eq!(registry.open_streams(), 1);
    probe.note("go on");
    assert_eq!(call.rest().await.len(), 1);
    drop(stream);
    until(|| shared.store.is_empty() && registry.open_streams() == 0).await;
    assert_eq!(
        (listening.status().await, calling.status().await),
        (404, 404)
    );
    until(|| shared.hub.topics() == 0).await;
    assert_eq!(shared.hub.bytes(), 0);
}

/// The time for the rest of the handshake is over with it.
#[tokio::test]
async fn a15_a_client_that_went_on_and_left_is_kept_for_the_idle_time_alone() {
    let shared = Shared::default();
    let mut config = shared.config();
    config.sessions.idle = Duration::from_secs(1);
    assert!(config.sessions.handshake > Duration::from_secs(20));
    let server = Server::of(lively::with(&Probe::default(), config));
    let session = Session::open(&server).await;
    assert_eq!(session.status().await, 200);
    until(|| shared.store.is_empty()).await;
}
