//! Construction errors, sealing errors, and the one refusal a client may see.

use std::{borrow::Cow, error::Error, fmt, sync::Arc};

/// A boxed error of an application's own code: a codec, a principal binding.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// Why a [`KeyRing`](crate::KeyRing) could not be made.
///
/// Names the position of the offending secret, never its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyError {
    /// The ring was given no secret at all.
    NoKey,
    /// A secret is too short to be one.
    TooShort {
        /// Its position, from zero.
        index: usize,
        /// Its length in bytes.
        len: usize,
    },
    /// Two secrets derive the same key id, which in practice means one secret was given twice.
    Duplicate {
        /// The position of the later one.
        index: usize,
        /// The position of the earlier one.
        earlier: usize,
    },
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let min = crate::key::MIN_SECRET_LEN;
        match self {
            Self::NoKey => write!(
                f,
                "a key ring needs at least one secret of {min} bytes or more; {HOW_TO_MAKE_ONE}"
            ),
            Self::TooShort { index, len } => write!(
                f,
                "keys[{index}] is {len} bytes long but must be at least {min} bytes of secret \
                 randomness; {HOW_TO_MAKE_ONE}"
            ),
            Self::Duplicate { index, earlier } => write!(
                f,
                "keys[{index}] has the key id of keys[{earlier}]: list every secret once"
            ),
        }
    }
}

impl Error for KeyError {}

/// Why a policy could not be made.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PolicyError {
    /// The time to live is not a positive, finite number of seconds.
    TimeToLive(f64),
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimeToLive(seconds) => write!(
                f,
                "the time to live of request state must be a positive, finite number of seconds, \
                 not {seconds}"
            ),
        }
    }
}

impl Error for PolicyError {}

/// Why something could not be sealed.
///
/// A client is told [`SealError::MESSAGE`] with code [`SealError::CODE`]; the `Display` text is
/// for the log.
#[derive(Debug)]
#[non_exhaustive]
pub enum SealError {
    /// The token would be longer than its reader accepts.
    TooLong {
        /// The length it would have.
        len: usize,
        /// The longest that is accepted.
        max: usize,
    },
    /// The request is not one of the three methods that carry request state, or cannot be read.
    Request(IdentityError),
    /// The clock reading is not a finite number.
    Clock,
    /// The application's own principal binding failed.
    Principal(BoxError),
    /// The cipher, or the application's own codec, failed.
    Codec(BoxError),
}

impl SealError {
    /// The JSON-RPC code a client is answered with.
    pub const CODE: i64 = -32603;
    /// The only text a client is answered with.
    pub const MESSAGE: &str = "Internal error";
}

impl fmt::Display for SealError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { len, max } => {
                write!(
                    f,
                    "the token would be {len} bytes long, more than the {max} accepted"
                )
            }
            Self::Request(_) => f.write_str("the request has no identity to bind state to"),
            Self::Clock => f.write_str("the clock reading is not a finite number"),
            Self::Principal(_) => f.write_str("the principal binding failed"),
            Self::Codec(_) => f.write_str("the codec failed to seal"),
        }
    }
}

impl Error for SealError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Request(error) => Some(error),
            Self::Principal(error) | Self::Codec(error) => Some(&**error),
            Self::TooLong { .. } | Self::Clock => None,
        }
    }
}

impl From<IdentityError> for SealError {
    fn from(error: IdentityError) -> Self {
        Self::Request(error)
    }
}

/// Why a text is not JSON. Carries a position, never the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonError {
    at: usize,
}

impl JsonError {
    pub(crate) const fn new(at: usize) -> Self {
        Self { at }
    }

    /// The byte at which the text stops being JSON.
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.at
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not JSON at byte {}", self.at)
    }
}

impl Error for JsonError {}

/// Why a request has no identity that state could be bound to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IdentityError {
    /// Its method never carries request state.
    Method,
    /// Its parameters are not JSON.
    Json(JsonError),
    /// Its parameters are not an object.
    Params,
    /// The member that names the target is not a string.
    Target,
}

impl fmt::Display for IdentityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Method => f.write_str("this method does not carry request state"),
            Self::Json(error) => write!(f, "the parameters are {error}"),
            Self::Params => f.write_str("the parameters are not an object"),
            Self::Target => f.write_str("the name or uri is not a string"),
        }
    }
}

