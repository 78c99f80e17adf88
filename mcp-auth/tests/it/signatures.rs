//! Who signed a token, with what.

use jsonwebtoken::EncodingKey;
use mcp_auth::{Algorithm, JwtVerifier, KeySource};
use mcp_core::auth::TokenVerifier;
use serde_json::{Value, json};

use crate::support::{
    builder, claims, der, encoded, jwk, jwks, reason, signed, signed_with, token, verifier,
};

fn with_keys(keys: &[Value]) -> JwtVerifier {
    let keys = KeySource::text(jwks(keys));
    builder().keys(keys).build().unwrap()
}

/// Tokens of another program, whose making `tests/keys/make.py` tells.
// req: auth-token-validation
#[tokio::test]
async fn tokens_that_openssl_signed_count_for_every_algorithm() {
    let verifier = verifier();
    let tokens: Value = serde_json::from_str(include_str!("../keys/tokens.json")).unwrap();
    let tokens = tokens.as_object().unwrap();
    assert_eq!(tokens.len(), Algorithm::ALL.len());
    for (name, token) in tokens {
        assert!(Algorithm::named(name).is_some(), "{name}");
        let principal = verifier.verify(token.as_str().unwrap()).await.unwrap();
        assert_eq!(principal.subject, "alice", "{name}");
        assert_eq!(principal.client, "openssl");
        assert_eq!(principal.scopes.to_string(), "files:read mcp:use");
    }
}

#[tokio::test]
async fn a_changed_bit_anywhere_is_refused() {
    let verifier = verifier();
    let token = token(&claims());
    for at in (0..token.len()).step_by(5) {
        let mut changed = token.clone().into_bytes();
        changed[at] ^= 1;
        let changed = String::from_utf8(changed).unwrap();
        assert!(verifier.verify(&changed).await.is_err(), "byte {at}");
    }
    verifier.verify(&token).await.unwrap();
}

// req: auth-oauth21-security
#[tokio::test]
async fn a_public_key_is_no_shared_secret() {
    let verifier = verifier();
    let n = jwk("rsa")["n"].as_str().unwrap().to_owned();
    let pem = format!("-----BEGIN PUBLIC KEY-----\n{n}\n-----END PUBLIC KEY-----\n");
    for secret in [n.as_bytes(), pem.as_bytes(), &der("rsa")] {
        for alg in ["HS256", "HS384", "HS512"] {
            let key = EncodingKey::from_secret(secret).unwrap();
            let header = json!({"alg": alg, "kid": "rsa"});
            let token = signed_with(&key, &header, &claims());
            assert!(reason(&verifier, &token).await.contains("`alg`"), "{alg}");
        }
    }
}

#[tokio::test]
async fn unsigned_tokens_are_refused() {
    let verifier = verifier();
    for alg in [
        "none", "None", "NONE", "", "nOnE", "ES512", "ES256K", "RSA1_5",
    ] {
        let header = encoded(&json!({"alg": alg, "kid": "p256"}));
        let bare = format!("{header}.{}.", encoded(&claims()));
        assert!(reason(&verifier, &bare).await.contains("`alg`"), "{alg}");
    }
    // A real algorithm and no signature.
    let signed = token(&claims());
    let (message, _) = signed.rsplit_once('.').unwrap();
    let reason = reason(&verifier, &format!("{message}.")).await;
    assert!(reason.contains("signature"), "{reason}");
}

/// The algorithm has to be one of the key's: kind, curve, `alg`, `use` and `key_ops`.
#[tokio::test]
async fn an_algorithm_has_to_fit_its_key() {
    let verifier = verifier();
    for (alg, key, kid) in [
        ("RS256", "rsa", "p256"),
        ("ES256", "p256", "rsa"),
        ("ES256", "p256", "p384"),
        ("ES384", "p384", "p256"),
        ("EdDSA", "ed25519", "p256"),
        ("PS256", "rsa", "ed25519"),
        ("RS256", "rsa-other", "rsa"),
    ] {
        let token = signed(key, &json!({"alg": alg, "kid": kid}), &claims());
        let reason = reason(&verifier, &token).await;
        assert!(reason.contains("signature"), "{alg} {key} {kid}: {reason}");
    }
    for (member, value, good) in [
        ("alg", json!("PS256"), false),
        ("alg", json!("RS256"), true),
        ("alg", json!("RSA-OAEP"), false),
        ("use", json!("enc"), false),
        ("use", json!("sig"), true),
        ("key_ops", json!(["encrypt"]), false),
        ("key_ops", json!(["verify"]), true),
    ] {
        let mut key = jwk("rsa");
        key[member] = value.clone();
        // Another key, so that the set is no empty one.
        let verifier = with_keys(&[key, jwk("ed25519")]);
        let token = signed("rsa", &json!({"alg": "RS256", "kid": "rsa"}), &claims());
        let verified = verifier.verify(&token).await;
        assert_eq!(verified.is_ok(), good, "{member} {value}");
    }
}

