//! A30: "decline" and "cancel" come with no content, or null.

use std::cell::Cell;

use serde_json::{Value, json};

use crate::support::{
    curious,
    matrix::{Need, each_of},
    pending::accept,
    text,
};

// req: elicit-result-shape, elicit-handle-decline-cancel
#[tokio::test]
async fn a30_who_says_no_is_heard_whatever_else_they_say() {
    each_of(curious::with, &[Need::Forms], async |peer| {
        for (answer, said) in [
            (json!({"action": "cancel"}), "cancelled"),
            (json!({"action": "cancel", "content": null}), "cancelled"),
            (json!({"action": "decline", "content": {}}), "declined"),
            (accept(json!({"confirm": true})), "sent 5"),
        ] {
            peer.probe.clear();
            let asked = peer
                .ask_tool("transfer", json!({"amount": 5}), |_| answer.clone())
                .await;
            assert_eq!(asked.text(), said, "{answer}");
            assert!(!asked.outcome.is_tool_error());
            assert_eq!(asked.questions.len(), 1, "{answer}");
            assert_eq!(peer.probe.has("sent 5"), said == "sent 5", "{answer}");
        }
    })
    .await;
}

/// The answers of the case that are none.
fn a30_wrong() -> [Value; 3] {
    [
        json!({"action": "accept"}),
        accept(json!({"confirm": "yes"})),
        json!({"action": "later"}),
    ]
}

// req: elicit-validate-answer, mrtr-responses-validated, mrtr-missing-response-asks-again
#[tokio::test]
async fn a30_an_answer_that_does_not_fit_is_asked_for_again() {
    each_of(curious::with, &[Need::Forms], async |peer| {
        for wrong in a30_wrong() {
            peer.probe.clear();
            let times = Cell::new(0);
            let answer = |_: &Value| {
                times.set(times.get() + 1);
                match times.get() {
                    1 => wrong.clone(),
                    _ => json!({"action": "cancel"}),
                }
            };
            let asked = peer
                .ask_tool("transfer", json!({"amount": 5}), answer)
                .await;
            assert_eq!(asked.text(), "cancelled", "{wrong}");
            assert_eq!(asked.questions.len(), 2, "{wrong}");
            assert!(!peer.probe.has("sent 5"), "{wrong}");
        }
    })
    .await;
}

// req: elicit-validate-answer
#[tokio::test]
async fn a30_who_never_fits_is_not_asked_for_ever() {
    each_of(curious::with, &[Need::Forms], async |peer| {
        for wrong in a30_wrong() {
            peer.probe.clear();
            let asked = peer
                .ask_tool("transfer", json!({"amount": 5}), |_| wrong.clone())
                .await;
            assert!(asked.outcome.is_tool_error(), "{asked:?}");
            assert_eq!(asked.questions.len(), 8, "{wrong}");
            assert!(!peer.probe.has("sent 5"), "{wrong}");
        }
    })
    .await;
}

/// Legacy alone: a response can be an error.
// req: sampling-client-errors-handled
#[tokio::test]
async fn a30_an_error_of_the_client_is_a_failed_question() {
    each_of(curious::with, &[Need::QuestionsOnStreams], async |peer| {
        for code in [-1, -32603, -32601, -32000] {
            let call = json!({"name": "transfer", "arguments": {"amount": 5}});
            let mut talk = peer.talk("tools/call", call).await;
            let question = talk.question().await;
            peer.refuse(&question, code).await;
            let reply = talk.reply().await;
            assert_eq!(reply["result"]["isError"], true, "{reply}");
            let said = text(&reply["result"]);
            assert!(said.contains(&code.to_string()), "{said}");
            assert!(!said.contains("says no"), "{said}");
        }
        assert!(!peer.probe.has("sent 5"));
    })
    .await;
}