impl Error for IdentityError {}

impl From<JsonError> for IdentityError {
    fn from(error: JsonError) -> Self {
        Self::Json(error)
    }
}

/// A token that does not open. Its `Display` text is the same for every cause.
///
/// # Security
///
/// What a client may see is [`CODE`](Self::CODE), [`MESSAGE`](Self::MESSAGE) and
/// [`DATA_REASON`](Self::DATA_REASON). The [`reason`](Self::reason) is for the server's log alone:
/// telling an attacker *why* a forgery failed helps the next one.
#[derive(Clone)]
pub struct InvalidRequestState {
    reason: Reason,
    cause: Option<Arc<dyn Error + Send + Sync>>,
}

impl InvalidRequestState {
    /// The JSON-RPC code a client is answered with.
    pub const CODE: i64 = -32602;
    /// The only text a client is answered with.
    pub const MESSAGE: &str = "Invalid or expired requestState";
    /// The only value `data.reason` has in that answer.
    pub const DATA_REASON: &str = "invalid_request_state";

    /// Refuses for a reason; for an application's own codec.
    #[must_use]
    pub const fn new(reason: Reason) -> Self {
        Self {
            reason,
            cause: None,
        }
    }

    pub(crate) fn caused(reason: Reason, cause: BoxError) -> Self {
        Self {
            reason,
            cause: Some(cause.into()),
        }
    }

    /// The real reason, for the log.
    #[must_use]
    pub const fn reason(&self) -> &Reason {
        &self.reason
    }

    /// What an application's own codec or principal binding failed with, for the log. It is not
    /// the `source` of this error, since those find their way into answers.
    #[must_use]
    pub fn cause(&self) -> Option<&(dyn Error + Send + Sync + 'static)> {
        self.cause.as_deref()
    }
}

impl fmt::Display for InvalidRequestState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::MESSAGE)
    }
}

impl fmt::Debug for InvalidRequestState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InvalidRequestState({})", self.reason)
    }
}

/// Refusals for the same reason are the same.
impl PartialEq for InvalidRequestState {
    fn eq(&self, other: &Self) -> bool {
        self.reason == other.reason
    }
}

impl Eq for InvalidRequestState {}

impl Error for InvalidRequestState {}

impl From<Reason> for InvalidRequestState {
    fn from(reason: Reason) -> Self {
        Self::new(reason)
    }
}

/// Why a token was refused, in the order in which the checks are made. For the log only.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The parameters that should carry the state could not be read.
    Params,
    /// `requestState` is neither a string nor null.
    NonString,
    /// The token is longer than the limit; nothing of it was decoded.
    TooLong,
    /// Not a token, or its authentic content is not claims of a known version.
    Malformed,
    /// No key of the ring has the token's key id.
    UnknownKey,
    /// Authentication failed: forged, altered, of another purpose or bound to other data.
    Seal,
    /// A custom codec refused for a reason of its own.
    Codec(Cow<'static, str>),
    /// A custom codec failed.
    CodecError,
    /// Minted more than a minute ahead of this clock.
    MintedInTheFuture,
    /// Its lifetime is over.
    Expired,
    /// Minted for another method, target or arguments.
    RequestBinding,
    /// Minted by another service.
    Audience,
    /// The application's own principal binding failed.
    PrincipalBindingError,
    /// Bound to a principal while the request has none, or the other way round.
    PrincipalDrift,
    /// Bound to another principal.
    Principal,
}

impl Reason {
    /// The reason in the words the Python SDK logs.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Params => "unreadable params",
            Self::NonString => "non-string requestState",
            Self::TooLong => "too long",
            Self::Malformed => "malformed",
            Self::UnknownKey => "unknown key",
            Self::Seal => "seal",
            Self::Codec(reason) => reason,
            Self::CodecError => "codec error",
            Self::MintedInTheFuture => "minted in the future",
            Self::Expired => "expired",
            Self::RequestBinding => "request binding",
            Self::Audience => "audience",
            Self::PrincipalBindingError => "principal binding error",
            Self::PrincipalDrift => "principal drift",
            Self::Principal => "principal",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

const HOW_TO_MAKE_ONE: &str = "make one with `openssl rand -hex 32`";
