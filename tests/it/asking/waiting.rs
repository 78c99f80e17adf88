//! Questions on the stream, and clients that answer late, wrongly, elsewhere or never.

use std::time::Duration;

use mcp_core::{Registry, ServerConfig};
use serde_json::{Value, json};

use crate::support::{
    calling,
    curious::{self, filled},
    matrix::{Need, each_of},
    peer::Peer,
    probe::Probe,
    talk::Talk,
    text,
};

const NEEDS: &[Need] = &[Need::QuestionsOnStreams];

/// A call that has asked, and its question.
async fn asked(peer: &Peer) -> (Talk, Value) {
    let mut talk = peer.talk("tools/call", calling("patient", json!({}))).await;
    let question = talk.question().await;
    (talk, question)
}

fn impatient(probe: &Probe, mut config: ServerConfig) -> Registry {
    config.asking.timeout = Duration::from_millis(60);
    curious::with(probe, config)
}

// req: cancel-request-id-shape
#[tokio::test]
async fn a_question_that_is_never_answered_is_withdrawn() {
    each_of(impatient, NEEDS, async |peer| {
        let (mut talk, question) = asked(peer).await;
        let cancelled = talk.next().await.unwrap();
        assert_eq!(cancelled["method"], "notifications/cancelled");
        assert_eq!(cancelled["params"]["requestId"], question["id"]);
        let reply = talk.reply().await;
        assert_eq!(reply["result"]["isError"], true);
        assert!(text(&reply["result"]).contains("60ms"), "{reply}");
        // What comes now is too late for this call and for every other.
        peer.respond(&question, filled("late")).await;
        let (_, next) = asked(peer).await;
        assert_ne!(next["id"], question["id"]);
        peer.respond(&question, filled("later")).await;
        peer.respond(&next, filled("in time")).await;
    })
    .await;
}

#[tokio::test]
async fn answers_to_other_questions_are_taken_and_ignored() {
    each_of(curious::with, NEEDS, async |peer| {
        let (mut talk, question) = asked(peer).await;
        let id = question["id"].as_str().unwrap();
        for other in [
            json!("ask-0000000000000000"),
            json!(id.to_uppercase()),
            json!(format!("{id} ")),
            json!(1),
            talk.id.clone(),
        ] {
            peer.respond(&json!({"id": other}), filled("wrong")).await;
            peer.refuse(&json!({"id": other}), -1).await;
        }
        peer.respond(&question, filled("right")).await;
        // Only the first answer counts.
        peer.respond(&question, filled("second")).await;
        assert_eq!(text(&talk.reply().await["result"]), "right");
    })
    .await;
}

/// An answer of no known shape is as good as a wrong one.
#[tokio::test]
async fn an_answer_that_makes_no_sense_is_no_crash() {
    each_of(curious::with, NEEDS, async |peer| {
        for result in [
            json!({}),
            json!({"action": 7}),
            json!([]),
            json!(5),
            json!("x"),
        ] {
            let (mut talk, question) = asked(peer).await;
            peer.respond(&question, result.clone()).await;
            let again = talk.next().await.unwrap();
            if again.get("method").is_some() {
                assert_eq!(again["params"], question["params"], "{result}");
                assert_ne!(again["id"], question["id"]);
                peer.respond(&again, filled("right")).await;
                assert_eq!(text(&talk.reply().await["result"]), "right");
            } else {
                assert_eq!(again["result"]["isError"], true, "{result}: {again}");
            }
        }
    })
    .await;
}

#[tokio::test]
async fn questions_of_two_calls_are_not_mixed_up() {
    each_of(curious::with, NEEDS, async |peer| {
        let (mut one, first) = asked(peer).await;
        let (mut two, second) = asked(peer).await;
        assert_ne!(first["id"], second["id"]);
        peer.respond(&second, filled("two")).await;
        assert_eq!(text(&two.last().await["result"]), "two");
        peer.respond(&first, filled("one")).await;
        assert_eq!(text(&one.last().await["result"]), "one");
    })
    .await;
}

// req: cancel-stops-processing
#[tokio::test]
async fn a_call_that_is_cancelled_while_it_asks_stops() {
    each_of(curious::with, NEEDS, async |peer| {
        let (mut talk, question) = asked(peer).await;
        peer.cancel_id(&talk.id).await;
        // Lines do not say that nothing comes.
        if !peer.has(Need::Lines) {
            assert_eq!(talk.next().await, None);
        }
        peer.probe.until("stopped").await;
        peer.respond(&question, filled("late")).await;
        assert_eq!(peer.call("ping", json!({})).await.result(), &json!({}));
    })
    .await;
}

/// A large answer is as good as a small one, at whichever worker it arrives.
#[tokio::test]
async fn a_large_answer_arrives() {
    each_of(curious::with, NEEDS, async |peer| {
        for size in [70_000, 700_000] {
            let (mut talk, question) = asked(peer).await;
            peer.respond(&question, filled(&"x".repeat(size))).await;
            let reply = talk.reply().await;
            assert_eq!(text(&reply["result"]).len(), size);
        }
    })
    .await;
}

/// A tool's own limit goes on while the user thinks.
#[tokio::test]
async fn a_call_that_takes_too_long_with_its_question_is_stopped() {
    let limited = |probe: &_, mut config: ServerConfig| {
        config.call_timeout = Some(Duration::from_millis(60));
        curious::with(probe, config)
    };
    each_of(limited, NEEDS, async |peer| {
        let (mut talk, question) = asked(peer).await;
        let reply = talk.reply().await;
        assert_eq!(reply["result"]["isError"], true);
        peer.probe.until("stopped").await;
        peer.respond(&question, filled("late")).await;
    })
    .await;
}

/// Where forms are results, a client that never comes back leaves nothing running.
// req: mrtr-no-retry-assumed, elicit-handle-decline-cancel
#[tokio::test]
async fn a_client_that_never_comes_back_leaves_nothing_behind() {
    each_of(curious::with, &[Need::Forms], async |peer| {
        if peer.has(Need::QuestionsOnStreams) {
            return;
        }
        peer.tool("patient", json!({})).await;
        assert_eq!(peer.probe.notes(), ["began", "stopped"]);
        assert_eq!(peer.registry.open_streams(), 0);
    })
    .await;
}
