//! The model, the roots, a URL, several questions at once; prompts and resources that ask.

use serde_json::{Value, json};

use crate::support::{
    curious::{self, URL, anything, capable, filled, rooted, sampled},
    matrix::{Need, each_client},
    text,
};

// req: sampling-request-shape, sampling-result-shape, sampling-content-by-revision
#[tokio::test]
async fn the_model_is_asked_in_every_revision() {
    each_client(
        &capable(),
        curious::with,
        &[Need::Questions],
        async |peer| {
            let asked = peer
                .ask_tool("model", json!({}), |_| sampled("It is blue."))
                .await;
            assert_eq!(asked.text(), "It is blue.");
            assert_eq!(asked.questions.len(), 1);
            let question = &asked.questions[0];
            assert_eq!(question["method"], "sampling/createMessage");
            assert_eq!(question["params"]["maxTokens"], 100);
            let message = &question["params"]["messages"][0];
            assert_eq!(message["role"], "user");
            assert_eq!(message["content"]["text"], "Which colour is the sky?");
        },
    )
    .await;
}

/// A model may say more than one thing, and stop for a reason that nobody has heard of.
// req: sampling-result-shape
#[tokio::test]
async fn what_the_model_says_is_read_as_each_revision_writes_it() {
    each_client(
        &capable(),
        curious::with,
        &[Need::ModelTools],
        async |peer| {
            let mut answer = sampled("");
            answer["content"] = json!([
                {"type": "text", "text": "It is"},
                {"type": "text", "text": "blue."},
            ]);
            answer["stopReason"] = json!("out of ink");
            let asked = peer.ask_tool("model", json!({}), |_| answer.clone()).await;
            assert_eq!(asked.text(), "It is blue.");
        },
    )
    .await;
}

// req: sampling-include-context
#[tokio::test]
async fn context_is_asked_of_whom_has_declared_it() {
    for (declared, context) in [
        (json!({"sampling": {}}), false),
        (json!({"sampling": {"context": {}}}), true),
    ] {
        each_client(
            &declared,
            curious::with,
            &[Need::ModelTools],
            async |peer| {
                let asked = peer.ask_tool("contextual", json!({}), anything).await;
                assert_eq!(asked.text(), "model");
                let sent = asked.questions[0]["params"].get("includeContext");
                assert_eq!(sent, context.then_some(&json!("thisServer")));
            },
        )
        .await;
    }
}

