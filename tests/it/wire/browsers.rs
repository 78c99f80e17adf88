//! What browsers let pages of other origins do, and what those may read.
//!
//! Source: the Fetch standard, "CORS protocol"; RFC 9728 section 3.

use actix_web::{
    App, HttpResponse,
    test::{TestRequest, call_service, init_service},
    web,
};
use mcp_core::{
    Principal, Registry, ServerConfig,
    auth::{Authorization, Bearer, ProtectedResource, StaticTokens},
    tool,
};
use mcp_http_actix::{Endpoint, MetadataRoutes, bind};
use serde_json::json;

use crate::support::{
    calling,
    fixture::{fixture, stateless},
    http::{Request, Response, Server},
    init, legacy,
    probe::Probe,
};

const APP: &str = "https://app.example.com";
pub(super) const EVIL: &str = "https://evil.example";
const ALLOW_ORIGIN: &str = "access-control-allow-origin";

pub(super) fn endpoint() -> Endpoint {
    Endpoint::new(stateless(&Probe::default()))
}

/// An endpoint for one page, to which somebody has to log in.
fn locked() -> Endpoint {
    let alice = Principal::new("tests", "alice").scopes(["read"]);
    let tokens = StaticTokens::new().token("good", alice);
    let authorization = Authorization::builder()
        .policy(Bearer::new(tokens))
        .resource(
            ProtectedResource::new("http://127.0.0.1:3000/mcp")
                .authorization_server("https://login.example.com"),
        )
        .build();
    let registry =
        Registry::builder("locked", "1").tool(tool("delete", async || "gone").scopes(["write"]));
    let endpoint = Endpoint::new(registry.build(ServerConfig::default()).unwrap());
    let endpoint = endpoint.authorization(authorization.unwrap());
    endpoint.allow_origin(APP).unwrap()
}

fn preflight(origin: &str, method: &str, headers: &str) -> Request {
    Request::bare("OPTIONS")
        .header("Origin", origin)
        .header("Access-Control-Request-Method", method)
        .header("Access-Control-Request-Headers", headers)
}

pub(super) fn ping() -> Request {
    Request::legacy(legacy(1, "ping", json!({})))
}

/// The parts of a list, in lower case and in order.
fn list(response: &Response, header: &str) -> Vec<String> {
    let parts = response.header(header).unwrap_or_default().split(',');
    let mut parts: Vec<String> = parts.map(|it| it.trim().to_ascii_lowercase()).collect();
    parts.sort();
    parts
}

/// The page may read the answer and what stands in its headers.
pub(super) fn assert_readable(response: &Response, origin: &str) {
    assert_eq!(response.header(ALLOW_ORIGIN), Some(origin), "{response:?}");
    assert_eq!(
        list(response, "access-control-expose-headers"),
        [
            "mcp-protocol-version",
            "mcp-session-id",
            "retry-after",
            "www-authenticate"
        ]
    );
    assert!(list(response, "vary").contains(&"origin".to_owned()));
    assert_eq!(response.header("access-control-allow-credentials"), None);
}

/// No page learns anything from the answer.
fn assert_silent(response: &Response) {
    for header in [
        ALLOW_ORIGIN,
        "access-control-allow-headers",
        "access-control-allow-methods",
        "access-control-allow-private-network",
        "access-control-expose-headers",
        "access-control-max-age",
    ] {
        assert_eq!(response.header(header), None, "{response:?}");
    }
}

#[tokio::test]
async fn a_preflight_of_a_served_page_is_answered_before_anybody_logs_in() {
    let server = Server::start(locked());
    let asked = "authorization,content-type,x-api-key,MCP-PARAM-Region";
    for method in ["GET", "POST", "DELETE"] {
        let response = server.send(&preflight(APP, method, asked)).await;
        assert_eq!((response.status, response.text()), (200, ""), "{method}");
        assert_eq!(response.header(ALLOW_ORIGIN), Some(APP));
        assert_eq!(response.header("access-control-allow-headers"), Some(asked));
        let methods = list(&response, "access-control-allow-methods");
        assert_eq!(methods, ["delete", "get", "options", "post"]);
        assert_eq!(response.header("access-control-max-age"), Some("3600"));
        assert_eq!(
            response.header("access-control-allow-private-network"),
            None
        );
        assert!(list(&response, "vary").contains(&"origin".to_owned()));
    }
    let near =
        preflight(APP, "POST", asked).header("Access-Control-Request-Private-Network", "true");
    let response = server.send(&near).await;
    let private = response.header("access-control-allow-private-network");
    assert_eq!(private, Some("true"));
    // What the endpoint does not take, no page may send.
    let refused = server.send(&preflight(APP, "PUT", asked)).await;
    assert_eq!(refused.status, 400);
    assert_silent(&refused);
    // Without a method that is asked about it is no preflight, and without an origin no page's.
    let options = Request::bare("OPTIONS").header("Origin", APP);
    assert_eq!(server.send(&options).await.status, 405);
    let options = Request::bare("OPTIONS").header("Access-Control-Request-Method", "POST");
    let response = server.send(&options).await;
    assert_eq!(response.status, 405);
    assert_silent(&response);
}

