//! Properties: whatever is altered of a retry, its handler does not run.

use std::{
    sync::{Arc, LazyLock},
    time::{Duration, SystemTime},
};

use mcp_core::{Dispatcher, Incoming, KeyRing, Message, Principal, ServerConfig};
use mcp_state::{
    Boundary, Caller, PrincipalBinding, Purpose, Request, RequestStateSecurity, Sealer,
};
use proptest::{
    prelude::{Just, Strategy, any, prop_oneof},
    prop_assert, prop_assert_eq, proptest,
    sample::{Index, select},
    test_runner::{Config, TestCaseError},
};
use serde_json::{Value, json};

use crate::{
    support::{
        calling,
        curious::{able, asking, confirmed},
        lively,
        outcome::utf8,
        pending::Pending,
        probe::Probe,
    },
    vectors::run,
};

/// A server, its keys, and a call of Alice's that has asked.
struct Case {
    dispatcher: Dispatcher,
    ring: KeyRing,
    probe: Probe,
    pending: Pending,
}

/// Built once: what it keeps differs from case to case in nothing but its notes.
static CASE: LazyLock<std::sync::Mutex<Case>> = LazyLock::new(|| {
    let (ring, probe) = (KeyRing::ephemeral(), Probe::default());
    let mut config = ServerConfig::default();
    config.limits.rate = None;
    config.keys = Some(ring.clone());
    let registry = asking(lively::builder(&probe)).build(config).unwrap();
    let dispatcher = Dispatcher::new(registry);
    let params = call();
    let asked = run(answered(&dispatcher, "tools/call", &params, &alice()));
    let pending = Pending::of(&params, &asked["result"]).unwrap();
    std::sync::Mutex::new(Case {
        dispatcher,
        ring,
        probe,
        pending,
    })
});

fn call() -> Value {
    calling("transfer", json!({"amount": 5}))
}

fn alice() -> Principal {
    Principal::new("https://issuer.example", "alice").client("app")
}

async fn answered(
    dispatcher: &Dispatcher,
    method: &str,
    params: &Value,
    principal: &Principal,
) -> Value {
    let body = able(1, method, params.clone());
    let principal = Arc::new(principal.clone());
    let incoming = Incoming::new(body.into()).principal(Some(&principal));
    let mut answer = dispatcher.answer(&incoming);
    match answer.next().await {
        Some(Message::Reply(reply)) => serde_json::from_str(utf8(&reply.body.unwrap())).unwrap(),
        other => panic!("no reply: {other:?}"),
    }
}

impl Case {
    /// What a retry comes to, and what has run of it.
    fn retried(&self, method: &str, params: &Value, principal: &Principal) -> (Value, Vec<String>) {
        self.probe.clear();
        let reply = run(answered(&self.dispatcher, method, params, principal));
        (reply, self.probe.notes())
    }

    /// Fails where a retry is anything but refused.
    fn refused(
        &self,
        method: &str,
        params: &Value,
        principal: &Principal,
    ) -> Result<(), TestCaseError> {
        let (reply, notes) = self.retried(method, params, principal);
        let frozen = json!({
            "code": -32602,
            "message": "Invalid or expired requestState",
            "data": {"reason": "invalid_request_state"},
        });
        prop_assert_eq!(&reply["error"], &frozen, "{}", reply);
        prop_assert_eq!(notes, Vec::<String>::new());
        Ok(())
    }

    fn refused_state(&self, state: &str) -> Result<(), TestCaseError> {
        let answers = self.pending.answers(confirmed);
        let params = self.pending.with_state(&answers, &json!(state));
        self.refused("tools/call", &params, &alice())
    }

    /// The inner state, opened with the keys.
    fn inner(&self) -> String {
        let boundary = boundary(&self.ring, Some("fixture"));
        let opened = boundary.open(&claimed(&alice()), &self.pending.token, now());
        opened.unwrap().state().to_owned()
    }
}

fn boundary(ring: &KeyRing, audience: Option<&str>) -> Boundary {
    Boundary::new(RequestStateSecurity::with_keys(ring), audience)
}

fn now() -> SystemTime {
    SystemTime::now()
}

/// The call as the boundary sees it.
fn claimed(principal: &Principal) -> Request<'_> {
    claim("tools/call", "transfer", r#"{"amount":5}"#, principal)
}

