//! Calls that take their time: cancellation, time limits, threads, state.

use std::time::Duration;

use mcp_core::ServerConfig;
use serde_json::{Value, json};

use crate::support::{
    calling, fixture,
    matrix::{Need, each, each_of},
    text,
};

// req: cancel-stops-processing, cancel-request-id-shape
#[tokio::test]
async fn a_cancelled_call_stops_and_others_go_on() {
    each(&[Need::Connection], async |peer| {
        let held = peer
            .begin("tools/call", calling("hold", json!({})), json!({}))
            .await;
        let other = peer
            .begin("tools/call", calling("slow", json!({"ms": 60})), json!({}))
            .await;
        peer.probe.until("hold began").await;
        peer.probe.until("slow began").await;
        peer.cancel(&held).await;
        peer.probe.until("hold stopped").await;
        assert_eq!(text(peer.outcome(other).await.result()), "60");
        peer.silence(held).await;
    })
    .await;
}

#[tokio::test]
async fn a_call_that_takes_too_long_is_stopped_and_the_caller_told() {
    each(&[], async |peer| {
        let answer = peer.tool("limited", json!({})).await;
        assert!(answer.is_tool_error());
        assert!(text(answer.result()).contains("30ms"), "{answer:?}");
        assert!(peer.probe.has("limited stopped"));
    })
    .await;
}

#[tokio::test]
async fn the_limit_of_the_server_counts_where_a_tool_has_none() {
    let limited = |probe: &_, mut config: ServerConfig| {
        config.call_timeout = Some(Duration::from_millis(40));
        fixture::with(probe, config)
    };
    each_of(limited, &[], async |peer| {
        let answer = peer.tool("hold", json!({})).await;
        assert!(answer.is_tool_error());
        assert!(text(answer.result()).contains("40ms"), "{answer:?}");
        assert!(peer.probe.has("hold stopped"));
        let answer = peer.tool("limited", json!({})).await;
        assert!(text(answer.result()).contains("30ms"), "{answer:?}");
        assert!(!peer.tool("slow", json!({"ms": 3})).await.is_tool_error());
    })
    .await;
}

#[tokio::test]
async fn a_blocking_tool_leaves_the_others_alone() {
    each(&[], async |peer| {
        let call = calling("crunch", json!({}));
        let blocking = peer.begin("tools/call", call, json!({})).await;
        let answer = peer.tool("echo", json!({"text": "meanwhile"})).await;
        assert_eq!(text(answer.result()), "meanwhile");
        peer.probe.note("release");
        assert_eq!(text(peer.outcome(blocking).await.result()), "released");
    })
    .await;
}

// req: tools-security-validate-inputs
#[tokio::test]
async fn a_dynamic_tool_gets_its_arguments_as_they_are_written() {
    each(&[], async |peer| {
        let raw = r#"{"n":1e2,"big":18446744073709551617}"#;
        let answer = peer.tool_text("dynamic", raw).await;
        assert_eq!(text(answer.result()), raw);
        let answer = peer.tool_text("dynamic", "").await;
        assert_eq!(text(answer.result()), "{}");
        let answer = peer.tool_text("dynamic", r#"{"n":0.5}"#).await;
        assert!(answer.is_tool_error());
        assert!(text(answer.result()).contains('n'), "{answer:?}");
    })
    .await;
}

// req: versioning-stateless-no-prior-context
#[tokio::test]
async fn a_handler_knows_its_client_where_the_client_is_known() {
    each(&[], async |peer| {
        let answer = peer.tool("client", json!({})).await;
        let known: Value = serde_json::from_str(text(answer.result())).unwrap();
        assert_eq!(known["version"], peer.version());
        // HTTP without a session has no memory of a handshake.
        let known_here = peer.has(Need::Connection) || peer.has(Need::RequestContext);
        assert_eq!(known["elicitation"], known_here);
        assert_eq!(
            known["name"],
            if known_here {
                json!("peer")
            } else {
                Value::Null
            }
        );
    })
    .await;
}

// req: versioning-stateless-no-prior-context, meta-2026-client-info-optional
#[tokio::test]
async fn the_context_of_a_request_is_its_own() {
    each(&[Need::RequestContext], async |peer| {
        for (capabilities, elicitation) in [
            (json!({"elicitation": {}}), true),
            (json!({}), false),
            (json!({"futureThing": {"a": [1]}}), false),
        ] {
            let meta = json!({"io.modelcontextprotocol/clientCapabilities": capabilities});
            let answer = peer
                .call_with("tools/call", json!({"name": "client"}), meta)
                .await;
            let known: Value = serde_json::from_str(text(answer.result())).unwrap();
            assert_eq!(known["elicitation"], elicitation);
        }
    })
    .await;
}