// req: http-origin-validated
#[tokio::test]
async fn pages_that_are_not_served_are_told_nothing() {
    let endpoint = locked().allow_host("mcp.example.com").unwrap();
    let server = Server::start(endpoint);
    for (host, origin) in [
        ("127.0.0.1", EVIL),
        ("127.0.0.1", "null"),
        ("127.0.0.1", "http://app.example.com"),
        ("127.0.0.1", "https://app.example.com:444"),
        ("127.0.0.1", "https://a.app.example.com"),
        ("127.0.0.1", "http://localhost:6274"),
        ("evil.example", EVIL),
        ("evil.example", APP),
    ] {
        let requests = [
            preflight(origin, "POST", "content-type"),
            ping().header("Origin", origin),
            Request::get().header("Origin", origin),
            Request::bare("DELETE").header("Origin", origin),
            Request::bare("PUT").header("Origin", origin),
        ];
        for request in requests {
            let response = server.send(&request.with("Host", host)).await;
            assert_eq!(
                (response.status, response.code()),
                (403, -32600),
                "{origin}"
            );
            assert_silent(&response);
        }
    }
    // Those that are no page's are told nothing either.
    let good = Request::post(init("2025-11-25")).header("Authorization", "Bearer good");
    let response = server.send(&good).await;
    assert_eq!(response.status, 200);
    assert_silent(&response);
    assert_eq!(response.header("vary"), None);
}

#[tokio::test]
async fn a_served_page_reads_every_answer() {
    let server = Server::start(locked());
    let good = |request: Request| {
        let request = request.header("Authorization", "Bearer good");
        request.header("Origin", APP)
    };
    let call = legacy(1, "tools/call", calling("delete", json!({})));
    for (request, status) in [
        (good(Request::post(init("2025-11-25"))), 200),
        (ping().header("Origin", APP), 401),
        (good(Request::legacy("{")), 400),
        (
            good(Request::get().header("Mcp-Session-Id", "unknown")),
            404,
        ),
        (good(Request::bare("PUT")), 405),
        (good(ping().without("Content-Type")), 415),
    ] {
        let response = server.send(&request).await;
        assert_eq!(response.status, status, "{request:?}");
        assert_readable(&response, APP);
    }
    let opened = server.send(&good(Request::post(init("2025-11-25")))).await;
    let session = opened.header("mcp-session-id").unwrap();
    let call = good(Request::legacy(call)).header("Mcp-Session-Id", session);
    let lacking = server.send(&call).await;
    assert_eq!(lacking.status, 403);
    assert!(lacking.header("www-authenticate").is_some());
    assert_readable(&lacking, APP);
    // The stream of the session, up to its headers.
    let stream = good(Request::get()).header("Mcp-Session-Id", session);
    let stream = server
        .open(&stream.header("MCP-Protocol-Version", "2025-11-25"))
        .await;
    assert_eq!(
        (stream.status(), stream.header(ALLOW_ORIGIN)),
        (200, Some(APP))
    );
    assert!(stream.header("access-control-expose-headers").is_some());
}

#[tokio::test]
async fn while_only_loopback_is_served_pages_of_this_machine_may_read() {
    let server = Server::start(endpoint());
    for origin in [
        "http://localhost:6274",
        "http://[::1]:6274",
        "https://127.0.0.1",
    ] {
        assert_readable(&server.send(&ping().header("Origin", origin)).await, origin);
        let asked = server
            .send(&preflight(origin, "POST", "mcp-protocol-version"))
            .await;
        assert_eq!(
            (asked.status, asked.header(ALLOW_ORIGIN)),
            (200, Some(origin))
        );
    }
}

