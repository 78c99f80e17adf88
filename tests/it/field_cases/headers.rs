//! A08 to A10: `Accept`, `Content-Type`, `Host`, and what browsers are told.

use mcp_core::auth::{Authorization, Bearer, ProtectedResource, StaticTokens};
use mcp_http_actix::Endpoint;
use serde_json::json;

use crate::support::{
    calling,
    fixture::{fixture, stateless},
    http::{Request, Server},
    init, legacy, modern,
    probe::Probe,
};

// req: http-request-response-content-type
#[tokio::test]
async fn a08_accept_as_real_clients_send_it() {
    let server = Server::of(stateless(&Probe::default()));
    let bases = [
        Request::legacy(legacy(1, "tools/list", json!({}))),
        Request::modern("tools/list", modern(1, "tools/list", json!({}))),
    ];
    for base in bases.map(|base| base.without("Accept")) {
        for (accept, stream) in [
            (&[][..], false),
            (&["*/*"], false),
            (&["application/*"], false),
            (&["application/json"], false),
            (&["text/event-stream"], true),
            (&["application/json;q=0.9, text/event-stream"], false),
            (&["Text/Event-Stream , APPLICATION/JSON"], false),
            (&["application/json", "text/event-stream"], false),
        ] {
            let lines = accept.iter();
            let request = lines.fold(base.clone(), |it, value| it.header("Accept", value));
            let response = server.send(&request).await;
            assert_eq!(response.status, 200, "{accept:?}");
            assert_eq!(response.is_stream(), stream, "{accept:?}");
            let messages = response.messages();
            assert_eq!(messages.len(), 1);
            assert!(messages[0]["result"]["tools"].is_array(), "{accept:?}");
        }
        let response = server.send(&base.header("Accept", "text/html")).await;
        assert_eq!(response.status, 406);
    }
}

#[tokio::test]
async fn a08_content_type_as_real_clients_send_it() {
    let probe = Probe::default();
    let server = Server::of(stateless(&probe));
    let echo = calling("echo", json!({"text": "typed"}));
    let bases = [
        Request::legacy(legacy(1, "tools/call", echo.clone())),
        Request::modern("tools/call", modern(1, "tools/call", echo)).header("Mcp-Name", "echo"),
    ];
    for base in bases {
        probe.clear();
        for (content_type, status) in [
            (Some("application/json"), 200),
            (Some("application/json; charset=utf-8"), 200),
            (Some("Application/JSON;charset=\"UTF-8\""), 200),
            (Some("text/plain"), 415),
            (None, 415),
        ] {
            let request = base.clone().without("Content-Type");
            let request = match content_type {
                Some(value) => request.header("Content-Type", value),
                None => request,
            };
            let response = server.send(&request).await;
            assert_eq!(response.status, status, "{content_type:?}");
        }
        assert_eq!(probe.count("echo typed"), 3);
    }
}

#[tokio::test]
async fn a09_host_without_port_in_brackets_in_capitals_behind_a_proxy() {
    let probe = Probe::default();
    let endpoint = Endpoint::new(stateless(&probe));
    let server = Server::start(endpoint.allow_host("mcp.example.com").unwrap());
    let echo = legacy(1, "tools/call", calling("echo", json!({"text": "hosted"})));
    let base = Request::legacy(echo);
    let served = [
        "127.0.0.1",
        "127.0.0.1:8000",
        "LOCALHOST:8000",
        "[::1]",
        "[::1]:8000",
        "mcp.example.com",
        "MCP.example.com:443",
    ];
    for host in served {
        let response = server.send(&base.clone().with("Host", host)).await;
        assert_eq!(response.status, 200, "{host}");
    }
    for host in [
        "evil.example:8000",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "mcp.example.com.evil.example",
    ] {
        let response = server.send(&base.clone().with("Host", host)).await;
        assert_eq!(response.status, 403, "{host}");
        // Refused whatever the method, and whatever a proxy is said to have seen.
        let get = Request::bare("GET").with("Host", host);
        assert_eq!(server.send(&get).await.status, 403, "{host}");
        let forwarded = base.clone().with("Host", host);
        let forwarded = forwarded.header("X-Forwarded-Host", "mcp.example.com");
        assert_eq!(server.send(&forwarded).await.status, 403, "{host}");
    }
    assert_eq!(probe.count("echo hosted"), served.len());
    let forwarded = base.clone().header("X-Forwarded-Host", "evil.example");
    assert_eq!(server.send(&forwarded).await.status, 200);
    // Once the operator says so, what the proxy was asked for counts.
    let endpoint = Endpoint::new(stateless(&probe)).trust_forwarded_host();
    let server = Server::start(endpoint.allow_host("mcp.example.com").unwrap());
    for (forwarded, status) in [("mcp.example.com", 200), ("evil.example", 403)] {
        let request = base.clone().with("Host", "upstream:8000");
        let request = request.header("X-Forwarded-Host", forwarded);
        assert_eq!(server.send(&request).await.status, status, "{forwarded}");
    }
}

