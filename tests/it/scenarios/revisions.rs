//! Which revision is spoken: hiding, choosing, pinning.

use mcp_codec::adapter_set;
use mcp_core::{AdapterSet, Registry, ServerConfig, SessionMode};
use serde_json::{Value, json};

use crate::support::{
    fixture::{builder, stateless},
    http::{Request, Server},
    init, legacy,
    matrix::{Need, each},
    modern,
    probe::Probe,
    stdio::Stdio,
};

fn only(versions: &[&str]) -> Registry {
    let mut config = ServerConfig::default();
    config.sessions.mode = SessionMode::Stateless;
    config.revisions = AdapterSet::only(versions.iter().copied()).unwrap();
    builder(&Probe::default()).build(config).unwrap()
}

#[tokio::test]
async fn what_exists_since_a_version_is_hidden_from_older_clients() {
    each(&[], async |peer| {
        let listed = peer.call("tools/list", json!({})).await;
        let tools = listed.result()["tools"].as_array().unwrap();
        for (name, need) in [
            ("newest", Need::RequestContext),
            ("structured_era", Need::StructuredContent),
        ] {
            assert_eq!(
                tools.iter().any(|tool| tool["name"] == name),
                peer.has(need),
                "{name}"
            );
            let answer = peer.tool(name, json!({})).await;
            if peer.has(need) {
                assert_eq!(answer.result()["content"][0]["text"], "seen");
            } else {
                assert_eq!(answer.code(), -32602, "{name}");
            }
        }
    })
    .await;
}

#[test]
fn an_unknown_revision_cannot_be_chosen() {
    assert!(AdapterSet::only(["2025-11-25", "2099-01-01"]).is_err());
    assert!(AdapterSet::only([]).is_err());
    let chosen = AdapterSet::only(["2024-11-05", "2026-07-28"]).unwrap();
    assert_eq!(chosen.versions(), ["2026-07-28", "2024-11-05"]);
}

// req: lifecycle-version-counter-offer, http-version-header-invalid-400
#[tokio::test]
async fn a_server_of_handshake_revisions_alone() {
    let server = Server::of(only(&["2025-06-18", "2024-11-05"]));
    for (asked, settled) in [
        ("2025-06-18", "2025-06-18"),
        ("2024-11-05", "2024-11-05"),
        ("2025-11-25", "2025-06-18"),
        ("2026-07-28", "2025-06-18"),
    ] {
        let response = server.send(&Request::post(init(asked))).await;
        assert_eq!(response.message()["result"]["protocolVersion"], settled);
    }
    let list = legacy(1, "tools/list", json!({}));
    for (version, status) in [
        ("2025-06-18", 200),
        ("2025-11-25", 400),
        ("2099-01-01", 400),
    ] {
        let request = Request::post(list.as_str()).header("MCP-Protocol-Version", version);
        assert_eq!(server.send(&request).await.status, status, "{version}");
    }
    // Without a header it is taken for one of ours.
    assert_eq!(server.send(&Request::post(list)).await.status, 200);
    let list = modern(1, "tools/list", json!({}));
    let response = server.send(&Request::modern("tools/list", list)).await;
    assert_eq!(response.status, 400);
    let supported = json!(["2025-06-18", "2024-11-05"]);
    assert_eq!(response.message()["error"]["data"]["supported"], supported);
}

// req: versioning-modern-only-names-versions, versioning-2026-supported-list-truthful
#[tokio::test]
async fn a_server_without_handshake_names_its_versions_to_whoever_tries_one() {
    let registry = only(&["2026-07-28"]);
    let server = Server::of(registry.clone());
    let stdio = Stdio::start(registry);
    stdio.send(&init("2025-11-25")).await;
    stdio.send(&modern(1, "server/discover", json!({}))).await;
    let answers = stdio.finish().await;
    let plain = server.send(&Request::post(init("2025-11-25"))).await;
    let headed = server.send(&Request::legacy(init("2025-11-25"))).await;
    assert_eq!((plain.status, headed.status), (400, 400));
    for answer in [&answers[0], &plain.message(), &headed.message()] {
        assert_eq!(answer["id"], "i");
        assert!(
            answer["error"].to_string().contains("2026-07-28"),
            "{answer}"
        );
    }
    assert_eq!(
        answers[1]["result"]["supportedVersions"],
        json!(["2026-07-28"])
    );
}

#[tokio::test]
async fn a_revision_is_pinned_in_the_address() {
    let server = Server::of(stateless(&Probe::default()));
    for revision in adapter_set::ALL {
        let version = revision.version().as_str();
        let target = format!("/mcp?key=value&mcp={version}");
        let call = json!({"name": "client", "arguments": {}});
        let request = if revision.era() == mcp_codec::Era::Modern {
            let body = modern(1, "tools/call", call);
            Request::modern("tools/call", body).header("Mcp-Name", "client")
        } else {
            Request::post(legacy(1, "tools/call", call))
        };
        let response = server.send(&request.target(&target)).await;
        let message = response.message();
        let text = message["result"]["content"][0]["text"].as_str().unwrap();
        let known: Value = serde_json::from_str(text).unwrap();
        assert_eq!(known["version"], version);
        // A handshake settles on it whatever was asked for.
        if revision.era() == mcp_codec::Era::Legacy {
            let response = server
                .send(&Request::post(init("2025-11-25")).target(&target))
                .await;
            assert_eq!(response.message()["result"]["protocolVersion"], version);
        }
    }
    let list = Request::post(legacy(1, "tools/list", json!({})));
    for target in ["/mcp?mcp=2099-01-01", "/mcp?mcp="] {
        let response = server.send(&list.clone().target(target)).await;
        assert_eq!(response.status, 400, "{target}");
        assert_eq!(response.message()["id"], 1);
    }
    let other = list.header("MCP-Protocol-Version", "2025-11-25");
    let response = server.send(&other.target("/mcp?mcp=2025-06-18")).await;
    assert_eq!(response.status, 400, "the header contradicts the address");
}
