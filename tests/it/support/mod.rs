//! What the tests share: a fixture server, a client for each transport, and the matrix.

pub(crate) mod asking;
pub(crate) mod curious;
pub(crate) mod events;
pub(crate) mod fixture;
pub(crate) mod http;
pub(crate) mod lively;
pub(crate) mod log;
pub(crate) mod logged;
pub(crate) mod login;
pub(crate) mod matrix;
pub(crate) mod outcome;
pub(crate) mod peer;
pub(crate) mod pending;
pub(crate) mod probe;
pub(crate) mod process;
pub(crate) mod session;
pub(crate) mod slow;
pub(crate) mod spy;
pub(crate) mod stdio;
pub(crate) mod subscription;
pub(crate) mod talk;
pub(crate) mod watched;
pub(crate) mod wire;
pub(crate) mod workers;

use std::time::Duration;

use serde_json::{Value, json};

/// `INIT(v)` of the field cases.
pub(crate) fn init(version: &str) -> String {
    init_with(version, &json!({}))
}

/// The same of a client that declares those capabilities.
pub(crate) fn init_with(version: &str, capabilities: &Value) -> String {
    let params = json!({
        "protocolVersion": version,
        "capabilities": capabilities,
        "clientInfo": {"name": "t", "version": "0"},
    });
    json!({"jsonrpc": "2.0", "id": "i", "method": "initialize", "params": params}).to_string()
}

/// The end of the handshake.
pub(crate) const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// `META` of the field cases.
pub(crate) fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// A request that carries its context: `params` with `META`.
pub(crate) fn modern(id: impl Into<Value>, method: &str, mut params: Value) -> String {
    params["_meta"] = meta();
    json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params}).to_string()
}

/// A request of a handshake revision.
#[expect(
    clippy::needless_pass_by_value,
    reason = "tests hand over a `json!` in place"
)]
pub(crate) fn legacy(id: impl Into<Value>, method: &str, params: Value) -> String {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params}).to_string()
}

/// `tools/call` with its name and arguments.
#[expect(
    clippy::needless_pass_by_value,
    reason = "tests hand over a `json!` in place"
)]
pub(crate) fn calling(name: &str, arguments: Value) -> Value {
    json!({"name": name, "arguments": arguments})
}

/// What a client may read in one message: well-formed, and addressed to it.
pub(crate) fn parse(text: &str) -> Value {
    let message: Value =
        serde_json::from_str(text).unwrap_or_else(|error| panic!("no JSON ({error}): {text}"));
    assert!(message.is_object(), "no single message: {text}");
    assert_eq!(message["jsonrpc"], "2.0", "{text}");
    assert_ne!(message.get("id"), Some(&Value::Null), "{text}");
    if message.get("method").is_some() {
        assert!(
            message.get("id").is_none_or(|_| is_question(&message)),
            "a request of a server: {text}"
        );
    } else {
        let (result, error) = (message.get("result"), message.get("error"));
        assert!(result.is_some() != error.is_some(), "{text}");
        assert!(result.is_none_or(Value::is_object), "{text}");
        if let Some(error) = error {
            assert!(error["code"].is_i64(), "{text}");
            let sentence = error["message"].as_str().unwrap_or_default();
            assert!(
                !sentence.is_empty() && sentence.lines().count() == 1,
                "{text}"
            );
        }
    }
    message
}

/// Whether a message is what a server may ask, under an id of its own.
pub(crate) fn is_question(message: &Value) -> bool {
    let methods = ["elicitation/create", "sampling/createMessage", "roots/list"];
    let method = message["method"].as_str().unwrap_or_default();
    methods.contains(&method) && message["id"].is_string()
}

/// The first text block of a tool result.
pub(crate) fn text(result: &Value) -> &str {
    result["content"][0]["text"]
        .as_str()
        .unwrap_or_else(|| panic!("no text: {result}"))
}

/// Waits until something holds that nobody tells of.
pub(crate) async fn until(holds: impl Fn() -> bool) {
    let waiting = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let waited = tokio::time::timeout(http::PATIENCE, waiting).await;
    waited.expect("it never came to hold");
}
