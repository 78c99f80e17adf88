//! A31: `requestState` is in the attacker's hands.

use std::time::Duration;

use actix_web::HttpRequest;
use mcp_core::{KeyRing, Principal, ServerConfig};
use mcp_http_actix::Endpoint;
use mcp_state::RequestStateSecurity;
use serde_json::{Value, json};

use crate::support::{
    calling,
    curious::{self, able, confirmed},
    http::{Request, Response, Server},
    pending::{Pending, accept},
    probe::Probe,
    text,
};

/// A server that takes the `Authorization` for a name, and what its handlers did.
struct A31 {
    server: Server,
    probe: Probe,
}

impl A31 {
    fn new() -> Self {
        Self::with(ServerConfig::default())
    }

    fn with(config: ServerConfig) -> Self {
        let probe = Probe::default();
        let endpoint = Endpoint::new(curious::with(&probe, config)).identify(named);
        let server = Server::start(endpoint);
        Self { server, probe }
    }

    async fn send(&self, who: &str, params: Value) -> Response {
        let name = params["name"].as_str().unwrap().to_owned();
        let request = Request::modern("tools/call", able(1, "tools/call", params));
        let request = request.header("Mcp-Name", &name);
        self.server
            .send(&request.header("Authorization", who))
            .await
    }

    /// Alice's call that has left to ask.
    async fn asked(&self, tool: &str) -> Pending {
        let params = calling(tool, json!({"amount": 5}));
        let response = self.send("alice", params.clone()).await;
        assert_eq!(response.status, 200, "{response:?}");
        let pending = Pending::of(&params, &response.message()["result"]).unwrap();
        self.probe.clear();
        pending
    }

    /// Sends what is to be refused, and says what runs.
    async fn refused(&self, who: &str, params: Value) {
        let response = self.send(who, params).await;
        let error = &response.message()["error"];
        let frozen = json!({
            "code": -32602,
            "message": "Invalid or expired requestState",
            "data": {"reason": "invalid_request_state"},
        });
        assert_eq!(error, &frozen, "{response:?}");
        assert_eq!(self.probe.notes(), [""; 0], "nothing runs");
    }
}

fn named(request: &HttpRequest) -> Option<Principal> {
    let name = request.headers().get("authorization")?.to_str().ok()?;
    Some(Principal::new("test", name))
}

/// The same token with another character at `at`.
fn flipped(token: &str, at: usize) -> String {
    let other = if &token[at..=at] == "A" { "B" } else { "A" };
    format!("{}{other}{}", &token[..at], &token[at + 1..])
}

// req: mrtr-state-integrity, mrtr-state-untrusted, elicit-state-protected
#[tokio::test]
async fn a31_a_state_that_was_altered_is_refused() {
    let case = A31::new();
    let pending = case.asked("transfer").await;
    let (yes, token) = (pending.answers(confirmed), pending.token.as_str());
    let mut states: Vec<String> = [0, 1, 3, 9, 10, 30, token.len() / 2, token.len() - 1]
        .map(|at| flipped(token, at))
        .into();
    states.extend([1, 4, token.len() / 2].map(|less| token[..token.len() - less].to_owned()));
    states.extend(
        [
            "",
            "eyJjb25maXJtZWQiOnRydWV9",
            "v1.",
            "v1.eyJjb25maXJtZWQiOnRydWV9",
        ]
        .map(str::to_owned),
    );
    states.extend([
        format!("{token}A"),
        format!("{token}="),
        format!(" {token}"),
    ]);
    for state in states {
        let params = pending.with_state(&yes, &json!(state));
        case.refused("alice", params).await;
    }
    for state in [json!(5), json!({}), json!(["v1."]), json!(true)] {
        case.refused("alice", pending.with_state(&yes, &state))
            .await;
    }
}

// req: mrtr-state-replay-bounds, elicit-bound-to-user
#[tokio::test]
async fn a31_a_state_of_another_call_is_refused() {
    let case = A31::new();
    let pending = case.asked("transfer").await;
    let retry = pending.answered(confirmed);
    let mut dearer = retry.clone();
    dearer["arguments"]["amount"] = json!(5000);
    case.refused("alice", dearer).await;
    for tool in ["refund", "transfer_once", "bulky"] {
        let mut other = retry.clone();
        other["name"] = json!(tool);
        case.refused("alice", other).await;
    }
    for thief in ["bob", "Alice", "alice2"] {
        case.refused(thief, retry.clone()).await;
    }
    assert_eq!(said(&case.send("alice", retry).await), "sent 5");
}

