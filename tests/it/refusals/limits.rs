//! What is decided by how much there is already.

use mcp_core::Rate;
use serde_json::{Value, json};

use super::site::{Row, Site};
use crate::support::{
    INITIALIZED, calling,
    events::Events,
    http::Request,
    init, legacy,
    login::{door, of},
    modern,
    session::Session,
    until,
};

fn call(name: &str) -> Request {
    let body = modern(1, "tools/call", calling(name, json!({})));
    Request::modern("tools/call", body)
        .header("Mcp-Name", name)
        .of(&of("alice", ""))
}

fn listen() -> Request {
    let filter: Value = json!({"notifications": {"toolsListChanged": true}});
    let method = "subscriptions/listen";
    Request::modern(method, modern(1, method, filter)).of(&of("alice", ""))
}

pub(crate) async fn rows() -> Vec<Row> {
    let mut rows = rate().await;
    rows.push(bodies().await);
    rows.extend(calls().await);
    rows.extend(streams().await);
    rows.extend(sessions().await);
    rows
}

/// The first refusal: on a slow machine the next token may be there before the next message.
async fn turned_away(site: &Site, check: &'static str, request: Request) -> Row {
    loop {
        let row = site.refused(check, request.clone()).await;
        if row.status == 429 {
            return row;
        }
    }
}

async fn rate() -> Vec<Row> {
    let site = Site::guarded(|config| config.limits.rate = Some(Rate::new(1, 3)));
    let who = of("alice", "");
    let session = Session::of(&site.server, "2025-11-25", &[("Authorization", &who)]).await;
    let notification = session.dressed(Request::post(INITIALIZED));
    let mut rows = vec![
        turned_away(&site, "messages a second of one caller", call("now")).await,
        turned_away(&site, "the same, a notification", notification).await,
    ];
    let sites = [
        ("messages a second of one stranger", None),
        (
            "credentials that a stranger tries",
            Some(door().build().unwrap()),
        ),
    ];
    for (check, door) in sites {
        let site = Site::new(
            |config| config.limits.rate = Some(Rate::new(1, 3)),
            |endpoint| {
                let endpoint = endpoint.source(|_| Some("192.0.2.1".to_owned()));
                match door.clone() {
                    Some(door) => endpoint.authorization(door),
                    None => endpoint,
                }
            },
        );
        rows.push(turned_away(&site, check, call("now").of("Bearer junk")).await);
    }
    rows
}

/// Bodies that are held are large, or many.
async fn bodies() -> Row {
    let site = Site::open(|config| {
        config.limits.max_body = 40_000;
        config.limits.max_bodies = 0;
    });
    let large = calling("echo", json!({"text": "x".repeat(30_000)}));
    let large = Request::modern("tools/call", modern(1, "tools/call", large));
    let large = large.header("Mcp-Name", "echo");
    let (server, unfinished) = (site.server.clone(), large.clone());
    let held = tokio::spawn(async move { server.unfinished(&unfinished, 5).await });
    until(|| site.registry.usage().bodies > 0).await;
    let row = site.refused("bytes of all bodies", large).await;
    held.abort();
    row
}

async fn calls() -> Vec<Row> {
    let mut rows = Vec::new();
    for (check, all, own) in [
        ("calls in flight of one caller", 100, 1),
        ("calls in flight", 1, 100),
    ] {
        let site = Site::guarded(|config| {
            (
                config.limits.max_calls,
                config.limits.max_calls_per_principal,
            ) = (all, own);
        });
        let (server, hold) = (site.server.clone(), call("hold"));
        let held = tokio::spawn(async move { server.send(&hold).await });
        until(|| site.probe.has("hold began")).await;
        rows.push(site.refused(check, call("now")).await);
        held.abort();
    }
    rows
}

async fn streams() -> Vec<Row> {
    let mut rows = Vec::new();
    for (check, all, own) in [("streams of one caller", 100, 1), ("streams", 1, 100)] {
        let site = Site::guarded(|config| {
            (
                config.limits.max_streams,
                config.limits.max_streams_per_principal,
            ) = (all, own);
        });
        let held = Events::open(&site.server, &listen()).await;
        rows.push(site.refused(check, listen()).await);
        drop(held);
    }
    let site = Site::guarded(|config| config.limits.max_streams_per_session = 0);
    let who = of("alice", "");
    let session = Session::of(&site.server, "2025-11-25", &[("Authorization", &who)]).await;
    let get = session.dressed(Request::get());
    rows.push(site.refused("streams of one session", get).await);
    rows
}

async fn sessions() -> Vec<Row> {
    let site = Site::guarded(|config| config.limits.max_sessions = 0);
    let open = || Request::legacy(init("2025-11-25")).of(&of("alice", ""));
    let mut rows = vec![site.refused("sessions", open()).await];
    let own = Site::guarded(|config| config.limits.max_sessions_per_principal = 0);
    rows.push(own.refused("sessions of one caller", open()).await);
    let narrow = Site::guarded(|config| config.limits.max_session_bytes = 200);
    let headers = [("Authorization", &*of("alice", ""))];
    let session = Session::of(&narrow.server, "2025-11-25", &headers).await;
    let uri = format!("made://{}/thing", "x".repeat(200));
    let subscribe = legacy(1, "resources/subscribe", json!({"uri": uri}));
    let subscribe = session.dressed(Request::post(subscribe));
    rows.push(narrow.refused("bytes of a session", subscribe).await);
    site.registry.shut_down();
    rows.push(site.refused("the server ends", open()).await);
    rows.push(
        site.refused("the server ends, a subscription", listen())
            .await,
    );
    rows
}
