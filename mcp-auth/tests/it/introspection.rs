//! Tokens that the authorization server is asked about.

use std::{sync::Arc, time::Duration};

use mcp_auth::{ConfigError, IntrospectionVerifier, IntrospectionVerifierBuilder};
use mcp_core::{
    Principal,
    auth::{AuthError, TokenVerifier},
};
use serde_json::{Value, json};

use crate::{
    server::{Answer, Server},
    support::{AUDIENCE, ISSUER, NOW, Time, at, refused},
};

const PLACE: &str = "/introspect";

fn of(server: &Server, time: &Time) -> IntrospectionVerifierBuilder {
    IntrospectionVerifier::builder(server.url(PLACE))
        .client("mcp server", "se:cret&+")
        .issuer(ISSUER)
        .audience(AUDIENCE)
        .timeout(Duration::from_secs(20))
        .clock(time.clock())
}

fn active(more: &Value) -> Answer {
    let mut answer = json!({"active": true, "aud": AUDIENCE, "sub": "alice"});
    let more = more.as_object().unwrap().clone();
    answer.as_object_mut().unwrap().extend(more);
    Answer::ok(answer.to_string())
}

#[track_caller]
fn unavailable(verified: Result<Arc<Principal>, AuthError>) -> String {
    match verified {
        Err(AuthError::Unavailable(error)) => error.to_string(),
        other => panic!("not unavailable: {other:?}"),
    }
}

// req: auth-token-validation
#[tokio::test]
async fn the_server_is_asked_as_the_rfc_has_it() {
    let (server, time) = (Server::start().await, Time::new());
    let more = json!({"iss": ISSUER, "client_id": "app", "scope": "b a", "exp": NOW + 5,
        "username": "Alice", "token_type": "Bearer"});
    server.on(PLACE, active(&more));
    let verifier = of(&server, &time).build().unwrap();
    let principal = verifier.verify("opaque/token+1==").await.unwrap();
    let asked = server.asked().remove(0);
    assert!(asked.head.starts_with("POST /introspect HTTP/1.1\r\n"));
    let head = asked.head.to_ascii_lowercase();
    assert!(head.contains("content-type: application/x-www-form-urlencoded\r\n"));
    assert!(head.contains("accept: application/json\r\n"));
    // mcp+server:se%3Acret%26%2B
    let basic = "authorization: Basic bWNwK3NlcnZlcjpzZSUzQWNyZXQlMjYlMkI=\r\n";
    assert!(asked.head.contains(basic), "{}", asked.head);
    assert_eq!(
        asked.body,
        "token=opaque%2Ftoken%2B1%3D%3D&token_type_hint=access_token"
    );
    assert_eq!(principal.issuer, ISSUER);
    assert_eq!(principal.client, "app");
    assert_eq!(principal.subject, "alice");
    assert_eq!(principal.scopes.to_string(), "a b");
    assert_eq!(principal.expires, Some(at(NOW + 65)));
    assert_eq!(
        principal.claim::<String>("username").as_deref(),
        Some("Alice")
    );
    assert!(!principal.claims.contains_key("active"));
}

