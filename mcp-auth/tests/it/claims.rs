//! What a token has to say.

use std::time::Duration;

use mcp_auth::{ConfigError, JwtVerifier, KeySource};
use mcp_core::auth::TokenVerifier;
use serde_json::{Value, json};

use crate::support::{
    AUDIENCE, ISSUER, JWKS, NOW, Time, at, builder, claims_but, reason, token, verifier,
};

/// Each of those claims is refused, with a reason that has that word.
async fn check_refused(verifier: &JwtVerifier, cases: &[(Value, &str)]) {
    for (but, word) in cases {
        let reason = reason(verifier, &token(&claims_but(but))).await;
        assert!(reason.contains(word), "{but}: {reason}");
    }
}

async fn check_good(verifier: &JwtVerifier, cases: &[Value]) {
    for but in cases {
        let verified = verifier.verify(&token(&claims_but(but))).await;
        assert!(verified.is_ok(), "{but}: {verified:?}");
    }
}

// req: auth-audience-validation, auth-canonical-uri, auth-no-token-passthrough
#[tokio::test]
async fn a34_a_token_counts_if_it_names_this_server() {
    let verifier = verifier();
    let good = [
        json!({ "aud": AUDIENCE }),
        json!({"aud": ["x", AUDIENCE]}),
        json!({"aud": "HTTPS://MCP.example.com:443/mcp"}),
        json!({"aud": [1, AUDIENCE]}),
    ];
    check_good(&verifier, &good).await;
    let bad = [
        json!({"aud": "https://other.example/mcp"}),
        json!({"aud": "https://mcp.example.com"}),
        json!({"aud": "https://mcp.example.com/mcp/"}),
        json!({"aud": []}),
        json!({ "aud": null }),
        json!({"aud": 42}),
        json!({"aud": {"x": AUDIENCE}}),
        json!({"aud": ""}),
    ];
    for but in bad {
        let reason = reason(&verifier, &token(&claims_but(&but))).await;
        assert!(reason.contains("the token"), "{but}: {reason}");
        assert!(reason.contains("`aud"), "{but}: {reason}");
    }
    let root = builder().audience("https://mcp.example.com").audience("");
    let root = root.build().unwrap();
    let both = [
        json!({"aud": "https://mcp.example.com"}),
        json!({"aud": "https://mcp.example.com/"}),
        json!({ "aud": AUDIENCE }),
    ];
    check_good(&root, &both).await;
    check_refused(&root, &[(json!({"aud": ""}), "`aud")]).await;
}

// req: auth-token-validation
#[tokio::test]
async fn the_issuer_is_compared_to_the_letter() {
    let cases = [
        (json!({"iss": "https://login.example.com/"}), ISSUER),
        (json!({"iss": "https://LOGIN.example.com"}), "issuer"),
        (json!({"iss": "https://evil.example\n"}), "evil.example\\n"),
        (json!({ "iss": null }), "`iss`"),
        (json!({"iss": [ISSUER]}), "`iss`"),
    ];
    check_refused(&verifier(), &cases).await;
}

#[tokio::test]
async fn a_token_counts_in_its_time_and_a_minute_around_it() {
    let verifier = verifier();
    let good = [
        json!({"exp": NOW - 59}),
        json!({"exp": NOW as f64 + 0.5}),
        json!({"nbf": NOW + 60, "iat": NOW + 60}),
        json!({"nbf": 0, "iat": 0}),
        json!({"exp": 9_999_999_999_u64}),
    ];
    check_good(&verifier, &good).await;
    let bad = [
        (json!({"exp": NOW - 60}), "expired"),
        (json!({"exp": 0}), "expired"),
        (json!({ "exp": null }), "never expires"),
        (json!({"exp": "soon"}), "no time"),
        (json!({"exp": -1}), "no time"),
        (json!({"exp": 1e300}), "no time"),
        (json!({"nbf": NOW + 61}), "not good yet"),
        (json!({"nbf": "x"}), "no time"),
        (json!({"iat": NOW + 61}), "from the future"),
    ];
    check_refused(&verifier, &bad).await;
    let strict = builder().leeway(Duration::ZERO).build().unwrap();
    let bad = [
        (json!({ "exp": NOW }), "expired"),
        (json!({"nbf": NOW + 1}), "not good yet"),
    ];
    check_refused(&strict, &bad).await;
    check_good(&strict, &[json!({"exp": NOW + 1, "nbf": NOW})]).await;
}

