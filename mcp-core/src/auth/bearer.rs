//! Bearer tokens.
//!
//! Source: RFC 6750; `basic/authorization` of 2025-03-26 and newer, "Token Requirements".

use std::{
    collections::HashMap,
    fmt::{self, Write as _},
    sync::Arc,
};

use async_trait::async_trait;
use mcp_codec::Headers;

use super::{
    AuthError, AuthPolicy, Challenge, TokenVerifier,
    secret::{Fingerprint, Fingerprints},
    shown,
};
use crate::Principal;

/// `Authorization: Bearer TOKEN`, judged by a [`TokenVerifier`].
///
/// A token is looked for in that header alone: one in the address grants nothing.
#[derive(Debug, Clone)]
pub struct Bearer<V> {
    verifier: V,
}

impl<V: TokenVerifier> Bearer<V> {
    /// Bearer tokens that `verifier` judges.
    pub const fn new(verifier: V) -> Self {
        Self { verifier }
    }
}

#[async_trait]
impl<V: TokenVerifier> AuthPolicy for Bearer<V> {
    async fn authenticate(
        &self,
        headers: &dyn Headers,
    ) -> Result<Option<Arc<Principal>>, AuthError> {
        let Some(token) = shown(headers, "bearer")? else {
            return Ok(None);
        };
        if !is_token68(token) {
            return Err(AuthError::malformed("the bearer token is none"));
        }
        self.verifier.verify(token).await.map(Some)
    }

    fn challenge(&self, challenge: &Challenge<'_>) -> Option<String> {
        let mut parts: Vec<(&str, String)> = Vec::with_capacity(4);
        if let Some(problem) = challenge.problem {
            parts.push(("error", problem.code().to_owned()));
        }
        if !challenge.scopes.is_empty() {
            parts.push(("scope", challenge.scopes.to_string()));
        }
        if let Some(metadata) = challenge.metadata {
            parts.push(("resource_metadata", metadata.to_owned()));
        }
        if let Some(problem) = challenge.problem {
            parts.push(("error_description", problem.description().to_owned()));
        }
        let mut text = "Bearer".to_owned();
        for (at, (name, value)) in parts.iter().enumerate() {
            // Neither scopes nor addresses have quotes: that was checked when they were given.
            let comma = if at == 0 { "" } else { "," };
            let _ = write!(text, "{comma} {name}=\"{value}\"");
        }
        Some(text)
    }
}

/// RFC 6750 section 2.1, `b64token`.
fn is_token68(token: &str) -> bool {
    let body = token.trim_end_matches('=');
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/".contains(&byte);
    !body.is_empty() && body.bytes().all(allowed)
}

/// Tokens that the application hands out itself: to its own services, or while it is developed.
///
/// # Security
///
/// Of a token only a keyed fingerprint is kept, and it is looked up by that, so that neither memory
/// nor time tells how much of a guess was right. A token is to be long and random.
#[derive(Default)]
pub struct StaticTokens {
    fingerprints: Fingerprints,
    owners: HashMap<Fingerprint, Arc<Principal>>,
}

impl StaticTokens {
    /// No tokens yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whoever shows this token is `principal`.
    #[must_use]
    pub fn token(mut self, token: &str, principal: Principal) -> Self {
        let fingerprint = self.fingerprints.of(&[token]);
        self.owners.insert(fingerprint, Arc::new(principal));
        self
    }
}

#[async_trait]
impl TokenVerifier for StaticTokens {
    async fn verify(&self, token: &str) -> Result<Arc<Principal>, AuthError> {
        let owner = self.owners.get(&self.fingerprints.of(&[token])).cloned();
        owner.ok_or_else(|| AuthError::invalid("an unknown token"))
    }
}

impl fmt::Debug for StaticTokens {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("StaticTokens")
            .field("len", &self.owners.len())
            .finish()
    }
}
