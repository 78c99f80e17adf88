//! What is decided by sessions, and by the streams that belong to them.

use mcp_core::SessionMode;
use serde_json::json;

use super::site::{Row, Site};
use crate::support::{http::Request, init, legacy, probe::Probe, session::Session};

fn ping() -> Request {
    Request::legacy(legacy(1, "ping", json!({})))
}

pub(crate) async fn rows() -> Vec<Row> {
    let site = Site::open(|_| {});
    let mut rows = named(&site).await;
    rows.extend(streams(&site, &site.probe).await);
    rows.extend(connections(&site).await);
    let stateless = Site::open(|config| config.sessions.mode = SessionMode::Stateless);
    rows.push(
        stateless
            .refused("GET, where there are no sessions", Request::get())
            .await,
    );
    rows
}

async fn named(site: &Site) -> Vec<Row> {
    let unknown = |request: Request| {
        let request = request.with("MCP-Protocol-Version", "2025-11-25");
        request.header("Mcp-Session-Id", "unknown")
    };
    let session = Session::open(&site.server).await;
    let twice = session
        .dressed(ping())
        .header("Mcp-Session-Id", &session.id);
    vec![
        site.refused("no session", ping()).await,
        site.refused("no session, DELETE", Request::bare("DELETE"))
            .await,
        site.refused("no session, GET", Request::get()).await,
        site.refused("unknown session", unknown(ping())).await,
        site.refused(
            "unknown session, a notification",
            unknown(Request::post(crate::support::INITIALIZED)),
        )
        .await,
        site.refused("unknown session, GET", unknown(Request::get()))
            .await,
        site.refused("unknown session, DELETE", unknown(Request::bare("DELETE")))
            .await,
        site.refused("`Mcp-Session-Id` is there twice", twice).await,
    ]
}

async fn streams(site: &Site, probe: &Probe) -> Vec<Row> {
    let session = Session::open(&site.server).await;
    let unspoken = session
        .dressed(Request::get())
        .with("MCP-Protocol-Version", "2099-01-01");
    let json_alone = session
        .dressed(Request::get())
        .with("Accept", "application/json");
    probe.note_all(&["go 1", "go on"]);
    let call = session.call(1, "steps", json!({"n": 1})).await;
    let last = call.rest().await.last().unwrap().place().to_owned();
    vec![
        site.refused("a stream in a version that is not spoken", unspoken)
            .await,
        site.refused("a stream of a client that takes none", json_alone)
            .await,
        site.refused("a stream that has ended", session.resuming(&last))
            .await,
    ]
}

/// The HTTP+SSE transport of 2024-11-05.
async fn connections(site: &Site) -> Vec<Row> {
    let message = |target: &str| Request::post(init("2024-11-05")).target(target);
    let opening = Request::get()
        .target("/sse")
        .with("Accept", "application/json");
    vec![
        site.refused("HTTP+SSE: no connection", message("/messages"))
            .await,
        site.refused(
            "HTTP+SSE: unknown connection",
            message("/messages?session_id=x"),
        )
        .await,
        site.refused("HTTP+SSE: a client that takes no stream", opening)
            .await,
    ]
}
