//! What is kept from call to call: values of a session, and sessions behind handles.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{
    calling,
    http::Server,
    lively,
    matrix::{Need, each_of},
    peer::Peer,
    probe::Probe,
    session::Session,
    text,
    workers::Workers,
};

async fn tool(peer: &Peer, name: &str, arguments: Value) -> String {
    let answer = peer.tool(name, arguments).await;
    text(answer.result()).to_owned()
}

#[tokio::test]
async fn values_are_kept_from_call_to_call() {
    let needs = [Need::Connection, Need::Handshake];
    each_of(lively::with, &needs, async |peer| {
        assert_eq!(tool(peer, "get", json!({"name": "a"})).await, "nothing");
        for said in ["first", "世界"] {
            let kept = json!({"name": "a", "text": said});
            assert_eq!(tool(peer, "put", kept).await, "kept");
            for _ in 0..2 {
                assert_eq!(tool(peer, "get", json!({"name": "a"})).await, said);
            }
        }
        assert_eq!(tool(peer, "get", json!({"name": "b"})).await, "nothing");
        for count in ["1", "2", "3"] {
            assert_eq!(tool(peer, "count", json!({})).await, count);
        }
    })
    .await;
}

#[tokio::test]
async fn updates_at_the_same_time_are_all_counted() {
    let needs = [Need::Connection, Need::Handshake];
    each_of(lively::with, &needs, async |peer| {
        let mut calls = Vec::new();
        for _ in 0..12 {
            let call = calling("count", json!({}));
            calls.push(peer.begin("tools/call", call, json!({})).await);
        }
        let mut counts = BTreeSet::new();
        for call in calls {
            let answer = peer.outcome(call).await;
            counts.insert(text(answer.result()).parse::<u64>().unwrap());
        }
        assert_eq!(counts, (1..=12).collect());
    })
    .await;
}

// req: versioning-stateless-explicit-ids
#[tokio::test]
async fn without_a_handshake_nothing_is_kept_but_by_a_handle() {
    each_of(lively::with, &[Need::RequestContext], async |peer| {
        for name in ["count", "get"] {
            let answer = peer.tool(name, json!({"name": "a"})).await;
            assert!(answer.is_tool_error(), "{answer:?}");
            assert_eq!(text(answer.result()), "no session");
        }
    })
    .await;
}

// req: versioning-stateless-explicit-ids
#[tokio::test]
async fn a_handle_is_a_session_in_every_revision() {
    each_of(lively::with, &[], async |peer| {
        let handle = tool(peer, "open", json!({})).await;
        let other = tool(peer, "open", json!({})).await;
        assert_ne!(handle, other);
        for count in ["1", "2", "3"] {
            let counted = tool(peer, "count", json!({"handle": handle})).await;
            assert_eq!(counted, count);
        }
        assert_eq!(tool(peer, "count", json!({"handle": other})).await, "1");
        let close = || json!({"handle": handle});
        assert_eq!(tool(peer, "close", close()).await, "true");
        assert_eq!(tool(peer, "close", close()).await, "false");
        for _ in 0..2 {
            let answer = peer.tool("count", close()).await;
            assert_eq!(text(answer.result()), "gone", "on every worker");
        }
        assert_eq!(tool(peer, "count", json!({"handle": other})).await, "2");
    })
    .await;
}

fn forged(handle: &str) -> Vec<String> {
    let flipped = (0..handle.len()).step_by(7).map(|at| {
        let mut bytes = handle.as_bytes().to_vec();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        String::from_utf8(bytes).unwrap()
    });
    let mut forged: Vec<String> = flipped.filter(|it| it != handle).collect();
    forged.extend(["", "x", "no such handle", "\u{0}", "🔑"].map(str::to_owned));
    forged.push(handle[..handle.len() - 1].to_owned());
    forged.push(format!("{handle}A"));
    forged.push(format!("{handle}{handle}"));
    forged.push("A".repeat(100_000));
    forged
}

#[tokio::test]
async fn a_handle_that_was_not_given_out_is_gone() {
    let server = Server::of(lively::lively(&Probe::default()));
    let session = Session::open(&server).await;
    let elsewhere = Session::open(&Server::of(lively::lively(&Probe::default()))).await;
    let handle = session.tool("open", json!({})).await;
    let mut handles = forged(&handle);
    handles.push(elsewhere.tool("open", json!({})).await);
    // What is sealed for another purpose opens nothing here.
    handles.push(session.listen().await.event().await.place().to_owned());
    handles.push(session.id.clone());
    for handle in handles {
        for name in ["count", "close"] {
            let said = session.tool(name, json!({"handle": handle})).await;
            assert_eq!(said, "gone", "{name} {handle}");
        }
    }
    assert_eq!(session.tool("count", json!({"handle": handle})).await, "1");
}

#[tokio::test]
async fn what_one_session_keeps_no_other_sees() {
    let workers = Workers::new(|config| lively::with(&Probe::default(), config));
    let [first, second] = &workers.servers;
    let (alice, bob) = tokio::join!(Session::open(first), Session::open(first));
    assert_ne!(alice.id, bob.id);
    let secret = json!({"name": "secret", "text": "of alice"});
    assert_eq!(alice.tool("put", secret).await, "kept");
    let get = || json!({"name": "secret"});
    assert_eq!(alice.at(second).tool("get", get()).await, "of alice");
    assert_eq!(bob.tool("get", get()).await, "nothing");
    assert_eq!(bob.at(second).tool("get", get()).await, "nothing");

    let debug = json!({"level": "debug"});
    alice.ask("logging/setLevel", debug).await;
    let journal = async |session: &Session| {
        let call = session.call(1, "journal", json!({})).await;
        call.rest().await.iter().filter(|it| !it.is_empty()).count() - 1
    };
    assert_eq!(journal(&alice.at(second)).await, 4);
    assert_eq!(journal(&bob.at(second)).await, 3, "it is alice's level");

    assert_eq!(alice.delete().await.status, 204);
    assert_eq!(bob.status().await, 200);
}
