//! Which hosts and which pages are served, and how the others are refused.
//!
//! Source: `basic/transports` of each revision, "Security Warning"; RFC 7239.

use actix_web::{
    App,
    test::{TestRequest, call_service, init_service, read_body},
};
use mcp_core::auth::{Authorization, Bearer, ProtectedResource, StaticTokens};
use mcp_http_actix::bind;

use super::browsers::{EVIL, assert_readable, endpoint, ping};
use crate::support::{http::Server, logged::Logged, parse};

// req: http-origin-validated
#[tokio::test]
async fn hosts_and_origins_are_served_as_they_were_named() {
    let named = endpoint()
        .allow_host("[2001:db8::7]:3000")
        .and_then(|it| it.allow_host("*.example.com"))
        .and_then(|it| it.allow_origin("https://*.example.org"))
        .and_then(|it| it.allow_origin("http://[2001:db8::8]:3000"));
    let server = Server::start(named.unwrap());
    for (host, origin, status) in [
        ("[2001:DB8:0::7]:3000", None, 200),
        ("[2001:db8::7]", None, 403),
        ("A.Example.COM", None, 200),
        ("example.com", None, 403),
        ("a.b.example.com", None, 403),
        ("a.example.com", Some("HTTPS://a.example.ORG:443"), 200),
        ("a.example.com", Some("http://[2001:db8:0::8]:3000"), 200),
        ("a.example.com", Some("https://a.b.example.org"), 403),
        ("a.example.com", Some("https://example.org"), 403),
        // Of this very host.
        ("a.example.com", Some("https://a.example.com"), 200),
        ("a.example.com:443", Some("https://a.example.com"), 200),
        ("a.example.com", Some("https://b.example.com"), 403),
        ("a.example.com", Some("https://a.example.com:444"), 403),
        ("a.example.com", Some("null"), 403),
    ] {
        let request = ping().with("Host", host);
        let request = origin
            .into_iter()
            .fold(request, |it, origin| it.header("Origin", origin));
        let response = server.send(&request).await;
        assert_eq!(response.status, status, "{host} {origin:?}");
        if status == 200
            && let Some(origin) = origin
        {
            assert_readable(&response, origin);
        }
    }
}

#[tokio::test]
async fn a_forwarded_host_counts_where_it_is_trusted_and_nowhere_else() {
    let named = || endpoint().allow_host("mcp.example.com").unwrap();
    let trusting = Server::start(named().trust_forwarded_host());
    let wary = Server::start(named());
    let x = |value| ("X-Forwarded-Host", value);
    for (host, forwarded, trusted, untrusted) in [
        ("mcp:8080", x("mcp.example.com"), 200, 403),
        ("mcp:8080", x("mcp.example.com:443, localhost"), 200, 403),
        ("mcp:8080", x("mcp.example.com, evil.example"), 403, 403),
        ("mcp:8080", x(""), 403, 403),
        ("localhost", x("evil.example"), 403, 200),
        (
            "localhost",
            ("Forwarded", "for=_a;host=\"evil.example\""),
            403,
            200,
        ),
        ("localhost", ("Forwarded", "host"), 403, 200),
        ("localhost", ("Forwarded", "for=_a;proto=https"), 200, 200),
        (
            "mcp:8080",
            ("Forwarded", "for=_a;Host=\"mcp.example.com:443\""),
            200,
            403,
        ),
    ] {
        let request = ping().with("Host", host).header(forwarded.0, forwarded.1);
        let seen = trusting.send(&request).await;
        assert_eq!(seen.status, trusted, "{host} {forwarded:?}");
        let seen = wary.send(&request).await;
        assert_eq!(seen.status, untrusted, "{host} {forwarded:?}");
    }
    // A page of the forwarded host is one of this very host.
    let page = ping()
        .with("Host", "mcp:8080")
        .header("X-Forwarded-Host", "mcp.example.com")
        .header("Origin", "https://mcp.example.com");
    assert_readable(&trusting.send(&page).await, "https://mcp.example.com");
    assert_eq!(wary.send(&page).await.status, 403);
}

