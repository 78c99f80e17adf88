//! The codec that seals: AES-256-GCM, in the layout of the Python SDK.

use crate::{
    codec::{RequestStateCodec, UnsealError},
    error::{BoxError, InvalidRequestState, SealError},
    key::KeyRing,
    sealer::{Purpose, Sealer},
};

/// Encrypts and authenticates request state; clients cannot read it.
///
/// Tokens of the Python SDK's `AESGCMRequestStateCodec` open here and the other way round.
///
/// ```text
/// "v1." + base64url_no_padding( kid[4] | nonce[12] | ciphertext | tag[16] )
/// key = HKDF-SHA256(secret, no salt, "mcp/request-state/v1/aes-256-gcm", 32 bytes)
/// kid = SHA-256("mcp/request-state/v1/kid:" | key)[..4]
/// associated data = "v1." | kid
/// ```
///
/// # Example
///
/// ```
/// use mcp_state::{AesGcmCodec, KeyRing};
///
/// let codec = AesGcmCodec::new(&KeyRing::new(["0123456789abcdef0123456789abcdef"])?);
/// let token = codec.seal(b"step 2")?;
/// assert_eq!(codec.unseal(&token)?, b"step 2");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct AesGcmCodec(Sealer);

impl AesGcmCodec {
    /// A codec over the ring: its first secret seals, every one opens.
    #[must_use]
    pub fn new(ring: &KeyRing) -> Self {
        Self(Sealer::new(ring, Purpose::State))
    }

    /// Replaces the longest token that is sealed or opened, 64 KiB by default.
    #[must_use]
    pub fn with_max_token_len(self, bytes: usize) -> Self {
        Self(self.0.with_max_token_len(bytes))
    }

    /// A token that hides and protects `payload`.
    ///
    /// # Errors
    ///
    /// [`SealError::TooLong`] where no reader would accept the token.
    pub fn seal(&self, payload: &[u8]) -> Result<String, SealError> {
        self.0.seal(payload, b"")
    }

    /// [`seal`](Self::seal) with the nonce as an argument, for tests and vectors.
    ///
    /// # Security
    ///
    /// See [`Sealer::seal_with_nonce`]: a repeated nonce gives the plaintexts away.
    ///
    /// # Errors
    ///
    /// As [`seal`](Self::seal).
    pub fn seal_with_nonce(&self, payload: &[u8], nonce: [u8; 12]) -> Result<String, SealError> {
        self.0.seal_with_nonce(payload, b"", nonce)
    }

    /// The payload of a token that some key of the ring sealed.
    ///
    /// # Errors
    ///
    /// One error for every other token; see [`InvalidRequestState`].
    pub fn unseal(&self, token: &str) -> Result<Vec<u8>, InvalidRequestState> {
        self.0.open(token, b"")
    }
}

impl RequestStateCodec for AesGcmCodec {
    fn seal(&self, payload: &[u8]) -> Result<String, BoxError> {
        Ok(Self::seal(self, payload)?)
    }

    fn unseal(&self, token: &str) -> Result<Vec<u8>, UnsealError> {
        Ok(Self::unseal(self, token)?)
    }
}

pub(crate) const KDF_INFO: &[u8] = b"mcp/request-state/v1/aes-256-gcm";
