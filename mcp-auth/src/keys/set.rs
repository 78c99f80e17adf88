//! The public keys of an issuer.
//!
//! Source: RFC 7517, RFC 7518 section 6, RFC 8037 section 2.

use std::{
    fmt,
    sync::atomic::{AtomicU64, Ordering},
};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use jsonwebtoken::{DecodingKey, crypto::rust_crypto};
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::{Algorithm, KeySetError, jws::Jws, shown::Shown};

/// A key set, read.
pub(crate) struct KeySet {
    keys: Vec<Key>,
    /// Another one for every set of this process.
    generation: u64,
    /// Of its text.
    digest: [u8; 32],
}

/// What came of checking a signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Checked {
    /// A key of the set made it.
    Good,
    /// It names a key of the set, which did not make it.
    Forged,
    /// No key of the set made it, but another one may have.
    UnknownKey,
}

impl KeySet {
    /// Reads a JSON Web Key Set. Keys that no signature here can be made with are passed over: a
    /// set may have keys for other purposes.
    pub(crate) fn parse(text: &str) -> Result<Self, KeySetError> {
        if text.len() > MAX_LEN {
            let (limit, unit) = (MAX_LEN, "bytes");
            return Err(KeySetError::TooLarge { limit, unit });
        }
        let Document { keys } =
            serde_json::from_str(text).map_err(|error| KeySetError::Malformed(error.into()))?;
        if keys.len() > MAX_KEYS {
            let (limit, unit) = (MAX_KEYS, "keys");
            return Err(KeySetError::TooLarge { limit, unit });
        }
        Ok(Self {
            keys: keys.into_iter().filter_map(Key::read).collect(),
            generation: GENERATION.fetch_add(1, Ordering::Relaxed),
            digest: Sha256::digest(text).into(),
        })
    }

    /// As [`KeySet::parse`], for a set that has to have a key that can be used.
    pub(crate) fn parse_usable(text: &str) -> Result<Self, KeySetError> {
        let set = Self::parse(text)?;
        if set.is_empty() {
            return Err(KeySetError::NoUsableKey);
        }
        Ok(set)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Tells one set from the next.
    pub(crate) const fn generation(&self) -> u64 {
        self.generation
    }

    /// Whether it was read from that text.
    pub(crate) fn is_of(&self, text: &str) -> bool {
        self.digest == <[u8; 32]>::from(Sha256::digest(text))
    }

    /// Checks a token's signature with the key that it names, or with those that may have made it.
    pub(crate) fn check(&self, jws: &Jws<'_>) -> Checked {
        let kid = jws.kid.as_deref();
        let named = |key: &&Key| kid.is_some() && key.kid.as_deref() == kid;
        let fits = |key: &&Key| {
            let may_be = kid.is_none() || key.kid.is_none() || named(key);
            may_be && key.fits(jws.algorithm)
        };
        let mut candidates = self.keys.iter().filter(fits).take(MAX_CANDIDATES);
        if candidates.any(|key| key.made(jws)) {
            Checked::Good
        } else if self.keys.iter().any(|key| named(&key)) {
            Checked::Forged
        } else {
            Checked::UnknownKey
        }
    }
}

/// Keys are public, and long.
impl fmt::Debug for KeySet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kids = self.keys.iter().map(|key| &key.kid);
        formatter.debug_list().entries(kids).finish()
    }
}

/// A public key that signatures can be checked with.
struct Key {
    kid: Option<String>,
    kind: Kind,
    /// The one algorithm that it is for, if it says so.
    algorithm: Option<Algorithm>,
    key: DecodingKey,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Rsa,
    P256,
    P384,
    Ed25519,
}

impl Key {
    /// The key of a member of the set, or nothing where it is not for signatures of this kind.
    fn read(member: Value) -> Option<Self> {
        let jwk = match Jwk::deserialize(member) {
            Ok(jwk) => jwk,
            Err(error) => {
                tracing::debug!(%error, "a key of the key set cannot be read");
                return None;
            }
        };
        let read = jwk.key();
        if let Err(problem) = &read {
            let kid = Shown(jwk.kid.as_deref().unwrap_or_default());
            tracing::debug!(%kid, problem, "a key of the key set is not for signatures here");
        }
        let (kind, algorithm, key) = read.ok()?;
        Some(Self {
            kid: jwk.kid,
            kind,
            algorithm,
            key,
        })
    }

