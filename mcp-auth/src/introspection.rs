//! Asking the authorization server about a token.
//!
//! Source: RFC 7662.

use std::{
    fmt::{self, Write as _},
    sync::Arc,
    time::{Duration, SystemTime},
};

use async_trait::async_trait;
use base64::{Engine, engine::general_purpose::STANDARD};
use hyper::header::HeaderValue;
use mcp_core::{
    Principal,
    auth::{AuthError, TokenVerifier},
    types::JsonObject,
};
use serde_json::Value;
use tokio::{sync::Semaphore, time::timeout};
use zeroize::Zeroizing;

use crate::{
    ConfigError,
    cache::{Cache, ROOM, fingerprint},
    claims::{Absent, Rules},
    clock::Clock,
    http::{Address, FetchError, Fetcher},
    jws::MAX_TOKEN_LEN,
};

/// Verifies access tokens, of whatever form, by asking the authorization server that issued them.
///
/// ```no_run
/// use mcp_auth::IntrospectionVerifier;
///
/// let verifier = IntrospectionVerifier::builder("https://login.example.com/introspect")
///     .client("mcp-server", "a secret")
///     .issuer("https://login.example.com")
///     .audience("https://mcp.example.com/mcp")
///     .build()?;
/// # Ok::<(), mcp_auth::ConfigError>(())
/// ```
///
/// | Member of the answer | Becomes |
/// |---|---|
/// | `active`, required | whether the token counts |
/// | `iss` | `issuer`: compared with the configured one where it is there |
/// | `aud`, required | compared with the configured ones |
/// | `sub`, otherwise `username`, required | `subject` |
/// | `client_id` | `client` |
/// | `scope` | `scopes` |
/// | `exp` | `expires` |
/// | all others | `claims` |
///
/// An answer is remembered, so that a token which is used a lot is asked about once a minute: that
/// is how long a token counts on which the authorization server has taken back. While the server
/// cannot be asked, verification is [`AuthError::Unavailable`].
///
/// # Security
///
/// Tokens and the client's secret travel to the endpoint: over TLS, or on this machine, and never
/// along with a redirect. Of a token only a digest is kept. However many tokens come, no more than
/// 64 are asked about at a time.
///
/// # Cancel safety
///
/// Dropping the future of a verification drops its request.
pub struct IntrospectionVerifier {
    endpoint: Address,
    fetcher: Fetcher,
    authorization: HeaderValue,
    rules: Rules,
    remember: Remember,
    seen: Cache<Seen>,
    asking: Semaphore,
    clock: Clock,
}

/// How long an answer counts.
#[derive(Debug, Clone, Copy)]
struct Remember {
    room: usize,
    good: Duration,
    bad: Duration,
}

#[derive(Clone)]
struct Seen {
    /// Nobody where the token does not count.
    principal: Option<Arc<Principal>>,
    from: SystemTime,
    until: SystemTime,
}

impl Seen {
    /// A clock that was set back makes nothing last longer.
    fn is_good(&self, now: SystemTime) -> bool {
        self.from <= now && now < self.until
    }
}

impl IntrospectionVerifier {
    /// Collects what is needed to ask at that address: what an authorization server's metadata has
    /// as `introspection_endpoint`.
    pub fn builder(endpoint: impl Into<String>) -> IntrospectionVerifierBuilder {
        IntrospectionVerifierBuilder {
            endpoint: endpoint.into(),
            client: None,
            rules: Rules::new(Absent {
                issuer: true,
                audience: false,
                expiry: true,
                subject: false,
            }),
            remember: Remember {
                room: ROOM,
                good: Duration::from_mins(1),
                bad: Duration::from_secs(10),
            },
            timeout: Duration::from_secs(10),
            clock: Clock::default(),
        }
    }