/// Behind a proxy that ends TLS, nothing of a request says that it came over it.
#[tokio::test]
async fn the_public_address_says_host_and_scheme() {
    let public = endpoint()
        .public_url("https://mcp.example.com/mcp")
        .unwrap();
    let server = Server::start(public);
    for (host, origin, status) in [
        ("mcp.example.com", "https://mcp.example.com", 200),
        // A proxy may tell the server its own name.
        ("127.0.0.1:3000", "https://mcp.example.com", 200),
        ("mcp.example.com", "http://mcp.example.com", 403),
        ("mcp.example.com:80", "http://mcp.example.com", 403),
        ("evil.example", "https://mcp.example.com", 403),
    ] {
        let request = ping().with("Host", host).header("Origin", origin);
        assert_eq!(
            server.send(&request).await.status,
            status,
            "{host} {origin}"
        );
    }
    // It is named where others reach it.
    let public = endpoint()
        .public_url("https://mcp.example.com/mcp")
        .unwrap();
    assert!(bind(public, "0.0.0.0:0", "/mcp").is_ok());
    // A resource that clients log in to has said its address already.
    let authorization = Authorization::builder()
        .policy(Bearer::new(StaticTokens::new()))
        .resource(
            ProtectedResource::new("https://mcp.example.com/mcp")
                .authorization_server("https://login.example.com"),
        );
    let server = Server::start(endpoint().authorization(authorization.build().unwrap()));
    let request = ping().with("Host", "mcp.example.com");
    let page = request.clone().header("Origin", "https://mcp.example.com");
    assert_readable(&server.send(&page).await, "https://mcp.example.com");
    let page = request.header("Origin", "http://mcp.example.com");
    assert_eq!(server.send(&page).await.status, 403);
}

/// RFC 9112 section 3.2.2: a target that is a whole address names the host, whatever `Host` says.
#[tokio::test]
async fn a_host_in_the_target_is_judged_as_well() {
    let server = Server::start(endpoint());
    for (target, status) in [
        ("http://localhost:3000/mcp", 200),
        ("http://evil.example/mcp", 403),
    ] {
        let response = server.send(&ping().target(target)).await;
        assert_eq!(response.status, status, "{target}");
    }
}

#[actix_web::test]
async fn a_refusal_says_what_was_seen_and_what_to_set() {
    let app = init_service(App::new().service(endpoint().at("/mcp"))).await;
    let long = format!("{}.example", "x".repeat(500));
    for (host, origin, says) in [
        (
            "ev\"il.example",
            None,
            r#"the Host "ev\"il.example" is not served"#,
        ),
        (long.as_str(), None, "xxx…\" is not served"),
        (
            "localhost",
            Some(EVIL),
            r#"the Origin "https://evil.example" is not served"#,
        ),
        (
            "localhost",
            Some("null"),
            r#"the Origin "null" is not served"#,
        ),
    ] {
        let logged = Logged::begin();
        let request = TestRequest::post()
            .uri("/mcp")
            .insert_header(("Host", host));
        let setting = match origin {
            Some(_) => "`Endpoint::allow_origin`",
            None => "`Endpoint::allow_host`",
        };
        let request = origin
            .into_iter()
            .fold(request, |it, origin| it.insert_header(("Origin", origin)));
        let response = call_service(&app, request.to_request()).await;
        assert_eq!(response.status(), 403);
        let body = read_body(response).await;
        let body = parse(std::str::from_utf8(&body).unwrap());
        let message = body["error"]["message"].as_str().unwrap();
        let log = logged.text();
        let warned = log.lines().find(|it| it.starts_with("WARN"));
        for text in [message, warned.unwrap_or_else(|| panic!("{log}"))] {
            assert!(text.contains(says) && text.contains(setting), "{text}");
            assert!(text.len() < 300, "{text}");
        }
    }
}
