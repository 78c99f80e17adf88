//! What is refused before a handler runs.

use mcp_core::{ServerConfig, SessionMode};
use mcp_http_actix::{Endpoint, bind};
use serde_json::json;

use crate::support::{
    calling,
    fixture::{fixture, stateless, with},
    http::{Request, Server},
    legacy, modern,
    probe::Probe,
};

fn server() -> Server {
    Server::of(stateless(&Probe::default()))
}

// req: http-get-sse-or-405, http-2026-get-delete-405, http-session-delete, http-endpoint-post-get
// req: http-2026-endpoint-post
#[tokio::test]
async fn other_methods_get_405_with_allow() {
    let server = server();
    for method in ["GET", "DELETE", "PUT", "PATCH", "OPTIONS", "HEAD"] {
        for target in ["/mcp", "/mcp/", "/mcp?mcp=2025-11-25"] {
            let request = Request::bare(method)
                .target(target)
                .header("Accept", "text/event-stream");
            let live = server.open(&request).await;
            assert_eq!(live.status(), 405, "{method} {target}");
            assert_eq!(live.header("allow"), Some("POST, GET, DELETE"));
        }
    }
    let response = server.send(&Request::bare("GET")).await;
    assert_eq!(response.message().get("id"), None);
}

#[tokio::test]
async fn other_paths_get_404_at_once() {
    let server = server();
    for target in [
        "/",
        "/mcp2",
        "/mcp/x",
        "/.well-known/oauth-protected-resource/mcp",
    ] {
        let request = Request::post("{}").target(target);
        assert_eq!(server.send(&request).await.status, 404, "{target}");
    }
    let slash = Request::legacy(legacy(1, "ping", json!({}))).target("/mcp/");
    assert_eq!(server.send(&slash).await.status, 200);
}

#[tokio::test]
async fn what_cannot_be_accepted_gets_406() {
    let server = server();
    let base = Request::legacy(legacy(1, "ping", json!({})));
    for accept in [
        "text/html",
        "image/*, text/plain",
        "application/json;q=0",
        "nonsense",
    ] {
        let response = server.send(&base.clone().with("Accept", accept)).await;
        assert_eq!(response.status, 406, "{accept}");
        assert_eq!(response.message().get("id"), None);
    }
}

#[tokio::test]
async fn what_is_not_declared_as_json_gets_415() {
    let server = server();
    let base = Request::legacy(legacy(1, "ping", json!({}))).without("Content-Type");
    let two = base.clone().header("Content-Type", "application/json");
    let two = two.header("Content-Type", "text/plain");
    let jsonp = base.clone().header("Content-Type", "application/jsonp");
    for request in [base, two, jsonp] {
        assert_eq!(server.send(&request).await.status, 415, "{request:?}");
    }
}

#[tokio::test]
async fn a_body_that_is_too_large_gets_413_however_it_is_framed() {
    let probe = Probe::default();
    let mut config = ServerConfig::default();
    config.sessions.mode = SessionMode::Stateless;
    config.limits.max_body = 2000;
    let server = Server::start(Endpoint::new(with(&probe, config)));
    let echo = |length| {
        let call = calling("echo", json!({"text": "x".repeat(length)}));
        Request::legacy(legacy(1, "tools/call", call))
    };
    for request in [
        echo(5000),
        echo(5000).chunked(),
        echo(500_000),
        echo(500_000).chunked(),
    ] {
        let response = server.send(&request).await;
        assert_eq!((response.status, response.code()), (413, -32600));
        assert_eq!(response.message().get("id"), None);
    }
    assert_eq!(probe.notes(), [""; 0]);
    for request in [echo(1000), echo(1000).chunked()] {
        assert_eq!(server.send(&request).await.status, 200);
    }
}

