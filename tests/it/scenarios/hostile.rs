//! Input that means harm: one answer each, nobody's fault but the client's, and the next call works.

use serde_json::{Value, json};

use crate::support::{matrix::each, outcome::Outcome, text};

/// Whether the client is told that it is wrong, in whichever way.
fn is_blamed(outcome: &Outcome) -> bool {
    outcome.is_tool_error()
        || outcome.reply.as_ref().is_some_and(|reply| {
            let code = reply["error"]["code"].as_i64();
            code.is_some_and(|code| [-32700, -32600, -32602].contains(&code))
        })
}

// req: tools-security-validate-inputs
#[tokio::test]
async fn arguments_that_mean_harm() {
    let deep = format!("{}{}", "[".repeat(20_000), "]".repeat(20_000));
    let deep_object = format!("{}1{}", "{\"a\":".repeat(20_000), "}".repeat(20_000));
    let wide = format!("[{}0]", "0,".repeat(40_000));
    each(&[], async |peer| {
        for arguments in [
            format!(r#"{{"text":{deep}}}"#),
            format!(r#"{{"text":{deep_object}}}"#),
            format!(r#"{{"text":{wide}}}"#),
            r#"{"text":"\ud800"}"#.to_owned(),
            r#"{"text":1e999}"#.to_owned(),
            r#"{"text":-0}"#.to_owned(),
        ] {
            let answer = peer.tool_text("echo", &arguments).await;
            let start: String = arguments.chars().take(40).collect();
            assert!(is_blamed(&answer), "{start}: {answer:?}");
        }
        for max in [
            "1e999",
            "-0.5",
            "99999999999999999999999999999999999999",
            "4294967295.5",
        ] {
            let answer = peer.tool_text("rows", &format!(r#"{{"max":{max}}}"#)).await;
            assert!(is_blamed(&answer), "{max}: {answer:?}");
        }
        let answer = peer.tool("echo", json!({"text": "still here"})).await;
        assert_eq!(text(answer.result()), "still here");
        assert_eq!(peer.probe.notes(), ["echo still here"]);
    })
    .await;
}

#[tokio::test]
async fn what_is_extra_is_echoed_to_nobody() {
    each(&[], async |peer| {
        let long = "x".repeat(10_000);
        for answer in [
            peer.call(&long, json!({})).await,
            peer.tool(&long, json!({})).await,
            peer.call("prompts/get", json!({"name": long})).await,
        ] {
            let said = answer.error()["message"].as_str().unwrap();
            assert!(said.len() < 200, "{}", said.len());
        }
    })
    .await;
}

// req: pagination-invalid-cursor-32602
#[tokio::test]
async fn cursors_of_other_types() {
    each(&[], async |peer| {
        for cursor in [json!(5), json!({}), json!(["a"]), json!(true)] {
            let page = peer.call("tools/list", json!({"cursor": cursor})).await;
            assert_eq!(page.code(), -32602);
        }
        // Null is read as absent, as everywhere.
        let page = peer
            .call("tools/list", json!({"cursor": Value::Null}))
            .await;
        assert!(page.result()["tools"].is_array());
    })
    .await;
}