fn claim<'a>(
    method: &'a str,
    target: &'a str,
    arguments: &'a str,
    principal: &'a Principal,
) -> Request<'a> {
    let caller = Caller::new(&principal.client)
        .with_issuer(&principal.issuer)
        .with_subject(&principal.subject);
    Request::from_parts(method, target, Some(arguments)).with_caller(caller)
}

/// The token in other words, or other words for the token.
fn altered() -> impl Strategy<Value = (Index, Change)> {
    let change = prop_oneof![
        any::<char>().prop_map(Change::Put),
        select(&['A', '-', '_', '.', '=', '+', '/', ' ', '0'][..]).prop_map(Change::Put),
        Just(Change::Cut),
        Just(Change::Start),
        ".{1,6}".prop_map(Change::Insert),
        "[A-Za-z0-9_-]{1,40}".prop_map(Change::Extend),
        ".{0,40}".prop_map(Change::Whole),
        "v1\\.[A-Za-z0-9_-]{0,400}".prop_map(Change::Whole),
    ];
    (any::<Index>(), change)
}

#[derive(Debug, Clone)]
enum Change {
    Put(char),
    Cut,
    Start,
    Insert(String),
    Extend(String),
    Whole(String),
}

impl Change {
    fn of(&self, token: &str, at: Index) -> String {
        let at = at.index(token.len());
        let (before, behind) = token.split_at(at);
        match self {
            Self::Put(other) => format!("{before}{other}{}", &behind[1..]),
            Self::Cut => before.to_owned(),
            Self::Start => behind.get(1..).unwrap_or_default().to_owned(),
            Self::Insert(more) => format!("{before}{more}{behind}"),
            Self::Extend(more) => format!("{token}{more}"),
            Self::Whole(other) => other.clone(),
        }
    }
}

/// What a key holder claims of a state that it seals anew.
#[derive(Debug, Clone)]
struct Claimed {
    method: &'static str,
    target: &'static str,
    arguments: &'static str,
    principal: Option<Principal>,
    audience: Option<&'static str>,
    /// Seconds from now.
    issued: i64,
}

fn others() -> impl Strategy<Value = Principal> {
    let part = |own: &'static str| prop_oneof![2 => Just(own.to_owned()), 1 => "[a-z]{0,6}"];
    let parts = (part("https://issuer.example"), part("app"), part("alice"));
    parts.prop_map(|(issuer, client, subject)| Principal::new(issuer, subject).client(client))
}

fn claims() -> impl Strategy<Value = Claimed> {
    let arguments = [
        r#"{"amount":5}"#,
        r#"{"amount":5.0}"#,
        r#"{"amount":"5"}"#,
        "{}",
    ];
    let issued = prop_oneof![2 => Just(0_i64), 1 => -100_000_i64..-700, 1 => 120_i64..100_000];
    let principal =
        prop_oneof![3 => Just(Some(alice())), 1 => others().prop_map(Some), 1 => Just(None)];
    (
        select(&["tools/call", "prompts/get", "resources/read"][..]),
        select(&["transfer", "refund", "Transfer", ""][..]),
        select(arguments.to_vec()),
        principal,
        select(&[Some("fixture"), Some("other"), None][..]),
        issued,
    )
        .prop_map(
            |(method, target, arguments, principal, audience, issued)| Claimed {
                method,
                target,
                arguments,
                principal,
                audience,
                issued,
            },
        )
}

impl Claimed {
    fn is_true(&self) -> bool {
        let request = (self.method, self.target, self.arguments);
        request == ("tools/call", "transfer", r#"{"amount":5}"#)
            && self.principal == Some(alice())
            && self.audience == Some("fixture")
            && self.issued == 0
    }

    fn sealed(&self, case: &Case) -> String {
        let mut security = RequestStateSecurity::with_keys(&case.ring);
        if self.principal.is_none() {
            security = security.principal(PrincipalBinding::off());
        }
        let boundary = Boundary::new(security, self.audience);
        let principal = self.principal.clone().unwrap_or_default();
        let request = claim(self.method, self.target, self.arguments, &principal);
        let offset = Duration::from_secs(self.issued.unsigned_abs());
        let issued = if self.issued < 0 {
            now() - offset
        } else {
            now() + offset
        };
        let binding = boundary.bind(&request).unwrap();
        boundary.seal(&binding, &case.inner(), issued).unwrap()
    }
}

fn few(cases: u32) -> Config {
    Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    }
}

