//! The codec that signs and hides nothing: HMAC-SHA-256.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use rand::Rng;
use sha2::Sha256;

use crate::{
    codec::{RequestStateCodec, UnsealError},
    error::{BoxError, InvalidRequestState, Reason, SealError},
    key::{DerivedKey, KeyRing},
    token::{DEFAULT_MAX_TOKEN_LEN, Draft, KeyId, Nonce, Parts},
};

/// Authenticates request state that clients may read.
///
/// For state that is no secret and that somebody wants to look into, as a debugging client does.
/// The random part keeps two tokens of one payload apart, so that single use can count them.
///
/// ```text
/// "s1." + base64url_no_padding( kid[4] | random[12] | payload | tag[32] )
/// key = HKDF-SHA256(secret, no salt, "mcp/request-state/v1/hmac-sha256", 32 bytes)
/// kid = SHA-256("mcp/request-state/v1/kid:" | key)[..4]
/// tag = HMAC-SHA256(key, "s1." | kid | random | payload)
/// ```
///
/// # Example
///
/// ```
/// use mcp_state::{HmacCodec, KeyRing, RequestStateSecurity};
///
/// let codec = HmacCodec::new(&KeyRing::new(["0123456789abcdef0123456789abcdef"])?);
/// assert_eq!(codec.unseal(&codec.seal(b"step 2")?)?, b"step 2");
///
/// let security = RequestStateSecurity::with_codec(codec);
/// # let _ = security;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct HmacCodec {
    first: SigningKey,
    others: Vec<SigningKey>,
    max_token_len: usize,
}

impl HmacCodec {
    /// A codec over the ring: its first secret signs, every one verifies.
    #[must_use]
    pub fn new(ring: &KeyRing) -> Self {
        let info = [KDF_INFO];
        let (first, others) = ring.derive(&info);
        Self {
            first: SigningKey::new(&first),
            others: others.map(|key| SigningKey::new(&key)).collect(),
            max_token_len: DEFAULT_MAX_TOKEN_LEN,
        }
    }

    /// Replaces the longest token that is sealed or opened, 64 KiB by default.
    #[must_use]
    pub const fn with_max_token_len(mut self, bytes: usize) -> Self {
        self.max_token_len = bytes;
        self
    }

    /// A token that protects `payload` and shows it to whoever decodes base64.
    ///
    /// # Errors
    ///
    /// [`SealError::TooLong`] where no reader would accept the token.
    pub fn seal(&self, payload: &[u8]) -> Result<String, SealError> {
        let mut random = Nonce::default();
        rand::rng().fill_bytes(&mut random);
        self.seal_with_random(payload, random)
    }

    /// [`seal`](Self::seal) with the random part as an argument.
    ///
    /// # Errors
    ///
    /// As [`seal`](Self::seal).
    pub fn seal_with_random(&self, payload: &[u8], random: [u8; 12]) -> Result<String, SealError> {
        let key = &self.first;
        let limits = (TAG_LEN, self.max_token_len);
        let mut draft = Draft::new(PREFIX, (&key.id, &random), payload, limits)?;
        let tag = key.mac(&random, draft.body()).finalize().into_bytes();
        draft.finish(PREFIX, &tag)
    }

    /// The payload of a token that some key of the ring signed.
    ///
    /// # Errors
    ///
    /// One error for every other token; see [`InvalidRequestState`].
    pub fn unseal(&self, token: &str) -> Result<Vec<u8>, InvalidRequestState> {
        let limits = (TAG_LEN, self.max_token_len);
        let Parts {
            id,
            nonce,
            mut body,
        } = Parts::read(token, PREFIX, limits)?;
        let mut reason = Reason::UnknownKey;
        for key in self.keys().filter(|key| key.id == id) {
            reason = Reason::Seal;
            let Some((payload, tag)) = body.split_last_chunk::<TAG_LEN>() else {
                break;
            };
            if key.mac(&nonce, payload).verify_slice(tag).is_ok() {
                body.truncate(payload.len());
                return Ok(body);
            }
        }
        Err(reason.into())
    }

    fn keys(&self) -> impl Iterator<Item = &SigningKey> {
        std::iter::once(&self.first).chain(&self.others)
    }
}

impl RequestStateCodec for HmacCodec {
    fn seal(&self, payload: &[u8]) -> Result<String, BoxError> {
        Ok(Self::seal(self, payload)?)
    }

    fn unseal(&self, token: &str) -> Result<Vec<u8>, UnsealError> {
        Ok(Self::unseal(self, token)?)
    }
}

impl fmt::Debug for HmacCodec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HmacCodec")
            .field("keys", &self.keys().count())
            .field("max_token_len", &self.max_token_len)
            .finish()
    }
}

/// A keyed hash, its pads absorbed once. Zeroizes itself on drop.
struct SigningKey {
    id: KeyId,
    hash: Hmac<Sha256>,
}

impl SigningKey {
    #[expect(clippy::expect_used, reason = "HMAC takes a key of any length")]
    fn new(key: &DerivedKey) -> Self {
        let hash = Hmac::new_from_slice(&*key.bytes).expect("HMAC takes any key");
        Self { id: key.id, hash }
    }

    fn mac(&self, random: &Nonce, payload: &[u8]) -> Hmac<Sha256> {
        let bound = self.hash.clone().chain_update(PREFIX);
        bound
            .chain_update(self.id)
            .chain_update(random)
            .chain_update(payload)
    }
}

const PREFIX: &str = "s1.";
const KDF_INFO: &[u8] = b"mcp/request-state/v1/hmac-sha256";
const TAG_LEN: usize = 32;
