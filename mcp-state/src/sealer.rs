//! Sealing for one purpose: state, cursors, event ids, session handles, an application's own.

use std::fmt;

use aes_gcm::{
    Aes256Gcm, KeyInit,
    aead::{AeadInOut, array::Array},
};
use rand::Rng;

use crate::{
    error::{InvalidRequestState, Reason, SealError},
    key::KeyRing,
    token::{DEFAULT_MAX_TOKEN_LEN, Draft, KEY_ID_LEN, KeyId, NONCE_LEN, Nonce, Parts},
};

/// What a token is for. A token of one purpose never opens as another.
///
/// Every purpose has its own derived keys and its own prefix, so two of them share nothing but the
/// operator's secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Purpose {
    /// `requestState`, in the layout of the Python SDK (`v1.`).
    State,
    /// A pagination cursor (`c1.`).
    Cursor,
    /// An event id of a resumable stream (`e1.`).
    EventId,
    /// A session handle (`h1.`).
    Session,
    /// Anything of an application's own (`a1.`), told apart by the label.
    Application(&'static str),
}

impl Purpose {
    /// What a token of this purpose starts with.
    #[must_use]
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::State => "v1.",
            Self::Cursor => "c1.",
            Self::EventId => "e1.",
            Self::Session => "h1.",
            Self::Application(_) => "a1.",
        }
    }

    /// The derivation label, in parts that are joined. No two purposes join to the same bytes:
    /// only `State` lacks the `mcp/purpose/` start, and only `Application` has a colon.
    const fn kdf_info(self) -> [&'static [u8]; 2] {
        match self {
            Self::State => [crate::aes_gcm::KDF_INFO, b""],
            Self::Cursor => [b"mcp/purpose/v1/aes-256-gcm/cursor", b""],
            Self::EventId => [b"mcp/purpose/v1/aes-256-gcm/event-id", b""],
            Self::Session => [b"mcp/purpose/v1/aes-256-gcm/session", b""],
            Self::Application(label) => {
                [b"mcp/purpose/v1/aes-256-gcm/application:", label.as_bytes()]
            }
        }
    }
}

/// Seals and opens tokens of one purpose with AES-256-GCM.
///
/// `associated` binds a token to its context without travelling in it: whoever opens the token has
/// to name the same bytes. Put into it what the token must not be moved between, such as the name
/// of the list a cursor belongs to and the user it was given to.
///
/// # Example
///
/// ```
/// use mcp_state::{KeyRing, Purpose, Sealer};
///
/// let ring = KeyRing::new(["0123456789abcdef0123456789abcdef"])?;
/// let cursors = Sealer::new(&ring, Purpose::Cursor);
///
/// let token = cursors.seal(b"offset=40", b"tools/list")?;
/// assert_eq!(cursors.open(&token, b"tools/list")?, b"offset=40");
/// assert!(cursors.open(&token, b"prompts/list").is_err());
/// assert!(Sealer::new(&ring, Purpose::Session).open(&token, b"tools/list").is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Sealer {
    purpose: Purpose,
    first: SealingKey,
    others: Vec<SealingKey>,
    max_token_len: usize,
}

impl Sealer {
    /// A sealer for one purpose; derives and expands the keys, once.
    #[must_use]
    pub fn new(ring: &KeyRing, purpose: Purpose) -> Self {
        let prefix = purpose.prefix();
        let info = purpose.kdf_info();
        let (first, others) = ring.derive(&info);
        Self {
            purpose,
            first: SealingKey::new(&first, prefix),
            others: others.map(|key| SealingKey::new(&key, prefix)).collect(),
            max_token_len: DEFAULT_MAX_TOKEN_LEN,
        }
    }

    /// Replaces the longest token that is sealed or opened, 64 KiB by default.
    #[must_use]
    pub const fn with_max_token_len(mut self, bytes: usize) -> Self {
        self.max_token_len = bytes;
        self
    }

    /// What this sealer's tokens are for.
    #[must_use]
    pub const fn purpose(&self) -> Purpose {
        self.purpose
    }

    /// A token that hides and protects `plaintext` and is bound to `associated`.
    ///
    /// # Errors
    ///
    /// [`SealError::TooLong`] where no reader would accept the token.
    pub fn seal(&self, plaintext: &[u8], associated: &[u8]) -> Result<String, SealError> {
        let mut nonce = Nonce::default();
        rand::rng().fill_bytes(&mut nonce);
        self.seal_with_nonce(plaintext, associated, nonce)
    }