proptest! {
    #![proptest_config(few(200))]

    // req: mrtr-state-integrity, mrtr-state-untrusted
    #[test]
    fn an_altered_token_is_refused((at, change) in altered()) {
        let case = CASE.lock().unwrap();
        let altered = change.of(&case.pending.token, at);
        if altered != case.pending.token {
            case.refused_state(&altered)?;
        }
    }

    // req: mrtr-state-replay-bounds
    #[test]
    fn a_state_of_other_claims_is_refused(claims in claims()) {
        let case = CASE.lock().unwrap();
        let sealed = claims.sealed(&case);
        if !claims.is_true() {
            case.refused_state(&sealed)?;
        }
    }

    // req: mrtr-state-replay-bounds, elicit-bound-to-user
    #[test]
    fn a_retry_of_another_request_is_refused(
        amount in any::<u32>(),
        tool in select(&["transfer", "refund", "transfer_once", "quiet"][..]),
        principal in others(),
    ) {
        let case = CASE.lock().unwrap();
        let mut params = case.pending.answered(confirmed);
        params["name"] = json!(tool);
        params["arguments"]["amount"] = json!(amount);
        if (amount, tool, &principal) != (5, "transfer", &alice()) {
            case.refused("tools/call", &params, &principal)?;
        }
    }

    /// What else the params and the answers have is no alteration.
    // req: mrtr-retry-accepted
    #[test]
    fn a_retry_in_other_words_is_the_same(more in ".{0,20}", id in any::<u32>()) {
        let case = CASE.lock().unwrap();
        let mut params = case.pending.answered(confirmed);
        params["futureMember"] = json!(more);
        params["inputResponses"][&more] = json!(id);
        params["inputResponses"]["confirm"] = confirmed(&Value::Null);
        let (reply, notes) = case.retried("tools/call", &params, &alice());
        prop_assert_eq!(crate::support::text(&reply["result"]), "sent 5");
        prop_assert_eq!(notes, ["ran", "sent 5"]);
    }

    /// What is none of its questions is no answer.
    // req: mrtr-responses-validated, mrtr-unknown-responses-ignored
    #[test]
    fn odd_answers_bring_nothing_about(key in ".{0,8}", answer in ".{0,12}") {
        let case = CASE.lock().unwrap();
        for responses in [json!({key.as_str(): answer}), json!({"confirm": answer}), json!([key])] {
            let params = case.pending.with(&responses);
            let (reply, notes) = case.retried("tools/call", &params, &alice());
            let asks = reply["result"]["inputRequests"]["confirm"].is_object();
            prop_assert!(asks || reply["error"]["code"] == -32602, "{}", reply);
            prop_assert!(!notes.contains(&"sent 5".to_owned()));
        }
    }
}

/// The claims as they are, sealed anew, are taken: otherwise the properties would say nothing.
#[test]
fn the_same_claims_sealed_anew_are_taken() {
    let case = CASE.lock().unwrap();
    let claimed = Claimed {
        method: "tools/call",
        target: "transfer",
        arguments: r#"{"amount":5}"#,
        principal: Some(alice()),
        audience: Some("fixture"),
        issued: 0,
    };
    assert!(claimed.is_true());
    let state = json!(claimed.sealed(&case));
    let answers = case.pending.answers(confirmed);
    let params = case.pending.with_state(&answers, &state);
    let (reply, _) = case.retried("tools/call", &params, &alice());
    assert_eq!(crate::support::text(&reply["result"]), "sent 5");
}

/// Everything else that the same keys seal.
#[test]
fn a_token_of_another_purpose_is_refused() {
    let case = CASE.lock().unwrap();
    let boundary = boundary(&case.ring, Some("fixture"));
    let binding = boundary.bind(&claimed(&alice())).unwrap();
    let seconds = now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap()
        .as_secs_f64();
    let payload = boundary
        .envelope_at(&binding, &case.inner(), seconds, [7; 8])
        .unwrap();
    let handle = calling("open", json!({}));
    let handle = case.retried("tools/call", &handle, &alice()).0;
    let mut tokens = vec![crate::support::text(&handle["result"]).to_owned()];
    for purpose in [
        Purpose::Cursor,
        Purpose::EventId,
        Purpose::Session,
        Purpose::Application("state"),
    ] {
        for associated in [&b""[..], b"v1."] {
            let sealer = Sealer::new(&case.ring, purpose);
            tokens.push(sealer.seal(&payload, associated).unwrap());
        }
    }
    for token in tokens {
        let renamed = token
            .split_once('.')
            .map(|(_, sealed)| format!("v1.{sealed}"));
        case.refused_state(&token).unwrap();
        case.refused_state(&renamed.unwrap()).unwrap();
    }
}
