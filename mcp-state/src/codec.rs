//! The trait an application's own crypto implements.

use std::fmt;

use crate::error::{BoxError, InvalidRequestState};

/// Authenticated crypto over the envelope that [`Boundary`](crate::Boundary) writes.
///
/// The boundary stamps and checks every claim (lifetime, request, audience, principal); a codec
/// gives integrity and, ideally, confidentiality. [`AesGcmCodec`](crate::AesGcmCodec) and
/// [`HmacCodec`](crate::HmacCodec) ship; implement this for a KMS of your own. Both methods are
/// synchronous, so keep key material at hand rather than asking a service for every token.
///
/// # Security
///
/// - `unseal(seal(payload))` gives the payload back, and every token `seal` did not return
///   *unmodified* is refused, another spelling of the same bytes included: single use counts
///   tokens by their text.
/// - A token never names its algorithm. Version it by a prefix that is authenticated with the rest.
/// - Comparisons are constant time.
///
/// # Example
///
/// ```
/// use mcp_state::{InvalidRequestState, KeyRing, Purpose, Reason, RequestStateCodec};
/// use mcp_state::{BoxError, Sealer, UnsealError};
///
/// /// Another format version around the crate's own sealer.
/// #[derive(Debug)]
/// struct Versioned(Sealer);
///
/// impl RequestStateCodec for Versioned {
///     fn seal(&self, payload: &[u8]) -> Result<String, BoxError> {
///         Ok(format!("kms2.{}", self.0.seal(payload, b"kms2.")?))
///     }
///
///     fn unseal(&self, token: &str) -> Result<Vec<u8>, UnsealError> {
///         let inner = token.strip_prefix("kms2.");
///         let inner = inner.ok_or(InvalidRequestState::new(Reason::Malformed))?;
///         Ok(self.0.open(inner, b"kms2.")?)
///     }
/// }
///
/// let codec = Versioned(Sealer::new(&KeyRing::ephemeral(), Purpose::Application("kms")));
/// assert_eq!(codec.unseal(&codec.seal(b"hello")?)?, b"hello");
/// # Ok::<(), BoxError>(())
/// ```
pub trait RequestStateCodec: fmt::Debug + Send + Sync {
    /// An opaque, URL-safe token protecting `payload`.
    ///
    /// # Errors
    ///
    /// Anything that went wrong. It is logged; the client reads "Internal error".
    fn seal(&self, payload: &[u8]) -> Result<String, BoxError>;

    /// The payload of a token that [`seal`](Self::seal) returned. `token` is attacker controlled.
    ///
    /// # Errors
    ///
    /// [`UnsealError::Invalid`] for a token that is malformed, not authentic or of an unknown key;
    /// [`UnsealError::Failed`] where the codec itself broke. A client cannot tell them apart.
    fn unseal(&self, token: &str) -> Result<Vec<u8>, UnsealError>;
}

/// Why a codec gave no payload.
#[derive(Debug)]
#[non_exhaustive]
pub enum UnsealError {
    /// The token is not one of its own.
    Invalid(InvalidRequestState),
    /// The codec failed: logged as `codec error`, refused all the same.
    Failed(BoxError),
}

impl fmt::Display for UnsealError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(InvalidRequestState::MESSAGE)
    }
}

impl std::error::Error for UnsealError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Invalid(error) => Some(error),
            Self::Failed(error) => Some(&**error),
        }
    }
}

impl From<InvalidRequestState> for UnsealError {
    fn from(error: InvalidRequestState) -> Self {
        Self::Invalid(error)
    }
}
