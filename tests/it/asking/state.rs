//! Calls that begin at one worker and go on at another, and what travels meanwhile.

use std::time::Duration;

use mcp_codec::{InputStyle, Revision, adapter_set};
use mcp_core::{KeyRing, ServerConfig, SessionMode};
use serde_json::{Value, json};

use crate::support::{
    calling,
    curious::{self, STEP, capable, filled},
    http::{Request, Server},
    matrix::{Site, Transport},
    outcome::Outcome,
    peer::Peer,
    pending::Pending,
    probe::Probe,
    text,
    workers::Shared,
};

/// Two workers that share a store and a hub, and a client of both.
pub(super) struct Pair {
    pub(super) peers: [Peer; 2],
    pub(super) shared: Shared,
    pub(super) probe: Probe,
}

impl Pair {
    /// As `change` makes the configuration of each.
    pub(super) async fn new(
        revision: Revision,
        change: impl Fn(usize, &Shared, &mut ServerConfig),
    ) -> Self {
        let (shared, probe) = (Shared::default(), Probe::default());
        let peer = async |at: usize| {
            let mut config = shared.config();
            change(at, &shared, &mut config);
            let registry = curious::with(&probe, config);
            let site = Site::of(registry, &probe, capable());
            Peer::new(Transport::Bytes, revision, site).await
        };
        let peers = [peer(0).await, peer(1).await];
        Self {
            peers,
            shared,
            probe,
        }
    }

    /// A call at the first one, which asks.
    pub(super) async fn asked(&self, tool: &str, arguments: Value) -> Pending {
        let params = calling(tool, arguments);
        let outcome = self.peers[0].call("tools/call", params.clone()).await;
        Pending::of(&params, outcome.result()).unwrap_or_else(|| panic!("{outcome:?}"))
    }

    /// The next round, at that one.
    pub(super) async fn retry(&self, at: usize, params: Value) -> Outcome {
        self.peers[at].call("tools/call", params).await
    }

    /// The next round at the second one, which refuses it; nothing runs.
    pub(super) async fn refused(&self, params: Value) {
        self.probe.clear();
        let outcome = self.retry(1, params).await;
        assert_frozen(&outcome);
        assert_eq!(self.probe.notes(), [""; 0]);
    }
}

/// All that a client learns of a state that is not accepted.
pub(super) fn assert_frozen(outcome: &Outcome) {
    let error = outcome.error();
    assert_eq!(error["code"], -32602);
    assert_eq!(error["message"], "Invalid or expired requestState");
    assert_eq!(error["data"], json!({"reason": "invalid_request_state"}));
}

/// The revisions whose questions leave the call, so that it has to come back.
pub(super) fn leaving() -> impl Iterator<Item = Revision> {
    let leaves = |it: &Revision| it.input_style() != InputStyle::OnStream;
    adapter_set::ALL.iter().copied().filter(leaves)
}

fn as_it_is(_: usize, _: &Shared, _: &mut ServerConfig) {}

// req: mrtr-retry-accepted
#[tokio::test]
async fn a_call_goes_on_at_whichever_worker() {
    for revision in leaving() {
        let pair = Pair::new(revision, as_it_is).await;
        let mut pending = pair.asked("interview", json!({})).await;
        for at in [1, 0] {
            let outcome = pair.retry(at, pending.answered(|_| filled("x"))).await;
            let params = calling("interview", json!({}));
            pending = Pending::of(&params, outcome.result()).unwrap();
        }
        let outcome = pair.retry(1, pending.answered(|_| filled("y"))).await;
        assert_eq!(text(outcome.result()), format!("{STEP}: x, x, y"));
        assert_eq!(pair.probe.count("step"), 1);
    }
}

// req: mrtr-state-integrity, mrtr-state-untrusted
#[tokio::test]
async fn a_worker_without_the_key_refuses_and_runs_nothing() {
    for revision in leaving() {
        let pair = Pair::new(revision, |at, _, config| {
            if at == 1 {
                config.keys = Some(KeyRing::ephemeral());
            }
        });
        let pair = pair.await;
        let retry = pair.asked("interview", json!({})).await;
        let retry = retry.answered(|_| filled("x"));
        pair.refused(retry.clone()).await;
        let outcome = pair.retry(0, retry).await;
        assert!(Pending::of(&json!({}), outcome.result()).is_some());
    }
}

/// The old key opens for as long as it is in the ring.
#[tokio::test]
async fn keys_are_exchanged_while_calls_are_under_way() {
    const OLD: &str = "the old secret, which has 32 bytes and more";
    const NEW: &str = "the new secret, which has 32 bytes and more";
    for revision in leaving() {
        let pair = Pair::new(revision, |at, _, config| {
            let ring = [vec![OLD, NEW], vec![NEW, OLD]];
            config.keys = Some(KeyRing::new(ring[at].clone()).unwrap());
        });
        let pair = pair.await;
        let first = pair.asked("interview", json!({})).await;
        let outcome = pair.retry(1, first.answered(|_| filled("x"))).await;
        let params = calling("interview", json!({}));
        let second = Pending::of(&params, outcome.result()).unwrap();
        let outcome = pair.retry(0, second.answered(|_| filled("x"))).await;
        assert!(Pending::of(&params, outcome.result()).is_some());
    }
}

