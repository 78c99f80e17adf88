//! Calls that ask in a batch, which one revision has: each is bound to itself alone.

use mcp_core::{Connection, Dispatcher, Incoming, Message, ServerConfig};
use serde_json::{Value, json};

use crate::support::{
    INITIALIZED, calling,
    curious::{self, confirmed, filled, sampled},
    events::Events,
    http::{PATIENCE, Request, Server},
    init_with, legacy,
    outcome::utf8,
    pending::Pending,
    probe::Probe,
    process::{Process, everything},
    session::Session,
    text,
};

/// A server, and a connection on which batches are understood.
struct Batches {
    dispatcher: Dispatcher,
    connection: std::sync::Arc<Connection>,
    probe: Probe,
}

impl Batches {
    async fn new(config: ServerConfig) -> Self {
        let probe = Probe::default();
        let batches = Self {
            dispatcher: Dispatcher::new(curious::with(&probe, config)),
            connection: Connection::new(),
            probe,
        };
        batches
            .send(&init_with("2025-03-26", &curious::capable()))
            .await;
        batches.send(INITIALIZED).await;
        batches
    }

    /// What comes back at last; nothing may take for ever.
    async fn send(&self, body: &str) -> Value {
        let incoming = Incoming::new(body.to_owned().into()).connection(&self.connection);
        let mut answer = self.dispatcher.answer(&incoming);
        let read = async {
            let mut last = Value::Null;
            while let Some(message) = answer.next().await {
                if let Message::Reply(reply) = message {
                    let body = reply.body.unwrap_or_default();
                    last = serde_json::from_str(utf8(&body)).unwrap_or_default();
                }
            }
            last
        };
        let read = tokio::time::timeout(PATIENCE, read).await;
        read.expect("the batch is never answered")
    }

    /// Calls of one batch, and their replies in the same order.
    async fn batch(&self, calls: &[Value]) -> Vec<Value> {
        let calls: Vec<Value> = calls
            .iter()
            .zip(1..)
            .map(|(params, id)| {
                serde_json::from_str(&legacy(id, "tools/call", params.clone())).unwrap()
            })
            .collect();
        let replies = self.send(&json!(calls).to_string()).await;
        let replies = replies
            .as_array()
            .unwrap_or_else(|| panic!("no batch: {replies}"));
        let of = |id: usize| replies.iter().find(|it| it["id"] == id).cloned();
        (1..=calls.len())
            .map(|id| of(id).unwrap_or_else(|| panic!("no reply to {id}: {replies:?}")))
            .collect()
    }
}

fn pending(params: &Value, reply: &Value) -> Pending {
    Pending::of(params, &reply["result"]).unwrap_or_else(|| panic!("nothing is asked: {reply}"))
}

#[tokio::test]
async fn calls_of_a_batch_ask_and_go_on_in_the_next() {
    let batches = Batches::new(ServerConfig::default()).await;
    let one = calling("transfer", json!({"amount": 1}));
    let two = calling("transfer", json!({"amount": 2}));
    let replies = batches.batch(&[one.clone(), two.clone()]).await;
    let one = pending(&one, &replies[0]).answered(confirmed);
    let two = pending(&two, &replies[1]).answered(confirmed);
    let replies = batches.batch(&[two, one]).await;
    assert_eq!(text(&replies[0]["result"]), "sent 2");
    assert_eq!(text(&replies[1]["result"]), "sent 1");
}

#[tokio::test]
async fn a_call_that_has_asked_in_a_batch_goes_on_alone() {
    let batches = Batches::new(ServerConfig::default()).await;
    let call = calling("transfer", json!({"amount": 1}));
    let replies = batches.batch(std::slice::from_ref(&call)).await;
    let retry = pending(&call, &replies[0]).answered(confirmed);
    let reply = batches.send(&legacy(7, "tools/call", retry)).await;
    assert_eq!(text(&reply["result"]), "sent 1", "{reply}");
}