#[tokio::test]
async fn any_origin_and_null_are_served_where_the_application_trusts_them() {
    let server = Server::start(endpoint().trust_any_origin());
    for origin in ["null", EVIL] {
        assert_readable(&server.send(&ping().header("Origin", origin)).await, origin);
    }
}

#[tokio::test]
async fn cors_is_left_to_the_application_on_demand() {
    let server = Server::start(locked().without_cors());
    let asked = server.send(&preflight(APP, "POST", "content-type")).await;
    assert_eq!(asked.status, 405);
    assert_silent(&asked);
    let refused = server.send(&ping().header("Origin", EVIL)).await;
    assert_eq!(refused.status, 403);
    let served = Request::post(init("2025-11-25"))
        .header("Origin", APP)
        .header("Authorization", "Bearer good");
    let served = server.send(&served).await;
    assert_eq!(served.status, 200);
    assert_silent(&served);
    let document = Request::bare("GET").target("/.well-known/oauth-protected-resource/mcp");
    let document = server.send(&document.header("Origin", EVIL)).await;
    assert_eq!(document.status, 200);
    assert_silent(&document);
}

#[tokio::test]
async fn the_metadata_document_is_readable_from_everywhere() {
    let server = Server::start(locked());
    for target in [
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-protected-resource",
    ] {
        for origin in [APP, EVIL, "null"] {
            let asked = preflight(origin, "GET", "mcp-protocol-version").target(target);
            let asked = server.send(&asked).await;
            assert_eq!((asked.status, asked.header(ALLOW_ORIGIN)), (200, Some("*")));
            let allowed = asked.header("access-control-allow-headers");
            assert_eq!(allowed, Some("mcp-protocol-version"));
            let get = Request::bare("GET").target(target).header("Origin", origin);
            let read = server.send(&get).await;
            assert_eq!((read.status, read.header(ALLOW_ORIGIN)), (200, Some("*")));
            assert!(read.text().contains("https://login.example.com"));
            let rebound = server.send(&get.with("Host", "evil.example")).await;
            assert_eq!(rebound.status, 403);
        }
    }
}

#[tokio::test]
async fn http_with_sse_is_open_to_the_same_pages() {
    let endpoint = Endpoint::new(fixture(&Probe::default()));
    let endpoint = endpoint.allow_origin(APP).unwrap();
    let bound = bind(endpoint, "127.0.0.1:0", "/mcp").unwrap();
    let server = Server::run(bound.sse("/sse", "/messages"));
    for (target, method) in [("/sse", "GET"), ("/messages", "POST")] {
        let asked = preflight(APP, method, "authorization").target(target);
        let asked = server.send(&asked).await;
        assert_eq!((asked.status, asked.header(ALLOW_ORIGIN)), (200, Some(APP)));
        let asked = preflight(EVIL, method, "authorization").target(target);
        let asked = server.send(&asked).await;
        assert_eq!(asked.status, 403);
        assert_silent(&asked);
    }
    let stream = Request::get().target("/sse").header("Origin", APP);
    let stream = server.open(&stream).await;
    assert_eq!(
        (stream.status(), stream.header(ALLOW_ORIGIN)),
        (200, Some(APP))
    );
    let message = ping()
        .target("/messages?session_id=unknown")
        .header("Origin", APP);
    let response = server.send(&message).await;
    assert_eq!(response.status, 404);
    assert_readable(&response, APP);
}

#[actix_web::test]
async fn what_else_an_application_serves_is_left_alone() {
    let (endpoint, metadata) = (locked(), MetadataRoutes::of([&locked()]).unwrap());
    let app = App::new()
        .service(metadata)
        .service(web::scope("/api").service(endpoint.at("/mcp")))
        .route("/health", web::get().to(HttpResponse::Ok));
    let app = init_service(app).await;
    for (path, origin, status) in [
        ("/health", APP, 200),
        ("/health", EVIL, 200),
        ("/none", APP, 404),
    ] {
        let request = TestRequest::get()
            .uri(path)
            .insert_header(("Origin", origin));
        let response = call_service(&app, request.to_request()).await;
        assert_eq!(response.status(), status, "{path}");
        assert!(response.headers().is_empty(), "{path}");
    }
    let request = TestRequest::get()
        .uri("/api/mcp")
        .insert_header(("Origin", APP));
    let response = call_service(&app, request.to_request()).await;
    assert_eq!(response.status(), 401);
    assert_eq!(response.headers().get(ALLOW_ORIGIN).unwrap(), APP);
}