    /// What the authorization server says of a token, and what that comes to.
    async fn ask(&self, token: &str) -> Result<Arc<Principal>, AuthError> {
        let form = format!("token={}&token_type_hint=access_token", form_encoded(token));
        let turn = timeout(self.fetcher.timeout(), self.asking.acquire()).await;
        let Ok(Ok(_turn)) = turn else {
            return Err(AuthError::unavailable("too many tokens are asked about"));
        };
        let fetched = self.fetcher.post(&self.endpoint, &self.authorization, form);
        let fetched = fetched.await.map_err(|error| match &error {
            FetchError::Status(_, status) if status.as_u16() == 401 => {
                let hint = format!("{error}: it refuses the configured `client`");
                AuthError::unavailable(hint)
            }
            _ => AuthError::unavailable(error),
        })?;
        let mut answer: JsonObject =
            serde_json::from_slice(&fetched.body).map_err(|_| no_answer("it is no JSON object"))?;
        match answer.remove("active") {
            Some(Value::Bool(true)) => {}
            Some(Value::Bool(false)) => {
                let reason = "the authorization server says that the token is not active";
                return Err(AuthError::invalid(reason));
            }
            _ => return Err(no_answer("it does not say whether the token is `active`")),
        }
        let username = answer.get("username").cloned();
        if !answer.contains_key("sub")
            && let Some(username) = username
        {
            answer.insert("sub".to_owned(), username);
        }
        self.rules.judge(answer, self.clock.now())
    }

    fn seen(&self, principal: Option<&Arc<Principal>>, now: SystemTime) -> Seen {
        let Remember { good, bad, .. } = self.remember;
        let time = if principal.is_some() { good } else { bad };
        let until = now.checked_add(time).unwrap_or(now);
        let expires = principal.and_then(|it| it.expires);
        Seen {
            principal: principal.cloned(),
            from: now,
            until: expires.map_or(until, |at| at.min(until)),
        }
    }
}

#[async_trait]
impl TokenVerifier for IntrospectionVerifier {
    async fn verify(&self, token: &str) -> Result<Arc<Principal>, AuthError> {
        if token.len() > MAX_TOKEN_LEN {
            let reason = format!("a token of more than {MAX_TOKEN_LEN} bytes");
            return Err(AuthError::invalid(reason));
        }
        let now = self.clock.now();
        let fingerprint = fingerprint(token);
        if let Some(seen) = self.seen.get(&fingerprint, |it| it.is_good(now)) {
            let refused = || AuthError::invalid("the token was refused a moment ago");
            return seen.principal.ok_or_else(refused);
        }
        let verified = self.ask(token).await;
        match &verified {
            Ok(principal) => self.seen.put(fingerprint, self.seen(Some(principal), now)),
            Err(AuthError::Invalid(_)) => self.seen.put(fingerprint, self.seen(None, now)),
            Err(_) => {}
        }
        verified
    }
}

/// Of the client only that there is one.
impl fmt::Debug for IntrospectionVerifier {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("IntrospectionVerifier")
            .field("endpoint", &self.endpoint)
            .field("rules", &self.rules)
            .field("remember", &self.remember)
            .field("seen", &self.seen)
            .finish_non_exhaustive()
    }
}

/// What an [`IntrospectionVerifier`] is made of.
#[must_use = "`build` makes the verifier"]
pub struct IntrospectionVerifierBuilder {
    endpoint: String,
    client: Option<(String, Zeroizing<String>)>,
    rules: Rules,
    remember: Remember,
    timeout: Duration,
    clock: Clock,
}

impl IntrospectionVerifierBuilder {
    /// As whom the endpoint is asked: a client of the authorization server and its secret, shown as
    /// `client_secret_basic` does (RFC 6749 section 2.3.1). Required.
    pub fn client(mut self, id: impl Into<String>, secret: impl Into<String>) -> Self {
        self.client = Some((id.into(), Zeroizing::new(secret.into())));
        self
    }

    /// Whose tokens they are. An answer that names another `iss` is refused. Required.
    pub fn issuer(mut self, issuer: impl Into<String>) -> Self {
        self.rules.issuer = issuer.into();
        self
    }

    /// What this server is called in the `aud` of an answer. Of several, one is enough. Required,
    /// but for [`allow_absent_audience`](Self::allow_absent_audience).
    ///
    /// Compared as [`same_resource`](mcp_core::auth::same_resource) does.
    pub fn audience(mut self, audience: impl Into<String>) -> Self {
        self.rules.audiences.push(audience.into());
        self
    }

