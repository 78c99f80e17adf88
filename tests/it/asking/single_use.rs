//! Retries that count once.

use std::time::Duration;

use mcp_core::KeyRing;
use mcp_state::RequestStateSecurity;
use serde_json::{Value, json};

use super::state::{Pair, leaving};
use crate::support::{
    calling,
    curious::{anything, confirmed, filled},
    pending::Pending,
    text,
};

// req: mrtr-state-single-use
#[tokio::test]
async fn one_after_another_they_get_the_same_answer() {
    for revision in leaving() {
        let pair = Pair::new(revision, |_, _, _| {}).await;
        let retry = pair.asked("transfer_once", json!({"amount": 7})).await;
        let retry = retry.answered(confirmed);
        for at in [1, 0, 1, 0] {
            let outcome = pair.retry(at, retry.clone()).await;
            assert_eq!(text(outcome.result()), "sent 7");
        }
        assert_eq!(pair.probe.count("sent 7"), 1);
        let again = pair.asked("transfer_once", json!({"amount": 7})).await;
        pair.retry(1, again.answered(confirmed)).await;
        assert_eq!(pair.probe.count("sent 7"), 2, "another call is another one");
    }
}

// req: mrtr-state-single-use
#[tokio::test]
async fn at_once_they_get_the_same_answer() {
    for revision in leaving() {
        let pair = Pair::new(revision, |_, _, _| {}).await;
        let retry = pair.asked("slow_once", json!({})).await;
        let retry = retry.answered(|_| filled("it"));
        let release = async {
            pair.probe.until("began").await;
            pair.probe.note("go on");
        };
        let (one, two, three, ()) = tokio::join!(
            pair.retry(0, retry.clone()),
            pair.retry(1, retry.clone()),
            pair.retry(1, retry.clone()),
            release,
        );
        for outcome in [one, two, three] {
            assert_eq!(text(outcome.result()), "it 1");
        }
        assert_eq!(
            (pair.probe.count("began"), pair.probe.count("done")),
            (1, 1)
        );
    }
}

/// A round that asks again counts once as well: its question comes again, and not another.
// req: mrtr-state-single-use
#[tokio::test]
async fn a_round_that_asks_is_kept_too() {
    for revision in leaving() {
        let pair = Pair::new(revision, |_, _, _| {}).await;
        let params = calling("bulky_once", json!({}));
        let retry = pair.asked("bulky_once", json!({})).await;
        let retry = retry.answered(|_| filled("Ada"));
        let mut pendings = Vec::new();
        for at in [0, 1, 1] {
            let outcome = pair.retry(at, retry.clone()).await;
            pendings.push(Pending::of(&params, outcome.result()).unwrap());
        }
        assert_eq!(pendings[0].token, pendings[1].token);
        assert_eq!(pendings[0].token, pendings[2].token);
        let outcome = pair.retry(1, pendings[0].answered(|_| filled("Ulm"))).await;
        assert_eq!(text(outcome.result()), "Ada, Ulm, 40000");
        assert_eq!(pair.probe.count("done"), 1);
    }
}

/// The next round, however long it takes.
async fn patiently(pair: &Pair, at: usize, params: Value) -> Value {
    pair.peers[at]
        .talk("tools/call", params)
        .await
        .reply()
        .await
}

/// What a worker has begun and not finished is free again when its lease ends.
#[tokio::test(start_paused = true)]
async fn a_retry_whose_worker_has_died_is_taken_over() {
    for revision in leaving() {
        let pair = Pair::new(revision, |_, _, _| {}).await;
        let retry = pair.asked("slow_once", json!({})).await;
        let retry = retry.answered(|_| filled("it"));
        let mut dying = pair.peers[0].talk("tools/call", retry.clone()).await;
        let reads = tokio::time::timeout(Duration::from_millis(100), dying.next());
        assert!(reads.await.is_err(), "it is at work");
        drop(dying);
        assert!(pair.probe.has("stopped"));
        pair.probe.note("go on");
        let began = tokio::time::Instant::now();
        let reply = patiently(&pair, 1, retry).await;
        assert_eq!(text(&reply["result"]), "it 1");
        assert!(
            began.elapsed() < Duration::from_secs(40),
            "{:?}",
            began.elapsed()
        );
    }
}

