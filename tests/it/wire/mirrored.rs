//! Headers that repeat the body.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use crate::support::{
    calling,
    fixture::fixture,
    http::{Request, Server},
    legacy, meta, modern,
    probe::Probe,
};

fn server() -> Server {
    Server::of(fixture(&Probe::default()))
}

fn sentinel(text: &str) -> String {
    format!("=?base64?{}?=", STANDARD.encode(text))
}

fn call(name: &str, arguments: Value) -> Request {
    let body = modern(1, "tools/call", calling(name, arguments));
    Request::modern("tools/call", body).header("Mcp-Name", name)
}

async fn mismatch(server: &Server, request: &Request) {
    let response = server.send(request).await;
    assert_eq!(
        (response.status, response.code()),
        (400, -32020),
        "{request:?}"
    );
    assert_eq!(response.message()["id"], 1);
}

async fn accepted(server: &Server, request: &Request) {
    let response = server.send(request).await;
    assert_eq!(response.status, 200, "{request:?}: {response:?}");
    assert!(response.message()["result"].is_object(), "{response:?}");
}

// req: http-2026-mcp-method-required, http-2026-mcp-method-mismatch, http-2026-header-ows-trimmed
// req: http-refused-input-4xx
#[tokio::test]
async fn mcp_method_says_what_the_body_says() {
    let server = server();
    let list = Request::modern("tools/list", modern(1, "tools/list", json!({})));
    accepted(&server, &list).await;
    accepted(&server, &list.clone().with("Mcp-Method", "  tools/list\t")).await;
    for wrong in ["tools/call", "Tools/List", "", "tools/list, tools/list"] {
        mismatch(&server, &list.clone().with("Mcp-Method", wrong)).await;
    }
    mismatch(&server, &list.clone().without("Mcp-Method")).await;
    mismatch(&server, &list.header("Mcp-Method", "tools/list")).await;
    let cancelled = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}"#;
    let response = server
        .send(&Request::modern("notifications/progress", cancelled))
        .await;
    assert_eq!(
        response.status, 400,
        "a notification's header is compared if it is there"
    );
}

// req: http-2026-mcp-name-required, http-2026-mcp-name-mismatch, http-2026-base64-sentinel-decoded
// req: http-2026-base64-sentinel-exact, http-2026-base64-invalid-400
#[tokio::test]
async fn mcp_name_says_what_the_body_says() {
    let server = server();
    let now = call("now", json!({}));
    accepted(&server, &now).await;
    accepted(&server, &now.clone().with("Mcp-Name", &sentinel("now"))).await;
    for wrong in [
        "Now",
        "",
        "echo",
        &sentinel("echo"),
        // The exact spelling alone is a sentinel, and padding is part of it.
        "=?BASE64?bm93?=",
        "=?base64?bm93",
        "=?base64?bm9?=",
        "=?base64?bm93!?=",
        "=?base64?/w==?=",
    ] {
        mismatch(&server, &now.clone().with("Mcp-Name", wrong)).await;
    }
    mismatch(&server, &now.clone().without("Mcp-Name")).await;
    mismatch(&server, &now.header("Mcp-Name", "now")).await;

    let prompt = modern(1, "prompts/get", json!({"name": "simple"}));
    let prompt = Request::modern("prompts/get", prompt);
    mismatch(&server, &prompt).await;
    accepted(&server, &prompt.header("Mcp-Name", "simple")).await;
    let read = modern(1, "resources/read", json!({"uri": "test://motd"}));
    let read = Request::modern("resources/read", read);
    mismatch(&server, &read).await;
    mismatch(&server, &read.clone().header("Mcp-Name", "motd")).await;
    accepted(&server, &read.header("Mcp-Name", "test://motd")).await;
    // A name that no header can hold as it is.
    let read = modern(
        1,
        "resources/read",
        json!({"uri": "file:///docs/café menu.txt"}),
    );
    let read = Request::modern("resources/read", read);
    let named = read.header("Mcp-Name", &sentinel("file:///docs/café menu.txt"));
    assert_eq!(server.send(&named).await.status, 200);
}

