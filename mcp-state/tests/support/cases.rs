//! The vectors, as they are written down.

use mcp_state::KeyRing;
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
pub(crate) struct Tokens {
    pub(crate) ring_hex: Vec<String>,
    pub(crate) keys: Vec<KeyCase>,
    pub(crate) seal: Vec<SealCase>,
    pub(crate) reject: Vec<RejectCase>,
    pub(crate) construct: Vec<ConstructCase>,
}

#[derive(Deserialize)]
pub(crate) struct KeyCase {
    pub(crate) secret_hex: String,
    pub(crate) aes256_key_hex: String,
    pub(crate) kid_hex: String,
}

#[derive(Deserialize)]
pub(crate) struct SealCase {
    pub(crate) key_hex: String,
    pub(crate) nonce_hex: String,
    pub(crate) payload_hex: String,
    pub(crate) token: String,
}

#[derive(Deserialize)]
pub(crate) struct RejectCase {
    pub(crate) name: String,
    pub(crate) token: String,
    pub(crate) reason: String,
}

#[derive(Deserialize)]
pub(crate) struct ConstructCase {
    pub(crate) name: String,
    pub(crate) keys_hex: Vec<String>,
    pub(crate) ok: bool,
}

#[derive(Deserialize)]
pub(crate) struct Identities {
    pub(crate) arguments: Vec<ArgumentsCase>,
    pub(crate) requests: Vec<RequestCase>,
}

#[derive(Deserialize)]
pub(crate) struct ArgumentsCase {
    pub(crate) arguments_json: String,
    pub(crate) canonical: String,
    pub(crate) args_digest: String,
}

#[derive(Deserialize)]
pub(crate) struct RequestCase {
    pub(crate) method: String,
    pub(crate) params_json: String,
    pub(crate) target: String,
    pub(crate) args_digest: String,
}

#[derive(Deserialize)]
pub(crate) struct Boundaries {
    pub(crate) ring_hex: Vec<String>,
    pub(crate) envelopes: Vec<EnvelopeCase>,
    pub(crate) forged_claims: Vec<ForgedCase>,
    pub(crate) non_string_state: Vec<StateCase>,
}

#[derive(Deserialize)]
pub(crate) struct EnvelopeCase {
    pub(crate) name: String,
    pub(crate) method: String,
    pub(crate) state: String,
    pub(crate) audience: Option<String>,
    pub(crate) principal: Option<String>,
    pub(crate) ttl: Box<RawValue>,
    pub(crate) params_json: String,
    pub(crate) now: Box<RawValue>,
    pub(crate) random_hex: Vec<String>,
    pub(crate) envelope: String,
    pub(crate) token: String,
    pub(crate) checks: Vec<CheckCase>,
}

#[derive(Deserialize)]
pub(crate) struct CheckCase {
    pub(crate) name: String,
    pub(crate) at: Box<RawValue>,
    pub(crate) method: String,
    pub(crate) params_json: String,
    pub(crate) audience: Option<String>,
    pub(crate) principal: Option<String>,
    pub(crate) ring_hex: Vec<String>,
    pub(crate) token: String,
    pub(crate) ok: bool,
    pub(crate) state: Option<String>,
    pub(crate) reason: Option<String>,
    pub(crate) code: Option<i64>,
    pub(crate) message: Option<String>,
    pub(crate) data: Option<Refusal>,
}

#[derive(Deserialize)]
pub(crate) struct Refusal {
    pub(crate) reason: String,
}

#[derive(Deserialize)]
pub(crate) struct ForgedCase {
    pub(crate) name: String,
    pub(crate) payload: String,
    pub(crate) token: String,
    pub(crate) now: Box<RawValue>,
    pub(crate) ok: bool,
    pub(crate) state: Option<String>,
    pub(crate) reason: Option<String>,
    #[serde(default)]
    pub(crate) lenient: bool,
}

#[derive(Deserialize)]
pub(crate) struct StateCase {
    pub(crate) name: String,
    pub(crate) value: Box<RawValue>,
    #[serde(default)]
    pub(crate) passes_through: bool,
    pub(crate) reason: Option<String>,
}

pub(crate) fn tokens() -> Tokens {
    serde_json::from_str(include_str!("../vectors/state_tokens.json")).unwrap()
}

pub(crate) fn identities() -> Identities {
    serde_json::from_str(include_str!("../vectors/state_identity.json")).unwrap()
}

pub(crate) fn boundaries() -> Boundaries {
    serde_json::from_str(include_str!("../vectors/state_boundary.json")).unwrap()
}

/// A number of the vectors, read exactly, whatever cargo features `serde_json` has.
pub(crate) fn number(raw: &RawValue) -> f64 {
    raw.get().parse().unwrap()
}

pub(crate) fn bytes(hex: &str) -> Vec<u8> {
    let digit = |digit: u8| char::from(digit).to_digit(16).unwrap() as u8;
    let (pairs, rest) = hex.as_bytes().as_chunks::<2>();
    assert!(rest.is_empty());
    pairs
        .iter()
        .map(|[high, low]| digit(*high) << 4 | digit(*low))
        .collect()
}

pub(crate) fn ring(secrets: &[String]) -> KeyRing {
    KeyRing::new(secrets.iter().map(|secret| bytes(secret))).unwrap()
}
