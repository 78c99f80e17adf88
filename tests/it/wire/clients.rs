//! What real clients do, as `clients.md` counts it.

use serde_json::{Value, json};

use crate::support::{
    calling,
    events::Events,
    fixture::stateless,
    http::{Request, Server},
    init, legacy, modern,
    probe::Probe,
};

fn server() -> Server {
    Server::of(stateless(&Probe::default()))
}

#[tokio::test]
async fn client_1_typescript_cancels_without_mcp_method() {
    let server = server();
    let body =
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"listen:1"}}"#;
    let request = Request::post(body).header("MCP-Protocol-Version", "2026-07-28");
    let response = server.send(&request).await;
    assert_eq!((response.status, response.text()), (202, ""));
}

// req: http-legacy-no-standard-headers-needed
#[tokio::test]
async fn client_2_mcp_remote_sends_mirrored_headers_on_handshake_sessions() {
    let server = server();
    let request = Request::legacy(init("2025-11-25")).header("Mcp-Method", "initialize");
    let request = request.header("Mcp-Name", "anything");
    assert_eq!(server.send(&request).await.status, 200);
    let call = legacy(1, "tools/call", calling("now", json!({})));
    let request = Request::legacy(call).header("Mcp-Method", "tools/list");
    let request = request
        .header("Mcp-Name", "other")
        .header("Mcp-Param-Region", "=?base64?!?=");
    assert!(server.send(&request).await.message()["result"].is_object());
}

#[tokio::test]
async fn client_3_mcp_remote_looks_around_first() {
    let server = server();
    for _ in 0..2 {
        let get = Request::bare("GET").header("Accept", "text/event-stream");
        assert_eq!(server.send(&get).await.status, 405);
    }
    for target in [
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-authorization-server",
        "/.well-known/oauth-authorization-server/mcp",
        "/.well-known/openid-configuration",
        "/mcp/.well-known/openid-configuration",
    ] {
        let get = Request::bare("GET").target(target);
        assert_eq!(server.send(&get).await.status, 404, "{target}");
    }
}

/// A server without sessions lets nobody end one.
#[tokio::test]
async fn client_4_a_delete_is_not_needed_and_not_served() {
    let delete = Request::bare("DELETE").header("Mcp-Session-Id", "made-up");
    assert_eq!(
        server().send(&delete.header("Accept", "*/*")).await.status,
        405
    );
}

#[tokio::test]
async fn client_5_the_version_header_comes_with_older_revisions_too_or_not_at_all() {
    let server = server();
    let list = legacy(1, "tools/list", json!({}));
    for version in ["2025-03-26", "2024-11-05"] {
        let request = Request::post(list.as_str()).header("MCP-Protocol-Version", version);
        assert_eq!(server.send(&request).await.status, 200);
    }
    assert_eq!(server.send(&Request::post(list)).await.status, 200);
}

#[tokio::test]
async fn client_6_rmcp_reverses_accept_and_asks_for_progress_of_everything() {
    let server = server();
    let reversed = "text/event-stream, application/json";
    for (method, params) in [
        ("tools/list", json!({"_meta": {"progressToken": 0}})),
        (
            "tools/call",
            json!({"name": "now", "_meta": {"progressToken": 1}}),
        ),
        ("ping", json!({"_meta": {"progressToken": 2}})),
    ] {
        let request = Request::legacy(legacy(1, method, params)).with("Accept", reversed);
        let response = server.send(&request).await;
        assert_eq!(response.status, 200);
        assert_eq!(response.message()["id"], 1);
    }
}

// req: jsonrpc-response-echoes-id
#[tokio::test]
async fn client_7_ids_of_both_types_come_over_one_connection() {
    let server = server();
    let ids = [
        json!("server-discover-probe-1"),
        json!("listen:1"),
        json!("mcp-remote-own-1"),
        json!(0),
    ];
    for id in ids {
        let body = modern(id.clone(), "server/discover", json!({}));
        let response = server.send(&Request::modern("server/discover", body)).await;
        assert_eq!(response.message()["id"], id);
    }
}

// req: logging-set-level-legacy, subscriptions-http-stream, subscriptions-ack-first
#[tokio::test]
async fn client_8_the_inspector_listens_and_sets_a_level_at_once() {
    let server = server();
    let listen = modern(
        "listen:1",
        "subscriptions/listen",
        json!({"notifications": {}}),
    );
    let listen = Request::modern("subscriptions/listen", listen);
    let mut listening = Events::open(&server, &listen).await;
    let acknowledged = listening.message().await;
    assert_eq!(
        acknowledged["method"],
        "notifications/subscriptions/acknowledged"
    );
    let level = legacy(1, "logging/setLevel", json!({"level": "debug"}));
    let response = server.send(&Request::legacy(level)).await;
    assert_eq!(response.message()["result"], json!({}));
}

#[tokio::test]
async fn client_9_hosted_connectors_use_one_id_for_everything() {
    let server = server();
    let echo = |n: usize| {
        let call = calling("echo", json!({"text": format!("conversation {n}")}));
        Request::legacy(legacy(1, "tools/call", call))
    };
    let requests: Vec<Request> = (0..20).map(echo).collect();
    let answers = requests.iter().map(|request| server.send(request));
    let answers = futures_util::future::join_all(answers).await;
    let texts: Vec<Value> = answers
        .iter()
        .map(|it| it.message()["result"]["content"][0]["text"].clone())
        .collect();
    let expected: Vec<Value> = (0..20)
        .map(|n| json!(format!("conversation {n}")))
        .collect();
    assert_eq!(texts, expected);
}
