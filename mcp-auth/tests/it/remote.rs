//! Keys that are fetched.

use std::time::Duration;

use mcp_auth::{ConfigError, JwtVerifier, JwtVerifierBuilder, KeySource};
use mcp_core::auth::{AuthError, TokenVerifier};
use serde_json::{Value, json};

use crate::{
    server::{Answer, Server},
    support::{
        AUDIENCE, NOW, Time, at, builder, claims, claims_but, encoded, jwk, jwks, reason, signed,
    },
};

const KEYS: &str = "/jwks.json";

fn token_of(key: &str) -> String {
    signed(key, &json!({"alg": "RS256", "kid": key}), &claims())
}

/// One that is good for as long as a test takes, signed by a key that goes by that id.
fn lasting(key: &str, kid: &str) -> String {
    let claims = claims_but(&json!({"exp": NOW + 1_000_000}));
    signed(key, &json!({"alg": "RS256", "kid": kid}), &claims)
}

fn key_set(names: &[&str]) -> Answer {
    let keys: Vec<Value> = names.iter().map(|name| jwk(name)).collect();
    Answer::ok(jwks(&keys))
}

fn of(server: &Server, time: &Time) -> JwtVerifierBuilder {
    let keys = KeySource::url(server.url(KEYS)).timeout(Duration::from_secs(20));
    builder().keys(keys).clock(time.clock())
}

async fn unavailable(verifier: &JwtVerifier, token: &str) -> String {
    match verifier.verify(token).await {
        Err(AuthError::Unavailable(error)) => error.to_string(),
        other => panic!("not unavailable: {other:?}"),
    }
}

#[tokio::test]
async fn keys_are_fetched_once_for_all_who_wait() {
    let (server, time) = (Server::start().await, Time::new());
    server.on(KEYS, key_set(&["rsa"]).after(Duration::from_millis(50)));
    let verifier = of(&server, &time).build().unwrap();
    assert!(
        server.asked().is_empty(),
        "nothing is fetched before it is needed"
    );
    let token = token_of("rsa");
    let (one, two, three) = tokio::join!(
        verifier.verify(&token),
        verifier.verify(&token),
        verifier.verify(&token),
    );
    assert!(one.is_ok() && two.is_ok() && three.is_ok());
    assert_eq!(server.asked_for(), [KEYS]);
}

/// As clocks do: it is later every time that somebody looks.
#[tokio::test]
async fn time_goes_on_while_keys_are_fetched() {
    let (server, time) = (Server::start().await, Time::new());
    server.on(KEYS, key_set(&["rsa"]));
    let clock = time.clone();
    let verifier = of(&server, &time).clock(move || {
        clock.pass(1);
        at(clock.seconds())
    });
    let verifier = verifier.build().unwrap();
    verifier.verify(&token_of("rsa")).await.unwrap();
    time.pass(900);
    verifier.verify(&lasting("rsa", "rsa")).await.unwrap();
    assert_eq!(server.asked_for(), [KEYS, KEYS]);
}

/// A client that goes away takes nothing from those that stay.
#[tokio::test]
async fn a_fetch_outlives_who_asked_for_it() {
    let (server, time) = (Server::start().await, Time::new());
    server.on(KEYS, key_set(&["rsa"]).after(Duration::from_millis(50)));
    let verifier = of(&server, &time).build().unwrap();
    let token = token_of("rsa");
    let gone = tokio::time::timeout(Duration::from_millis(10), verifier.verify(&token)).await;
    assert!(gone.is_err());
    verifier.verify(&token).await.unwrap();
    assert_eq!(server.asked_for(), [KEYS]);
}

/// Workers have runtimes of their own, and one of them may end.
#[test]
fn a_fetch_that_is_lost_with_its_worker_holds_nobody_up() {
    let worker = || {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
    };
    let apart = tokio::runtime::Runtime::new().unwrap();
    let (server, time) = (apart.block_on(Server::start()), Time::new());
    server.on(KEYS, Answer::ok("").after(Duration::from_secs(60)));
    let verifier = of(&server, &time).build().unwrap();
    let token = token_of("rsa");
    let first = worker().unwrap();
    let waited = first.block_on(async {
        tokio::time::timeout(Duration::from_millis(50), verifier.verify(&token)).await
    });
    assert!(waited.is_err());
    drop(first);
    server.on(KEYS, key_set(&["rsa"]));
    time.pass(5);
    worker().unwrap().block_on(verifier.verify(&token)).unwrap();
    assert_eq!(server.asked().len(), 2);
}

#[tokio::test]
async fn tokens_for_somebody_else_fetch_nothing() {
    let (server, time) = (Server::start().await, Time::new());
    let verifier = of(&server, &time).build().unwrap();
    let header = json!({"alg": "RS256", "kid": "x"});
    for but in [
        json!({"iss": "https://x"}),
        json!({"aud": "x"}),
        json!({"exp": 1}),
    ] {
        let token = signed("rsa", &header, &claims_but(&but));
        reason(&verifier, &token).await;
    }
    reason(&verifier, "no.token.at-all").await;
    assert!(server.asked().is_empty());
}

