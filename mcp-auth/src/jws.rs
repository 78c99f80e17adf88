//! A token taken apart.
//!
//! Source: RFC 7515 sections 3.1 and 4.1, RFC 7519 section 7.2.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use mcp_core::auth::AuthError;
use serde::Deserialize;

use crate::{Algorithm, shown::Shown};

/// A signed token: what it says, which nobody has vouched for yet.
#[derive(Debug)]
pub(crate) struct Jws<'a> {
    pub(crate) algorithm: Algorithm,
    pub(crate) kid: Option<String>,
    /// What the signature is over.
    pub(crate) signed: &'a [u8],
    pub(crate) payload: Vec<u8>,
    pub(crate) signature: Vec<u8>,
}

/// The members of a header that mean something here; others are ignored (RFC 7515 section 4).
#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    typ: Option<String>,
    crit: Option<serde::de::IgnoredAny>,
    b64: Option<bool>,
}

impl<'a> Jws<'a> {
    /// Reads the compact serialization.
    ///
    /// A token of another form is no less a bearer token, so that all of this is
    /// [`AuthError::Invalid`].
    pub(crate) fn parse(token: &'a str) -> Result<Self, AuthError> {
        if token.len() > MAX_TOKEN_LEN {
            let reason = format!("a token of more than {MAX_TOKEN_LEN} bytes");
            return Err(AuthError::invalid(reason));
        }
        let mut parts = token.split('.');
        let (Some(header), Some(payload), Some(signature), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(AuthError::invalid("the token is no signed JWT"));
        };
        let signed = header.len() + 1 + payload.len();
        let signed = token.as_bytes().get(..signed).unwrap_or_default();
        let header = decode(header, "header")?;
        let header: Header = serde_json::from_slice(&header)
            .map_err(|_| AuthError::invalid("the header of the token cannot be read"))?;
        Ok(Self {
            algorithm: header.check()?,
            kid: header.kid,
            signed,
            payload: decode(payload, "payload")?,
            signature: decode(signature, "signature")?,
        })
    }
}

impl Header {
    fn check(&self) -> Result<Algorithm, AuthError> {
        // Whatever is critical is unknown here, and `b64` is nothing for a JWT (RFC 7797 section 7).
        if self.crit.is_some() || self.b64 == Some(false) {
            let reason = "the token has critical header parameters (`crit`)";
            return Err(AuthError::invalid(reason));
        }
        if let Some(typ) = &self.typ
            && !is_access_token(typ)
        {
            let reason = format!("the token is no access token, but `typ` {}", Shown(typ));
            return Err(AuthError::invalid(reason));
        }
        Algorithm::named(&self.alg).ok_or_else(|| {
            let reason = format!("the token's `alg` {} is not to be used", Shown(&self.alg));
            AuthError::invalid(reason)
        })
    }
}

/// RFC 9068 section 4: a media type, whose `application/` may be left out. Older authorization
/// servers say `JWT`; an ID token or a logout token with a type of its own is none.
fn is_access_token(typ: &str) -> bool {
    let typ = typ.to_ascii_lowercase();
    let typ = typ.strip_prefix("application/").unwrap_or(&typ);
    matches!(typ, "at+jwt" | "jwt")
}

fn decode(part: &str, what: &str) -> Result<Vec<u8>, AuthError> {
    URL_SAFE_NO_PAD
        .decode(part)
        .map_err(|_| AuthError::invalid(format!("the {what} of the token is no base64url")))
}

/// The longest token, in bytes, that is looked at.
pub(crate) const MAX_TOKEN_LEN: usize = 16 * 1024;
