//! A11 and A12: versions nobody has heard of, and a first line of the newest era.

use serde_json::{Value, json};

use crate::support::{
    INITIALIZED,
    fixture::fixture,
    http::{Request, Server},
    init, meta,
    probe::Probe,
    stdio::Stdio,
};

fn a11_initialize(version: &Value) -> String {
    let mut params = json!({
        "capabilities": {
            "sampling": {},
            "elicitation": {},
            "roots": {"listChanged": true},
            "experimental": {"acme": {}},
            "futureThing": {"a": [1]},
        },
        "clientInfo": {"name": "t", "version": "0"},
    });
    if !version.is_null() {
        params["protocolVersion"] = version.clone();
    }
    json!({"jsonrpc": "2.0", "id": "i", "method": "initialize", "params": params}).to_string()
}

fn a11_cases() -> [(Value, Option<&'static str>); 6] {
    [
        (json!("2099-01-01"), Some("2025-11-25")),
        (json!("2024-11-05"), Some("2024-11-05")),
        (json!("2025-03-26"), Some("2025-03-26")),
        (json!(""), Some("2025-11-25")),
        (json!(20_250_618), None),
        (Value::Null, None),
    ]
}

fn a11_check(answer: &Value, expected: Option<&str>) {
    match expected {
        Some(version) => assert_eq!(answer["result"]["protocolVersion"], version, "{answer}"),
        None => assert_eq!(answer["error"]["code"], -32602, "{answer}"),
    }
}

// req: lifecycle-version-echo, lifecycle-version-counter-offer
// req: lifecycle-version-counter-offer-latest, lifecycle-capabilities-open-set
// req: lifecycle-client-capability-shapes, lifecycle-initialize-params
#[tokio::test]
async fn a11_initialize_with_versions_and_capabilities_nobody_has_heard_of() {
    let registry = fixture(&Probe::default());
    let server = Server::of(registry.clone());
    for (version, expected) in a11_cases() {
        let body = a11_initialize(&version);
        let response = server.send(&Request::post(body.as_str())).await;
        assert_eq!(response.status, 200, "{version}");
        a11_check(&response.message(), expected);
        let stdio = Stdio::start(registry.clone());
        stdio.send(&body).await;
        stdio
            .send(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)
            .await;
        let answers = stdio.finish().await;
        a11_check(&answers[0], expected);
        assert_eq!(answers[1]["id"], 1);
    }
}

#[tokio::test]
async fn a11_an_unknown_version_header_does_not_defeat_the_negotiation() {
    let server = Server::of(fixture(&Probe::default()));
    let request = Request::post(a11_initialize(&json!("2025-06-18")));
    let response = server
        .send(&request.header("MCP-Protocol-Version", "2099-01-01"))
        .await;
    assert_eq!(response.status, 200);
    a11_check(&response.message(), Some("2025-06-18"));
}

// req: versioning-discover-implemented, versioning-discover-result-fields
// req: versioning-2026-unsupported-32022, versioning-2026-supported-list-truthful
// req: versioning-dual-era-initialize, meta-2026-protocol-version-required
#[tokio::test]
async fn a12_the_first_stdio_line_is_server_discover() {
    let stdio = Stdio::start(fixture(&Probe::default()));
    let discover = |id: &str, params: Value| {
        json!({"jsonrpc": "2.0", "id": id, "method": "server/discover", "params": params})
            .to_string()
    };
    let mut unknown = meta();
    unknown["io.modelcontextprotocol/protocolVersion"] = json!("2099-01-01");
    for line in [
        discover("d1", json!({"_meta": meta()})),
        discover("d2", json!({"_meta": unknown})),
        discover("d3", json!({})),
        init("2025-06-18"),
        INITIALIZED.to_owned(),
        r#"{"jsonrpc":"2.0","id":9,"method":"tools/list"}"#.to_owned(),
    ] {
        stdio.send(&line).await;
    }
    let answers = stdio.finish().await;
    let ids: Vec<&Value> = answers.iter().map(|answer| &answer["id"]).collect();
    assert_eq!(
        ids,
        [
            &json!("d1"),
            &json!("d2"),
            &json!("d3"),
            &json!("i"),
            &json!(9)
        ]
    );

    let versions = json!([
        "2026-07-28",
        "2025-11-25",
        "2025-06-18",
        "2025-03-26",
        "2024-11-05"
    ]);
    let discovered = &answers[0]["result"];
    assert_eq!(discovered["resultType"], "complete");
    assert_eq!(discovered["supportedVersions"], versions);
    assert!(discovered["capabilities"]["tools"].is_object());
    assert!(discovered["ttlMs"].is_u64());
    assert!(["public", "private"].contains(&discovered["cacheScope"].as_str().unwrap()));

    let refused = &answers[1]["error"];
    assert_eq!(refused["code"], -32022);
    assert_eq!(
        refused["data"],
        json!({"supported": versions, "requested": "2099-01-01"})
    );
    assert_eq!(answers[2]["error"]["code"], -32602);
    assert_eq!(answers[3]["result"]["protocolVersion"], "2025-06-18");
    assert!(answers[4]["result"]["tools"].is_array());
}
