//! What is decided by how much there is already.

use mcp_core::Rate;
use serde_json::{Value, json};

use super::site::{Row, Site};
use crate::support::{
    INITIALIZED, calling, events::Events, http::Request, init, legacy, login::of, modern,
    session::Session, until,
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
    rows.extend(calls().await);
    rows.extend(streams().await);
    rows.extend(sessions().await);
    rows
}

async fn rate() -> Vec<Row> {
    let site = Site::guarded(|config| config.limits.rate = Some(Rate::new(1, 3)));
    let who = of("alice", "");
    let session = Session::of(&site.server, "2025-11-25", &[("Authorization", &who)]).await;
    let notification = session.dressed(Request::post(INITIALIZED));
    let mut rows = Vec::new();
    for (check, request) in [
        ("messages a second of one caller", call("now")),
        ("the same, a notification", notification),
    ] {
        // On a slow machine the next token may be there before the next message.
        loop {
            let row = site.refused(check, request.clone()).await;
            if row.status == 429 {
                rows.push(row);
                break;
            }
        }
    }
    rows
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