#[tokio::test]
async fn keys_stay_fresh_as_long_as_they_say_within_bounds() {
    for (header, seconds) in [
        ("cache-control: max-age=600", 600),
        ("cache-control: max-age=1", 60),
        ("cache-control: no-store", 60),
        ("cache-control: max-age=86400", 3600),
        ("x: y", 900),
    ] {
        let (server, time) = (Server::start().await, Time::new());
        server.on(KEYS, key_set(&["rsa"]).header(header));
        let verifier = of(&server, &time).build().unwrap();
        let token = lasting("rsa", "rsa");
        verifier.verify(&token).await.unwrap();
        time.pass(seconds - 1);
        let before = verifier.verify(&token).await.unwrap();
        assert_eq!(server.asked().len(), 1, "{header}");
        time.pass(1);
        let after = verifier.verify(&token).await.unwrap();
        assert_eq!(server.asked().len(), 1, "{header}");
        // The same keys: what was verified with them is verified.
        assert!(std::sync::Arc::ptr_eq(&before, &after));
    }
}

#[tokio::test]
async fn a_new_key_counts_at_once_and_one_taken_back_does_not() {
    let (server, time) = (Server::start().await, Time::new());
    server.on(KEYS, key_set(&["rsa"]));
    let verifier = of(&server, &time).build().unwrap();
    let (old, new) = (token_of("rsa"), token_of("rsa-other"));
    verifier.verify(&old).await.unwrap();
    time.pass(30);
    server.on(KEYS, key_set(&["rsa-other"]));
    verifier.verify(&new).await.unwrap();
    // It was remembered, and no longer is.
    assert!(reason(&verifier, &old).await.contains("no key"));
    assert_eq!(server.asked().len(), 2);
}

/// Whatever keys a stranger's tokens name.
#[tokio::test]
async fn unknown_keys_are_asked_for_at_a_bounded_rate() {
    let (server, time) = (Server::start().await, Time::new());
    server.on(KEYS, key_set(&["rsa"]));
    let verifier = of(&server, &time).build().unwrap();
    for number in 0..100 {
        let header = json!({"alg": "RS256", "kid": format!("k{number}")});
        let token = format!("{}.{}.AAAA", encoded(&header), encoded(&claims()));
        assert!(reason(&verifier, &token).await.contains("no key"));
        time.pass(1);
    }
    assert_eq!(server.asked().len(), 4, "at 0, 30, 60 and 90 seconds");
    // A key that is known and did not sign it is no unknown one.
    time.pass(100);
    verifier.verify(&token_of("rsa")).await.unwrap();
    server.asked();
    time.pass(100);
    let forged = signed(
        "rsa-other",
        &json!({"alg": "RS256", "kid": "rsa"}),
        &claims(),
    );
    assert!(reason(&verifier, &forged).await.contains("signature"));
    assert!(server.asked().is_empty());
}

#[tokio::test]
async fn an_outage_is_survived_for_a_day() {
    let (server, time) = (Server::start().await, Time::new());
    server.on(KEYS, key_set(&["rsa"]));
    let verifier = of(&server, &time).remember(0).build().unwrap();
    let token = lasting("rsa", "rsa");
    verifier.verify(&token).await.unwrap();
    for broken in [
        Answer::status(503),
        Answer::ok("<html>"),
        Answer::ok("{}"),
        Answer::status(302).header("location: https://evil.example/jwks.json"),
        Answer::ok(" ".repeat(1024 * 1024 + 1)),
    ] {
        time.pass(4000);
        server.on(KEYS, broken);
        verifier.verify(&token).await.unwrap();
    }
    // A key that nobody knows may be a new one: nobody can tell.
    unavailable(&verifier, &lasting("rsa-other", "x")).await;
    time.pass(24 * 3600 - 5 * 4000 - 1);
    verifier.verify(&token).await.unwrap();
    time.pass(1);
    assert!(
        unavailable(&verifier, &token)
            .await
            .contains("1048576 bytes")
    );
    server.on(KEYS, key_set(&["rsa"]));
    time.pass(30);
    verifier.verify(&token).await.unwrap();
}

/// Those that have keys do not wait for a server that is known not to answer.
#[tokio::test]
async fn in_an_outage_nobody_waits() {
    let (server, time) = (Server::start().await, Time::new());
    server.on(KEYS, key_set(&["rsa"]));
    let verifier = of(&server, &time).remember(0).build().unwrap();
    let token = lasting("rsa", "rsa");
    verifier.verify(&token).await.unwrap();
    server.on(KEYS, Answer::status(500));
    time.pass(1000);
    verifier.verify(&token).await.unwrap();
    server.on(KEYS, Answer::ok("").after(Duration::from_secs(60)));
    time.pass(1000);
    let quick = tokio::time::timeout(Duration::from_secs(5), verifier.verify(&token));
    quick.await.expect("it waited").unwrap();
}

