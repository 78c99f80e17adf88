//! Tokens, and verifiers of them.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use jsonwebtoken::{EncodingKey, crypto::rust_crypto};
use mcp_auth::{JwtVerifier, JwtVerifierBuilder, KeySource};
use mcp_core::{
    Principal,
    auth::{AuthError, TokenVerifier},
};
use serde_json::{Value, json};

pub(crate) const ISSUER: &str = "https://login.example.com";
pub(crate) const AUDIENCE: &str = "https://mcp.example.com/mcp";
pub(crate) const JWKS: &str = include_str!("../keys/jwks.json");
/// When the tests take place, in seconds since 1970.
pub(crate) const NOW: u64 = 2_000_000_000;

/// The clock of a test.
#[derive(Debug, Clone)]
pub(crate) struct Time(Arc<AtomicU64>);

impl Time {
    pub(crate) fn new() -> Self {
        Self(Arc::new(AtomicU64::new(NOW)))
    }

    pub(crate) fn pass(&self, seconds: u64) {
        self.0.fetch_add(seconds, Ordering::Relaxed);
    }

    pub(crate) fn seconds(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn clock(&self) -> impl Fn() -> SystemTime + Send + Sync + 'static {
        let clock = self.clone();
        move || at(clock.seconds())
    }
}

pub(crate) fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

pub(crate) fn builder() -> JwtVerifierBuilder {
    let verifier = JwtVerifier::builder().issuer(ISSUER).audience(AUDIENCE);
    verifier.keys(KeySource::text(JWKS)).clock(|| at(NOW))
}

pub(crate) fn verifier() -> JwtVerifier {
    builder().build().unwrap()
}

/// What a token in order says.
pub(crate) fn claims() -> Value {
    json!({"iss": ISSUER, "aud": AUDIENCE, "sub": "alice", "exp": NOW + 300})
}

/// What a token in order says, but for these claims; `null` leaves one out.
pub(crate) fn claims_but(but: &Value) -> Value {
    let mut all = claims();
    for (name, value) in but.as_object().unwrap() {
        if value.is_null() {
            all.as_object_mut().unwrap().remove(name);
        } else {
            all[name] = value.clone();
        }
    }
    all
}

/// A token that says that, signed with the P-256 key.
pub(crate) fn token(claims: &Value) -> String {
    signed("p256", &json!({"alg": "ES256", "kid": "p256"}), claims)
}

/// A token with that header, signed as it says with the key of that name.
pub(crate) fn signed(key: &str, header: &Value, claims: &Value) -> String {
    let key = match header["alg"].as_str().unwrap() {
        name if name.starts_with("HS") => EncodingKey::from_secret(&der(key)).unwrap(),
        name if name.starts_with("ES") => EncodingKey::from_ec_der(&der(key)),
        "EdDSA" | "Ed25519" => EncodingKey::from_ed_der(&der(key)),
        _ => EncodingKey::from_rsa_der(&der(key)),
    };
    signed_with(&key, header, claims)
}

pub(crate) fn signed_with(key: &EncodingKey, header: &Value, claims: &Value) -> String {
    let name = header["alg"].as_str().unwrap();
    let name = if name == "Ed25519" { "EdDSA" } else { name };
    let algorithm = name.parse().unwrap();
    let message = format!("{}.{}", encoded(header), encoded(claims));
    let signer = (rust_crypto::DEFAULT_PROVIDER.signer_factory)(&algorithm, key).unwrap();
    let signature = signer.try_sign(message.as_bytes()).unwrap();
    format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature))
}

pub(crate) fn encoded(part: &Value) -> String {
    URL_SAFE_NO_PAD.encode(part.to_string())
}

pub(crate) fn der(name: &str) -> Vec<u8> {
    std::fs::read(path(&format!("{name}.der"))).unwrap()
}

pub(crate) fn path(name: &str) -> PathBuf {
    let keys = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/keys");
    keys.join(name)
}

/// The key of that name, as a key set has it.
pub(crate) fn jwk(name: &str) -> Value {
    let set: Value = serde_json::from_str(JWKS).unwrap();
    let mut keys = set["keys"].as_array().unwrap().iter();
    keys.find(|key| key["kid"] == name).unwrap().clone()
}

pub(crate) fn jwks(keys: &[Value]) -> String {
    json!({ "keys": keys }).to_string()
}

#[track_caller]
pub(crate) fn refused(verified: Result<Arc<Principal>, AuthError>) -> String {
    match verified {
        Err(AuthError::Invalid(reason)) => reason.into_owned(),
        other => panic!("not refused as invalid: {other:?}"),
    }
}

pub(crate) async fn reason(verifier: &JwtVerifier, token: &str) -> String {
    refused(verifier.verify(token).await)
}
