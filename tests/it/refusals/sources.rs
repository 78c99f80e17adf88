//! What is decided by where a request comes from, and by its form.

use std::time::Duration;

use serde_json::json;

use super::site::{Row, Site};
use crate::support::{calling, http::Request, legacy, modern};

fn list() -> Request {
    Request::modern("tools/list", modern(1, "tools/list", json!({})))
}

pub(crate) async fn rows() -> Vec<Row> {
    let site = Site::open(|config| {
        config.limits.max_body = 1000;
        config.limits.max_headers = 2000;
        config.limits.read_timeout = Duration::from_millis(50);
    });
    let mut rows = source(&site).await;
    rows.extend(forwarded().await);
    rows.extend(form(&site).await);
    rows.extend(body(&site).await);
    rows
}

async fn source(site: &Site) -> Vec<Row> {
    let two = |name: &str, first: &str| list().with(name, first).header(name, "localhost");
    vec![
        site.refused("`Host` is not served", list().with("Host", "evil.example"))
            .await,
        site.refused(
            "the target names a host that is not served",
            list().target("http://evil.example/mcp"),
        )
        .await,
        site.refused("`Host` is there twice", two("Host", "localhost"))
            .await,
        site.refused(
            "`Origin` is not served",
            list().header("Origin", "https://evil.example"),
        )
        .await,
        site.refused("`Origin` is opaque", list().header("Origin", "null"))
            .await,
        site.refused("`Origin` is there twice", two("Origin", "http://localhost"))
            .await,
    ]
}

/// Behind a proxy that says for which host a request was.
async fn forwarded() -> Vec<Row> {
    let site = Site::new(|_| {}, mcp_http_actix::Endpoint::trust_forwarded_host);
    let twice = list().header("X-Forwarded-Host", "localhost");
    let twice = twice.header("X-Forwarded-Host", "evil.example");
    vec![
        site.refused(
            "the forwarded host is not served",
            list().header("X-Forwarded-Host", "evil.example"),
        )
        .await,
        site.refused("one of several forwarded hosts is not served", twice)
            .await,
        site.refused(
            "the forwarded host cannot be read",
            list().header("Forwarded", "host=\"localhost"),
        )
        .await,
    ]
}

async fn form(site: &Site) -> Vec<Row> {
    vec![
        site.refused("HTTP method", Request::bare("PUT")).await,
        site.refused(
            "headers too large",
            list().header("X-Padding", &"x".repeat(3000)),
        )
        .await,
        site.refused("`Content-Type` is missing", list().without("Content-Type"))
            .await,
        site.refused(
            "`Content-Type` is another",
            list().with("Content-Type", "text/plain"),
        )
        .await,
        site.refused(
            "`Accept` has nothing that is served",
            list().with("Accept", "text/html"),
        )
        .await,
    ]
}

async fn body(site: &Site) -> Vec<Row> {
    let large = calling("echo", json!({"text": "x".repeat(2000)}));
    let large = Request::legacy(legacy(1, "tools/call", large));
    let broken = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n\
        Transfer-Encoding: chunked\r\n\r\nno size\r\n";
    vec![
        site.refused("body too large, as declared", large.clone())
            .await,
        site.refused("body too large, in chunks", large.chunked())
            .await,
        site.watched("body too slow", site.server.unfinished(&list(), 3))
            .await,
        site.watched("body framed wrongly", site.server.bytes(broken))
            .await,
    ]
}
