//! Statuses and defaults of the two eras.

use serde_json::{Value, json};

use crate::support::{
    calling,
    fixture::stateless,
    http::{Request, Server},
    init, legacy, modern,
    probe::Probe,
};

fn server() -> Server {
    Server::of(stateless(&Probe::default()))
}

/// Decision 16: what a handler came to is 200 in both eras, and so is everything in the old one.
// req: http-2026-method-not-found-404
#[tokio::test]
async fn statuses_of_failures() {
    let server = server();
    for (method, params, name, code) in [
        ("tools/unheard", json!({}), None, (-32601, 404)),
        (
            "tools/call",
            json!({"name": "nothing"}),
            Some("nothing"),
            (-32602, 200),
        ),
        (
            "tools/call",
            json!({"name": "now", "arguments": 5}),
            Some("now"),
            (-32602, 400),
        ),
        (
            "prompts/get",
            json!({"name": "nothing"}),
            Some("nothing"),
            (-32602, 200),
        ),
        (
            "resources/read",
            json!({"uri": "test://internal"}),
            Some("test://internal"),
            (-32603, 200),
        ),
        (
            "tools/list",
            json!({"cursor": "not-mine"}),
            None,
            (-32602, 200),
        ),
        ("tools/list", json!({"cursor": 5}), None, (-32602, 400)),
    ] {
        let (code, status) = code;
        let response = server
            .send(&Request::legacy(legacy(1, method, params.clone())))
            .await;
        assert_eq!(
            (response.status, response.code()),
            (200, code),
            "{method} {params}"
        );
        let request = Request::modern(method, modern(1, method, params.clone()));
        let request = match name {
            Some(name) => request.header("Mcp-Name", name),
            None => request,
        };
        let response = server.send(&request).await;
        assert_eq!(
            (response.status, response.code()),
            (status, code),
            "{method} {params}"
        );
    }
    let told = calling("told", json!({}));
    let modern = Request::modern("tools/call", modern(1, "tools/call", told.clone()));
    for request in [
        Request::legacy(legacy(1, "tools/call", told)),
        modern.header("Mcp-Name", "told"),
    ] {
        let response = server.send(&request).await;
        assert_eq!(response.status, 200);
        assert_eq!(response.message()["result"]["isError"], true);
    }
}

async fn version(server: &Server, request: Request) -> Value {
    let message = server.send(&request).await.message();
    let text = message["result"]["content"][0]["text"].as_str();
    let text = text.unwrap_or_else(|| panic!("{message}"));
    serde_json::from_str::<Value>(text).unwrap()["version"].clone()
}

// req: http-version-header-default, http-2025-03-no-version-header
// req: http-legacy-no-standard-headers-needed
#[tokio::test]
async fn a_request_without_a_version_is_taken_for_2025_03_26() {
    let server = server();
    let body = legacy(1, "tools/call", calling("client", json!({})));
    assert_eq!(
        version(&server, Request::post(body.as_str())).await,
        "2025-03-26"
    );
    for asked in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let request = Request::post(body.as_str()).header("MCP-Protocol-Version", asked);
        assert_eq!(version(&server, request).await, asked);
    }
}

// req: http-version-header-invalid-400
#[tokio::test]
async fn a_version_header_that_is_none_gets_400() {
    let server = server();
    let base = Request::post(legacy(1, "tools/list", json!({})));
    for wrong in [
        "2099-01-01",
        "",
        "latest",
        "2025-11-25, 2025-11-25",
        "2025-11-2ü",
    ] {
        let response = server
            .send(&base.clone().header("MCP-Protocol-Version", wrong))
            .await;
        assert_eq!(response.status, 400, "{wrong}");
    }
    let twice = base.header("MCP-Protocol-Version", "2025-11-25");
    let twice = twice.header("MCP-Protocol-Version", "2025-11-25");
    assert_eq!(server.send(&twice).await.status, 400);
}

/// Decisions 13 and 14.
// req: versioning-dual-era-initialize, lifecycle-version-counter-offer
#[tokio::test]
async fn initialize_never_settles_on_a_revision_without_a_handshake() {
    let server = server();
    let response = server.send(&Request::post(init("2026-07-28"))).await;
    assert_eq!(
        response.message()["result"]["protocolVersion"],
        "2025-11-25"
    );
}

/// Decision 15.
// req: lifecycle-2026-removed-methods
#[tokio::test]
async fn initialize_with_context_is_a_method_that_is_gone() {
    let server = server();
    let body: Value = serde_json::from_str(&init("2025-11-25")).unwrap();
    let body = modern("i", "initialize", body["params"].clone());
    let response = server.send(&Request::modern("initialize", body)).await;
    assert_eq!((response.status, response.code()), (404, -32601));
}

// req: http-2026-session-header-ignored, http-2026-last-event-id-ignored
#[tokio::test]
async fn headers_of_sessions_mean_nothing_in_the_new_era() {
    let server = server();
    let list = Request::modern("tools/list", modern(1, "tools/list", json!({})));
    let list = list
        .header("Mcp-Session-Id", "made-up")
        .header("Last-Event-ID", "7");
    let response = server.send(&list).await;
    assert_eq!(response.status, 200);
    assert_eq!(response.header("mcp-session-id"), None);
}

// req: jsonrpc-envelope-version, jsonrpc-result-xor-error, jsonrpc-2026-result-type-required
// req: jsonrpc-2026-result-type-known-values, meta-2026-server-info-in-results
// req: jsonrpc-result-is-object
#[tokio::test]
async fn results_of_the_new_era_are_complete_and_signed() {
    let server = server();
    for method in [
        "server/discover",
        "tools/list",
        "prompts/list",
        "resources/list",
    ] {
        let response = server
            .send(&Request::modern(method, modern("a", method, json!({}))))
            .await;
        let message = response.message();
        let keys: Vec<&String> = message.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["id", "jsonrpc", "result"]);
        assert_eq!(message["result"]["resultType"], "complete");
        let info = &message["result"]["_meta"]["io.modelcontextprotocol/serverInfo"];
        assert_eq!(
            (&info["name"], &info["version"]),
            (&json!("fixture"), &json!("1.2.3"))
        );
    }
}
