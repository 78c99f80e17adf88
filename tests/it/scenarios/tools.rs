//! Listing and calling tools.

use serde_json::{Value, json};

use crate::support::{
    fixture::SECRET,
    matrix::{Need, each},
    text,
};

fn named<'a>(tools: &'a [Value], name: &str) -> &'a Value {
    tools.iter().find(|tool| tool["name"] == name).unwrap()
}

// req: tools-list-result, tools-definition-base-fields, schema-input-root-object
// req: tools-icons-field, tools-title-output-schema-fields, tools-annotations-field
// req: tools-2025-11-execution-field
#[tokio::test]
async fn tools_are_listed_and_called() {
    each(&[], async |peer| {
        let listed = peer.call("tools/list", json!({})).await;
        let tools = listed.result()["tools"].as_array().unwrap().clone();
        assert_eq!(listed.result().get("nextCursor"), None);
        for tool in &tools {
            assert!(tool["name"].is_string(), "{tool}");
            assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
            assert_eq!(tool.get("execution"), None, "{tool}");
        }
        let echo = &tools[0];
        assert_eq!(echo["name"], "echo");
        assert_eq!(echo["description"], "Answers with the text it is given.");
        assert_eq!(echo.get("title").is_some(), peer.has(Need::Titles));
        assert_eq!(echo.get("icons").is_some(), peer.has(Need::Icons));
        let annotated = named(&tools, "annotated").get("annotations");
        assert_eq!(annotated.is_some(), peer.has(Need::ToolAnnotations));
        let output = named(&tools, "report").get("outputSchema");
        assert_eq!(output.is_some(), peer.has(Need::StructuredContent));

        let answer = peer.tool("echo", json!({"text": "hé 世界"})).await;
        assert_eq!(text(answer.result()), "hé 世界");
        assert!(peer.probe.has("echo hé 世界"));
    })
    .await;
}

// req: tools-unknown-tool-32602
#[tokio::test]
async fn an_unknown_tool_is_a_protocol_error() {
    each(&[], async |peer| {
        let answer = peer.tool("nothing", json!({})).await;
        assert_eq!(answer.code(), -32602);
        assert!(
            answer.error()["message"]
                .as_str()
                .unwrap()
                .contains("nothing")
        );
        assert_eq!(answer.status.unwrap_or(200), 200);
    })
    .await;
}

// req: tools-malformed-call-32602, errors-invalid-params-32602
#[tokio::test]
async fn a_malformed_call_is_a_protocol_error() {
    each(&[], async |peer| {
        for params in [
            json!({}),
            json!({"name": 5}),
            json!({"name": "echo", "arguments": "text"}),
            json!({"name": "echo", "arguments": ["text"]}),
        ] {
            let answer = peer.call("tools/call", params.clone()).await;
            assert_eq!(answer.code(), -32602, "{params}");
        }
    })
    .await;
}

// req: tools-input-validation-is-tool-error, tools-security-validate-inputs
#[tokio::test]
async fn a_validation_failure_names_every_field_and_runs_nothing() {
    each(&[], async |peer| {
        for (arguments, names) in [
            (json!({}), &["text"][..]),
            (json!({"text": 5}), &["text", "string"]),
            (json!({"text": null}), &["text", "string"]),
        ] {
            let answer = peer.tool("echo", arguments.clone()).await;
            assert!(answer.is_tool_error(), "{arguments}");
            for name in names {
                assert!(text(answer.result()).contains(name), "{answer:?}");
            }
        }
        let answer = peer.tool("rows", json!({"max": "many"})).await;
        assert!(answer.is_tool_error());
        assert_eq!(peer.probe.notes(), [""; 0]);
    })
    .await;
}

// req: tools-execution-error-in-result, tools-call-result-content-required
#[tokio::test]
async fn a_handler_tells_what_it_wants_and_leaks_nothing() {
    each(&[], async |peer| {
        let answer = peer.tool("told", json!({})).await;
        assert!(answer.is_tool_error());
        assert_eq!(text(answer.result()), "the shop is closed");
        let answer = peer.tool("invalid", json!({})).await;
        assert!(answer.is_tool_error());
        assert_eq!(text(answer.result()), "n: not today");
        let answer = peer.tool("internal", json!({})).await;
        assert!(answer.is_tool_error());
        assert!(text(answer.result()).contains("incident"), "{answer:?}");
        assert!(!answer.reply.unwrap().to_string().contains(SECRET));
    })
    .await;
}

// req: tools-structured-content-text-copy, tools-structured-content-object
// req: tools-2026-structured-content-any, tools-2026-nonobject-structured-text-copy
// req: schema-output-root-object, schema-output-any-root
#[tokio::test]
async fn structured_content_has_a_text_copy_in_every_revision() {
    each(&[], async |peer| {
        let answer = peer.tool("report", json!({"fail": false})).await;
        let result = answer.result();
        assert_eq!(
            result["content"],
            json!([{"type": "text", "text": "{\"value\":42}"}])
        );
        let expected = peer
            .has(Need::StructuredContent)
            .then(|| json!({"value": 42}));
        assert_eq!(result.get("structuredContent"), expected.as_ref());

        let answer = peer.tool("numbers", json!({})).await;
        let result = answer.result();
        assert_eq!(text(result), "[1,2,3]");
        let listed = peer.call("tools/list", json!({})).await;
        let listed = listed.result()["tools"].as_array().unwrap();
        let schema = named(listed, "numbers").get("outputSchema").cloned();
        if peer.has(Need::AnyStructuredContent) {
            assert_eq!(result["structuredContent"], json!([1, 2, 3]));
            assert_eq!(schema.unwrap()["type"], "array");
        } else if peer.has(Need::StructuredContent) {
            assert_eq!(result["structuredContent"], json!({"result": [1, 2, 3]}));
            let schema = schema.unwrap();
            assert_eq!(schema["type"], "object");
            assert_eq!(schema["properties"]["result"]["type"], "array");
        } else {
            assert_eq!(result.get("structuredContent"), None);
            assert_eq!(schema, None);
        }
    })
    .await;
}

// req: tools-content-text-image, tools-content-audio, tools-content-embedded-resource
// req: tools-content-resource-link, jsonrpc-utf8, lifecycle-respect-negotiation-must
// req: lifecycle-respect-negotiation-should
#[tokio::test]
async fn content_is_put_into_the_words_of_the_revision() {
    each(&[], async |peer| {
        let answer = peer.tool("everything", json!({})).await;
        let blocks = answer.result()["content"].as_array().unwrap();
        let kinds: Vec<&str> = blocks
            .iter()
            .map(|it| it["type"].as_str().unwrap())
            .collect();
        let audio = if peer.has(Need::Audio) {
            "audio"
        } else {
            "resource"
        };
        let link = if peer.has(Need::ResourceLinks) {
            "resource_link"
        } else {
            "text"
        };
        assert_eq!(kinds, ["text", "image", audio, link, "resource"]);
        assert_eq!(blocks[0]["text"], "世界");
        assert_eq!(
            blocks[1],
            json!({"type": "image", "data": "AA==", "mimeType": "image/png"})
        );
        if !peer.has(Need::Audio) {
            assert_eq!(blocks[2]["resource"]["blob"], "AA==");
            assert_eq!(blocks[2]["resource"]["mimeType"], "audio/wav");
        }
        if !peer.has(Need::ResourceLinks) {
            assert_eq!(blocks[3]["text"], "motd: test://motd");
        }
        assert_eq!(blocks[4]["resource"]["text"], "Be kind.");
    })
    .await;
}