    /// Takes answers without `aud`.
    ///
    /// # Security
    ///
    /// For authorization servers that call a token active for the asking client alone (RFC 7662
    /// section 4). With others, tokens for another server count here.
    pub fn allow_absent_audience(mut self) -> Self {
        self.rules.absent.audience = true;
        self
    }

    /// Takes answers without `sub` and `username` for those of their client, which has to be named
    /// then.
    pub fn allow_absent_subject(mut self) -> Self {
        self.rules.absent.subject = true;
        self
    }

    /// How far the authorization server's clock and ours may be apart: a minute by default.
    pub fn leeway(mut self, leeway: Duration) -> Self {
        self.rules.leeway = leeway;
        self
    }

    /// How many answers are remembered: 4,096 by default.
    pub fn remember(mut self, tokens: usize) -> Self {
        self.remember.room = tokens;
        self
    }

    /// How long answers are remembered: those of active tokens a minute by default, and never
    /// longer than the token is good, the others 10 seconds.
    pub fn remember_for(mut self, active: Duration, inactive: Duration) -> Self {
        self.remember.good = active;
        self.remember.bad = inactive;
        self
    }

    /// How long an answer may take: 10 seconds by default.
    pub fn timeout(mut self, time: Duration) -> Self {
        self.timeout = time;
        self
    }

    /// Where the time comes from: that of the system by default, another one in tests.
    pub fn clock(mut self, now: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.clock = Clock::new(now);
        self
    }

    /// The verifier. Nothing is asked yet.
    ///
    /// # Errors
    ///
    /// Something required is missing, or the address cannot be used.
    pub fn build(self) -> Result<IntrospectionVerifier, ConfigError> {
        let rules = self.rules.complete()?;
        let (id, secret) = self.client.ok_or(ConfigError::NoClient)?;
        let endpoint = Address::parse("the introspection endpoint", &self.endpoint)?;
        Ok(IntrospectionVerifier {
            fetcher: Fetcher::new(&endpoint, self.timeout)?,
            endpoint,
            authorization: basic(&id, &secret).ok_or(ConfigError::NoClient)?,
            rules,
            seen: Cache::new(self.remember.room),
            remember: self.remember,
            asking: Semaphore::new(AT_A_TIME),
            clock: self.clock,
        })
    }
}

impl fmt::Debug for IntrospectionVerifierBuilder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("IntrospectionVerifierBuilder")
            .field("endpoint", &self.endpoint)
            .finish_non_exhaustive()
    }
}

/// RFC 6749 section 2.3.1: both parts are encoded as in a form first.
fn basic(id: &str, secret: &str) -> Option<HeaderValue> {
    let secret = Zeroizing::new(form_encoded(secret));
    let both = Zeroizing::new(format!("{}:{}", form_encoded(id), *secret));
    let value = Zeroizing::new(format!("Basic {}", STANDARD.encode(&*both)));
    let mut value = HeaderValue::from_str(&value).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// `application/x-www-form-urlencoded`, as RFC 6749 appendix B has it.
fn form_encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'*' | b'-' | b'.' | b'_' => {
                encoded.push(char::from(byte));
            }
            b' ' => encoded.push('+'),
            _ => {
                let _ = write!(encoded, "%{byte:02X}");
            }
        }
    }
    encoded
}

fn no_answer(why: &'static str) -> AuthError {
    AuthError::unavailable(format!("what came is no answer to an introspection: {why}"))
}

/// The most requests at a time.
const AT_A_TIME: usize = 64;

#[cfg(test)]
mod tests {
    use super::{basic, form_encoded};

    #[test]
    fn forms_are_encoded_as_the_rfc_has_it() {
        assert_eq!(form_encoded(" %&+£€"), "+%25%26%2B%C2%A3%E2%82%AC");
        assert_eq!(form_encoded("aZ09*-._"), "aZ09*-._");
        assert_eq!(form_encoded("a~b/c=="), "a%7Eb%2Fc%3D%3D");
    }

    #[test]
    fn credentials_are_encoded_before_they_are_joined() {
        let value = basic("a:b", "p w:é").unwrap();
        assert!(value.is_sensitive());
        // a%3Ab:p+w%3A%C3%A9
        assert_eq!(value, "Basic YSUzQWI6cCt3JTNBJUMzJUE5");
    }
}
