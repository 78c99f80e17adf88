//! The policy of a boundary: which crypto, how long, for whom.

use std::{fmt, sync::Arc, time::Duration};

use crate::{
    aes_gcm::AesGcmCodec,
    codec::RequestStateCodec,
    error::{BoxError, PolicyError},
    key::KeyRing,
    request::Request,
    token::DEFAULT_MAX_TOKEN_LEN,
};

/// How request state is protected: codec, time to live, audience, principal.
///
/// Lifetime, request, audience and principal are checked for every codec, an application's own
/// included, and a check that cannot be made is a check that failed.
///
/// # Example
///
/// ```
/// use std::time::Duration;
/// use mcp_state::{KeyRing, PrincipalBinding, RequestStateSecurity};
///
/// let ring = KeyRing::new(["the old secret, at least 32 bytes of it", "the new secret, likewise!!!!!!!!!!!!!!!"])?;
/// let security = RequestStateSecurity::with_keys(&ring)
///     .ttl(Duration::from_secs(120))?
///     .audience("billing")
///     .principal(PrincipalBinding::off());
/// # let _ = security;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct RequestStateSecurity {
    pub(crate) codec: Arc<dyn RequestStateCodec>,
    pub(crate) ttl: f64,
    pub(crate) audience: Option<String>,
    pub(crate) principal: PrincipalBinding,
    pub(crate) max_token_len: usize,
}

impl RequestStateSecurity {
    /// AES-256-GCM under the keys of a ring: what several workers share.
    #[must_use]
    pub fn with_keys(ring: &KeyRing) -> Self {
        // The boundary has a limit of its own, for every codec.
        Self::with_codec(AesGcmCodec::new(ring).with_max_token_len(usize::MAX))
    }

    /// Another codec: sign-only, or an application's own.
    #[must_use]
    pub fn with_codec(codec: impl RequestStateCodec + 'static) -> Self {
        Self {
            codec: Arc::new(codec),
            ttl: DEFAULT_TTL,
            audience: None,
            principal: PrincipalBinding::authenticated(),
            max_token_len: DEFAULT_MAX_TOKEN_LEN,
        }
    }

    /// AES-256-GCM under a key made now, which only this process holds.
    ///
    /// Right for stdio and a single HTTP worker. State minted before a restart, or by another
    /// worker, is refused.
    #[must_use]
    pub fn ephemeral() -> Self {
        Self::with_keys(&KeyRing::ephemeral())
    }

    /// Replaces the time to live, ten minutes by default.
    ///
    /// # Errors
    ///
    /// A time to live of zero.
    pub fn ttl(self, ttl: Duration) -> Result<Self, PolicyError> {
        self.ttl_seconds(ttl.as_secs_f64())
    }

    /// [`ttl`](Self::ttl) in seconds, fractions included.
    ///
    /// # Errors
    ///
    /// A time to live that is not positive or not finite.
    pub fn ttl_seconds(mut self, ttl: f64) -> Result<Self, PolicyError> {
        if !(ttl.is_finite() && ttl > 0.0) {
            return Err(PolicyError::TimeToLive(ttl));
        }
        self.ttl = ttl;
        Ok(self)
    }

    /// Names the service that state is minted for, in place of the boundary's default.
    #[must_use]
    pub fn audience(mut self, audience: impl Into<String>) -> Self {
        self.audience = Some(audience.into());
        self
    }

    /// Replaces what state is bound to besides the request.
    #[must_use]
    pub fn principal(mut self, principal: PrincipalBinding) -> Self {
        self.principal = principal;
        self
    }

    /// Replaces the longest token that is looked at, 64 KiB by default, whatever the codec.
    #[must_use]
    pub const fn max_token_len(mut self, bytes: usize) -> Self {
        self.max_token_len = bytes;
        self
    }
}

/// Whom state is bound to.
#[derive(Clone)]
pub struct PrincipalBinding(Kind);

#[derive(Clone)]
enum Kind {
    Authenticated,
    Off,
    Custom(Arc<Custom>),
}

type Custom = dyn Fn(&Request<'_>) -> Result<Option<String>, BoxError> + Send + Sync;

impl PrincipalBinding {
    /// To the authenticated caller; the state of an anonymous one is not bound. The default.
    #[must_use]
    pub const fn authenticated() -> Self {
        Self(Kind::Authenticated)
    }

    /// To nobody: whoever holds a token may use it.
    #[must_use]
    pub const fn off() -> Self {
        Self(Kind::Off)
    }

    /// To what an application says, such as its tenant. Where it fails, nothing is sealed or
    /// opened.
    ///
    /// # Example
    ///
    /// ```
    /// use mcp_state::PrincipalBinding;
    ///
    /// struct Tenant(String);
    /// let binding = PrincipalBinding::custom(|request| {
    ///     let tenant = request.context::<Tenant>().ok_or("no tenant")?;
    ///     Ok(Some(tenant.0.clone()))
    /// });
    /// # let _ = binding;
    /// ```
    #[must_use]
    pub fn custom<F>(principal: F) -> Self
    where
        F: Fn(&Request<'_>) -> Result<Option<String>, BoxError> + Send + Sync + 'static,
    {
        Self(Kind::Custom(Arc::new(principal)))
    }

    /// The principal of a request.
    ///
    /// # Errors
    ///
    /// What the application's own function failed with.
    pub fn of(&self, request: &Request<'_>) -> Result<Option<String>, BoxError> {
        match &self.0 {
            Kind::Authenticated => Ok(request.caller().map(|caller| caller.principal())),
            Kind::Off => Ok(None),
            Kind::Custom(principal) => principal(request),
        }
    }
}

impl Default for PrincipalBinding {
    fn default() -> Self {
        Self::authenticated()
    }
}

impl fmt::Debug for PrincipalBinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Kind::Authenticated => "PrincipalBinding::authenticated()",
            Kind::Off => "PrincipalBinding::off()",
            Kind::Custom(_) => "PrincipalBinding::custom(..)",
        })
    }
}

const DEFAULT_TTL: f64 = 600.0;
