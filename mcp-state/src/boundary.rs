//! Sealing what leaves and opening what comes back, with every check in its order.

use std::{
    borrow::Cow,
    fmt,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use crate::{
    binding::Binding,
    claims::{Claims, Envelope, fresh_salt},
    codec::UnsealError,
    error::{BoxError, InvalidRequestState, Reason, SealError},
    request::{Request, carries_state},
    security::RequestStateSecurity,
    text::decode,
};

/// The line between a server and what its clients hold for it.
///
/// Every state that leaves is sealed for one request, one principal, one service and one time to
/// live; every state that comes back is opened, or refused without saying why. Handlers see
/// nothing but text they made themselves.
///
/// # Security
///
/// The first failed check decides the logged [`Reason`], in this order: the state is a string; its
/// length; the codec's reasons; well-formed claims; not minted in the future; not expired; method,
/// target and arguments; audience; principal.
///
/// # Example
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use mcp_state::{Boundary, Caller, Request, RequestStateSecurity};
///
/// let boundary = Boundary::new(RequestStateSecurity::ephemeral(), Some("bank"));
/// let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_790_000_000);
/// let alice = Caller::new("app").with_subject("alice");
///
/// // First round: the handler asks, and its state leaves sealed.
/// let params = r#"{"name": "transfer", "arguments": {"amount": 5}}"#;
/// let request = Request::new("tools/call", Some(params)).with_caller(alice);
/// let token = boundary.seal(&boundary.bind(&request)?, "asked", now)?;
///
/// // Second round: the same request comes back with the token in it.
/// let params = format!(
///     r#"{{"name": "transfer", "arguments": {{"amount": 5}}, "requestState": "{token}"}}"#
/// );
/// let retry = Request::new("tools/call", Some(&params)).with_caller(alice);
/// let opened = boundary.verify(&retry, now)?.expect("the request has state");
/// assert_eq!(opened.state(), "asked");
///
/// // Anybody else, or anything else, is refused.
/// assert!(boundary.verify(&retry.with_caller(Caller::new("app").with_subject("bob")), now).is_err());
/// let dearer = Request::from_parts("tools/call", "transfer", Some(r#"{"amount":5000}"#));
/// assert!(boundary.open(&dearer.with_caller(alice), &token, now).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Boundary {
    security: RequestStateSecurity,
}

impl Boundary {
    /// A boundary under a policy. `default_audience` is the name of this service, which keeps out
    /// state that another service minted under the same keys; a policy's own audience comes first.
    #[must_use]
    pub fn new(mut security: RequestStateSecurity, default_audience: Option<&str>) -> Self {
        security.audience = security
            .audience
            .or_else(|| default_audience.map(str::to_owned));
        Self { security }
    }

    /// Checks a request that may carry state in its parameters, before any handler sees it.
    ///
    /// `None` where the method never carries state, or this request has none; null counts as none,
    /// since leaving it out is in any client's power.
    ///
    /// # Errors
    ///
    /// The state is refused. See [`InvalidRequestState`] for what may be said about it.
    pub fn verify(
        &self,
        request: &Request<'_>,
        now: SystemTime,
    ) -> Result<Option<Opened>, InvalidRequestState> {
        self.verify_at(request, unix_seconds(now))
    }

    /// [`verify`](Self::verify) at a time in seconds since 1970.
    ///
    /// # Errors
    ///
    /// As [`verify`](Self::verify).
    pub fn verify_at(
        &self,
        request: &Request<'_>,
        now: f64,
    ) -> Result<Option<Opened>, InvalidRequestState> {
        if !carries_state(request.method()) {
            return Ok(None);
        }
        let value = request.state_value().map_err(|_| Reason::Params)?;
        let Some(value) = value else { return Ok(None) };
        let literal = value.literal.ok_or(Reason::NonString)?;
        // A token needs no escapes, but a client may write it with some.
        let token = match literal.plain {
            true => Cow::Borrowed(literal.raw),
            false => Cow::Owned(decode(literal.raw).ok_or(Reason::Malformed)?),
        };
        self.open_at(request, &token, now).map(Some)
    }

    /// Opens a token that came with a request.
    ///
    /// # Errors
    ///
    /// The token is refused. See [`InvalidRequestState`] for what may be said about it.
    pub fn open(
        &self,
        request: &Request<'_>,
        token: &str,
        now: SystemTime,
    ) -> Result<Opened, InvalidRequestState> {
        self.open_at(request, token, unix_seconds(now))
    }

