//! Secrets, and the keys derived from them.

use std::{fmt, sync::Arc};

use hkdf::Hkdf;
use rand::Rng;
use sha2::{Digest, Sha256};
use zeroize::{Zeroize, Zeroizing};

use crate::{error::KeyError, token::KeyId};

/// The fewest bytes a secret may have.
pub const MIN_SECRET_LEN: usize = 32;

/// One operator secret: copied in, zeroized on drop, shown by `Debug` as a length.
struct Secret(Zeroizing<Box<[u8]>>);

impl Secret {
    fn copy(bytes: &[u8], index: usize) -> Result<Self, KeyError> {
        if bytes.len() < MIN_SECRET_LEN {
            return Err(KeyError::TooShort {
                index,
                len: bytes.len(),
            });
        }
        Ok(Self(Zeroizing::new(bytes.into())))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({} bytes)", self.0.len())
    }
}

/// The secrets of a deployment: the first seals, every one opens.
///
/// A ring is cheap to clone and to share; each [`Sealer`](crate::Sealer) or codec derives its own
/// keys from it once, when it is made.
///
/// # Rotation
///
/// Without downtime, each step rolled out to every worker before the next one starts:
/// `[old, new]`, then `[new, old]`, then, after one time to live, `[new]`.
///
/// # Example
///
/// ```
/// use mcp_state::KeyRing;
///
/// let ring = KeyRing::new(["a secret of at least thirty-two bytes"])?;
/// assert_eq!(ring.len(), 1);
///
/// let refused = KeyRing::new(["too short"]).unwrap_err();
/// assert!(refused.to_string().contains("keys[0] is 9 bytes long"));
/// # Ok::<(), mcp_state::KeyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct KeyRing {
    first: Arc<Secret>,
    others: Arc<[Secret]>,
}

impl KeyRing {
    /// A ring of the given secrets; a text counts as its UTF-8 bytes.
    ///
    /// # Errors
    ///
    /// No secret at all, one of fewer than 32 bytes, or one that is listed twice. The error names
    /// the position and how to make a secret.
    pub fn new<I>(secrets: I) -> Result<Self, KeyError>
    where
        I: IntoIterator,
        I::Item: AsRef<[u8]>,
    {
        let mut secrets = secrets
            .into_iter()
            .enumerate()
            .map(|(index, secret)| Secret::copy(secret.as_ref(), index));
        let first = secrets.next().ok_or(KeyError::NoKey)??;
        let others: Vec<Secret> = secrets.collect::<Result<_, _>>()?;
        let ring = Self {
            first: Arc::new(first),
            others: others.into(),
        };
        ring.refuse_duplicates()?;
        Ok(ring)
    }

    /// A ring of one random secret that only this process knows.
    ///
    /// What it seals, no other worker opens, nor this one after a restart. Right for stdio and for
    /// a single process; several workers need a shared secret.
    #[must_use]
    pub fn ephemeral() -> Self {
        let mut secret = [0; MIN_SECRET_LEN];
        rand::rng().fill_bytes(&mut secret);
        let first = Arc::new(Secret(Zeroizing::new(Box::from(secret))));
        secret.zeroize();
        Self {
            first,
            others: Arc::new([]),
        }
    }

    /// How many secrets the ring holds. Never zero.
    #[must_use]
    pub fn len(&self) -> usize {
        1 + self.others.len()
    }

    /// Always false; here for the reader who expects it beside [`len`](Self::len).
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        false
    }

    /// The keys of one purpose: the one that seals, then the others, in the order of the ring.
    pub(crate) fn derive(&self, info: &[&[u8]]) -> (DerivedKey, impl Iterator<Item = DerivedKey>) {
        let derive = move |secret: &Secret| DerivedKey::new(&secret.0, info);
        (derive(&self.first), self.others.iter().map(derive))
    }

    fn refuse_duplicates(&self) -> Result<(), KeyError> {
        let (first, others) = self.derive(&[crate::aes_gcm::KDF_INFO]);
        let ids: Vec<KeyId> = std::iter::once(first)
            .chain(others)
            .map(|key| key.id)
            .collect();
        for (index, id) in ids.iter().enumerate() {
            if let Some(earlier) = ids.iter().take(index).position(|it| it == id) {
                return Err(KeyError::Duplicate { index, earlier });
            }
        }
        Ok(())
    }
}

/// A 256-bit key for one purpose, and the public id it goes by in a token.
pub(crate) struct DerivedKey {
    pub(crate) bytes: Zeroizing<[u8; 32]>,
    pub(crate) id: KeyId,
}

impl DerivedKey {
    #[expect(
        clippy::expect_used,
        reason = "a constant length, far below HKDF's limit of 8160"
    )]
    fn new(secret: &[u8], info: &[&[u8]]) -> Self {
        let mut bytes = Zeroizing::new([0; 32]);
        Hkdf::<Sha256>::new(None, secret)
            .expand_multi_info(info, &mut *bytes)
            .expect("32 bytes are within HKDF's limit");
        let digest = Sha256::new()
            .chain_update(KID_INFO)
            .chain_update(*bytes)
            .finalize();
        let mut id = KeyId::default();
        for (to, from) in id.iter_mut().zip(digest) {
            *to = from;
        }
        Self { bytes, id }
    }
}

impl fmt::Debug for DerivedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DerivedKey({} bytes)", self.bytes.len())
    }
}

const KID_INFO: &[u8] = b"mcp/request-state/v1/kid:";
