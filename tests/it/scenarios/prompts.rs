//! Prompts and the completion of their arguments.

use serde_json::{Value, json};

use crate::support::matrix::{Need, each};

// req: prompts-list-result, prompts-fields
#[tokio::test]
async fn prompts_are_listed_with_their_arguments() {
    each(&[], async |peer| {
        let listed = peer.call("prompts/list", json!({})).await;
        let prompts = listed.result()["prompts"].as_array().unwrap();
        let greet = &prompts[0];
        assert_eq!(greet["name"], "greet");
        assert_eq!(greet["description"], "Greets a city.");
        assert_eq!(greet.get("title").is_some(), peer.has(Need::Titles));
        let arguments = greet["arguments"].as_array().unwrap();
        assert_eq!(arguments[0]["name"], "city");
        assert_eq!(arguments[0]["required"], true);
        assert_eq!(arguments[0]["description"], "The city to greet.");
        let optional = arguments[1..].iter().all(|it| it["required"] == false);
        assert!(optional && arguments.len() == 3, "{greet}");
    })
    .await;
}

// req: prompts-get-params, prompts-get-result, prompts-content-types
#[tokio::test]
async fn a_prompt_reads_typed_arguments_from_text() {
    each(&[], async |peer| {
        for (arguments, expected) in [
            (json!({"city": "Rome"}), "Rome 1 false"),
            (
                json!({"city": "7", "times": "3", "loud": "true"}),
                "7 3 true",
            ),
        ] {
            let params = json!({"name": "greet", "arguments": arguments});
            let got = peer.call("prompts/get", params).await;
            let content = json!({"type": "text", "text": expected});
            let expected = json!([{"role": "user", "content": content}]);
            assert_eq!(got.result()["messages"], expected);
        }
        let got = peer.call("prompts/get", json!({"name": "simple"})).await;
        assert_eq!(got.result()["messages"][0]["content"]["text"], "Be brief.");
    })
    .await;
}

// req: prompts-errors, prompts-arguments-validated
#[tokio::test]
async fn a_prompt_that_cannot_be_filled_in_is_an_error() {
    each(&[], async |peer| {
        for params in [
            json!({"name": "nothing"}),
            json!({}),
            json!({"name": "greet"}),
            json!({"name": "greet", "arguments": {}}),
            json!({"name": "greet", "arguments": {"city": 5}}),
            json!({"name": "greet", "arguments": {"city": "Rome", "times": "many"}}),
            json!({"name": "greet", "arguments": {"city": "Rome", "times": "300"}}),
            json!({"name": "greet", "arguments": ["Rome"]}),
        ] {
            let got = peer.call("prompts/get", params.clone()).await;
            assert_eq!(got.code(), -32602, "{params}");
        }
    })
    .await;
}

fn completing(value: &str) -> Value {
    json!({
        "ref": {"type": "ref/prompt", "name": "greet"},
        "argument": {"name": "city", "value": value},
    })
}

// req: completion-request-shape, completion-result-shape
#[tokio::test]
async fn a_completion_gives_at_most_100_values() {
    each(&[], async |peer| {
        let completed = peer.call("completion/complete", completing("")).await;
        let completion = &completed.result()["completion"];
        let values = completion["values"].as_array().unwrap();
        assert_eq!(values.len(), 100);
        assert_eq!(
            (&values[0], &values[99]),
            (&json!("city-000"), &json!("city-099"))
        );
        assert_eq!(completion["total"], 250);
        assert_eq!(completion["hasMore"], true);

        let completed = peer
            .call("completion/complete", completing("city-24"))
            .await;
        let completion = &completed.result()["completion"];
        assert_eq!(completion["values"].as_array().unwrap().len(), 10);
        assert_ne!(completion.get("hasMore"), Some(&json!(true)));

        let template = json!({
            "ref": {"type": "ref/resource", "uri": "file:///docs/{name}"},
            "argument": {"name": "name", "value": "caf"},
        });
        let completed = peer.call("completion/complete", template).await;
        assert_eq!(
            completed.result()["completion"]["values"],
            json!(["café menu.txt"])
        );
    })
    .await;
}

// req: completion-context-arguments
#[tokio::test]
async fn a_completion_knows_the_settled_arguments_where_the_revision_tells_them() {
    each(&[], async |peer| {
        let params = json!({
            "ref": {"type": "ref/prompt", "name": "greet"},
            "argument": {"name": "times", "value": ""},
            "context": {"arguments": {"city": "Rome"}},
        });
        let completed = peer.call("completion/complete", params).await;
        let known = if peer.has(Need::CompletionContext) {
            "Rome"
        } else {
            "unknown"
        };
        assert_eq!(completed.result()["completion"]["values"], json!([known]));
    })
    .await;
}

// req: completion-errors
#[tokio::test]
async fn a_completion_of_nothing_is_an_error() {
    each(&[], async |peer| {
        let argument = json!({"name": "city", "value": ""});
        for params in [
            json!({}),
            json!({"argument": argument}),
            json!({"ref": {"type": "ref/prompt", "name": "greet"}}),
            json!({"ref": {"type": "ref/prompt", "name": "nothing"}, "argument": argument}),
            json!({"ref": {"type": "ref/resource", "uri": "no://{x}"}, "argument": argument}),
            json!({"ref": {"type": "ref/else", "name": "greet"}, "argument": argument}),
            json!({"ref": {"type": "ref/prompt", "name": "greet"}, "argument": {"name": "x", "value": ""}}),
        ] {
            let completed = peer.call("completion/complete", params.clone()).await;
            assert_eq!(completed.code(), -32602, "{params}");
        }
    })
    .await;
}

// req: completion-capability-declared, completion-2024-no-capability-key
#[tokio::test]
async fn the_completions_capability_is_declared_where_there_is_one() {
    each(&[], async |peer| {
        let declared = peer.server["capabilities"].get("completions").is_some();
        assert_eq!(declared, peer.has(Need::CompletionsCapability));
    })
    .await;
}