    /// [`open`](Self::open) at a time in seconds since 1970.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_at(
        &self,
        request: &Request<'_>,
        token: &str,
        now: f64,
    ) -> Result<Opened, InvalidRequestState> {
        let security = &self.security;
        if token.len() > security.max_token_len {
            return Err(Reason::TooLong.into());
        }
        let payload = security.codec.unseal(token).map_err(|error| match error {
            UnsealError::Invalid(error) => error,
            UnsealError::Failed(cause) => InvalidRequestState::caused(Reason::CodecError, cause),
        })?;
        let claims = Claims::read(&payload)?;
        // A request without an identity fails the check that needs one, in its turn.
        let identity = request.identity().ok();
        claims.check(now, identity.as_ref(), security.audience.as_deref())?;
        let principal = security
            .principal
            .of(request)
            .map_err(|cause| InvalidRequestState::caused(Reason::PrincipalBindingError, cause))?;
        claims.check_principal(principal.as_deref())?;
        let identity = identity.ok_or(Reason::RequestBinding)?;
        let (state, expires) = (claims.state()?, claims.expires());
        Ok(Opened {
            state,
            binding: Binding {
                identity,
                principal,
            },
            expires,
        })
    }

    /// What the state of this request is to be bound to. A request whose state was opened has its
    /// binding already: [`Opened::binding`].
    ///
    /// # Errors
    ///
    /// The request has no identity, or the application's principal binding failed.
    pub fn bind(&self, request: &Request<'_>) -> Result<Binding, SealError> {
        let identity = request.identity()?;
        let principal = self
            .security
            .principal
            .of(request)
            .map_err(SealError::Principal)?;
        Ok(Binding {
            identity,
            principal,
        })
    }

    /// Seals a state that is about to leave; its times are whole milliseconds.
    ///
    /// # Errors
    ///
    /// The token would be too long, the clock is broken, or the codec failed. Whatever it is, the
    /// client reads [`SealError::MESSAGE`].
    pub fn seal(
        &self,
        binding: &Binding,
        state: &str,
        now: SystemTime,
    ) -> Result<String, SealError> {
        let now = (unix_seconds(now) * 1000.0).floor() / 1000.0;
        let bound = binding.principal.is_some();
        let salt = if bound { fresh_salt() } else { [0; 8] };
        self.seal_at(binding, state, now, salt)
    }

    /// [`seal`](Self::seal) at a time in seconds since 1970 and with the salt as an argument, which
    /// counts only where a principal is bound. The codec still draws its own nonce.
    ///
    /// # Errors
    ///
    /// As [`seal`](Self::seal).
    pub fn seal_at(
        &self,
        binding: &Binding,
        state: &str,
        now: f64,
        salt: [u8; 8],
    ) -> Result<String, SealError> {
        let payload = self.envelope_at(binding, state, now, salt)?;
        let token = self.security.codec.seal(&payload).map_err(own_error)?;
        let (len, max) = (token.len(), self.security.max_token_len);
        if len > max {
            return Err(SealError::TooLong { len, max });
        }
        Ok(token)
    }

    /// The claims that [`seal_at`](Self::seal_at) hands to the codec.
    ///
    /// # Errors
    ///
    /// [`SealError::Clock`] where the time is not a finite number.
    pub fn envelope_at(
        &self,
        binding: &Binding,
        state: &str,
        now: f64,
        salt: [u8; 8],
    ) -> Result<Vec<u8>, SealError> {
        let expires = now + self.security.ttl;
        if !expires.is_finite() {
            return Err(SealError::Clock);
        }
        let envelope = Envelope {
            identity: &binding.identity,
            state,
            issued: now,
            expires,
            audience: self.security.audience.as_deref(),
            principal: binding
                .principal
                .as_deref()
                .map(|principal| (principal, salt)),
        };
        Ok(envelope.write())
    }
}

impl fmt::Debug for Boundary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Boundary")
            .field("security", &self.security)
            .finish()
    }
}

/// A state that came back and passed every check.
#[derive(Clone, PartialEq)]
pub struct Opened {
    state: String,
    binding: Binding,
    expires: f64,
}

impl Opened {
    /// The text that was sealed.
    #[must_use]
    pub fn state(&self) -> &str {
        &self.state
    }

    /// What it is bound to: the next state of the same request is sealed with it.
    #[must_use]
    pub const fn binding(&self) -> &Binding {
        &self.binding
    }

    /// When it expires, in seconds since 1970.
    #[must_use]
    pub const fn expires_at(&self) -> f64 {
        self.expires
    }

    /// How much of its time to live is left: how long a store has to remember that it was used.
    #[must_use]
    pub fn remaining(&self, now: SystemTime) -> Duration {
        let seconds = (self.expires - unix_seconds(now)).max(0.0);
        // Only another key holder can have sealed a time that no duration can hold.
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }

    /// State and binding, owned.
    #[must_use]
    pub fn into_parts(self) -> (String, Binding) {
        (self.state, self.binding)
    }
}

impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opened")
            .field("state_bytes", &self.state.len())
            .field("binding", &self.binding)
            .finish()
    }
}

/// Takes a sealing error of our own codecs out of its box.
fn own_error(error: BoxError) -> SealError {
    match error.downcast::<SealError>() {
        Ok(own) => *own,
        Err(other) => SealError::Codec(other),
    }
}

/// Seconds since 1970, negative before.
fn unix_seconds(time: SystemTime) -> f64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => since.as_secs_f64(),
        Err(before) => -before.duration().as_secs_f64(),
    }
}
