//! Batches: one revision has them.

use mcp_codec::adapter_set;
use serde_json::{Value, json};

use crate::support::{
    fixture::{fixture, stateless},
    http::{Request, Response, Server},
    init, legacy,
    probe::Probe,
    stdio::Stdio,
};

const NOTE: &str = r#"{"jsonrpc":"2.0","method":"notifications/acme"}"#;

fn ping(id: i64) -> String {
    legacy(id, "ping", json!({}))
}

fn batch(members: &[String]) -> String {
    format!("[{}]", members.join(","))
}

async fn post(server: &Server, body: &str) -> Response {
    let request = Request::post(body).header("MCP-Protocol-Version", "2025-03-26");
    server.send(&request).await
}

fn replies(response: &Response) -> Vec<Value> {
    serde_json::from_slice(&response.body).unwrap_or_else(|_| panic!("{response:?}"))
}

// req: jsonrpc-batch-accept-2025-03-26, http-batch-2025-03-26
#[tokio::test]
async fn a_batch_is_answered_together() {
    let server = Server::of(stateless(&Probe::default()));
    let slow = legacy(
        2,
        "tools/call",
        json!({"name": "slow", "arguments": {"ms": 30}}),
    );
    let body = batch(&[
        ping(1),
        slow,
        NOTE.to_owned(),
        legacy(3, "nothing", json!({})),
    ]);
    // Without a header it is taken for the revision that has batches.
    for response in [
        post(&server, &body).await,
        server.send(&Request::post(body.as_str())).await,
    ] {
        assert_eq!(response.status, 200);
        let replies = replies(&response);
        assert_eq!(replies.len(), 3);
        let of = |id: i64| replies.iter().find(|it| it["id"] == id).unwrap();
        assert_eq!(of(1)["result"], json!({}));
        assert_eq!(of(2)["result"]["content"][0]["text"], "30");
        assert_eq!(of(3)["error"]["code"], -32601);
    }
}

// req: http-batch-2025-03-26, jsonrpc-batch-empty-2025-03-26, jsonrpc-batch-initialize-refused
#[tokio::test]
async fn batches_that_are_none() {
    let server = Server::of(stateless(&Probe::default()));
    let response = post(&server, &batch(&[NOTE.to_owned(), NOTE.to_owned()])).await;
    assert_eq!((response.status, response.text()), (202, ""));
    let response = post(&server, "[]").await;
    assert_eq!((response.status, response.code()), (400, -32600));
    let response = post(&server, "[1").await;
    assert_eq!((response.status, response.code()), (400, -32700));

    let response = post(&server, &batch(&[init("2025-03-26"), ping(1)])).await;
    let of_both = replies(&response);
    let refused = of_both.iter().find(|it| it["id"] == "i").unwrap();
    assert_eq!(refused["error"]["code"], -32600);
    assert!(
        of_both
            .iter()
            .any(|it| it["id"] == 1 && it["result"].is_object())
    );

    let members = |count| batch(&(0..count).map(ping).collect::<Vec<_>>());
    assert_eq!(replies(&post(&server, &members(100)).await).len(), 100);
    let response = post(&server, &members(101)).await;
    assert_eq!((response.status, response.code()), (400, -32600));

    let response = post(&server, "[1,null,[]]").await;
    let refused = replies(&response);
    assert_eq!(refused.len(), 3);
    for reply in refused {
        assert_eq!(
            (&reply["error"]["code"], reply.get("id")),
            (&json!(-32600), None)
        );
    }
}

// req: jsonrpc-batch-removed, jsonrpc-server-never-sends-batch
#[tokio::test]
async fn other_revisions_have_none() {
    let probe = Probe::default();
    let server = Server::of(stateless(&probe));
    let echo = legacy(
        1,
        "tools/call",
        json!({"name": "echo", "arguments": {"text": "batched"}}),
    );
    let body = batch(&[echo]);
    for revision in adapter_set::ALL.iter().filter(|it| !it.batches()) {
        let version = revision.version().as_str();
        let request = Request::post(body.as_str()).header("MCP-Protocol-Version", version);
        let response = server.send(&request).await;
        assert_eq!(
            (response.status, response.code()),
            (400, -32600),
            "{version}"
        );
        let stdio = Stdio::start(fixture(&probe));
        stdio.send(&body).await;
        if revision.era() == mcp_codec::Era::Legacy {
            stdio.send(&init(version)).await;
        }
        stdio.send(&body).await;
        let answers = stdio.finish().await;
        let refused = answers
            .iter()
            .filter(|it| it["error"]["code"] == -32600)
            .count();
        assert_eq!(refused, 2, "{version}: {answers:?}");
    }
    assert!(!probe.has("echo batched"));
}

// req: jsonrpc-batch-accept-2025-03-26
#[tokio::test]
async fn a_batch_on_stdio_is_one_line() {
    use mcp_core::{Connection, Dispatcher, Incoming, Message};
    let dispatcher = Dispatcher::new(fixture(&Probe::default()));
    let connection = Connection::new();
    let answer = async |body: String| {
        let incoming = Incoming::new(body.into()).connection(&connection);
        let mut answer = dispatcher.answer(&incoming);
        let Some(Message::Reply(reply)) = answer.next().await else {
            panic!("no reply")
        };
        reply
            .body
            .map(|body| serde_json::from_slice::<Value>(&body).unwrap())
    };
    answer(init("2025-03-26")).await.unwrap();
    let replies = answer(batch(&[ping(1), NOTE.to_owned(), ping(2)]))
        .await
        .unwrap();
    let ids: Vec<&Value> = replies
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["id"])
        .collect();
    assert_eq!(ids, [1, 2]);
    assert_eq!(answer(batch(&[NOTE.to_owned()])).await, None);
}
