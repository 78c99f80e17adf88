//! What a handler says before it answers: progress, log messages.

use mcp_core::ServerConfig;
use serde_json::{Value, json};

use crate::support::{
    calling, fixture,
    matrix::{Need, each, each_of},
    outcome::Outcome,
};

// req: progress-token-type, progress-increases, progress-shape, progress-message-readable
// req: jsonrpc-notification-has-no-id
#[tokio::test]
async fn progress_is_reported_to_whoever_asked() {
    each(&[], async |peer| {
        for token in [json!(0), json!("token"), json!(9_007_199_254_740_993_i64)] {
            let meta = json!({"progressToken": token});
            let call = calling("slow", json!({"ms": 9}));
            let answer = peer.call_with("tools/call", call, meta).await;
            let notes = answer.notes_of("notifications/progress");
            assert_eq!(notes.len(), 4, "{answer:?}");
            for note in &notes {
                assert_eq!(note["progressToken"], token);
                assert_eq!(note["total"], 1.0);
            }
            let message = peer
                .has(Need::ProgressMessages)
                .then(|| json!("two thirds"));
            assert_eq!(notes[2].get("message"), message.as_ref());
        }
        let answer = peer.tool("slow", json!({"ms": 3})).await;
        assert_eq!(answer.notes, [json!(null); 0]);
    })
    .await;
}

/// The queue of one client is bounded; a handler that has more to say waits, and loses nothing.
#[tokio::test]
async fn a_handler_that_says_much_waits_for_its_client() {
    let narrow = |probe: &_, mut config: ServerConfig| {
        config.limits.max_queued = 200;
        fixture::with(probe, config)
    };
    each_of(narrow, &[], async |peer| {
        let call = calling("chatty", json!({"n": 300}));
        let answer = peer
            .call_with("tools/call", call, json!({"progressToken": 1}))
            .await;
        let notes = answer.notes_of("notifications/progress");
        let said: Vec<f64> = notes
            .iter()
            .map(|it| it["progress"].as_f64().unwrap())
            .collect();
        let expected: Vec<f64> = (1..=300).map(f64::from).collect();
        assert_eq!(said, expected);
    })
    .await;
}

// req: errors-invalid-params-32602
#[tokio::test]
async fn a_progress_token_that_is_none_is_refused() {
    each(&[], async |peer| {
        let call = calling("slow", json!({"ms": 3}));
        let answer = peer
            .call_with("tools/call", call, json!({"progressToken": {}}))
            .await;
        assert_eq!(answer.code(), -32602);
        assert!(!peer.probe.has("slow began"));
    })
    .await;
}

fn levels(outcome: &Outcome) -> Vec<String> {
    let notes = outcome.notes_of("notifications/message");
    let level = |note: &&Value| note["level"].as_str().unwrap().to_owned();
    for note in &notes {
        assert_eq!(note["logger"], "journal");
        assert_eq!(note["data"], json!({"said": "it"}));
    }
    notes.iter().map(level).collect()
}

// req: logging-message-shape, logging-levels, logging-2026-opt-in
#[tokio::test]
async fn log_messages_come_from_info_on_or_when_asked_for() {
    each(&[], async |peer| {
        let answer = peer.tool("journal", json!({})).await;
        if peer.has(Need::Handshake) {
            assert_eq!(levels(&answer), ["info", "warning", "error"]);
        } else {
            assert_eq!(levels(&answer), [""; 0]);
        }
    })
    .await;
}

// req: logging-2026-level-filter, logging-2026-own-stream-only, logging-2026-invalid-level-32602
#[tokio::test]
async fn a_request_asks_for_its_own_log_level() {
    each(&[Need::RequestContext], async |peer| {
        let call = || calling("journal", json!({}));
        let at = |level: Value| json!({"io.modelcontextprotocol/logLevel": level});
        for (level, expected) in [
            ("debug", &["debug", "info", "warning", "error"][..]),
            ("warning", &["warning", "error"]),
            ("emergency", &[]),
        ] {
            let answer = peer.call_with("tools/call", call(), at(json!(level))).await;
            assert_eq!(levels(&answer), expected, "{level}");
        }
        let answer = peer.tool("journal", json!({})).await;
        assert_eq!(
            levels(&answer),
            [""; 0],
            "the level was the other request's"
        );
        for level in [json!("loud"), json!(3)] {
            let answer = peer.call_with("tools/call", call(), at(level)).await;
            assert_eq!(answer.code(), -32602);
        }
    })
    .await;
}

// req: logging-set-level-legacy, logging-set-level-filters-legacy
// req: logging-invalid-level-32602-legacy
#[tokio::test]
async fn a_client_with_a_handshake_sets_its_log_level() {
    each(&[Need::Handshake, Need::Connection], async |peer| {
        for (level, expected) in [("debug", 4), ("warning", 2), ("alert", 0)] {
            let set = peer.call("logging/setLevel", json!({"level": level})).await;
            assert_eq!(set.result(), &json!({}));
            let answer = peer.tool("journal", json!({})).await;
            assert_eq!(levels(&answer).len(), expected, "{level}");
        }
        for params in [json!({"level": "loud"}), json!({"level": 3}), json!({})] {
            let set = peer.call("logging/setLevel", params).await;
            assert_eq!(set.code(), -32602);
        }
    })
    .await;
}

// req: logging-capability-declared
#[tokio::test]
async fn a_server_without_logging_has_none_of_it() {
    let silent = |probe: &_, mut config: ServerConfig| {
        config.logging = false;
        fixture::with(probe, config)
    };
    each_of(silent, &[], async |peer| {
        assert_eq!(peer.server["capabilities"].get("logging"), None);
        let meta = json!({"io.modelcontextprotocol/logLevel": "debug"});
        let answer = peer
            .call_with("tools/call", calling("journal", json!({})), meta)
            .await;
        assert_eq!(levels(&answer), [""; 0]);
        let set = peer
            .call("logging/setLevel", json!({"level": "debug"}))
            .await;
        assert_eq!(set.code(), -32601);
    })
    .await;
}
