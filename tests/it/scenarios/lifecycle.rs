//! How a conversation begins, and what is refused.

use mcp_core::ServerConfig;
use serde_json::{Value, json};

use crate::support::{
    INITIALIZED,
    fixture::{self, fixture},
    init, legacy,
    matrix::{Need, each, each_of},
    modern,
    probe::Probe,
    stdio::Stdio,
};

// req: lifecycle-initialize-result, lifecycle-version-echo, lifecycle-implementation-fields
// req: lifecycle-capabilities-advertise-features, lifecycle-server-capability-keys
// req: tools-capability-declared, resources-capability-declared, prompts-capability-declared
// req: versioning-discover-result-fields, meta-2026-server-info-in-results
// req: logging-capability-declared, versioning-extension-opt-in
#[tokio::test]
async fn a_server_describes_itself() {
    each(&[], async |peer| {
        let capabilities = peer.server["capabilities"].as_object().unwrap();
        let mut keys: Vec<&str> = capabilities.keys().map(String::as_str).collect();
        keys.sort_unstable();
        let with_completions = ["completions", "logging", "prompts", "resources", "tools"];
        let keep = usize::from(!peer.has(Need::CompletionsCapability));
        assert_eq!(keys, with_completions[keep..]);
        // Changes reach whoever stays or can ask for them.
        let notified = peer.has(Need::RequestContext) || peer.has(Need::Connection);
        let promised = notified.then_some(Value::Bool(true));
        for feature in ["tools", "prompts", "resources"] {
            assert_eq!(capabilities[feature].get("listChanged"), promised.as_ref());
        }
        assert_eq!(capabilities["resources"].get("subscribe"), None);
        assert_eq!(peer.server["instructions"], "Call anything.");
        let info = if peer.has(Need::Handshake) {
            assert_eq!(peer.server["protocolVersion"], peer.version());
            &peer.server["serverInfo"]
        } else {
            assert_eq!(peer.server.get("serverInfo"), None);
            &peer.server["_meta"]["io.modelcontextprotocol/serverInfo"]
        };
        assert_eq!(
            (&info["name"], &info["version"]),
            (&json!("fixture"), &json!("1.2.3"))
        );
        assert_eq!(info.get("title").is_some(), peer.has(Need::Titles));
        assert_eq!(info.get("icons").is_some(), peer.has(Need::Icons));
        assert_eq!(
            info.get("description").is_some(),
            peer.has(Need::Descriptions)
        );
    })
    .await;
}

// req: errors-method-not-found-32601, errors-capability-gated-method-32601
// req: http-2026-method-not-found-404, lifecycle-2026-removed-methods
#[tokio::test]
async fn methods_that_are_not_there() {
    each(&[], async |peer| {
        let mut methods = vec!["tools/pick", "resources/subscribe", "", "roots/list"];
        if peer.has(Need::RequestContext) {
            let gone = [
                "initialize",
                "ping",
                "logging/setLevel",
                "resources/unsubscribe",
            ];
            methods.extend(gone);
        } else {
            methods.extend(["server/discover", "subscriptions/listen"]);
        }
        for method in methods {
            let uri = json!({"uri": "test://motd", "notifications": {}});
            let answer = peer.call(
                method,
                if method == "resources/subscribe" {
                    uri
                } else {
                    json!({})
                },
            );
            let answer = answer.await;
            assert_eq!(answer.code(), -32601, "{method}");
            let status = if peer.has(Need::RequestContext) {
                404
            } else {
                200
            };
            assert_eq!(answer.status.unwrap_or(status), status, "{method}");
        }
    })
    .await;
}

// req: errors-capability-gated-method-32601, lifecycle-capabilities-advertise-features
#[tokio::test]
async fn a_server_that_has_one_feature_serves_that_alone() {
    let echo_only =
        |probe: &_, config: ServerConfig| fixture::echo_only(probe).build(config).unwrap();
    each_of(echo_only, &[], async |peer| {
        let capabilities = &peer.server["capabilities"];
        assert!(capabilities["tools"].is_object());
        for (feature, method, params) in [
            ("prompts", "prompts/list", json!({})),
            ("prompts", "prompts/get", json!({"name": "greet"})),
            ("resources", "resources/list", json!({})),
            ("resources", "resources/templates/list", json!({})),
            ("resources", "resources/read", json!({"uri": "test://motd"})),
            (
                "completions",
                "completion/complete",
                json!({"ref": {"type": "ref/prompt", "name": "greet"}, "argument": {"name": "city", "value": ""}}),
            ),
        ] {
            assert_eq!(capabilities.get(feature), None);
            assert_eq!(peer.call(method, params).await.code(), -32601, "{method}");
        }
    })
    .await;
}

