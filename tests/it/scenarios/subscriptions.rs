//! `resources/subscribe`: what changes is told to whoever has subscribed, and to nobody else.

use mcp_core::Change;
use serde_json::{Value, json};

use crate::support::{
    fixture,
    lively::{self, MADE, WATCHED},
    log::Log,
    matrix::{Need, each, each_of},
    peer::Peer,
    probe::Probe,
    session::Session,
    until,
    workers::Workers,
};

const UPDATED: &str = "notifications/resources/updated";

async fn subscribe(peer: &Peer, method: &str, uri: &str) {
    let answer = peer.call(method, json!({"uri": uri})).await;
    assert_eq!(answer.result(), &json!({}), "{method} {uri}");
}

/// The URIs that were told to have changed, once everything has come.
async fn updates(peer: &Peer) -> Vec<Value> {
    let seen = |peer: &Peer| {
        let unasked = peer.unasked();
        let lists = unasked.iter().filter(|it| it["method"] != UPDATED).count();
        let updates = unasked.iter().filter(|it| it["method"] == UPDATED);
        (
            lists,
            updates.map(|it| it["params"]["uri"].clone()).collect(),
        )
    };
    // This comes behind all of them.
    let (lists, _): (usize, Vec<Value>) = seen(peer);
    peer.registry.announce(Change::Tools);
    until(|| seen(peer).0 > lists).await;
    seen(peer).1
}

// req: resources-subscribe-legacy, resources-updated-legacy
#[tokio::test]
async fn updates_arrive_only_while_subscribed() {
    let needs = [Need::Connection, Need::Handshake];
    each_of(lively::with, &needs, async |peer| {
        let [a, b] = WATCHED;
        peer.attend().await;
        peer.registry.resource_updated(a);
        assert_eq!(updates(peer).await, [""; 0]);

        // Twice is once.
        subscribe(peer, "resources/subscribe", a).await;
        subscribe(peer, "resources/subscribe", a).await;
        peer.registry.resource_updated(a);
        peer.registry.resource_updated(b);
        let heard = peer.heard(UPDATED).await;
        assert_eq!(heard["params"], json!({"uri": a}));
        assert_eq!(updates(peer).await, [a]);

        subscribe(peer, "resources/subscribe", MADE).await;
        peer.registry.resource_updated(MADE);
        peer.registry.resource_updated("made://two/thing");
        assert_eq!(updates(peer).await, [a, MADE]);

        subscribe(peer, "resources/unsubscribe", a).await;
        subscribe(peer, "resources/unsubscribe", a).await;
        peer.registry.resource_updated(a);
        peer.registry.resource_updated(MADE);
        assert_eq!(updates(peer).await, [a, MADE, MADE]);
    })
    .await;
}

// req: resources-not-found-32002
#[tokio::test]
async fn what_cannot_be_subscribed_to_is_an_error() {
    let needs = [Need::Connection, Need::Handshake];
    each_of(lively::with, &needs, async |peer| {
        assert_eq!(peer.server["capabilities"]["resources"]["subscribe"], true);
        for (uri, code) in [
            ("watched://c", -32002),
            ("made://one", -32002),
            ("made://..%2F/thing", -32002),
            ("test://motd", -32602),
            ("no scheme", -32602),
        ] {
            let answer = peer.call("resources/subscribe", json!({"uri": uri})).await;
            assert_eq!(answer.code(), code, "{uri}");
            if code == -32002 {
                assert_eq!(answer.error()["data"]["uri"], uri);
            }
        }
        for params in [json!({}), json!({"uri": 5}), json!({"uri": null})] {
            for method in ["resources/subscribe", "resources/unsubscribe"] {
                let answer = peer.call(method, params.clone()).await;
                assert_eq!(answer.code(), -32602, "{method} {params}");
            }
        }
        // What is gone can still be unsubscribed from.
        subscribe(peer, "resources/unsubscribe", "watched://c").await;
    })
    .await;
}

// req: errors-capability-gated-method-32601
#[tokio::test]
async fn where_nothing_can_be_subscribed_to_there_is_no_method() {
    each(&[Need::Handshake], async |peer| {
        let capabilities = &peer.server["capabilities"]["resources"];
        assert_eq!(capabilities.get("subscribe"), None);
        for method in ["resources/subscribe", "resources/unsubscribe"] {
            let answer = peer.call(method, json!({"uri": "test://motd"})).await;
            assert_eq!(answer.code(), -32601, "{method}");
        }
    })
    .await;
}

/// Nobody could tell a client that sends requests which stand alone.
#[tokio::test]
async fn without_a_session_there_is_no_method_either() {
    each_of(lively::with, &[Need::Handshake], async |peer| {
        if peer.has(Need::Connection) {
            return;
        }
        let capabilities = &peer.server["capabilities"]["resources"];
        assert_eq!(capabilities.get("subscribe"), None);
        let uri = json!({"uri": WATCHED[0]});
        let answer = peer.call("resources/subscribe", uri).await;
        assert_eq!(answer.code(), -32601);
    })
    .await;
}

async fn attend(session: &Session) -> Log {
    session.listen().await.log().0
}

// req: resources-updated-legacy, http-get-unrelated-messages, http-get-no-responses
#[tokio::test]
async fn a_subscription_is_the_sessions_own_on_every_worker() {
    let probe = Probe::default();
    let workers = Workers::new(|config| lively::with(&probe, config));
    let [first, second] = &workers.servers;
    let (alice, bob) = tokio::join!(Session::open(first), Session::open(second));
    let (of_alice, of_bob) = (attend(&alice.at(second)).await, attend(&bob).await);
    let uri = |uri: &str| json!({"uri": uri});
    alice.ask("resources/subscribe", uri(WATCHED[0])).await;
    bob.ask("resources/subscribe", uri(WATCHED[1])).await;
    let other_calls = alice.call(7, "slow", json!({"ms": 30})).await;
    for registry in &workers.registries {
        registry.resource_updated(WATCHED[0]);
        registry.resource_updated(WATCHED[1]);
    }
    other_calls.rest().await;
    workers.registries[0].announce(Change::Prompts);
    for (log, uri) in [(of_alice, WATCHED[0]), (of_bob, WATCHED[1])] {
        log.first(|it| it["method"] == "notifications/prompts/list_changed")
            .await;
        let said = log.messages();
        assert_eq!(said.len(), 3, "{said:?}");
        for update in &said[..2] {
            assert_eq!(update["method"], UPDATED);
            assert_eq!(update["params"]["uri"], uri);
        }
    }
}

#[tokio::test]
async fn one_method_less_where_no_resource_is_left_to_subscribe_to() {
    let registry = fixture::fixture(&Probe::default());
    let server = crate::support::http::Server::of(registry.clone());
    let session = Session::open(&server).await;
    let late = || mcp_core::resource("late://", async || "late").subscribable();
    let subscribe = async || {
        session
            .ask("resources/subscribe", json!({"uri": "late://"}))
            .await
    };
    assert_eq!(subscribe().await["error"]["code"], -32601);
    registry.add_resource(late()).unwrap();
    assert_eq!(subscribe().await["result"], json!({}));
    registry.remove_resource("late://");
    assert_eq!(subscribe().await["error"]["code"], -32601);
}
