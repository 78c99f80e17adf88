//! A23 to A26: arguments and results by their schemas.

use serde_json::json;

use crate::support::{
    matrix::{Need, each},
    text,
};

// req: tools-no-parameter-schema, schema-input-root-object
#[tokio::test]
async fn a23_a_tool_without_arguments() {
    each(&[], async |peer| {
        let listed = peer.call("tools/list", json!({})).await;
        let tools = listed.result()["tools"].as_array().unwrap();
        for name in ["now", "now_unit", "now_struct"] {
            let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
            let expected =
                json!({"type": "object", "properties": {}, "additionalProperties": false});
            assert_eq!(tool["inputSchema"], expected, "{name}");
        }
    })
    .await;
}

// req: tools-call-params, tools-malformed-call-32602, tools-input-validation-is-tool-error
#[tokio::test]
async fn a24_arguments_left_out_or_null() {
    each(&[], async |peer| {
        for name in ["now", "now_unit", "now_struct"] {
            for arguments in ["", "null", "{}"] {
                let answer = peer.tool_text(name, arguments).await;
                assert_eq!(text(answer.result()), "It is now.", "{name} {arguments}");
            }
            for arguments in ["[]", "\"{}\""] {
                let answer = peer.tool_text(name, arguments).await;
                assert_eq!(answer.code(), -32602, "{name} {arguments}");
            }
        }
        let answer = peer.tool_text("echo", "").await;
        assert!(answer.is_tool_error());
        assert!(text(answer.result()).contains("text"), "{answer:?}");
    })
    .await;
}

// req: tools-security-validate-inputs, tools-input-validation-is-tool-error
#[tokio::test]
async fn a25_whole_numbers_written_as_30_0() {
    each(&[], async |peer| {
        for (max, expected) in [("30", "30"), ("30.0", "30"), ("1e2", "100")] {
            let answer = peer.tool_text("rows", &format!(r#"{{"max":{max}}}"#)).await;
            assert_eq!(text(answer.result()), expected, "{max}");
        }
        let ran = peer.probe.notes();
        for max in ["30.5", "-1", "4294967296"] {
            let answer = peer.tool_text("rows", &format!(r#"{{"max":{max}}}"#)).await;
            assert!(answer.is_tool_error(), "{max}");
            assert!(text(answer.result()).contains("max"), "{answer:?}");
        }
        assert_eq!(peer.probe.notes(), ran, "the handler did not run");
    })
    .await;
}

// req: tools-output-schema-conformance, tools-execution-error-in-result
#[tokio::test]
async fn a26_an_error_result_does_not_break_the_output_schema() {
    each(&[], async |peer| {
        let answer = peer.tool("report", json!({"fail": true})).await;
        assert!(answer.is_tool_error());
        assert_eq!(text(answer.result()), "there is nothing to report");
        assert_eq!(answer.result().get("structuredContent"), None);

        let answer = peer.tool("failed", json!({})).await;
        assert!(answer.is_tool_error());
        assert_eq!(text(answer.result()), "denied");
        assert_eq!(answer.result().get("structuredContent"), None);

        let answer = peer
            .tool("report", json!({"fail": false, "misfit": true}))
            .await;
        assert!(answer.is_tool_error(), "{answer:?}");
        assert_eq!(answer.result().get("structuredContent"), None);
        assert!(!answer.result().to_string().contains("-1"), "{answer:?}");

        let answer = peer.tool("report", json!({"fail": false})).await;
        assert!(!answer.is_tool_error());
        assert_eq!(text(answer.result()), r#"{"value":42}"#);
        let structured = peer
            .has(Need::StructuredContent)
            .then(|| json!({"value": 42}));
        assert_eq!(
            answer.result().get("structuredContent"),
            structured.as_ref()
        );
    })
    .await;
}