// req: lifecycle-ping-reply, jsonrpc-result-is-object
#[tokio::test]
async fn a_ping_is_answered() {
    each(&[Need::Handshake], async |peer| {
        assert_eq!(peer.call("ping", json!({})).await.result(), &json!({}));
    })
    .await;
}

// req: jsonrpc-params-object-and-open, meta-reserved-keys-no-assumptions
#[tokio::test]
async fn what_nobody_knows_is_ignored() {
    each(&[], async |peer| {
        let params = json!({"name": "now", "futureMember": [1], "task": {"ttl": 5}});
        let meta = json!({
            "com.example/thing": {"a": 1},
            "io.modelcontextprotocol/unheardOf": 5,
            "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        });
        let answer = peer.call_with("tools/call", params, meta).await;
        assert_eq!(answer.result()["content"][0]["text"], "It is now.");
    })
    .await;
}

// req: lifecycle-initialize-params
#[tokio::test]
async fn a_handshake_that_says_too_little_is_refused() {
    let whole = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "0"},
    });
    for (path, wrong) in [
        ("protocolVersion", json!(5)),
        ("capabilities", json!([])),
        ("clientInfo", json!("t")),
        ("clientInfo", json!({"name": "t"})),
        ("clientInfo", json!({"version": "0"})),
    ] {
        let stdio = Stdio::start(fixture(&Probe::default()));
        let mut without = whole.clone();
        without.as_object_mut().unwrap().remove(path);
        let mut mistyped = whole.clone();
        mistyped[path] = wrong;
        stdio.send(&legacy(1, "initialize", without)).await;
        stdio.send(&legacy(2, "initialize", mistyped)).await;
        stdio.send(&init("2025-11-25")).await;
        let answers = stdio.finish().await;
        assert_eq!(answers[0]["error"]["code"], -32602, "{path}");
        assert_eq!(answers[1]["error"]["code"], -32602, "{path}");
        assert_eq!(answers[2]["result"]["protocolVersion"], "2025-11-25");
    }
}

// req: lifecycle-initialize-first
#[tokio::test]
async fn nothing_but_a_ping_comes_before_the_handshake() {
    let stdio = Stdio::start(fixture(&Probe::default()));
    stdio.send(&legacy(1, "ping", json!({}))).await;
    stdio.send(&legacy(2, "tools/list", json!({}))).await;
    stdio.send(&init("2025-11-25")).await;
    let answers = stdio.finish().await;
    assert_eq!(answers[0]["result"], json!({}));
    assert!(answers[1]["error"]["code"].is_i64(), "{answers:?}");
    assert_eq!(answers[2]["id"], "i");
}

// req: versioning-dual-era-modern-request, versioning-dual-era-initialize
// req: versioning-stateless-interleaving, versioning-2026-per-request
// req: stdio-2026-metadata-inline, cancel-request-id-shape
#[tokio::test]
async fn both_eras_interleave_on_one_stdio_connection() {
    let probe = Probe::default();
    let stdio = Stdio::start(fixture(&probe));
    let named = json!({"name": "client"});
    stdio.send(&modern(1, "tools/call", named.clone())).await;
    stdio.send(&init("2025-03-26")).await;
    stdio.send(INITIALIZED).await;
    stdio.send(&legacy(2, "tools/call", named.clone())).await;
    stdio.send(&modern(3, "tools/call", named.clone())).await;
    stdio
        .send(&legacy(4, "logging/setLevel", json!({"level": "debug"})))
        .await;
    stdio
        .send(&modern(5, "tools/call", json!({"name": "journal"})))
        .await;
    stdio.send(&modern(6, "ping", json!({}))).await;
    stdio.send(&legacy(7, "ping", json!({}))).await;
    stdio
        .send(&modern(8, "tools/call", json!({"name": "hold"})))
        .await;
    probe.until("hold began").await;
    let cancel = json!({"requestId": 8});
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel});
    stdio.send(&cancel.to_string()).await;
    probe.until("hold stopped").await;
    let answers = stdio.finish().await;
    let by_id = |id: Value| answers.iter().find(|it| it["id"] == id).unwrap();
    let version = |id: i64| -> Value {
        let text = by_id(json!(id))["result"]["content"][0]["text"]
            .as_str()
            .unwrap();
        serde_json::from_str::<Value>(text).unwrap()["version"].clone()
    };
    assert_eq!(version(1), "2026-07-28");
    assert_eq!(version(2), "2025-03-26");
    assert_eq!(version(3), "2026-07-28");
    assert_eq!(by_id(json!(5))["result"]["resultType"], "complete");
    assert_eq!(by_id(json!(6))["error"]["code"], -32601);
    assert_eq!(by_id(json!(7))["result"], json!({}));
    assert_eq!(
        answers.len(),
        8,
        "neither logged to nor answered the cancelled: {answers:?}"
    );
}

