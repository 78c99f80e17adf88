//! `subscriptions/listen`: one request that stays open and hears of what it asked for.

use mcp_core::Change;
use serde_json::{Value, json};

use crate::support::{
    calling,
    http::{Request, Server},
    lively::{self, MADE, WATCHED},
    matrix::{Need, Transport, each_of},
    modern,
    peer::Peer,
    probe::Probe,
    subscription::{Subscription, tag},
    until,
};

const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

fn everything() -> Value {
    json!({
        "toolsListChanged": true,
        "promptsListChanged": true,
        "resourcesListChanged": true,
        "resourceSubscriptions": WATCHED,
    })
}

/// Changes all there is, ending with the resources' list.
fn change_all(peer: &Peer) {
    let registry = &peer.registry;
    registry.announce(Change::Tools);
    registry.resource_updated(WATCHED[0]);
    registry.announce(Change::Prompts);
    registry.resource_updated(WATCHED[1]);
    registry.resource_updated(MADE);
    registry.announce(Change::Resources);
}

/// What a subscription has heard, as short as can be.
fn heard(subscription: &Subscription) -> Vec<String> {
    let messages = subscription.messages();
    let short = |it: &Value| {
        let method = it["method"].as_str().unwrap_or("result").to_owned();
        let method = method.trim_start_matches("notifications/").to_owned();
        match it["params"]["uri"].as_str() {
            Some(uri) => format!("{method} {uri}"),
            None => method,
        }
    };
    messages.iter().map(short).collect()
}

fn check_tags(subscription: &Subscription) {
    for message in subscription.messages() {
        let of = message.get("result").or_else(|| message.get("params"));
        assert_eq!(of.map(tag), Some(&subscription.id), "{message}");
    }
}

async fn granted(subscription: &Subscription) -> Value {
    let acknowledged = subscription.heard(ACKNOWLEDGED).await;
    acknowledged["params"]["notifications"].clone()
}

// req: subscriptions-ack-first, subscriptions-id-tagging, subscriptions-http-stream
// req: tools-2026-list-changed-on-listen, prompts-2026-list-changed-on-listen
// req: resources-2026-list-changed-on-listen, resources-2026-updated-on-listen
#[tokio::test]
async fn a_subscription_hears_of_what_it_asked_for() {
    each_of(lively::with, &[Need::RequestContext], async |peer| {
        for feature in ["tools", "prompts", "resources"] {
            let capability = &peer.server["capabilities"][feature];
            assert_eq!(capability["listChanged"], true);
        }
        // Two of them have ids of different types.
        for _ in 0..2 {
            let subscription = peer.subscribe(everything()).await;
            assert_eq!(granted(&subscription).await, everything());
            change_all(peer);
            subscription
                .heard("notifications/resources/list_changed")
                .await;
            let expected = [
                "subscriptions/acknowledged".to_owned(),
                "tools/list_changed".to_owned(),
                format!("resources/updated {}", WATCHED[0]),
                "prompts/list_changed".to_owned(),
                format!("resources/updated {}", WATCHED[1]),
                "resources/list_changed".to_owned(),
            ];
            assert_eq!(heard(&subscription), expected);
            check_tags(&subscription);
        }
    })
    .await;
}

// req: subscriptions-only-requested-types, subscriptions-ack-subset
#[tokio::test]
async fn only_what_is_asked_for_and_granted_is_told() {
    each_of(lively::with, &[Need::RequestContext], async |peer| {
        for (filter, expected, told) in [
            (json!({}), json!({}), &[][..]),
            (
                json!({"toolsListChanged": false, "promptsListChanged": true}),
                json!({"promptsListChanged": true}),
                &["prompts/list_changed"],
            ),
            (
                json!({"resourceSubscriptions": [MADE, "watched://c", "test://motd", "no scheme", MADE]}),
                json!({"resourceSubscriptions": [MADE]}),
                &["resources/updated made://one/thing"],
            ),
            (
                json!({"resourceSubscriptions": ["watched://c"]}),
                json!({"resourceSubscriptions": []}),
                &[],
            ),
            (
                json!({"toolsListChanged": true, "futureThings": true}),
                json!({"toolsListChanged": true}),
                &["tools/list_changed"],
            ),
        ] {
            let subscription = peer.subscribe(filter.clone()).await;
            assert_eq!(granted(&subscription).await, expected, "{filter}");
            // Whatever it hears, this one hears of it later.
            let witness = peer.subscribe(everything()).await;
            granted(&witness).await;
            change_all(peer);
            witness.heard("notifications/resources/list_changed").await;
            if let Some(last) = told.last() {
                let method = last.split(' ').next().unwrap_or_default();
                subscription.heard(&format!("notifications/{method}")).await;
            }
            let mut all = vec!["subscriptions/acknowledged"];
            all.extend(told);
            assert_eq!(heard(&subscription), all, "{filter}");
            peer.unsubscribe(&subscription).await;
            peer.unsubscribe(&witness).await;
        }
    })
    .await;
}