/// A panic is an end as well: whoever sends the same again does not wait for a lease.
#[tokio::test(start_paused = true)]
async fn a_retry_whose_handler_has_panicked_is_answered_at_once() {
    for revision in leaving() {
        let pair = Pair::new(revision, |_, _, _| {}).await;
        let retry = pair.asked("panics_once", json!({})).await;
        let retry = retry.answered(|_| filled("it"));
        let began = tokio::time::Instant::now();
        for at in [0, 1] {
            let reply = patiently(&pair, at, retry.clone()).await;
            assert_eq!(reply["result"]["isError"], true, "{reply}");
        }
        assert!(
            began.elapsed() < Duration::from_secs(5),
            "{:?}",
            began.elapsed()
        );
    }
}

/// A handler that takes longer than a lease keeps it.
#[tokio::test(start_paused = true)]
async fn a_retry_that_takes_long_is_not_taken_over() {
    for revision in leaving() {
        let pair = Pair::new(revision, |_, _, _| {}).await;
        let retry = pair.asked("slow_once", json!({})).await;
        let retry = retry.answered(|_| filled("it"));
        let release = async {
            tokio::time::sleep(Duration::from_secs(100)).await;
            pair.probe.note("go on");
        };
        let both = tokio::join!(
            patiently(&pair, 0, retry.clone()),
            patiently(&pair, 1, retry),
            release
        );
        assert_eq!(text(&both.0["result"]), "it 1");
        assert_eq!(text(&both.1["result"]), "it 1");
        assert_eq!(pair.probe.count("began"), 1);
    }
}

/// The answer is kept for as long as its state can come back.
// req: mrtr-state-single-use
#[tokio::test(start_paused = true)]
async fn an_answer_is_kept_for_as_long_as_its_state_lives() {
    for revision in leaving() {
        let ring = KeyRing::ephemeral();
        let pair = Pair::new(revision, |_, _, config| {
            // The state lives for ten minutes.
            config.asking.security = Some(RequestStateSecurity::with_keys(&ring));
            config.asking.ttl = Duration::from_secs(1);
        });
        let pair = pair.await;
        let retry = pair.asked("transfer_once", json!({"amount": 7})).await;
        let retry = retry.answered(confirmed);
        pair.retry(0, retry.clone()).await;
        tokio::time::sleep(Duration::from_secs(60)).await;
        pair.retry(1, retry).await;
        assert_eq!(pair.probe.count("sent 7"), 1);
    }
}

/// A question that cannot be put is told as everywhere, and the retry may come again.
// req: mrtr-capability-filter
#[tokio::test]
async fn a_retry_that_cannot_be_asked_says_what_it_needs() {
    for revision in leaving().filter(|it| it.version() == *"2026-07-28") {
        let pair = Pair::new(revision, |_, _, _| {}).await;
        let pending = pair.asked("mixed_once", json!({})).await;
        let retry = pending.answered(anything);
        let less = json!({"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}});
        let outcome = pair.peers[1].call_with("tools/call", retry.clone(), less);
        let outcome = outcome.await;
        assert_eq!(outcome.code(), -32021, "{outcome:?}");
        let required = &outcome.error()["data"]["requiredCapabilities"];
        assert_eq!(required, &json!({"sampling": {}}));
        let outcome = pair.retry(0, retry).await;
        let params = calling("mixed_once", json!({}));
        let pending = Pending::of(&params, outcome.result()).unwrap();
        let outcome = pair.retry(1, pending.answered(anything)).await;
        assert_eq!(text(outcome.result()), "form model");
    }
}