#[tokio::test]
async fn the_claims_become_the_principal() {
    let verifier = verifier();
    let all = json!({"azp": "other", "client_id": "app", "scope": "b a", "scp": ["c"],
        "email": "alice@example.com", "jti": "1"});
    let principal = verifier.verify(&token(&claims_but(&all))).await.unwrap();
    assert_eq!(principal.issuer, ISSUER);
    assert_eq!(principal.client, "app");
    assert_eq!(principal.subject, "alice");
    assert_eq!(principal.scopes.to_string(), "a b");
    assert_eq!(principal.expires, Some(at(NOW + 300 + 60)));
    let email = principal.claim::<String>("email");
    assert_eq!(email.as_deref(), Some("alice@example.com"));
    let told: Vec<&str> = principal.claims.keys().map(String::as_str).collect();
    assert_eq!(told, ["aud", "azp", "email", "jti"]);
    for (but, client, scopes) in [
        (json!({"azp": "web"}), "web", ""),
        (json!({"scp": "x y"}), "", "x y"),
        (json!({"scp": ["y", "x"]}), "", "x y"),
        (json!({"scope": ["y", "x"]}), "", "x y"),
        (json!({"scope": ""}), "", ""),
    ] {
        let principal = verifier.verify(&token(&claims_but(&but))).await.unwrap();
        assert_eq!(principal.client, client, "{but}");
        assert_eq!(principal.scopes.to_string(), scopes, "{but}");
    }
    let bad = [
        (json!({"scope": 1}), "scopes"),
        (json!({"scope": [1]}), "scopes"),
        (json!({"client_id": 1}), "client_id"),
        (json!({"sub": 1}), "`sub`"),
    ];
    check_refused(&verifier, &bad).await;
}

#[tokio::test]
async fn a_subject_is_needed_unless_the_client_may_stand_for_itself() {
    let without = json!({"sub": null, "client_id": "robot"});
    let cases = [(without.clone(), "`sub`"), (json!({"sub": ""}), "`sub`")];
    check_refused(&verifier(), &cases).await;
    let lenient = builder().allow_absent_subject().build().unwrap();
    let principal = lenient.verify(&token(&claims_but(&without))).await.unwrap();
    assert_eq!((&*principal.client, &*principal.subject), ("robot", ""));
    // Who has neither would be everybody.
    check_refused(&lenient, &[(json!({ "sub": null }), "`sub`")]).await;
}

#[tokio::test]
async fn a_token_that_was_seen_expires_all_the_same() {
    let time = Time::new();
    let verifier = builder().clock(time.clock()).build().unwrap();
    let token = token(&claims_but(&json!({})));
    let first = verifier.verify(&token).await.unwrap();
    let second = verifier.verify(&token).await.unwrap();
    assert!(std::sync::Arc::ptr_eq(&first, &second), "it is remembered");
    time.pass(359);
    verifier.verify(&token).await.unwrap();
    time.pass(1);
    assert!(reason(&verifier, &token).await.contains("expired"));
    let forgetful = builder().remember(0).build().unwrap();
    let first = forgetful.verify(&token).await.unwrap();
    let second = forgetful.verify(&token).await.unwrap();
    assert!(!std::sync::Arc::ptr_eq(&first, &second));
}

/// As many tokens as one likes, and no more are remembered than were asked for.
#[tokio::test]
async fn what_is_remembered_has_a_bound() {
    let verifier = builder().remember(8).build().unwrap();
    for number in 0..40 {
        let token = token(&claims_but(&json!({ "jti": number })));
        verifier.verify(&token).await.unwrap();
    }
    let shown = format!("{verifier:?}");
    let (_, len) = shown.split_once("len: ").unwrap();
    let len: usize = len.split([' ', '}']).next().unwrap().parse().unwrap();
    assert!((4..=8).contains(&len), "{shown}");
}

#[test]
fn what_is_missing_is_said_when_it_is_built() {
    let keys = || KeySource::text(JWKS);
    let of = || JwtVerifier::builder().issuer(ISSUER).audience(AUDIENCE);
    of().keys(keys()).build().unwrap();
    let said = |builder: mcp_auth::JwtVerifierBuilder| builder.build().unwrap_err();
    let bare = || JwtVerifier::builder().keys(keys());
    assert!(matches!(
        said(bare().audience(AUDIENCE)),
        ConfigError::NoIssuer
    ));
    assert!(matches!(
        said(bare().issuer(ISSUER)),
        ConfigError::NoAudience
    ));
    let empty = bare().issuer(ISSUER).audience("");
    assert!(matches!(said(empty), ConfigError::NoAudience));
    assert!(matches!(said(of()), ConfigError::NoKeys));
    let none = of().keys(keys()).algorithms([]);
    assert!(matches!(said(none), ConfigError::NoAlgorithms));
    for (text, word) in [
        ("", "not a JSON Web Key Set"),
        ("{}", "not a JSON Web Key Set"),
        (r#"{"keys":[]}"#, "no key"),
        (r#"{"keys":[{"kty":"oct","k":"AAAA"}]}"#, "no key"),
        (
            r#"{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"}]}"#,
            "no key",
        ),
        (
            r#"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"AAAA"}]}"#,
            "no key",
        ),
    ] {
        let error = said(of().keys(KeySource::text(text)));
        assert!(error.to_string().contains(word), "{text}: {error}");
    }
}