// req: subscriptions-concurrent, subscriptions-client-cancel, stdio-2026-cancelled-request-silent
#[tokio::test]
async fn one_of_several_ends_and_the_others_go_on() {
    let needs = [Need::RequestContext, Need::OneRegistry];
    each_of(lively::with, &needs, async |peer| {
        let tools = || json!({"toolsListChanged": true});
        let all = [(); 3].map(|()| peer.subscribe(tools()));
        let all = futures_util::future::join_all(all).await;
        for subscription in &all {
            granted(subscription).await;
        }
        assert_eq!(peer.registry.open_streams(), 3);
        peer.unsubscribe(&all[1]).await;
        until(|| peer.registry.open_streams() == 2).await;
        peer.registry.announce(Change::Tools);
        for subscription in [&all[0], &all[2]] {
            subscription.heard("notifications/tools/list_changed").await;
            let expected = ["subscriptions/acknowledged", "tools/list_changed"];
            assert_eq!(heard(subscription), expected);
            check_tags(subscription);
        }
        assert_eq!(heard(&all[1]), ["subscriptions/acknowledged"]);
    })
    .await;
}

// req: subscriptions-no-request-scoped-messages
#[tokio::test]
async fn what_calls_say_is_not_told_to_subscriptions() {
    each_of(lively::with, &[Need::RequestContext], async |peer| {
        let subscription = peer.subscribe(everything()).await;
        granted(&subscription).await;
        let meta = json!({"progressToken": 1, "io.modelcontextprotocol/logLevel": "debug"});
        for (name, arguments) in [("slow", json!({"ms": 3})), ("journal", json!({}))] {
            let call = calling(name, arguments);
            let answer = peer.call_with("tools/call", call, meta.clone()).await;
            assert!(!answer.notes.is_empty());
            assert!(answer.notes.iter().all(|it| tag(&it["params"]).is_null()));
        }
        peer.registry.announce(Change::Tools);
        subscription.heard("notifications/tools/list_changed").await;
        let expected = ["subscriptions/acknowledged", "tools/list_changed"];
        assert_eq!(heard(&subscription), expected);
    })
    .await;
}

// req: subscriptions-graceful-close, cancel-2026-listen-teardown
// req: cancel-2026-server-only-for-listen
#[tokio::test]
async fn a_server_that_ends_ends_subscriptions_first() {
    let needs = [Need::RequestContext, Need::OneRegistry];
    each_of(lively::with, &needs, async |peer| {
        let subscriptions = [(); 2].map(|()| peer.subscribe(everything()));
        let subscriptions = futures_util::future::join_all(subscriptions).await;
        for subscription in &subscriptions {
            granted(subscription).await;
        }
        peer.registry.shut_down();
        for subscription in &subscriptions {
            let result = subscription.result().await;
            assert_eq!(result["resultType"], "complete");
            let mut expected = vec!["subscriptions/acknowledged"];
            // Where several requests share a stream, it is said that this one is over.
            if peer.has(Need::Connection) {
                expected.push("cancelled");
            }
            expected.push("result");
            assert_eq!(heard(subscription), expected);
            check_tags(subscription);
            if peer.transport != Transport::Stdio {
                subscription.ended().await;
            }
        }
    })
    .await;
}

fn listen(filter: &Value) -> Request {
    let method = "subscriptions/listen";
    Request::modern(method, modern(1, method, json!({"notifications": filter})))
}

#[tokio::test]
async fn a_client_that_takes_no_stream_cannot_listen() {
    let registry = lively::lively(&Probe::default());
    let server = Server::of(registry.clone());
    for accept in [
        "application/json",
        "application/*",
        "text/event-stream;q=0, */*",
    ] {
        let request = listen(&everything()).with("Accept", accept);
        let response = server.send(&request).await;
        assert_eq!(response.status, 406, "{accept}");
    }
    assert_eq!(registry.open_streams(), 0);
}

// req: subscriptions-request-shape
#[tokio::test]
async fn a_filter_of_another_shape_is_refused() {
    let registry = lively::lively(&Probe::default());
    let server = Server::of(registry.clone());
    for filter in [
        json!(null),
        json!([]),
        json!("tools"),
        json!({"toolsListChanged": "yes"}),
        json!({"resourceSubscriptions": "watched://a"}),
        json!({"resourceSubscriptions": [5]}),
    ] {
        let response = server.send(&listen(&filter)).await;
        assert_eq!(
            (response.status, response.code()),
            (400, -32602),
            "{filter}"
        );
    }
    assert_eq!(registry.open_streams(), 0);
}

// req: subscriptions-no-state-across-connections
#[tokio::test]
async fn a_client_that_comes_back_hears_nothing_until_it_listens_again() {
    use crate::support::events::Events;
    let registry = lively::lively(&Probe::default());
    let server = Server::of(registry.clone());
    let mut stream = Events::open(&server, &listen(&everything())).await;
    stream.message().await;
    drop(stream);
    registry.announce(Change::Prompts);
    let mut stream = Events::open(&server, &listen(&json!({"toolsListChanged": true}))).await;
    assert_eq!(stream.event().await.message()["method"], ACKNOWLEDGED);
    registry.announce(Change::Prompts);
    registry.announce(Change::Tools);
    let next = stream.event().await;
    assert_eq!(next.message()["method"], "notifications/tools/list_changed");
    assert_eq!(next.id, None, "there is nothing to take up");
}
