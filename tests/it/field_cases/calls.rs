//! A21, A22 and A27: cancellation, progress, panics.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::support::{
    calling,
    events::{Events, messages},
    fixture::{SECRET, fixture, stateless},
    http::{Request, Server},
    legacy,
    lively::lively,
    matrix::{Need, each},
    modern,
    probe::Probe,
    session::Session,
    stdio::Stdio,
    text,
};

const A21_CANCELS: [&str; 5] = [
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"user"}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"7"}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4242}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}"#,
];

async fn a21_round(gap: Duration) -> bool {
    let probe = Probe::default();
    let stdio = Stdio::shaken(fixture(&probe), "2025-11-25").await;
    stdio
        .send(&legacy(7, "tools/call", calling("slow", json!({"ms": 50}))))
        .await;
    tokio::time::sleep(gap).await;
    for line in A21_CANCELS {
        stdio.send(line).await;
    }
    stdio
        .send(r#"{"jsonrpc":"2.0","id":8,"method":"ping"}"#)
        .await;
    stdio.answer(&json!(8)).await;
    let answers = stdio.finish().await;
    let of = |id: i64| answers.iter().filter(|it| it["id"] == id).count();
    assert_eq!(of(8), 1);
    assert!(of(7) <= 1, "{answers:?}");
    assert_eq!(answers.len(), of(7) + 1, "{answers:?}");
    let cancelled = of(7) == 0;
    // An answer that was about to leave may be lost to the cancellation, never the other way.
    assert!(cancelled || probe.has("slow done"));
    cancelled
}

// req: cancel-invalid-ignored, cancel-race-tolerated, cancel-stops-processing
#[tokio::test]
async fn a21_cancelling_what_is_finished_unknown_or_malformed() {
    // From 20 ms to 80 ms, more closely around the end of the call.
    let gaps = (0..100).map(|round: i32| {
        let off = f64::from(round - 50) / 50.0;
        Duration::from_secs_f64(0.05 + 0.03 * off.powi(3))
    });
    let cancelled = join_all(gaps.map(a21_round)).await;
    assert!(cancelled[0], "30 ms early is in time");
    assert!(!a21_round(Duration::from_millis(120)).await);
}

// req: cancel-stops-processing, stdio-2026-cancelled-request-silent
#[tokio::test]
async fn a21_cancelled_in_time_the_handler_stops_and_nothing_is_sent() {
    each(&[Need::Connection], async |peer| {
        let call = calling("hold", json!({}));
        let ticket = peer.begin("tools/call", call, json!({})).await;
        peer.probe.until("hold began").await;
        peer.cancel(&ticket).await;
        peer.probe.until("hold stopped").await;
        peer.silence(ticket).await;
        let answer = peer.tool("echo", json!({"text": "on"})).await;
        assert_eq!(text(answer.result()), "on");
    })
    .await;
}

fn a22_check(messages: &[Value], token: Option<&Value>) {
    let (answer, notes) = messages.split_last().unwrap();
    assert_eq!(
        text(&answer["result"]),
        "300",
        "the answer is the last: {messages:?}"
    );
    let progress: Vec<f64> = notes
        .iter()
        .map(|note| {
            assert_eq!(note["method"], "notifications/progress");
            assert_eq!(Some(&note["params"]["progressToken"]), token);
            note["params"]["progress"].as_f64().unwrap()
        })
        .collect();
    let expected: &[f64] = match token {
        Some(_) => &[0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0],
        None => &[],
    };
    assert_eq!(progress, expected);
}

// req: progress-token-type, progress-only-active-token, progress-increases, progress-shape
// req: progress-stops-on-completion, http-sse-ends-after-response, http-sse-related-messages
// req: http-2026-sse-related-only, http-sse-carries-response
#[tokio::test]
async fn a22_progress_goes_to_the_token_the_client_gave() {
    let registry = stateless(&Probe::default());
    let server = Server::of(registry.clone());
    let slow = |token: Option<&Value>| {
        let mut params = calling("slow", json!({"ms": 300}));
        if let Some(token) = token {
            params["_meta"] = json!({"progressToken": token});
        }
        params
    };
    let tokens = [
        Some(json!(0)),
        Some(json!("")),
        Some(json!("7")),
        Some(json!(7)),
        None,
    ];
    let rounds = tokens.iter().map(|token| async {
        let (token, params) = (token.as_ref(), slow(token.as_ref()));
        let stdio = Stdio::shaken(registry.clone(), "2025-11-25").await;
        stdio.send(&legacy(1, "tools/call", params.clone())).await;
        let old = Request::legacy(legacy(1, "tools/call", params.clone()));
        let mut body: Value = serde_json::from_str(&modern(1, "tools/call", params)).unwrap();
        if let Some(token) = token {
            body["params"]["_meta"]["progressToken"] = token.clone();
        }
        let new = Request::modern("tools/call", body.to_string()).header("Mcp-Name", "slow");
        let (old, new) = tokio::join!(server.send(&old), server.send(&new));
        stdio.answer(&json!(1)).await;
        for response in [old, new] {
            assert_eq!(response.is_stream(), token.is_some());
            a22_check(&response.messages(), token);
        }
        a22_check(&stdio.finish().await, token);
    });
    join_all(rounds).await;
}

// req: progress-stops-on-completion, stdio-2026-cancelled-request-silent
#[tokio::test]
async fn a22_there_is_no_progress_after_a_cancellation() {
    let stdio = Stdio::shaken(fixture(&Probe::default()), "2025-11-25").await;
    let mut params = calling("slow", json!({"ms": 150}));
    params["_meta"] = json!({"progressToken": 0});
    stdio.send(&legacy(7, "tools/call", params)).await;
    stdio
        .first(|it| it["method"] == "notifications/progress")
        .await;
    stdio.send(A21_CANCELS[0]).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(stdio.finish().await.len(), 1);
}

// req: progress-stops-on-completion, progress-only-active-token, progress-token-type
#[tokio::test]
async fn a22_in_a_session_progress_goes_to_its_own_stream_and_ends_with_the_call() {
    let probe = Probe::default();
    let server = Server::of(lively(&probe));
    let session = Session::open(&server).await;
    let stream = session.listen().await.log().0;
    for token in [json!(0), json!(""), json!("7"), json!(7)] {
        probe.clear();
        probe.note_all(&["go 1", "go 2"]);
        let mut params = calling("steps", json!({"n": 4}));
        params["_meta"] = json!({"progressToken": token});
        let request = Request::post(legacy(7, "tools/call", params));
        let mut call = Events::open(&server, &session.dressed(request)).await;
        for step in [1.0, 2.0] {
            let note = call.message().await;
            assert_eq!(note["params"]["progressToken"], token);
            assert_eq!(note["params"]["progress"], step);
        }
        assert_eq!(session.post(A21_CANCELS[0]).await.status, 202);
        probe.until("steps stopped").await;
        probe.note_all(&["go 3", "go 4", "go on"]);
        assert_eq!(messages(&call.rest().await), [json!(null); 0]);
    }
    assert_eq!(
        stream.messages(),
        [json!(null); 0],
        "it is for other things"
    );
}

// req: errors-internal-32603, resources-internal-error
#[tokio::test]
async fn a27_a_handler_that_panics() {
    each(&[], async |peer| {
        for name in ["boom", "boom_early", "boom_later", "crash"] {
            let answer = peer.tool(name, json!({})).await;
            assert!(answer.is_tool_error(), "{name}: {answer:?}");
            let said = answer.reply.as_ref().unwrap().to_string();
            assert!(!said.contains("secret"), "{said}");
            assert!(text(answer.result()).contains("internal error"), "{said}");
        }
        let fuse = json!({
            "ref": {"type": "ref/prompt", "name": "boom"},
            "argument": {"name": "fuse", "value": ""},
        });
        for (method, params) in [
            ("resources/read", json!({"uri": "test://boom"})),
            ("prompts/get", json!({"name": "boom"})),
            ("completion/complete", fuse),
        ] {
            let answer = peer.call(method, params).await;
            assert_eq!(answer.code(), -32603, "{method}");
            assert!(!answer.error().to_string().contains("secret"), "{answer:?}");
            assert_eq!(answer.status.unwrap_or(200), 200);
        }
        let answer = peer.tool("echo", json!({"text": "still here"})).await;
        assert_eq!(text(answer.result()), "still here");
    })
    .await;
    assert!(SECRET.contains("secret"));
}

#[tokio::test]
async fn a27_a_panic_frees_the_id_of_its_call() {
    let stdio = Stdio::shaken(fixture(&Probe::default()), "2025-11-25").await;
    stdio
        .send(&legacy(1, "tools/call", calling("boom_later", json!({}))))
        .await;
    stdio.answer(&json!(1)).await;
    stdio
        .send(&legacy(
            1,
            "tools/call",
            calling("echo", json!({"text": "again"})),
        ))
        .await;
    let answers = stdio.finish().await;
    assert_eq!(answers.len(), 2);
    assert_eq!(text(&answers[1]["result"]), "again");
}

/// What a panic, a time limit or a cancellation leaves behind: nothing.
#[tokio::test]
async fn a27_nothing_stays_registered() {
    use mcp_core::{Connection, Dispatcher, Incoming};

    let probe = Probe::default();
    let dispatcher = Dispatcher::new(fixture(&probe));
    let connection = Connection::new();
    let begin =
        |body: String| dispatcher.answer(&Incoming::new(body.into()).connection(&connection));
    let in_flight = |count: usize| {
        let state = format!("{connection:?}");
        assert!(state.contains(&format!("in_flight: {count}")), "{state}");
    };
    for name in ["boom", "boom_later", "limited", "echo"] {
        begin(modern(1, "tools/call", calling(name, json!({}))))
            .next()
            .await;
        in_flight(0);
    }
    let mut held = begin(modern(1, "tools/call", calling("hold", json!({}))));
    let waited = tokio::time::timeout(Duration::from_millis(10), held.next()).await;
    assert!(waited.is_err(), "it is held");
    in_flight(1);
    drop(held);
    in_flight(0);
    assert!(probe.has("hold stopped"));
}