#[tokio::test]
async fn keys_that_were_never_had_make_it_unavailable() {
    let (server, time) = (Server::start().await, Time::new());
    let verifier = of(&server, &time).build().unwrap();
    let token = token_of("rsa");
    assert!(unavailable(&verifier, &token).await.contains("404"));
    assert!(unavailable(&verifier, &token).await.contains("404"));
    assert_eq!(server.asked().len(), 1, "not with every token");
    time.pass(5);
    server.on(KEYS, key_set(&["rsa"]));
    verifier.verify(&token).await.unwrap();
    let nobody = {
        let gone = Server::start().await;
        of(&gone, &time).build().unwrap()
    };
    unavailable(&nobody, &token).await;
    server.on(KEYS, Answer::ok("").after(Duration::from_secs(60)));
    let keys = KeySource::url(server.url(KEYS)).timeout(Duration::from_millis(50));
    let slow = builder().keys(keys).clock(time.clock()).build().unwrap();
    let error = unavailable(&slow, &token).await;
    assert!(error.contains("no answer"), "{error}");
}

#[tokio::test]
async fn redirects_stay_on_the_server() {
    let (server, time) = (Server::start().await, Time::new());
    server.on(KEYS, Answer::status(301).header("location: /moved?now"));
    server.on("/moved?now", key_set(&["rsa"]));
    let verifier = of(&server, &time).build().unwrap();
    verifier.verify(&token_of("rsa")).await.unwrap();
    assert_eq!(server.asked_for(), [KEYS, "/moved?now"]);
    let other = Server::start().await;
    other.on(KEYS, key_set(&["rsa"]));
    let away = format!("location: {}", other.url(KEYS));
    for location in [away.as_str(), "location: /jwks.json", "x: y"] {
        server.on(KEYS, Answer::status(302).header(location));
        let verifier = of(&server, &time).build().unwrap();
        let error = unavailable(&verifier, &token_of("rsa")).await;
        assert!(error.contains("redirect"), "{error}");
    }
    assert!(other.asked().is_empty());
}

/// 2025-11-25, "Authorization Server Metadata Discovery": the order of the addresses.
#[tokio::test]
async fn an_issuer_says_where_its_keys_are() {
    let time = Time::new();
    let places = [
        "/.well-known/oauth-authorization-server/tenant",
        "/.well-known/openid-configuration/tenant",
        "/tenant/.well-known/openid-configuration",
    ];
    for (at, place) in places.iter().enumerate() {
        let server = Server::start().await;
        let issuer = server.url("/tenant");
        let document = json!({"issuer": issuer, "jwks_uri": server.url(KEYS)});
        server.on(place, Answer::ok(document.to_string()));
        server.on(KEYS, key_set(&["rsa"]));
        let verifier = JwtVerifier::builder().discover(&issuer).audience(AUDIENCE);
        let verifier = verifier.clock(time.clock()).build().unwrap();
        let claims = claims_but(&json!({ "iss": issuer }));
        let token = signed("rsa", &json!({"alg": "RS256", "kid": "rsa"}), &claims);
        verifier.verify(&token).await.unwrap();
        let mut asked = places[..=at].to_vec();
        asked.push(KEYS);
        assert_eq!(server.asked_for(), asked);
    }
}

#[tokio::test]
async fn a_document_of_another_issuer_is_not_believed() {
    let (server, time) = (Server::start().await, Time::new());
    let issuer = server.url("");
    let place = "/.well-known/oauth-authorization-server";
    server.on(KEYS, key_set(&["rsa"]));
    let keys = server.url(KEYS);
    let slash = server.url("/");
    for (document, word) in [
        (json!({"issuer": slash, "jwks_uri": keys}), "its issuer is"),
        (
            json!({"issuer": "https://x", "jwks_uri": keys}),
            "its issuer is",
        ),
        (json!({"jwks_uri": keys}), "no metadata"),
        (json!({ "issuer": issuer }), "no `jwks_uri`"),
        (
            json!({"issuer": issuer, "jwks_uri": "http://h/"}),
            "`https`",
        ),
        (json!({"issuer": issuer, "jwks_uri": "/keys"}), "absolute"),
    ] {
        server.on(place, Answer::ok(document.to_string()));
        let verifier = JwtVerifier::builder().discover(&issuer).audience(AUDIENCE);
        let verifier = verifier.clock(time.clock()).build().unwrap();
        let claims = claims_but(&json!({ "iss": issuer }));
        let token = signed("rsa", &json!({"alg": "RS256", "kid": "rsa"}), &claims);
        let error = unavailable(&verifier, &token).await;
        assert!(error.contains(word), "{document}: {error}");
        assert!(!server.asked_for().contains(&KEYS.to_owned()));
    }
}

#[test]
fn only_safe_addresses_are_taken() {
    for bad in ["http://login.example.com/keys", "login", "https://u:p@h/"] {
        let error = builder().keys(KeySource::url(bad)).build().unwrap_err();
        assert!(matches!(error, ConfigError::Address { .. }), "{error}");
        let error = builder().discover(bad).build().unwrap_err();
        assert!(matches!(error, ConfigError::Address { .. }), "{error}");
    }
}