    /// [`seal`](Self::seal) with the nonce as an argument, for tests and vectors.
    ///
    /// # Security
    ///
    /// Two different plaintexts under one nonce reveal both, and the key that authenticates. Never
    /// call this with anything but fresh randomness outside a test.
    ///
    /// # Errors
    ///
    /// As [`seal`](Self::seal).
    pub fn seal_with_nonce(
        &self,
        plaintext: &[u8],
        associated: &[u8],
        nonce: [u8; NONCE_LEN],
    ) -> Result<String, SealError> {
        let (key, prefix) = (&self.first, self.purpose.prefix());
        let limits = (TAG_LEN, self.max_token_len);
        let mut draft = Draft::new(prefix, (&key.id, &nonce), plaintext, limits)?;
        let tag = key.with_associated(associated, |data| {
            key.cipher
                .encrypt_inout_detached(&Array(nonce), data, draft.body().into())
        });
        let tag = tag.map_err(|error| SealError::Codec(error.into()))?;
        draft.finish(prefix, &tag)
    }

    /// The plaintext of a token sealed for this purpose and bound to `associated`.
    ///
    /// # Errors
    ///
    /// One error for every token that is not such a one; see [`InvalidRequestState`].
    ///
    /// # Security
    ///
    /// `token` may be attacker controlled. Its length is checked before it is decoded, its
    /// authenticity before it is decrypted.
    pub fn open(&self, token: &str, associated: &[u8]) -> Result<Vec<u8>, InvalidRequestState> {
        let limits = (TAG_LEN, self.max_token_len);
        let Parts {
            id,
            nonce,
            mut body,
        } = Parts::read(token, self.purpose.prefix(), limits)?;
        let end = body.len() - TAG_LEN;
        let mut reason = Reason::UnknownKey;
        // Key ids are public, so looking one up need not be constant time.
        for key in self.keys().filter(|key| key.id == id) {
            let Some((text, tag)) = body.split_last_chunk_mut::<TAG_LEN>() else {
                break;
            };
            let opened = key.with_associated(associated, |data| {
                let tag = Array(*tag);
                key.cipher
                    .decrypt_inout_detached(&Array(nonce), data, text.into(), &tag)
            });
            if opened.is_ok() {
                body.truncate(end);
                return Ok(body);
            }
            reason = Reason::Seal;
        }
        Err(reason.into())
    }

    fn keys(&self) -> impl Iterator<Item = &SealingKey> {
        std::iter::once(&self.first).chain(&self.others)
    }
}

impl fmt::Debug for Sealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sealer")
            .field("purpose", &self.purpose)
            .field("keys", &self.keys().count())
            .field("max_token_len", &self.max_token_len)
            .finish()
    }
}

/// An expanded key. The cipher zeroizes itself on drop.
struct SealingKey {
    id: KeyId,
    cipher: Aes256Gcm,
    /// Prefix and key id: the associated data of every token.
    bound: [u8; BOUND_LEN],
}

impl SealingKey {
    fn new(key: &crate::key::DerivedKey, prefix: &str) -> Self {
        let mut bound = [0; BOUND_LEN];
        for (to, from) in bound
            .iter_mut()
            .zip(prefix.as_bytes().iter().chain(&key.id))
        {
            *to = *from;
        }
        Self {
            id: key.id,
            cipher: Aes256Gcm::new((&*key.bytes).into()),
            bound,
        }
    }

    /// Runs `work` with the associated data of a token: what every token is bound to, then what
    /// this one is. The first part has a fixed length, so no two pairs join to the same bytes.
    fn with_associated<T>(&self, associated: &[u8], work: impl FnOnce(&[u8]) -> T) -> T {
        if associated.is_empty() {
            work(&self.bound)
        } else {
            work(&[&self.bound, associated].concat())
        }
    }
}

const TAG_LEN: usize = 16;
const BOUND_LEN: usize = 3 + KEY_ID_LEN;

#[cfg(test)]
mod tests {
    use zeroize::ZeroizeOnDrop;

    use super::*;

    #[test]
    fn expanded_keys_zeroize_themselves() {
        // Compiles only while the cargo features that do it are on.
        const fn check<T: ZeroizeOnDrop>() {}
        const { check::<Aes256Gcm>() };
        // An HMAC is two of these, one for each pad.
        const { check::<sha2::Sha256>() };
    }

    #[test]
    fn keys_of_one_id_are_all_tried() {
        // Ids of four bytes meet by chance for a purpose that the ring was not checked for.
        let sealer = |secret: [u8; 32]| {
            let ring = KeyRing::new([secret]).unwrap();
            let mut sealer = Sealer::new(&ring, Purpose::Cursor);
            sealer.first.id = [1, 2, 3, 4];
            sealer.first.bound[3..].copy_from_slice(&sealer.first.id);
            sealer
        };
        let (mut both, other) = (sealer([1; 32]), sealer([2; 32]));
        let token = other.seal(b"payload", b"").unwrap();
        assert_eq!(*both.open(&token, b"").unwrap_err().reason(), Reason::Seal);
        both.others.push(other.first);
        assert_eq!(both.open(&token, b"").unwrap(), b"payload");
    }
}
