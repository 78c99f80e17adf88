//! A server that changes while it runs.

use mcp_core::{RegisterError, prompt, resource, template, tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::support::{
    INITIALIZED,
    fixture::fixture,
    init, legacy,
    matrix::{Need, each},
    peer::Peer,
    probe::Probe,
    stdio::Stdio,
    text,
};

#[derive(Deserialize, JsonSchema)]
struct Id {
    id: String,
}

async fn lists(peer: &Peer, method: &str, member: &str, name: &str) -> bool {
    let listed = peer.call(method, json!({})).await;
    let entries = listed.result()[member].as_array().unwrap();
    entries
        .iter()
        .any(|it| it.as_object().unwrap().values().any(|value| value == name))
}

#[tokio::test]
async fn tools_come_go_and_are_switched() {
    each(&[Need::OneRegistry], async |peer| {
        let name = format!("late {}", peer.version()).replace(' ', "_");
        let late = || tool(name.clone(), async || "late");
        assert!(!lists(peer, "tools/list", "tools", &name).await);
        peer.registry.add_tool(late()).unwrap();
        assert!(lists(peer, "tools/list", "tools", &name).await);
        assert_eq!(text(peer.tool(&name, json!({})).await.result()), "late");
        let twice = peer.registry.add_tool(late());
        assert!(matches!(
            twice,
            Err(RegisterError::Duplicate { kind: "tool", .. })
        ));

        assert!(peer.registry.enable_tool(&name, false));
        assert!(
            !peer.registry.enable_tool(&name, false),
            "it is off already"
        );
        assert!(!lists(peer, "tools/list", "tools", &name).await);
        assert_eq!(peer.tool(&name, json!({})).await.code(), -32602);
        assert!(peer.registry.enable_tool(&name, true));
        assert!(lists(peer, "tools/list", "tools", &name).await);

        assert!(peer.registry.remove_tool(&name));
        assert!(!peer.registry.remove_tool(&name), "it is gone already");
        assert_eq!(peer.tool(&name, json!({})).await.code(), -32602);
    })
    .await;
}

#[tokio::test]
async fn prompts_resources_and_templates_do_so_too() {
    each(&[Need::OneRegistry], async |peer| {
        let uri = format!("late://{}", peer.version());
        let pattern = format!("{uri}/{{id}}");
        let registry = &peer.registry;
        registry.add_prompt(prompt(&uri, async || "late")).unwrap();
        registry
            .add_resource(resource(&uri, async || "late"))
            .unwrap();
        registry
            .add_template(template(&pattern, async |Id { id }: Id| id))
            .unwrap();
        assert!(lists(peer, "prompts/list", "prompts", &uri).await);
        assert!(lists(peer, "resources/list", "resources", &uri).await);
        let templates = ("resources/templates/list", "resourceTemplates");
        assert!(lists(peer, templates.0, templates.1, &pattern).await);
        let inner = json!({"uri": format!("{uri}/7")});
        let read = peer.call("resources/read", inner.clone()).await;
        assert_eq!(read.result()["contents"][0]["text"], "7");

        assert!(registry.enable_prompt(&uri, false) && registry.remove_prompt(&uri));
        assert!(registry.enable_resource(&uri, false) && registry.remove_resource(&uri));
        assert!(registry.enable_template(&pattern, false));
        assert!(peer.call("resources/read", inner).await.error().is_object());
        assert!(registry.remove_template(&pattern));
        assert!(!lists(peer, "prompts/list", "prompts", &uri).await);
        assert!(!lists(peer, "resources/list", "resources", &uri).await);
    })
    .await;
}

fn announced(peer: &Peer) -> Vec<String> {
    let methods = peer.unasked().into_iter();
    let methods = methods.map(|it| it["method"].as_str().unwrap().to_owned());
    methods.filter(|it| it.contains("changed")).collect()
}

// req: tools-list-changed-notified, prompts-list-changed-notified, resources-list-changed-notified
#[tokio::test]
async fn a_client_with_a_handshake_hears_of_changes() {
    each(&[Need::Connection, Need::Handshake], async |peer| {
        let (registry, version) = (&peer.registry, peer.version());
        let uri = format!("heard://{version}");
        peer.attend().await;
        registry.add_tool(tool(version, async || "late")).unwrap();
        let heard = peer.heard("notifications/tools/list_changed").await;
        assert_eq!(heard.get("id"), None);
        registry.add_prompt(prompt(&uri, async || "late")).unwrap();
        peer.heard("notifications/prompts/list_changed").await;
        // What changes nothing is not announced.
        registry.enable_tool(version, true);
        registry.remove_tool("unheard of");
        registry
            .add_resource(resource(&uri, async || "late"))
            .unwrap();
        peer.heard("notifications/resources/list_changed").await;
        let expected = ["tools", "prompts", "resources"];
        let expected = expected.map(|it| format!("notifications/{it}/list_changed"));
        assert_eq!(announced(peer), expected);
    })
    .await;
}

// req: lifecycle-quiet-before-initialized
#[tokio::test]
async fn nothing_is_announced_before_the_handshake_is_over() {
    let registry = fixture(&Probe::default());
    let stdio = Stdio::start(registry.clone());
    stdio.send(&init("2025-11-25")).await;
    stdio.answer(&json!("i")).await;
    registry.add_tool(tool("late", async || "late")).unwrap();
    stdio.send(&legacy(1, "ping", json!({}))).await;
    stdio.answer(&json!(1)).await;
    assert_eq!(stdio.messages().len(), 2);
    stdio.send(INITIALIZED).await;
    stdio.send(&legacy(2, "ping", json!({}))).await;
    stdio.answer(&json!(2)).await;
    registry.remove_tool("late");
    stdio
        .first(|it| it["method"] == "notifications/tools/list_changed")
        .await;
    assert_eq!(stdio.finish().await.len(), 4);
}

#[tokio::test]
async fn a_client_without_handshake_is_told_nothing_unasked() {
    each(&[Need::Connection, Need::RequestContext], async |peer| {
        peer.attend().await;
        peer.registry
            .add_tool(tool("late", async || "late"))
            .unwrap();
        peer.call("tools/list", json!({})).await;
        assert_eq!(peer.unasked(), [json!(null); 0]);
    })
    .await;
}