#[tokio::test]
async fn what_is_not_active_or_for_another_is_refused() {
    let (server, time) = (Server::start().await, Time::new());
    let cases = [
        (Answer::ok(r#"{"active":false}"#), "not active"),
        (active(&json!({"aud": "https://other.example"})), "audience"),
        (active(&json!({ "aud": null })), "`aud`"),
        (active(&json!({"iss": "https://other.example"})), "issuer"),
        (active(&json!({"exp": NOW - 61})), "expired"),
        (active(&json!({"nbf": NOW + 61})), "not good yet"),
        (active(&json!({"sub": ""})), "`sub`"),
        (active(&json!({"cnf": {"jkt": "x"}})), "`cnf`"),
    ];
    let verifier = of(&server, &time).build().unwrap();
    for (number, (answer, word)) in cases.into_iter().enumerate() {
        server.on(PLACE, answer);
        let reason = refused(verifier.verify(&format!("token-{number}")).await);
        assert!(reason.contains(word), "{reason}");
    }
    server.on(
        PLACE,
        Answer::ok(json!({"active": true, "username": "bob", "aud": [AUDIENCE]}).to_string()),
    );
    let bob = verifier.verify("bob's").await.unwrap();
    assert_eq!(bob.subject, "bob");
    server.on(PLACE, Answer::ok(r#"{"active":true,"client_id":"robot"}"#));
    let reason = refused(verifier.verify("robot").await);
    assert!(reason.contains("`aud`"), "{reason}");
    let lenient = of(&server, &time)
        .allow_absent_audience()
        .allow_absent_subject();
    let robot = lenient.build().unwrap().verify("robot").await.unwrap();
    assert_eq!((&*robot.client, &*robot.subject), ("robot", ""));
}

#[tokio::test]
async fn an_answer_is_remembered_for_a_while() {
    let (server, time) = (Server::start().await, Time::new());
    server.on(PLACE, active(&json!({})));
    let verifier = of(&server, &time).leeway(Duration::ZERO).build().unwrap();
    verifier.verify("token").await.unwrap();
    time.pass(59);
    verifier.verify("token").await.unwrap();
    assert_eq!(server.asked().len(), 1);
    // Taken back.
    server.on(PLACE, Answer::ok(r#"{"active":false}"#));
    time.pass(1);
    refused(verifier.verify("token").await);
    time.pass(9);
    refused(verifier.verify("token").await);
    assert_eq!(server.asked().len(), 1);
    time.pass(1);
    server.on(PLACE, active(&json!({"exp": time.seconds() + 5})));
    verifier.verify("token").await.unwrap();
    assert_eq!(server.asked().len(), 1);
    // No longer than it is good.
    time.pass(5);
    assert!(refused(verifier.verify("token").await).contains("expired"));
    assert_eq!(server.asked().len(), 1);
}

#[tokio::test]
async fn what_is_remembered_has_a_bound() {
    let (server, time) = (Server::start().await, Time::new());
    server.on(PLACE, Answer::ok(r#"{"active":false}"#));
    let verifier = of(&server, &time).remember(4).build().unwrap();
    for number in 0..20 {
        refused(verifier.verify(&format!("guess-{number}")).await);
    }
    server.asked();
    refused(verifier.verify("guess-19").await);
    assert!(server.asked().is_empty());
    refused(verifier.verify("guess-0").await);
    assert_eq!(server.asked().len(), 1);
    let long = "a".repeat(16 * 1024 + 1);
    assert!(refused(verifier.verify(&long).await).contains("16384 bytes"));
    assert!(server.asked().is_empty());
}

#[tokio::test]
async fn nobody_can_tell_while_the_server_cannot_be_asked() {
    let (server, time) = (Server::start().await, Time::new());
    let verifier = of(&server, &time).build().unwrap();
    for (answer, word) in [
        (Answer::status(500), "500"),
        (Answer::status(401), "`client`"),
        (Answer::status(307).header("location: /introspect"), "307"),
        (Answer::ok("<html>"), "no JSON"),
        (Answer::ok("[]"), "no JSON"),
        (Answer::ok("{}"), "`active`"),
        (Answer::ok(r#"{"active":"true"}"#), "`active`"),
        (Answer::ok(" ".repeat(1024 * 1024 + 1)), "1048576 bytes"),
    ] {
        server.on(PLACE, answer);
        let error = unavailable(verifier.verify("token").await);
        assert!(error.contains(word), "{error}");
        assert!(
            !error.contains("token-") && !error.contains("cret"),
            "{error}"
        );
    }
    // Nothing of that is remembered.
    server.on(PLACE, active(&json!({})));
    verifier.verify("token").await.unwrap();
    drop(server);
    time.pass(3600);
    unavailable(verifier.verify("token").await);
}

#[test]
fn what_is_missing_is_said_when_it_is_built() {
    let of = || IntrospectionVerifier::builder("https://login.example.com/introspect");
    let said = |builder: IntrospectionVerifierBuilder| builder.build().unwrap_err();
    let no_issuer = of().client("a", "b").audience(AUDIENCE);
    assert!(matches!(said(no_issuer), ConfigError::NoIssuer));
    let no_audience = of().client("a", "b").issuer(ISSUER).audience("");
    assert!(matches!(said(no_audience), ConfigError::NoAudience));
    let no_client = of().issuer(ISSUER).audience(AUDIENCE);
    assert!(matches!(said(no_client), ConfigError::NoClient));
    let plain = IntrospectionVerifier::builder("http://login.example.com/introspect");
    let plain = plain.client("a", "b").issuer(ISSUER).audience(AUDIENCE);
    assert!(matches!(said(plain), ConfigError::Address { .. }));
}

#[test]
fn no_secret_is_shown() {
    let here = || {
        let builder = IntrospectionVerifier::builder("http://127.0.0.1:1/introspect");
        builder
            .client("id", "hunter2")
            .issuer(ISSUER)
            .audience(AUDIENCE)
    };
    let shown = format!("{:?} {:?}", here(), here().build().unwrap());
    // "id:hunter2" in base64.
    assert!(
        !shown.contains("hunter2") && !shown.contains("aWQ6aHVudGVyMg"),
        "{shown}"
    );
}