/// A state of a batch is bound to its call as every other is.
#[tokio::test]
async fn a_state_of_a_batch_is_of_no_use_to_another_call() {
    let batches = Batches::new(ServerConfig::default()).await;
    let call = calling("patient", json!({}));
    let replies = batches.batch(std::slice::from_ref(&call)).await;
    let mut retry = pending(&call, &replies[0]).answered(|_| filled("x"));
    retry["name"] = json!("slow_once");
    batches.probe.clear();
    batches.probe.note("go on");
    let replies = batches.batch(&[retry]).await;
    assert_eq!(replies[0]["error"]["code"], -32602, "{replies:?}");
    assert_eq!(batches.probe.notes(), ["go on"]);
}

/// A server whose states are all in the store.
async fn storing() -> Batches {
    let mut config = ServerConfig::default();
    config.limits.max_carried = 0;
    Batches::new(config).await
}

/// A state that is in the store is fetched for its call, and answered within the batch.
#[tokio::test]
async fn a_state_in_the_store_is_fetched_for_a_call_of_a_batch() {
    let batches = storing().await;
    let patient = calling("patient", json!({}));
    let replies = batches.batch(std::slice::from_ref(&patient)).await;
    let retry = pending(&patient, &replies[0]).answered(|_| filled("x"));
    let replies = batches.batch(&[retry]).await;
    assert_eq!(text(&replies[0]["result"]), "x", "{replies:?}");
}

/// A batch of calls of `interview`, which answer with that.
async fn interviewed(server: &mut Process, calls: &[&Value]) -> Vec<Value> {
    let call = |params: &Value, id| {
        let call = legacy(id, "tools/call", params.clone());
        serde_json::from_str::<Value>(&call).unwrap()
    };
    let calls: Vec<Value> = (1..).zip(calls).map(|(id, it)| call(it, id)).collect();
    server.send(&json!(calls).to_string()).await;
    let line = server.line().await;
    serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
}

/// Whatever a client puts into a batch, the process goes on: here a state that is in the store
/// behind another call.
#[tokio::test]
async fn a_state_in_the_store_behind_another_call_does_not_end_the_process() {
    let mut server = Process::start(everything(), &["--stdio"], &[]);
    server.send(&init_with("2025-03-26", &json!({}))).await;
    server.line().await;
    server.send(INITIALIZED).await;
    let call = calling("interview", json!({}));
    let mut retry = call.clone();
    for size in [20_000, 1] {
        let replies = interviewed(&mut server, &[&retry]).await;
        let said = filled(&"x".repeat(size));
        retry = pending(&call, &replies[0]).answered(|_| said.clone());
    }
    for calls in [vec![&call, &retry], vec![&retry, &retry]] {
        let replies = interviewed(&mut server, &calls).await;
        assert_eq!(replies.len(), calls.len());
        for reply in replies {
            assert!(
                reply["result"]["_meta"]["requestState"].is_string(),
                "{reply}"
            );
        }
    }
}

/// On the stream a call of a batch asks like any other, and answers may come in a batch.
#[tokio::test]
async fn a_call_of_a_batch_asks_on_its_stream() {
    let server = Server::of(curious::with(&Probe::default(), ServerConfig::default()));
    let session = Session::declaring(&server, "2025-03-26", &curious::capable(), &[]).await;
    let call = |id: i64| legacy(id, "tools/call", calling("model", json!({})));
    let body = format!("[{},{}]", call(1), call(2));
    let mut events = Events::open(&server, &session.dressed(Request::post(body))).await;
    let answers = [events.question().await, events.question().await]
        .map(|question| json!({"jsonrpc": "2.0", "id": question["id"], "result": sampled("blue")}));
    let answered = session.post(json!(answers).to_string()).await;
    assert_eq!((answered.status, answered.text()), (202, ""));
    let last = events.event().await;
    let replies: Vec<Value> = serde_json::from_str(&last.data).unwrap();
    let said: Vec<&str> = replies.iter().map(|it| text(&it["result"])).collect();
    assert_eq!(said, ["blue", "blue"]);
}
