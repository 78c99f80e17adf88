//! What a handler gets wrong, and what of all this is logged.

use mcp_codec::{Revision, adapter_set};
use mcp_core::ServerConfig;
use serde_json::{Value, json};

use crate::support::{
    curious::{self, MEMORY, STEP, capable, filled},
    logged::Logged,
    matrix::{Need, Site, Transport, each_of},
    peer::Peer,
    pending::accept,
    probe::Probe,
    text,
};

/// A client of each revision, called directly so that this thread does the logging.
async fn peers() -> Vec<Peer> {
    let peer = |revision: &Revision| {
        let probe = Probe::default();
        let registry = curious::with(&probe, ServerConfig::default());
        let site = Site::of(registry, &probe, capable());
        Peer::new(Transport::Bytes, *revision, site)
    };
    futures_util::future::join_all(adapter_set::ALL.iter().map(peer)).await
}

#[tokio::test]
async fn a_call_is_not_asked_for_ever() {
    each_of(curious::with, &[Need::Forms], async |peer| {
        if peer.has(Need::QuestionsOnStreams) {
            return;
        }
        let asked = peer.ask_tool("endless", json!({}), |_| filled("x")).await;
        assert_eq!(asked.questions.len(), 8);
        assert!(asked.outcome.is_tool_error());
        assert!(text(asked.outcome.result()).contains('8'), "{asked:?}");
    })
    .await;
}

#[tokio::test]
async fn a_key_that_is_used_twice_is_a_mistake_of_the_server() {
    for peer in peers().await {
        for tool in ["key_twice", "key_of_step"] {
            let logged = Logged::begin();
            let asked = peer.ask_tool(tool, json!({}), |_| filled("x")).await;
            assert!(asked.outcome.is_tool_error());
            let said = text(asked.outcome.result());
            assert!(said.starts_with("internal error"), "{said}");
            assert!(!said.contains("same-key"), "{said}");
            let logged = logged.text();
            assert!(logged.contains("ERROR"), "{logged}");
            assert!(
                logged.contains("same-key") && logged.contains("twice"),
                "{logged}"
            );
        }
    }
}

#[tokio::test]
async fn a_question_that_changes_is_a_mistake_of_the_server() {
    for peer in peers().await {
        if peer.has(Need::QuestionsOnStreams) {
            continue;
        }
        let logged = Logged::begin();
        let asked = peer.ask_tool("changing", json!({}), |_| filled("x")).await;
        assert!(asked.outcome.is_tool_error(), "{asked:?}");
        let said = text(asked.outcome.result());
        assert!(said.starts_with("internal error"), "{said}");
        assert!(logged.text().contains("changing-key"), "{}", logged.text());
    }
}

/// A completion has no result that asks.
// req: mrtr-only-supported-methods
#[tokio::test]
async fn a_completion_is_no_place_to_ask() {
    each_of(curious::with, &[Need::RequestContext], async |peer| {
        let prompt = json!({"type": "ref/prompt", "name": "completed"});
        let params = json!({"ref": prompt, "argument": {"name": "name", "value": ""}});
        let outcome = peer.call("completion/complete", params).await;
        assert!(outcome.code() < 0, "{outcome:?}");
    })
    .await;
}

/// Neither answers nor questions, states or tokens are for the log.
#[tokio::test]
async fn what_is_asked_and_answered_is_not_logged() {
    const WORD: &str = "Oberammergau";
    for peer in peers().await {
        let logged = Logged::begin();
        let wrong = std::cell::Cell::new(true);
        let answer = |_: &Value| match wrong.replace(false) {
            true => accept(json!({"text": [WORD], WORD: WORD})),
            false => filled(WORD),
        };
        let asked = peer.ask_tool("interview", json!({}), answer).await;
        assert!(!asked.outcome.is_tool_error(), "{asked:?}");
        let logged = logged.text();
        assert!(logged.contains("asked for again"), "{logged}");
        for word in [WORD, STEP, MEMORY, "Where do you live"] {
            assert!(!logged.contains(word), "{word} in {logged}");
        }
        for token in &asked.tokens {
            assert!(!logged.contains(&token[..20]), "a token in {logged}");
        }
    }
}

/// The reason of a refusal is for the log alone.
// req: mrtr-state-untrusted
#[tokio::test]
async fn why_a_state_is_refused_is_logged() {
    use super::state::{Pair, leaving};
    for revision in leaving() {
        let pair = Pair::new(revision, |_, _, _| {}).await;
        let pending = pair.asked("patient", json!({})).await;
        let answers = pending.answers(|_| filled("x"));
        let logged = Logged::begin();
        pair.refused(pending.with_state(&answers, &json!("v1.garbage")))
            .await;
        let logged = logged.text();
        assert!(logged.contains("refused"), "{logged}");
        assert!(logged.to_lowercase().contains("malformed"), "{logged}");
    }
}

/// Tools that do not say that they ask.
const UNDECLARED: &[&str] = &[
    "quiet",
    "model",
    "folders",
    "visit",
    "several",
    "careful",
    "tooled",
    "mixed_once",
    "pausing",
    "contextual",
];

/// The two arguments are there for those who need them, and for nobody else.
#[tokio::test]
async fn two_more_arguments_are_published_where_they_are_needed() {
    each_of(curious::with, &[], async |peer| {
        let outcome = peer.call("tools/list", json!({})).await;
        let tools = outcome.result()["tools"].as_array().unwrap();
        assert!(tools.len() > UNDECLARED.len());
        for tool in tools {
            let schema = &tool["inputSchema"];
            let members = ["_answers", "_state"];
            let published = members.map(|it| schema["properties"].get(it).is_some());
            let asks = !UNDECLARED.contains(&tool["name"].as_str().unwrap());
            let needed = asks && peer.has(Need::Forms) && !peer.has(Need::FormMessages);
            assert_eq!(published, [needed; 2], "{tool}");
            let required = schema["required"].to_string();
            assert!(!members.iter().any(|it| required.contains(it)), "{tool}");
        }
    })
    .await;
}

/// Where forms are messages the two arguments are none: nothing is taken out or believed.
#[tokio::test]
async fn two_more_arguments_mean_nothing_elsewhere() {
    each_of(curious::with, &[Need::FormMessages], async |peer| {
        let answers = json!({"said": filled("x")});
        let arguments = json!({"_answers": answers, "_state": "v1.x"});
        let outcome = peer.tool("patient", arguments).await;
        assert!(outcome.is_tool_error(), "{outcome:?}");
        assert_eq!(peer.probe.notes(), [""; 0]);
    })
    .await;
}