    /// The key says which algorithms it is for, never the token alone.
    fn fits(&self, algorithm: Algorithm) -> bool {
        let kind = match algorithm {
            Algorithm::Rs256
            | Algorithm::Rs384
            | Algorithm::Rs512
            | Algorithm::Ps256
            | Algorithm::Ps384
            | Algorithm::Ps512 => Kind::Rsa,
            Algorithm::Es256 => Kind::P256,
            Algorithm::Es384 => Kind::P384,
            Algorithm::EdDsa => Kind::Ed25519,
        };
        self.kind == kind && self.algorithm.is_none_or(|only| only == algorithm)
    }

    fn made(&self, jws: &Jws<'_>) -> bool {
        // The provider is named, not looked up: which one a process has by default is for the
        // application to say, and there may be none.
        let factory = rust_crypto::DEFAULT_PROVIDER.verifier_factory;
        let verifier = factory(&jws.algorithm.in_library(), &self.key);
        verifier.is_ok_and(|it| it.verify(jws.signed, &jws.signature).is_ok())
    }
}

#[derive(Deserialize)]
struct Document {
    keys: Vec<Value>,
}

#[derive(Deserialize)]
struct Jwk {
    kty: String,
    kid: Option<String>,
    #[serde(rename = "use")]
    usage: Option<String>,
    key_ops: Option<Vec<String>>,
    alg: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

impl Jwk {
    fn key(&self) -> Result<(Kind, Option<Algorithm>, DecodingKey), &'static str> {
        if self.usage.as_deref().is_some_and(|it| it != "sig") {
            return Err("`use` is not `sig`");
        }
        let ops = self.key_ops.as_deref();
        if ops.is_some_and(|it| it.iter().all(|op| op != "verify")) {
            return Err("`key_ops` lacks `verify`");
        }
        let algorithm = match &self.alg {
            Some(name) => Some(Algorithm::named(name).ok_or("an `alg` that is not used here")?),
            None => None,
        };
        let (kind, key) = match (self.kty.as_str(), self.crv.as_deref()) {
            ("RSA", _) => (Kind::Rsa, self.rsa()?),
            ("EC", Some("P-256")) => (Kind::P256, self.point(32)?),
            ("EC", Some("P-384")) => (Kind::P384, self.point(48)?),
            ("OKP", Some("Ed25519")) => {
                let x = bytes(self.x.as_ref(), Some(32))?;
                (Kind::Ed25519, DecodingKey::from_ed_der(&x))
            }
            _ => return Err("a `kty` or `crv` that is not used here"),
        };
        Ok((kind, algorithm, key))
    }

    fn rsa(&self) -> Result<DecodingKey, &'static str> {
        let modulus = bytes(self.n.as_ref(), None)?;
        let exponent = bytes(self.e.as_ref(), None)?;
        let leading = modulus.iter().take_while(|byte| **byte == 0).count();
        // RFC 7518 section 3.3 has 2048 bits as the least.
        if !(256..=1024).contains(&modulus.len().saturating_sub(leading)) {
            return Err("an RSA key of less than 2048 or more than 8192 bits");
        }
        let odd = |number: &[u8]| number.last().is_some_and(|byte| byte % 2 == 1);
        if !odd(&modulus) || !odd(&exponent) || exponent.len() > 8 || exponent == [1] {
            return Err("no RSA key");
        }
        Ok(DecodingKey::from_rsa_raw_components(&modulus, &exponent))
    }

    /// RFC 7518 section 6.2.1: coordinates of full length. SEC 1 section 2.3.3 for the key.
    fn point(&self, len: usize) -> Result<DecodingKey, &'static str> {
        let mut point = vec![4];
        point.extend(bytes(self.x.as_ref(), Some(len))?);
        point.extend(bytes(self.y.as_ref(), Some(len))?);
        Ok(DecodingKey::from_ec_der(&point))
    }
}

fn bytes(text: Option<&String>, len: Option<usize>) -> Result<Vec<u8>, &'static str> {
    let text = text.ok_or("a part of the key is missing")?;
    let decoded = URL_SAFE_NO_PAD.decode(text);
    let decoded = decoded.map_err(|_| "a part of the key is no base64url")?;
    if len.is_some_and(|len| len != decoded.len()) {
        return Err("a part of the key has the wrong length");
    }
    Ok(decoded)
}

static GENERATION: AtomicU64 = AtomicU64::new(0);

/// The largest key set, in bytes, that is read.
pub(crate) const MAX_LEN: usize = 1024 * 1024;
/// The most keys of a set.
const MAX_KEYS: usize = 256;
/// The most keys that are tried on one signature.
const MAX_CANDIDATES: usize = 8;