/// A state that travels, and one that stays in the store.
#[tokio::test]
async fn what_is_too_large_to_travel_stays_in_the_store() {
    for revision in leaving() {
        let pair = Pair::new(revision, as_it_is).await;
        let before = pair.shared.store.len();
        let mut pending = pair.asked("bulky", json!({})).await;
        let mut answers = ["Ada", "Ulm"].into_iter();
        let mut outcome = None;
        for at in [1, 0] {
            assert!(pending.token.len() < 1000, "{}", pending.token.len());
            assert!(pair.shared.store.len() > before);
            let answer = filled(answers.next().unwrap());
            let now = pair.retry(at, pending.answered(|_| answer.clone())).await;
            let params = calling("bulky", json!({}));
            if let Some(next) = Pending::of(&params, now.result()) {
                pending = next;
            }
            outcome = Some(now);
        }
        assert_eq!(text(outcome.unwrap().result()), "Ada, Ulm, 40000");
        let small = pair.asked("interview", json!({})).await;
        assert!(small.token.len() < 1000, "{}", small.token.len());
    }
}

#[tokio::test(start_paused = true)]
async fn what_has_left_the_store_is_an_expired_state() {
    for revision in leaving() {
        let pair = Pair::new(revision, |_, _, config| {
            config.asking.ttl = Duration::from_secs(60);
        });
        let pair = pair.await;
        let retry = pair.asked("bulky", json!({})).await;
        let retry = retry.answered(|_| filled("x"));
        let outcome = pair.retry(1, retry.clone()).await;
        assert!(!outcome.is_tool_error(), "{outcome:?}");
        tokio::time::sleep(Duration::from_secs(61)).await;
        pair.refused(retry).await;
    }
}

/// Another store has not got it either.
#[tokio::test]
async fn what_is_in_another_store_is_an_expired_state() {
    for revision in leaving() {
        let pair = Pair::new(revision, |at, _, config| {
            if at == 1 {
                config.store = None;
            }
        });
        let pair = pair.await;
        let retry = pair.asked("bulky", json!({})).await;
        pair.refused(retry.answered(|_| filled("x"))).await;
    }
}

/// The handle is sealed, and bound as the state itself would be.
// req: mrtr-state-replay-bounds
#[tokio::test]
async fn a_handle_is_bound_as_the_state_would_be() {
    for revision in leaving() {
        let pair = Pair::new(revision, as_it_is).await;
        let pending = pair.asked("bulky", json!({})).await;
        let mut other = pending.answered(|_| filled("x"));
        other["name"] = json!("bulky_once");
        pair.refused(other).await;
        let handle = json!("stored:0123456789abcdef");
        let answers = pending.answers(|_| filled("x"));
        pair.refused(pending.with_state(&answers, &handle)).await;
    }
}

/// What nobody has asked for is neither carried nor kept, whether a state came with it or not.
// req: mrtr-unknown-responses-ignored
#[tokio::test]
async fn answers_to_nothing_are_not_kept() {
    for revision in leaving() {
        let pair = Pair::new(revision, as_it_is).await;
        let pending = pair.asked("interview", json!({})).await;
        let kept = pair.shared.store.len();
        let junk = json!({"junk": filled(&"x".repeat(100_000))});
        let whole = pending.with(&junk);
        let mut bare = pending.with_state(&junk, &Value::Null);
        let arguments = bare["arguments"].as_object_mut().unwrap();
        arguments.remove("_state");
        for params in [whole, bare] {
            let outcome = pair.retry(0, params).await;
            let again = Pending::of(&json!({}), outcome.result()).unwrap();
            assert_eq!(again.questions, pending.questions);
            assert_eq!(pair.shared.store.len(), kept, "{}", revision.version());
            assert!(
                again.token.len() < pending.token.len() + 50,
                "{}",
                again.token.len()
            );
        }
    }
}

/// A step that failed has not run, and one that ran does not run again.
#[tokio::test]
async fn a_step_that_fails_runs_again_in_the_next_round() {
    for revision in leaving() {
        let pair = Pair::new(revision, as_it_is).await;
        let pending = pair.asked("failing_step", json!({})).await;
        let wrong = pair
            .retry(1, pending.answered(|_| json!({"action": "?"})))
            .await;
        let params = calling("failing_step", json!({}));
        let pending = Pending::of(&params, wrong.result()).unwrap();
        let outcome = pair.retry(0, pending.answered(|_| filled("Ada"))).await;
        assert_eq!(text(outcome.result()), "Ada 2");
        assert_eq!(pair.probe.count("step"), 2);
    }
}

/// Without a session the header alone says which revision is spoken, in every round.
#[tokio::test]
async fn a_state_in_the_store_does_not_change_the_revision() {
    let mut config = ServerConfig::default();
    config.sessions.mode = SessionMode::Stateless;
    config.limits.max_carried = 0;
    let registry = curious::with(&Probe::default(), config);
    let server = Server::of(registry);
    for version in ["2025-03-26", "2024-11-05"] {
        let params = calling("sounds", json!({}));
        let send = async |params: Value| {
            let body = crate::support::legacy(1, "tools/call", params);
            let request = Request::post(body).header("MCP-Protocol-Version", version);
            server.send(&request).await.message()["result"].clone()
        };
        let pending = Pending::of(&params, &send(params.clone()).await).unwrap();
        let result = send(pending.answered(|_| filled("x"))).await;
        let content = result["content"].as_array().unwrap();
        let audio = content.iter().any(|it| it["type"] == "audio");
        assert_eq!(audio, version == "2025-03-26", "{version}: {result}");
        assert_eq!(text(&result), version);
    }
}