/// What a page asks before it posts, with every header that some client sends.
fn preflight(origin: &str) -> Request {
    Request::bare("OPTIONS")
        .header("Origin", origin)
        .header("Access-Control-Request-Method", "POST")
        .header("Access-Control-Request-Headers", ASKED)
}

const ASKED: &str = "authorization,content-type,mcp-protocol-version,mcp-session-id,last-event-id,\
                     mcp-method,mcp-name,mcp-param-region";

/// An endpoint that pages of `https://app.example.com` use, with and without logging in.
fn browsed(authorization: Option<Authorization>) -> Server {
    let endpoint = Endpoint::new(fixture(&Probe::default()));
    let endpoint = authorization
        .into_iter()
        .fold(endpoint, Endpoint::authorization);
    Server::start(endpoint.allow_origin("https://app.example.com").unwrap())
}

fn authorization() -> Authorization {
    let resource = ProtectedResource::new("https://mcp.example.com/mcp");
    Authorization::builder()
        .policy(Bearer::new(StaticTokens::new()))
        .resource(resource.authorization_server("https://login.example.com"))
        .build()
        .unwrap()
}

#[tokio::test]
async fn a10_browser_clients_get_preflights_and_exposed_headers() {
    let origin = "https://app.example.com";
    for server in [browsed(None), browsed(Some(authorization()))] {
        let response = server.send(&preflight(origin)).await;
        assert_eq!(response.status, 200);
        let header = |name| response.header(name).unwrap().to_ascii_lowercase();
        assert_eq!(header("access-control-allow-origin"), origin);
        let allowed = header("access-control-allow-headers");
        for name in ASKED.split(',') {
            assert!(allowed.split(',').any(|it| it.trim() == name), "{name}");
        }
        let methods = header("access-control-allow-methods");
        for method in ["get", "post", "delete"] {
            assert!(methods.split(',').any(|it| it.trim() == method), "{method}");
        }
    }
    let open = browsed(None);
    let initialize = Request::legacy(init("2025-11-25"));
    let opened = open.send(&initialize.header("Origin", origin)).await;
    assert!(opened.header("mcp-session-id").is_some());
    let progress = {
        let mut params = calling("slow", json!({"ms": 6}));
        params["_meta"] = json!({"progressToken": 0});
        let session = opened.header("mcp-session-id").unwrap();
        let call = Request::legacy(legacy(1, "tools/call", params));
        call.header("Mcp-Session-Id", session)
    };
    let stream = open.send(&progress.header("Origin", origin)).await;
    assert!(stream.is_stream());
    let refused = browsed(Some(authorization()));
    let anonymous = Request::legacy(init("2025-11-25"));
    let refused = refused.send(&anonymous.header("Origin", origin)).await;
    assert!(refused.header("www-authenticate").is_some());
    for (response, status) in [(opened, 200), (stream, 200), (refused, 401)] {
        assert_eq!(response.status, status);
        let header = |name| response.header(name).unwrap().to_ascii_lowercase();
        assert_eq!(header("access-control-allow-origin"), origin);
        assert!(header("vary").contains("origin"));
        let exposed = header("access-control-expose-headers");
        assert!(exposed.contains("mcp-session-id") && exposed.contains("www-authenticate"));
    }
    let document = Request::bare("GET").target("/.well-known/oauth-protected-resource/mcp");
    let document = document.header("Origin", origin);
    let document = browsed(Some(authorization())).send(&document).await;
    assert_eq!(document.status, 200);
    assert_eq!(document.header("access-control-allow-origin"), Some("*"));
}

// req: http-2025-11-origin-403, http-origin-validated
#[tokio::test]
async fn a10_an_origin_that_is_not_configured_is_told_nothing() {
    let server = browsed(None);
    let post = Request::legacy(init("2025-11-25")).header("Origin", "https://evil.example");
    for request in [preflight("https://evil.example"), post] {
        let response = server.send(&request).await;
        assert_eq!(response.status, 403);
        for header in [
            "access-control-allow-origin",
            "access-control-allow-methods",
            "access-control-allow-headers",
            "access-control-expose-headers",
        ] {
            assert_eq!(response.header(header), None);
        }
    }
}
