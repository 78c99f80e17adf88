//! How credentials are judged: a policy for each kind of them.

use std::{borrow::Cow, fmt, sync::Arc};

use async_trait::async_trait;
use mcp_codec::Headers;

use super::Scopes;
use crate::{BoxError, Principal};

/// One kind of credentials: finds them in a request's headers and says whose they are.
///
/// [`Bearer`](super::Bearer) and [`Basic`](super::Basic) are two; an application has its own for
/// whatever else its clients send.
#[async_trait]
pub trait AuthPolicy: fmt::Debug + Send + Sync {
    /// Who the request is from; `None` where it has no credentials of this kind.
    ///
    /// # Errors
    ///
    /// The credentials are of this kind and do not count.
    async fn authenticate(
        &self,
        headers: &dyn Headers,
    ) -> Result<Option<Arc<Principal>>, AuthError>;

    /// What a client is told that has to show credentials of this kind: one challenge of a
    /// `WWW-Authenticate` header (RFC 9110 section 11.6.1).
    fn challenge(&self, challenge: &Challenge<'_>) -> Option<String>;
}

/// Whether a bearer token counts, and whose it is.
#[async_trait]
pub trait TokenVerifier: fmt::Debug + Send + Sync {
    /// Whose token it is, once everything about it has been verified: that it was issued by
    /// whoever is trusted, for this server, and is good now.
    ///
    /// # Errors
    ///
    /// [`AuthError::Invalid`] for a token that does not count, and [`AuthError::Unavailable`]
    /// where that cannot be told now.
    async fn verify(&self, token: &str) -> Result<Arc<Principal>, AuthError>;
}

#[async_trait]
impl<V: TokenVerifier + ?Sized> TokenVerifier for Arc<V> {
    async fn verify(&self, token: &str) -> Result<Arc<Principal>, AuthError> {
        (**self).verify(token).await
    }
}

/// Why credentials do not count. Its text is for the log: the client is told the kind alone.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthError {
    /// They are not what they should be in form: 400, `invalid_request`.
    #[error("malformed credentials: {0}")]
    Malformed(Cow<'static, str>),
    /// They are expired, forged, somebody else's: 401, `invalid_token`.
    #[error("credentials refused: {0}")]
    Invalid(Cow<'static, str>),
    /// Nobody can tell now: 503.
    #[error("credentials cannot be verified: {0}")]
    Unavailable(#[source] BoxError),
}

impl AuthError {
    /// Credentials that are not what they should be in form.
    pub fn malformed(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::Malformed(reason.into())
    }

    /// Credentials that do not count.
    pub fn invalid(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::Invalid(reason.into())
    }

    /// Credentials of which nobody can tell now.
    pub fn unavailable(reason: impl Into<BoxError>) -> Self {
        Self::Unavailable(reason.into())
    }
}

/// What a challenge has to say.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Challenge<'a> {
    /// What was wrong with the credentials that came; nothing where there were none.
    pub problem: Option<Problem>,
    /// What the operation needs.
    pub scopes: &'a Scopes,
    /// Where the resource's metadata is (RFC 9728 section 5.1).
    pub metadata: Option<&'a str>,
}

/// What was wrong with credentials (RFC 6750 section 3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the RFC has these three")]
pub enum Problem {
    /// Their form.
    InvalidRequest,
    /// They are expired, forged, somebody else's.
    InvalidToken,
    /// They permit less than is needed.
    InsufficientScope,
}

impl Problem {
    /// The `error` of the RFC.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::InvalidRequest => "invalid_request",
            Self::InvalidToken => "invalid_token",
            Self::InsufficientScope => "insufficient_scope",
        }
    }

    /// A sentence for people.
    #[must_use]
    pub const fn description(self) -> &'static str {
        match self {
            Self::InvalidRequest => "the Authorization header is malformed",
            Self::InvalidToken => "the token is expired, or not one for this server",
            Self::InsufficientScope => "the token lacks a scope that this needs",
        }
    }
}