// req: stdio-2026-framing-on-byte-streams
#[tokio::test]
async fn lines_are_read_as_real_clients_write_them() {
    let stdio = Stdio::shaken(fixture(&Probe::default()), "2025-11-25").await;
    let ping = |id: i64| legacy(id, "ping", json!({}));
    stdio
        .write(format!("\u{feff}{}\r\n\n  \r\n", ping(1)).as_bytes())
        .await;
    stdio
        .write(format!("  {}  \n{}\n", ping(2), ping(3)).as_bytes())
        .await;
    let line = ping(4);
    let (head, tail) = line.as_bytes().split_at(20);
    stdio.write(head).await;
    tokio::task::yield_now().await;
    stdio.write(tail).await;
    stdio.write(b"\n\xff\xfe\n").await;
    // The last line has no end.
    stdio.write(ping(5).as_bytes()).await;
    let answers = stdio.finish().await;
    let ids: Vec<&Value> = answers.iter().filter_map(|it| it.get("id")).collect();
    assert_eq!(ids, [1, 2, 3, 4, 5]);
    assert_eq!(answers.len(), 6);
    assert_eq!(answers[4]["error"]["code"], -32700);
}

#[tokio::test]
async fn a_line_that_is_too_long_is_refused_and_the_next_one_read() {
    let mut config = ServerConfig::default();
    config.limits.max_line = 300;
    let server = mcp_stdio::Server::new(fixture::with(&Probe::default(), config));
    let stdio = Stdio::run(server);
    stdio.send(&init("2025-11-25")).await;
    stdio
        .send(&legacy(1, "ping", json!({"long": "x".repeat(100_000)})))
        .await;
    stdio.send(&legacy(2, "ping", json!({}))).await;
    let answers = stdio.finish().await;
    assert_eq!(answers[1]["error"]["code"], -32600);
    assert_eq!(answers[1].get("id"), None);
    assert_eq!(answers[2]["id"], 2);
}

#[tokio::test]
async fn a_client_that_no_longer_reads_is_the_end_and_no_error() {
    let stdio = Stdio::shaken(fixture(&Probe::default()), "2025-11-25").await;
    assert!(stdio.leave().await.is_ok());
}

// req: cancel-initialize-not-cancellable, cancel-invalid-ignored
#[tokio::test]
async fn a_handshake_cannot_be_cancelled() {
    let stdio = Stdio::start(fixture(&Probe::default()));
    stdio.send(&init("2025-11-25")).await;
    let cancel = json!({"requestId": "i"});
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel});
    stdio.send(&cancel.to_string()).await;
    stdio.send(INITIALIZED).await;
    stdio.send(&legacy(1, "tools/list", json!({}))).await;
    let answers = stdio.finish().await;
    assert_eq!(answers[0]["result"]["protocolVersion"], "2025-11-25");
    assert!(answers[1]["result"]["tools"].is_array());
}

/// A call in flight at the end of input is answered, unless it takes too long.
// req: stdio-exit-on-eof
#[tokio::test]
async fn the_end_of_input_waits_for_calls_and_not_for_ever() {
    let probe = Probe::default();
    let limit = std::time::Duration::from_millis(800);
    let stdio = Stdio::run(mcp_stdio::Server::new(fixture(&probe)).drain(limit));
    stdio.send(&init("2025-11-25")).await;
    let call = |name: &str, arguments| json!({"name": name, "arguments": arguments});
    let slow = call("slow", json!({"ms": 60}));
    stdio.send(&legacy(1, "tools/call", slow)).await;
    stdio
        .send(&legacy(2, "tools/call", call("hold", json!({}))))
        .await;
    let answers = stdio.finish().await;
    let ids: Vec<&Value> = answers.iter().map(|it| &it["id"]).collect();
    assert_eq!(ids, [&json!("i"), &json!(1)]);
    assert!(probe.has("hold stopped"));
}