/// Nobody is somebody else as well.
// req: mrtr-state-replay-bounds, elicit-bound-to-user
#[tokio::test]
async fn a31_a_state_of_somebody_is_refused_from_nobody() {
    let case = A31::new();
    let retry = case.asked("transfer").await.answered(confirmed);
    let request = Request::modern("tools/call", able(1, "tools/call", retry));
    let request = request.header("Mcp-Name", "transfer");
    let response = case.server.send(&request).await;
    assert_eq!(response.code(), -32602);
    assert_eq!(case.probe.notes(), [""; 0]);
}

// req: mrtr-state-replay-bounds
#[tokio::test]
async fn a31_a_state_is_refused_after_its_lifetime() {
    const LIFETIME: Duration = Duration::from_millis(1500);
    let mut config = ServerConfig::default();
    let security = RequestStateSecurity::with_keys(&KeyRing::ephemeral());
    config.asking.security = Some(security.ttl(LIFETIME).unwrap());
    let case = A31::with(config);
    let pending = case.asked("transfer").await;
    let retry = pending.answered(confirmed);
    // Time is what this is about.
    tokio::time::sleep(LIFETIME + Duration::from_millis(50)).await;
    case.refused("alice", retry).await;
    let again = case.asked("transfer").await.answered(confirmed);
    assert_eq!(said(&case.send("alice", again).await), "sent 5");
}

fn said(response: &Response) -> String {
    text(&response.message()["result"]).to_owned()
}

// req: mrtr-state-single-use
#[tokio::test]
async fn a31_twice_is_twice_unless_the_tool_says_once() {
    let case = A31::new();
    for (tool, times) in [("transfer", 3), ("transfer_once", 1)] {
        let retry = case.asked(tool).await.answered(confirmed);
        for _ in 0..3 {
            assert_eq!(
                said(&case.send("alice", retry.clone()).await),
                "sent 5",
                "{tool}"
            );
        }
        assert_eq!(case.probe.count("sent 5"), times, "{tool}");
        case.probe.clear();
        // Another answer to the same question comes too late where it is to count once.
        let pending = case.asked(tool).await;
        let no = pending.with(&json!({"confirm": {"action": "decline"}}));
        assert_eq!(said(&case.send("alice", no).await), "declined");
        let then = said(&case.send("alice", pending.answered(confirmed)).await);
        assert_eq!(then, if times == 1 { "declined" } else { "sent 5" });
    }
}

// req: mrtr-unknown-responses-ignored, mrtr-retry-accepted
#[tokio::test]
async fn a31_unchanged_it_works_whatever_else_is_answered() {
    let case = A31::new();
    let pending = case.asked("transfer").await;
    let mut answers = pending.answers(confirmed);
    answers["unheard-of"] = accept(json!({"confirm": false}));
    answers["odd"] = json!(7);
    assert_eq!(
        said(&case.send("alice", pending.with(&answers)).await),
        "sent 5"
    );
}

// req: elicit-state-protected
#[tokio::test]
async fn a31_the_client_cannot_read_the_state() {
    use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
    let case = A31::new();
    let pending = case.asked("transfer").await;
    let sealed = pending.token.strip_prefix("v1.").unwrap();
    let sealed = BASE64_URL_SAFE_NO_PAD.decode(sealed).unwrap();
    let read = String::from_utf8_lossy(&sealed);
    for word in [
        "transfer",
        "tools/call",
        "confirm",
        "curious",
        "alice",
        "iat",
    ] {
        assert!(!read.contains(word), "{word} in {read}");
    }
    // The same question twice is sealed twice.
    assert_ne!(case.asked("transfer").await.token, pending.token);
}

// req: elicit-capability-gate, mrtr-capability-filter
#[tokio::test]
async fn a31_who_cannot_be_asked_is_told_what_is_missing() {
    let case = A31::new();
    let body = crate::support::modern(1, "tools/call", calling("transfer", json!({"amount": 5})));
    let request = Request::modern("tools/call", body).header("Mcp-Name", "transfer");
    let response = case.server.send(&request).await;
    assert_eq!((response.status, response.code()), (400, -32021));
    let required = &response.message()["error"]["data"]["requiredCapabilities"];
    assert!(required["elicitation"].is_object(), "{required}");
    assert!(!case.probe.has("sent 5"));
}