// req: http-2025-11-origin-403, http-origin-validated, http-origin-absent-accepted
#[tokio::test]
async fn foreign_origins_get_403() {
    let probe = Probe::default();
    let endpoint = Endpoint::new(stateless(&probe)).allow_origin("https://app.example.com");
    let server = Server::start(endpoint.unwrap());
    let echo = legacy(1, "tools/call", calling("echo", json!({"text": "origin"})));
    let base = Request::legacy(echo);
    for (origin, status) in [
        (None, 200),
        (Some("https://app.example.com"), 200),
        (Some("HTTPS://app.example.com"), 200),
        (Some("http://localhost:6274"), 200),
        (Some("http://app.example.com"), 403),
        (Some("https://app.example.com.evil.example"), 403),
        (Some("https://evil.example"), 403),
        (Some("null"), 403),
    ] {
        let request = match origin {
            Some(origin) => base.clone().header("Origin", origin),
            None => base.clone(),
        };
        let response = server.send(&request).await;
        assert_eq!(response.status, status, "{origin:?}");
        if status == 403 {
            assert_eq!(response.message().get("id"), None);
        }
    }
    assert_eq!(probe.count("echo origin"), 4);
    for method in ["GET", "DELETE"] {
        let request = Request::bare(method).header("Origin", "https://evil.example");
        assert_eq!(server.send(&request).await.status, 403);
    }
}

/// RFC 9112 section 3.2: a request has one `Host`; with two, a proxy may have judged the other.
#[tokio::test]
async fn two_hosts_or_origins_get_403() {
    let server = Server::of(stateless(&Probe::default()));
    let echo = legacy(1, "tools/call", calling("echo", json!({"text": "twice"})));
    let base = Request::legacy(echo);
    for (name, values) in [
        ("Host", ["localhost", "evil.example"]),
        ("Host", ["localhost", "localhost"]),
        ("Origin", ["http://localhost", "https://evil.example"]),
    ] {
        let request = base.clone().without(name);
        let request = values
            .iter()
            .fold(request, |request, value| request.header(name, value));
        let response = server.send(&request).await;
        assert!([400, 403].contains(&response.status), "{name} {values:?}");
    }
}

#[test]
fn an_address_that_is_taken_is_named() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let refused = bind(
        Endpoint::new(stateless(&Probe::default())),
        &address,
        "/mcp",
    )
    .unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::AddrInUse);
    assert!(refused.to_string().contains(&address), "{refused}");
}

#[test]
fn a_public_address_needs_the_name_of_its_host() {
    let registry = fixture(&Probe::default());
    let refused = bind(Endpoint::new(registry.clone()), "0.0.0.0:0", "/mcp").unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::InvalidInput);
    assert!(refused.to_string().contains("allow_host"), "{refused}");
    let named = Endpoint::new(registry).allow_host("mcp.example.com");
    assert!(bind(named.unwrap(), "0.0.0.0:0", "/mcp").is_ok());
}

// req: errors-parse-32700, errors-invalid-request-32600
// req: jsonrpc-error-without-id, jsonrpc-error-object-shape, jsonrpc-error-message-one-sentence
#[tokio::test]
async fn bodies_that_are_no_message() {
    let server = server();
    for (body, code) in [
        (&b""[..], -32700),
        (b"{", -32700),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,", -32700),
        (b"\xff\xfe", -32700),
        (b"null", -32600),
        (b"42", -32600),
        (b"{}", -32600),
        (b"{\"jsonrpc\":\"2.0\"}", -32600),
        (b"{\"jsonrpc\":\"2.0\",\"method\":5}", -32600),
    ] {
        for request in [
            Request::legacy(body),
            Request::modern("ping", body),
            Request::post(body),
        ] {
            let response = server.send(&request).await;
            assert_eq!(
                (response.status, response.code()),
                (400, code),
                "{request:?}"
            );
            assert_eq!(response.message().get("id"), None);
        }
    }
    for body in [
        r#"{"jsonrpc":"1.0","id":5,"method":"ping"}"#,
        r#"{"id":5,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":5}"#,
        r#"{"jsonrpc":"2.0","id":5,"method":null}"#,
        r#"{"jsonrpc":"2.0","id":5,"method":"ping","result":{}}"#,
    ] {
        let response = server.send(&Request::legacy(body)).await;
        assert_eq!((response.status, response.code()), (400, -32600), "{body}");
        assert_eq!(response.message()["id"], 5);
    }
    assert_eq!(
        server
            .send(&Request::legacy(legacy(1, "ping", json!({}))))
            .await
            .status,
        200
    );
}