#[tokio::test]
async fn only_configured_algorithms_count() {
    let verifier = builder().algorithms([Algorithm::EdDsa]).build().unwrap();
    assert!(reason(&verifier, &token(&claims())).await.contains("ES256"));
    for alg in ["EdDSA", "Ed25519"] {
        let token = signed("ed25519", &json!({"alg": alg, "kid": "ed25519"}), &claims());
        verifier.verify(&token).await.unwrap();
    }
}

#[tokio::test]
async fn a_key_is_found_by_its_id_or_tried() {
    let header = json!({"alg": "RS256", "kid": "rsa-other"});
    let unknown = json!({"alg": "RS256", "kid": "elsewhere"});
    let bare = json!({"alg": "RS256"});
    let verifier = verifier();
    for header in [&header, &bare] {
        let token = signed("rsa-other", header, &claims());
        verifier.verify(&token).await.unwrap();
    }
    let token = signed("rsa-other", &unknown, &claims());
    assert!(reason(&verifier, &token).await.contains("\"elsewhere\""));
    // A set whose keys have no ids.
    let mut key = jwk("rsa-other");
    key.as_object_mut().unwrap().remove("kid");
    let verifier = with_keys(&[key]);
    verifier.verify(&token).await.unwrap();
    let other = signed("rsa", &bare, &claims());
    assert!(reason(&verifier, &other).await.contains("no key"));
}

#[tokio::test]
async fn headers_that_want_more_than_is_known_are_refused() {
    let verifier = verifier();
    let of = |more: Value| {
        let mut header = json!({"alg": "ES256", "kid": "p256"});
        header
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        signed("p256", &header, &claims())
    };
    for (header, word) in [
        (json!({"crit": ["exp"], "exp": 1}), "crit"),
        (json!({"crit": ["b64"], "b64": true}), "crit"),
        (json!({"crit": []}), "crit"),
        (json!({"crit": "x"}), "crit"),
        (json!({"b64": false}), "crit"),
        (json!({"typ": "id+jwt"}), "typ"),
        (json!({"typ": "logout+jwt"}), "typ"),
        (json!({"typ": "dpop+jwt"}), "typ"),
        (json!({"typ": 1}), "header"),
        (json!({"kid": ["p256"]}), "header"),
    ] {
        let reason = reason(&verifier, &of(header.clone())).await;
        assert!(reason.contains(word), "{header}: {reason}");
    }
    // The key that a token brings along, or points at, is not looked at.
    let own = json!({"jwk": jwk("rsa"), "jku": "https://evil.example/jwks.json", "x5u": "x"});
    verifier.verify(&of(own)).await.unwrap();
    for typ in ["at+jwt", "AT+JWT", "application/at+jwt", "JWT", "jwt"] {
        verifier.verify(&of(json!({ "typ": typ }))).await.unwrap();
    }
}

#[tokio::test]
async fn what_is_no_token_is_refused() {
    let verifier = verifier();
    let good = token(&claims());
    let long = format!("{}.{}.a", "a".repeat(9000), "a".repeat(9000));
    let padded = good.replace('.', "=.");
    let doubled = {
        let header = r#"{"alg":"none","alg":"ES256","kid":"p256"}"#;
        let header =
            base64::Engine::encode(&base64::engine::general_purpose::URL_SAFE_NO_PAD, header);
        format!("{header}{}", &good[good.find('.').unwrap()..])
    };
    let deep = {
        let nested = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
        let nested =
            base64::Engine::encode(&base64::engine::general_purpose::URL_SAFE_NO_PAD, nested);
        format!("{}.{nested}.AA", good.split('.').next().unwrap())
    };
    for (bad, word) in [
        (String::new(), "no signed JWT"),
        ("opaque".to_owned(), "no signed JWT"),
        ("a.b.c.d.e".to_owned(), "no signed JWT"),
        (format!("{good}."), "no signed JWT"),
        ("..".to_owned(), "header"),
        ("e30.e30.AA".to_owned(), "header"),
        (long, "more than"),
        (padded, "base64url"),
        (format!("{good}="), "base64url"),
        (doubled, "header"),
        (deep, "claims"),
    ] {
        let reason = reason(&verifier, &bad).await;
        assert!(reason.contains(word), "{bad:.40}: {reason}");
    }
}