// req: http-2026-param-header-match, http-2026-param-header-missing
// req: http-2026-param-header-not-expected, http-2026-param-header-unknown-ignored
// req: http-2026-param-header-invalid-chars
#[tokio::test]
async fn mcp_param_says_what_the_arguments_say() {
    let probe = Probe::default();
    let server = Server::of(fixture(&probe));
    let base = call("regional", json!({"region": "eu", "level": 3, "dry": true}));
    let whole = base.clone().header("Mcp-Param-Region", "eu");
    let whole = whole
        .header("Mcp-Param-Level", "3")
        .header("Mcp-Param-Dry", "true");
    accepted(&server, &whole).await;
    accepted(&server, &whole.clone().header("Mcp-Param-Unknown", "x")).await;
    accepted(
        &server,
        &whole.clone().with("MCP-PARAM-REGION", &sentinel("eu")),
    )
    .await;
    assert_eq!(probe.count("regional"), 3);
    mismatch(&server, &base).await;
    for (name, wrong) in [
        ("Mcp-Param-Region", "us"),
        ("Mcp-Param-Region", "EU"),
        ("Mcp-Param-Region", "=?base64?ZXU?="),
        ("Mcp-Param-Region", "eü"),
        ("Mcp-Param-Level", "4"),
        ("Mcp-Param-Level", "three"),
        ("Mcp-Param-Dry", "false"),
        ("Mcp-Param-Dry", "TRUE"),
    ] {
        mismatch(&server, &whole.clone().with(name, wrong)).await;
        mismatch(&server, &whole.clone().without(name)).await;
    }
    mismatch(&server, &whole.header("Mcp-Param-Region", "eu")).await;

    let without = call("regional", json!({"region": null, "level": 3}));
    let without = without.header("Mcp-Param-Level", "3");
    accepted(&server, &without).await;
    mismatch(&server, &without.header("Mcp-Param-Region", "eu")).await;
    assert_eq!(probe.count("regional"), 4);
}

// req: http-2026-param-header-integers-numeric
#[tokio::test]
async fn integers_are_compared_as_numbers() {
    let server = server();
    let with = |written: &str, header: &str| {
        let arguments = format!(r#"{{"level":{written}}}"#);
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"regional","arguments":{arguments},"_meta":{}}}}}"#,
            meta()
        );
        let request = Request::modern("tools/call", body).header("Mcp-Name", "regional");
        request.header("Mcp-Param-Level", header)
    };
    for (written, header) in [
        ("42", "42.0"),
        ("42.0", "42"),
        ("4.2e1", "42"),
        ("-7", "-7"),
    ] {
        accepted(&server, &with(written, header)).await;
    }
    for (written, header) in [("42", "42.5"), ("42", "43"), ("42", "0x2a"), ("42", "")] {
        mismatch(&server, &with(written, header)).await;
    }
}

// req: http-2026-version-header-mismatch, http-2026-version-header-required
// req: http-2026-unsupported-version-400, versioning-2026-unsupported-32022
// req: meta-2026-meta-required, meta-2026-protocol-version-required
// req: meta-2026-client-capabilities-required
#[tokio::test]
async fn the_version_header_says_what_the_body_says() {
    let server = server();
    let list = Request::modern("tools/list", modern(1, "tools/list", json!({})));
    mismatch(&server, &list.clone().without("MCP-Protocol-Version")).await;
    mismatch(
        &server,
        &list.clone().with("MCP-Protocol-Version", "2025-11-25"),
    )
    .await;
    let of = |version: &str| {
        let mut meta = meta();
        meta["io.modelcontextprotocol/protocolVersion"] = json!(version);
        let body =
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}});
        Request::modern("tools/list", body.to_string())
    };
    mismatch(&server, &of("2025-11-25")).await;
    let response = server
        .send(&of("2099-01-01").with("MCP-Protocol-Version", "2099-01-01"))
        .await;
    assert_eq!((response.status, response.code()), (400, -32022));
    assert_eq!(
        response.message()["error"]["data"]["requested"],
        "2099-01-01"
    );

    for params in [
        json!({}),
        json!({"_meta": {}}),
        json!({"_meta": {"io.modelcontextprotocol/clientCapabilities": {}}}),
        json!({"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}),
        json!({"_meta": {"io.modelcontextprotocol/protocolVersion": 5, "io.modelcontextprotocol/clientCapabilities": {}}}),
        json!({"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": []}}),
        json!({"_meta": "none"}),
    ] {
        let request = Request::modern("tools/list", legacy(1, "tools/list", params.clone()));
        let response = server.send(&request).await;
        assert_eq!(
            (response.status, response.code()),
            (400, -32602),
            "{params}"
        );
    }
}

/// Decision 33: version, `_meta`, `Mcp-Method` and `Mcp-Name`, method, `Mcp-Param`, parameters.
#[tokio::test]
async fn checks_come_in_their_order() {
    let server = server();
    let unknown = modern(1, "tools/unheard", json!({}));
    let unknown = Request::modern("tools/unheard", unknown);
    let response = server.send(&unknown).await;
    assert_eq!((response.status, response.code()), (404, -32601));
    mismatch(&server, &unknown.with("Mcp-Method", "tools/list")).await;
    let bare = Request::modern("tools/list", legacy(1, "tools/call", json!({})));
    assert_eq!(
        server.send(&bare).await.code(),
        -32602,
        "`_meta` comes before `Mcp-Method`"
    );
    let wrong = call("regional", json!({"level": "three"}));
    mismatch(&server, &wrong).await;
    let nameless = modern(1, "tools/call", json!({"arguments": {}}));
    let response = server.send(&Request::modern("tools/call", nameless)).await;
    assert_eq!((response.status, response.code()), (400, -32602));
}
