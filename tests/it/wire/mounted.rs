//! The endpoint in an application of somebody's own, without a socket.

use actix_web::{
    App,
    dev::ServiceResponse,
    test::{TestRequest, call_service, init_service, read_body},
    web,
};
use mcp_core::{Registry, ServerConfig, SessionMode, tool};
use mcp_http_actix::Endpoint;
use serde_json::{Value, json};

use crate::support::{calling, fixture::stateless, legacy, modern, probe::Probe};

fn named(name: &'static str) -> Endpoint {
    let registry = Registry::builder(name, "1").tool(tool("who", move || async move { name }));
    let mut config = ServerConfig::default();
    config.sessions.mode = SessionMode::Stateless;
    Endpoint::new(registry.build(config).unwrap())
}

fn post(path: &str, body: String) -> TestRequest {
    TestRequest::post()
        .uri(path)
        .insert_header(("Content-Type", "application/json"))
        .insert_header(("Accept", "application/json, text/event-stream"))
        .set_payload(body)
}

async fn message(response: ServiceResponse<impl actix_web::body::MessageBody>) -> Value {
    assert_eq!(response.status(), 200);
    serde_json::from_slice(&read_body(response).await).unwrap()
}

#[actix_web::test]
async fn several_endpoints_are_mounted_in_every_way_actix_has() {
    let app = App::new()
        .service(named("service").at("/mcp"))
        .service(web::scope("/scope").service(named("scope").at("/mcp")))
        .service(web::scope("/configured").configure(|config| {
            config.service(named("configured").at("/mcp/"));
        }))
        .route("/health", web::get().to(async || "fine"));
    let app = init_service(app).await;
    let who = || legacy(1, "tools/call", calling("who", json!({})));
    for (path, name) in [
        ("/mcp", "service"),
        ("/mcp/", "service"),
        ("/scope/mcp", "scope"),
        ("/configured/mcp", "configured"),
    ] {
        let response = call_service(&app, post(path, who()).to_request()).await;
        let message = message(response).await;
        assert_eq!(message["result"]["content"][0]["text"], name, "{path}");
    }
    let health = call_service(&app, TestRequest::get().uri("/health").to_request()).await;
    assert_eq!(health.status(), 200);
    let get = call_service(&app, TestRequest::get().uri("/scope/mcp").to_request()).await;
    assert_eq!(get.status(), 405);
}

#[actix_web::test]
async fn both_eras_and_streams_work_without_a_socket() {
    let app = App::new().service(Endpoint::new(stateless(&Probe::default())).at("/mcp"));
    let app = init_service(app).await;
    let body = modern(1, "tools/call", calling("now", json!({})));
    let request = post("/mcp", body)
        .insert_header(("MCP-Protocol-Version", "2026-07-28"))
        .insert_header(("Mcp-Method", "tools/call"))
        .insert_header(("Mcp-Name", "now"));
    let message = message(call_service(&app, request.to_request()).await).await;
    assert_eq!(message["result"]["resultType"], "complete");

    let mut params = calling("slow", json!({"ms": 6}));
    params["_meta"] = json!({"progressToken": 0});
    let request = post("/mcp", legacy(1, "tools/call", params)).to_request();
    let response = call_service(&app, request).await;
    assert_eq!(
        response.headers().get("content-type").unwrap(),
        "text/event-stream"
    );
    let body = read_body(response).await;
    let events = std::str::from_utf8(&body)
        .unwrap()
        .matches("event: message\ndata: ")
        .count();
    assert_eq!(events, 5);
    let request = TestRequest::with_uri("/mcp").method(actix_web::http::Method::DELETE);
    assert_eq!(call_service(&app, request.to_request()).await.status(), 405);
}
