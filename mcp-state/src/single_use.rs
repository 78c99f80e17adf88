//! The id by which a store recognises a token it has seen.

use std::fmt;

use sha2::{Digest, Sha256};

use crate::token::base64url;

/// The id of one token, for a tool whose state may be used once.
///
/// Sealing cannot make a token work once: nothing in it changes when it is used. So the *id* is
/// reserved, in a store that all workers share, before the handler runs, and kept there for the
/// rest of the token's time to live.
///
/// The id is a hash of the whole token. The codecs of this crate accept one spelling of a token, so
/// one token has one id; a codec of an application's own has to do the same. An id tells nothing of
/// the token and does not open it, so a store and a log may hold it.
///
/// # Example
///
/// ```
/// use std::collections::HashSet;
/// use mcp_state::{AesGcmCodec, KeyRing, TokenId};
///
/// let codec = AesGcmCodec::new(&KeyRing::ephemeral());
/// let token = codec.seal(b"pay 5")?;
/// let mut seen = HashSet::new();
///
/// codec.unseal(&token)?; // first, so that a forgery costs no room in the store
/// assert!(seen.insert(TokenId::of(&token)));
/// assert!(!seen.insert(TokenId::of(&token)), "used before");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TokenId(String);

impl TokenId {
    /// The id of a token, which should have been opened before.
    #[must_use]
    pub fn of(token: &str) -> Self {
        let hash = Sha256::new()
            .chain_update(LABEL)
            .chain_update(token)
            .finalize();
        Self(base64url(hash.get(..ID_LEN).unwrap_or_default()))
    }

    /// The id as 22 characters of base64url.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for TokenId {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TokenId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for TokenId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TokenId({})", self.0)
    }
}

const LABEL: &[u8] = b"mcp/request-state/v1/token-id:";
const ID_LEN: usize = 16;