// req: roots-list-changed-legacy
#[tokio::test]
async fn roots_are_asked_for_each_time() {
    let needs = [Need::Handshake, Need::Questions];
    each_client(&capable(), curious::with, &needs, async |peer| {
        for uri in ["file:///one", "file:///two"] {
            let roots = json!({"roots": [{"uri": uri}]});
            let asked = peer.ask_tool("folders", json!({}), |_| roots.clone()).await;
            assert_eq!(asked.text(), uri);
            peer.tell(r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#)
                .await;
        }
    })
    .await;
}

// req: roots-result-shape
#[tokio::test]
async fn the_roots_are_asked_for_in_every_revision() {
    each_client(
        &capable(),
        curious::with,
        &[Need::Questions],
        async |peer| {
            let asked = peer.ask_tool("folders", json!({}), |_| rooted()).await;
            assert_eq!(asked.text(), "file:///a file:///b");
            assert_eq!(asked.messages(), ["roots/list"]);
            let none = peer
                .ask_tool("folders", json!({}), |_| json!({"roots": []}))
                .await;
            assert_eq!(none.text(), "");
        },
    )
    .await;
}

// req: elicit-url-params-2025-11, elicit-url-params-2026
#[tokio::test]
async fn a_url_is_visited_where_there_are_urls() {
    each_client(&capable(), curious::with, &[Need::Urls], async |peer| {
        for (action, said) in [
            ("accept", "visited"),
            ("decline", "not visited"),
            ("cancel", "not visited"),
        ] {
            let answer = |_: &Value| json!({"action": action});
            let asked = peer.ask_tool("visit", json!({}), answer).await;
            assert_eq!(asked.text(), said);
            let params = &asked.questions[0]["params"];
            assert_eq!(
                (&params["mode"], &params["url"]),
                (&json!("url"), &json!(URL))
            );
            let pushed = peer.has(Need::QuestionsOnStreams);
            assert_eq!(params["elicitationId"].is_string(), pushed, "{params}");
        }
    })
    .await;
}

// req: elicit-mode-gate
#[tokio::test]
async fn a_url_is_not_visited_where_there_are_none() {
    each_client(&capable(), curious::with, &[], async |peer| {
        if peer.has(Need::Urls) {
            return;
        }
        let asked = peer.ask_tool("visit", json!({}), anything).await;
        assert!(asked.outcome.is_tool_error(), "{asked:?}");
        assert_eq!(asked.questions.len(), 0);
    })
    .await;
}

// req: mrtr-input-request-entries, mrtr-result-shape
#[tokio::test]
async fn several_questions_are_put_at_once() {
    each_client(&capable(), curious::with, &[Need::Urls], async |peer| {
        let asked = peer.ask_tool("several", json!({}), anything).await;
        assert_eq!(asked.text(), "form; model; file:///r; Accept", "{asked:?}");
        let mut messages = asked.messages();
        messages.sort_unstable();
        let expected = [
            "Please pay.",
            "What is your name?",
            "roots/list",
            "sampling/createMessage",
        ];
        assert_eq!(messages, expected);
        let rounds = usize::from(!peer.has(Need::QuestionsOnStreams));
        assert_eq!(asked.tokens.len(), rounds);
    })
    .await;
}

/// On the stream all of them are there before any is answered; answers come in any order.
#[tokio::test]
async fn several_questions_wait_side_by_side() {
    let needs = [Need::Urls, Need::QuestionsOnStreams];
    each_client(&capable(), curious::with, &needs, async |peer| {
        let call = json!({"name": "several", "arguments": {}});
        let mut talk = peer.talk("tools/call", call).await;
        let mut questions = Vec::new();
        for _ in 0..4 {
            questions.push(talk.question().await);
        }
        let ids: std::collections::BTreeSet<&str> = questions
            .iter()
            .filter_map(|it| it["id"].as_str())
            .collect();
        assert_eq!(ids.len(), 4);
        for question in questions.iter().rev() {
            peer.respond(question, anything(question)).await;
        }
        let reply = talk.reply().await;
        assert_eq!(text(&reply["result"]), "form; model; file:///r; Accept");
    })
    .await;
}

/// What is answered is not asked again with the rest.
// req: mrtr-missing-response-asks-again
#[tokio::test]
async fn only_what_was_not_answered_is_asked_again() {
    use crate::support::pending::Pending;
    let needs = [Need::QuestionsInResults];
    each_client(&capable(), curious::with, &needs, async |peer| {
        let params = json!({"name": "several", "arguments": {}});
        let mut outcome = peer.call("tools/call", params.clone()).await;
        let mut left = vec!["model", "name", "roots", "visit"];
        while let Some(pending) = Pending::of(&params, outcome.result()) {
            let keys: Vec<&String> = pending.questions.keys().collect();
            assert_eq!(keys, left);
            let key = left.remove(0);
            let mut answers = json!({});
            answers[key] = anything(&pending.questions[key]);
            outcome = peer.call("tools/call", pending.with(&answers)).await;
        }
        assert_eq!(left.len(), 0);
        assert_eq!(text(outcome.result()), "form; model; file:///r; Accept");
    })
    .await;
}

// req: mrtr-only-supported-methods
#[tokio::test]
async fn prompts_and_resources_ask_as_well() {
    each_client(
        &capable(),
        curious::with,
        &[Need::FormMessages],
        async |peer| {
            let asked = peer
                .ask("prompts/get", json!({"name": "about"}), |_| filled("Ulm"))
                .await;
            let said = &asked.outcome.result()["messages"][0]["content"]["text"];
            assert_eq!((said, asked.questions.len()), (&json!("About Ulm."), 1));
            for (uri, expected) in [
                ("asked://town", "About Ulm."),
                ("asked://Ada/town", "Ada of Ulm."),
            ] {
                let params = json!({"uri": uri});
                let asked = peer.ask("resources/read", params, |_| filled("Ulm")).await;
                let said = &asked.outcome.result()["contents"][0]["text"];
                assert_eq!((said, asked.questions.len()), (&json!(expected), 1));
            }
        },
    )
    .await;
}
