//! Answers that are streams, and clients that leave.

use std::time::Duration;

use mcp_core::ServerConfig;
use mcp_http_actix::Endpoint;
use serde_json::{Value, json};

use crate::support::{
    calling,
    events::Events,
    fixture::stateless,
    http::{Request, Server},
    legacy, lively, meta, modern,
    probe::Probe,
    text,
};

fn quick(probe: &Probe) -> Server {
    Server::start(Endpoint::new(stateless(probe)).keep_alive(Duration::from_millis(30)))
}

/// `tools/call` in each era, with a progress token if there is one.
fn calls(name: &str, arguments: Value, token: Option<i64>) -> [Request; 2] {
    let mut params = calling(name, arguments);
    if let Some(token) = token {
        params["_meta"] = json!({"progressToken": token});
    }
    let old = Request::legacy(legacy(1, "tools/call", params.clone()));
    let mut all = meta();
    if let Some(token) = token {
        all["progressToken"] = json!(token);
    }
    params["_meta"] = all;
    let new = Request::modern("tools/call", legacy(1, "tools/call", params));
    [old, new.header("Mcp-Name", name)]
}

// req: http-request-response-content-type, http-sse-ends-after-response, http-2026-x-accel-buffering
// req: http-sse-carries-response, http-sse-related-messages, http-2026-sse-related-only
// req: http-sse-not-closed-early, jsonrpc-2026-no-server-requests
#[tokio::test]
async fn a_notification_before_the_reply_makes_a_stream() {
    let server = Server::of(stateless(&Probe::default()));
    for request in calls("slow", json!({"ms": 60}), Some(5)) {
        let response = server.send(&request).await;
        assert_eq!(response.status, 200);
        assert_eq!(response.header("content-type"), Some("text/event-stream"));
        assert_eq!(response.header("x-accel-buffering"), Some("no"));
        assert_eq!(response.header("cache-control"), Some("no-store"));
        let messages = response.messages();
        assert_eq!(messages.len(), 5);
        assert_eq!(text(&messages[4]["result"]), "60");
    }
    for request in calls("slow", json!({"ms": 3}), None) {
        assert!(
            !server.send(&request).await.is_stream(),
            "there was nothing to say before"
        );
    }
}

#[tokio::test]
async fn notifications_come_when_they_are_said() {
    let server = Server::of(stateless(&Probe::default()));
    for request in calls("slow", json!({"ms": 300}), Some(5)) {
        let mut live = server.open(&request).await;
        let first = live.piece().await.unwrap();
        assert!(first.contains("notifications/progress"), "{first}");
        assert!(!first.contains("result"), "{first}");
        live.rest().await;
    }
}

#[tokio::test]
async fn a_client_that_takes_json_alone_gets_the_reply_alone() {
    let server = quick(&Probe::default());
    for request in calls("slow", json!({"ms": 90}), Some(5)) {
        let response = server
            .send(&request.with("Accept", "application/json"))
            .await;
        assert_eq!(response.status, 200);
        assert_eq!(text(&response.message()["result"]), "90");
    }
}

// req: http-2026-sse-keepalive
#[tokio::test]
async fn a_silent_handler_becomes_a_stream_with_comments() {
    let server = quick(&Probe::default());
    for request in calls("slow", json!({"ms": 150}), None) {
        let mut live = server.open(&request).await;
        assert_eq!(live.header("content-type"), Some("text/event-stream"));
        assert_eq!(live.piece().await.unwrap(), ": keep-alive\n\n");
        let response = live.rest().await;
        let comments = response.text().matches(": keep-alive\n\n").count();
        assert!((2..=20).contains(&comments), "{comments}");
        let messages = response.messages();
        assert_eq!(messages.len(), 1);
        assert_eq!(text(&messages[0]["result"]), "150");
    }
}

#[tokio::test]
async fn comments_come_between_notifications_too() {
    let server = quick(&Probe::default());
    for request in calls("slow", json!({"ms": 240}), Some(5)) {
        let response = server.send(&request).await;
        assert!(response.text().contains(": keep-alive\n\n"));
        assert_eq!(response.messages().len(), 5);
    }
}

/// Sends a request and goes away: from its open stream, or, where there is no answer yet, once the
/// handler has begun.
async fn leave(server: &Server, request: Request, streams: bool, probe: &Probe, begun: &str) {
    if streams {
        let mut live = server.open(&request).await;
        live.piece().await.unwrap();
    } else {
        let server = server.clone();
        let task = tokio::spawn(async move { server.send(&request).await });
        probe.until(begun).await;
        task.abort();
    }
}

// req: http-2026-disconnect-is-cancel, cancel-stops-processing
#[tokio::test]
async fn a_client_that_leaves_cancels_in_the_new_era() {
    let probe = Probe::default();
    let server = Server::of(stateless(&probe));
    // On an open stream, and before there is any answer.
    for token in [Some(5), None] {
        probe.clear();
        let [_, request] = calls("hold", json!({}), token);
        leave(&server, request, token.is_some(), &probe, "hold began").await;
        probe.until("hold stopped").await;
    }
}

// req: http-disconnect-is-not-cancel
#[tokio::test]
async fn a_client_that_leaves_cancels_nothing_in_the_old_era() {
    let probe = Probe::default();
    let server = Server::of(stateless(&probe));
    for token in [Some(5), None] {
        probe.clear();
        let [request, _] = calls("slow", json!({"ms": 120}), token);
        leave(&server, request, token.is_some(), &probe, "slow began").await;
        probe.until("slow done").await;
        assert!(!probe.has("slow stopped"));
    }
}

#[tokio::test]
async fn two_requests_of_one_id_have_two_streams() {
    let server = Server::of(stateless(&Probe::default()));
    let [first_old, first_new] = calls("slow", json!({"ms": 90}), Some(1));
    let [second_old, second_new] = calls("slow", json!({"ms": 30}), Some(2));
    for (first, second) in [(first_old, second_old), (first_new, second_new)] {
        let (first, second) = tokio::join!(server.send(&first), server.send(&second));
        for (response, token, ms) in [(first, 1, "90"), (second, 2, "30")] {
            let messages = response.messages();
            let (reply, notes) = messages.split_last().unwrap();
            assert_eq!(text(&reply["result"]), ms);
            assert!(
                notes
                    .iter()
                    .all(|it| it["params"]["progressToken"] == token)
            );
        }
    }
}

/// Everything of a subscription names its id, and is read by clients as a number of theirs.
#[tokio::test]
async fn an_id_names_a_subscription_digit_for_digit_or_not_at_all() {
    let server = Server::of(lively::with(&Probe::default(), ServerConfig::default()));
    let method = "subscriptions/listen";
    let listen = |id: &str| {
        let filter = json!({"notifications": {"toolsListChanged": true}});
        let body = modern(0, method, filter).replace(r#""id":0"#, &format!(r#""id":{id}"#));
        Request::modern(method, body)
    };
    for id in ["-9223372036854775808", "18446744073709551615", r#""7""#] {
        let mut events = Events::open(&server, &listen(id)).await;
        let acknowledged = events.event().await.data;
        let name = format!(r#""io.modelcontextprotocol/subscriptionId":{id}"#);
        assert!(acknowledged.contains(&name), "{acknowledged}");
    }
    for id in ["18446744073709551616", &"9".repeat(400)] {
        let refused = server.send(&listen(id)).await;
        assert_eq!(refused.status, 400, "{refused:?}");
        assert!(
            refused.text().contains(&format!(r#""id":{id},"#)),
            "{refused:?}"
        );
    }
}
