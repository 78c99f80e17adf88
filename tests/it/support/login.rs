//! Who may call, in tests: tokens that say themselves what they are.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use async_trait::async_trait;
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use mcp_core::{
    HeaderValue, Headers, Principal, Registry,
    auth::{
        AuthError, Authorization, AuthorizationBuilder, Bearer, ProtectedResource, Scopes,
        TokenVerifier, same_resource,
    },
};
use mcp_http_actix::Endpoint;
use serde_json::{Value, json};

use super::http::{Request, Server};

/// The public address of the server of the field cases.
pub(crate) const PUBLIC: &str = "https://mcp.example.com/mcp";
/// Where its metadata is.
pub(crate) const METADATA: &str =
    "https://mcp.example.com/.well-known/oauth-protected-resource/mcp";
/// Who issues its tokens.
pub(crate) const LOGIN: &str = "https://login.example.com";
/// What the whole endpoint needs.
pub(crate) const USE: &str = "mcp:use";

/// The value of an `Authorization` with a token of those claims.
pub(crate) fn bearer(claims: &Value) -> String {
    format!("Bearer {}", token(claims))
}

/// A token of those claims. Nobody signs it: [`Unsigned`] believes what it reads.
pub(crate) fn token(claims: &Value) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(claims.to_string())
}

/// A token of a person with those scopes, besides the one that everybody needs.
pub(crate) fn of(subject: &str, scopes: &str) -> String {
    bearer(&json!({"sub": subject, "scope": format!("{USE} {scopes}")}))
}

/// Reads what a token says of itself: `iss`, `azp`, `sub`, `scope`, `aud`, and `exp` as seconds
/// from now. One that is `down` cannot be verified.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Unsigned {
    /// Whom tokens have to be for, where that is asked.
    pub(crate) resource: Option<&'static str>,
}

#[async_trait]
impl TokenVerifier for Unsigned {
    async fn verify(&self, token: &str) -> Result<Arc<Principal>, AuthError> {
        let unknown = |_| AuthError::invalid("an unknown token");
        let read = BASE64_URL_SAFE_NO_PAD.decode(token).map_err(unknown)?;
        let unknown = |_| AuthError::invalid("an unknown token");
        let claims: Value = serde_json::from_slice(&read).map_err(unknown)?;
        if claims["down"] == true {
            return Err(AuthError::unavailable("the issuer does not answer"));
        }
        if self.resource.is_some_and(|it| !is_for(&claims["aud"], it)) {
            return Err(AuthError::invalid("a token for somebody else"));
        }
        let text = |name: &str| claims[name].as_str().unwrap_or_default();
        let issuer = claims["iss"].as_str().unwrap_or("x");
        let mut principal = Principal::new(issuer, text("sub"))
            .client(text("azp"))
            .scopes(Scopes::parse(text("scope")));
        if let Some(seconds) = claims["exp"].as_i64() {
            principal = principal.expires(from_now(seconds));
        }
        Ok(Arc::new(
            principal.claims(claims.as_object().unwrap().clone()),
        ))
    }
}

/// Whether an `aud` claim (RFC 7519 section 4.1.3) names a server.
fn is_for(audience: &Value, resource: &str) -> bool {
    let same = |it: &Value| it.as_str().is_some_and(|it| same_resource(it, resource));
    match audience {
        Value::Array(audiences) => audiences.iter().any(same),
        audience => same(audience),
    }
}

fn from_now(seconds: i64) -> SystemTime {
    let span = Duration::from_secs(seconds.unsigned_abs());
    let now = SystemTime::now();
    if seconds < 0 { now - span } else { now + span }
}

/// Tokens of the field cases' login service alone; everybody needs [`USE`].
pub(crate) fn door() -> AuthorizationBuilder {
    Authorization::builder()
        .policy(Bearer::new(Unsigned::default()))
        .resource(ProtectedResource::new(PUBLIC).authorization_server(LOGIN))
        .require([USE])
}

/// A server that lets those in alone that [`door`] does.
pub(crate) fn guarded(registry: Registry) -> Server {
    guarded_by(registry, door())
}

pub(crate) fn guarded_by(registry: Registry, door: AuthorizationBuilder) -> Server {
    Server::start(Endpoint::new(registry).authorization(door.build().unwrap()))
}

/// Headers as a test gives them, whatever bytes they have.
#[derive(Debug, Clone, Default)]
pub(crate) struct Given(pub(crate) Vec<(&'static str, Vec<u8>)>);

impl Given {
    pub(crate) fn authorization(value: impl Into<Vec<u8>>) -> Self {
        Self(vec![("authorization", value.into())])
    }
}

impl Headers for Given {
    fn value(&self, name: &str) -> HeaderValue<'_> {
        let mut found = self.0.iter().filter(|(it, _)| *it == name);
        match (found.next(), found.next()) {
            (None, _) => HeaderValue::Absent,
            (Some((_, value)), None) => HeaderValue::Once(value),
            (Some(_), Some(_)) => HeaderValue::Repeated,
        }
    }
}

impl Request {
    /// The same request of whoever has that `Authorization`.
    pub(crate) fn of(self, authorization: &str) -> Self {
        self.with("Authorization", authorization)
    }
}