// req: http-notification-202, http-client-response-202, jsonrpc-2026-client-response-refused
#[tokio::test]
async fn what_has_no_answer_gets_202_without_a_body() {
    let server = server();
    let note = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{}}"#;
    let result = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    let error = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}"#;
    for body in [note, result, error] {
        let response = server.send(&Request::legacy(body)).await;
        assert_eq!((response.status, response.text()), (202, ""), "{body}");
        assert_eq!(response.header("content-type"), None);
    }
    for body in [result, error] {
        let response = server.send(&Request::modern("", body)).await;
        assert_eq!(response.status, 400, "{body}");
        assert!(response.messages().is_empty() || response.code() == -32600);
    }
}

// req: http-header-names-case-insensitive
#[tokio::test]
async fn header_names_have_no_case() {
    let server = server();
    let list = modern(1, "tools/list", json!({}));
    for upper in [true, false] {
        let case = |name: &str| {
            if upper {
                name.to_ascii_uppercase()
            } else {
                name.to_ascii_lowercase()
            }
        };
        let request = Request::bare("POST")
            .body(list.as_str())
            .header(&case("Content-Type"), "application/json")
            .header(&case("Accept"), "application/json")
            .header(&case("MCP-Protocol-Version"), "2026-07-28")
            .header(&case("Mcp-Method"), "tools/list");
        assert_eq!(server.send(&request).await.status, 200);
    }
}

#[tokio::test]
async fn bodies_that_break_off_or_are_framed_wrongly() {
    let probe = Probe::default();
    let server = Server::of(stateless(&probe));
    let head = "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n";
    let echo = legacy(1, "tools/call", calling("echo", json!({"text": "mangled"})));
    for rest in [
        format!("Content-Length: {}\r\n\r\n{echo}", echo.len() + 10),
        format!("Content-Length: none\r\n\r\n{echo}"),
        format!(
            "Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{echo}\r\n",
            echo.len()
        ),
        format!("Transfer-Encoding: chunked\r\n\r\nno size\r\n{echo}\r\n0\r\n\r\n"),
        format!(
            "Content-Length: 5\r\nContent-Length: {}\r\n\r\n{echo}",
            echo.len()
        ),
    ] {
        let answer = server.mangled(format!("{head}{rest}").as_bytes()).await;
        assert!(!answer.contains("mangled"), "{rest}: {answer}");
        assert!(
            answer.is_empty() || answer.starts_with("HTTP/1.1 4"),
            "{rest}: {answer}"
        );
    }
    assert_eq!(probe.notes(), [""; 0]);
    let ping = Request::legacy(legacy(1, "ping", json!({})));
    assert_eq!(server.send(&ping).await.status, 200);
}

/// A client that takes streams alone still reads the status.
#[tokio::test]
async fn a_refusal_keeps_its_status_where_streams_alone_are_taken() {
    let server = server();
    let list = Request::modern("tools/list", modern(1, "tools/list", json!({})));
    let unheard = Request::modern("tools/unheard", modern(1, "tools/unheard", json!({})));
    for (request, status) in [
        (list.without("Mcp-Method"), 400),
        (unheard, 404),
        (Request::legacy("{"), 400),
    ] {
        let response = server
            .send(&request.with("Accept", "text/event-stream"))
            .await;
        assert_eq!(response.status, status, "{response:?}");
        assert!(response.messages()[0]["error"].is_object());
    }
}
