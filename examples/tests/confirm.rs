//! What the README promises of `confirm`: one handler, a client of each era.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "the helpers of a test are no test functions"
)]

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use serde_json::{Value, json};

/// A client that answers every question with "yes".
struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// What the client was asked, in which words.
    asked: Vec<String>,
}

impl Client {
    fn start() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_confirm"))
            .arg("--stdio")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            input: child.stdin.take().unwrap(),
            output: BufReader::new(child.stdout.take().unwrap()),
            child,
            asked: Vec::new(),
        }
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input, "{message}").unwrap();
    }

    fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// Sends a request, answers what is asked on the way, and gives the result.
    fn call(&mut self, method: &str, params: &Value) -> Value {
        self.send(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}));
        loop {
            let message = self.receive();
            if message["method"] == "elicitation/create" {
                self.asked.push(message["params"]["message"].to_string());
                self.send(&json!({"jsonrpc": "2.0", "id": message["id"], "result": yes()}));
                continue;
            }
            assert!(message["error"].is_null(), "{message}");
            return message["result"].clone();
        }
    }

    fn shake(&mut self, version: &str) {
        let params = json!({
            "protocolVersion": version,
            "capabilities": {"elicitation": {}},
            "clientInfo": {"name": "test", "version": "0"},
        });
        assert_eq!(self.call("initialize", &params)["protocolVersion"], version);
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    }

    fn end(mut self) -> Vec<String> {
        drop(self.input);
        assert!(self.child.wait().unwrap().success());
        self.asked
    }
}

fn yes() -> Value {
    json!({"action": "accept", "content": {"sure": true}})
}

/// The same answer for each question of a round.
fn answers(questions: &Value) -> Value {
    let questions = questions.as_object().unwrap();
    questions.keys().map(|key| (key.clone(), yes())).collect()
}

fn deleted(result: &Value) {
    assert_eq!(
        result["content"][0]["text"], "a.txt is deleted.",
        "{result}"
    );
}

#[test]
fn the_newest_client_is_asked_by_the_result() {
    let mut client = Client::start();
    let mut params = json!({
        "name": "delete",
        "arguments": {"file": "a.txt"},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
        },
    });
    let asked = client.call("tools/call", &params);
    assert_eq!(asked["resultType"], "input_required");
    params["inputResponses"] = answers(&asked["inputRequests"]);
    params["requestState"] = asked["requestState"].clone();
    deleted(&client.call("tools/call", &params));
    // The same retry once more is the same answer.
    deleted(&client.call("tools/call", &params));
    client.end();
}

#[test]
fn a_client_with_a_handshake_is_asked_on_its_stream() {
    for version in ["2025-06-18", "2025-11-25"] {
        let mut client = Client::start();
        client.shake(version);
        let params = json!({"name": "delete", "arguments": {"file": "a.txt"}});
        deleted(&client.call("tools/call", &params));
        let asked = client.end();
        assert_eq!(asked, ["\"Delete a.txt? This cannot be undone.\""]);
    }
}

#[test]
fn an_old_client_is_asked_in_its_arguments() {
    for version in ["2024-11-05", "2025-03-26"] {
        let mut client = Client::start();
        client.shake(version);
        let mut params = json!({"name": "delete", "arguments": {"file": "a.txt"}});
        let asked = client.call("tools/call", &params);
        let text = asked["content"][0]["text"].as_str().unwrap();
        assert!(
            text.contains("Delete a.txt? This cannot be undone."),
            "{text}"
        );
        let arguments = &mut params["arguments"];
        arguments["_answers"] = answers(&asked["_meta"]["inputRequests"]);
        arguments["_state"] = asked["_meta"]["requestState"].clone();
        deleted(&client.call("tools/call", &params));
        assert!(client.end().is_empty());
    }
}
