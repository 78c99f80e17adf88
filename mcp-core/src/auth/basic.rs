//! Names and passwords.
//!
//! Source: RFC 7617.

use std::{collections::HashMap, fmt, sync::Arc};

use async_trait::async_trait;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use mcp_codec::Headers;

use super::{
    AuthError, AuthPolicy, Challenge, Problem,
    secret::{Fingerprint, Fingerprints},
    shown,
};
use crate::Principal;

/// Whether a name and a password belong together, and whose they are.
#[async_trait]
pub trait PasswordVerifier: fmt::Debug + Send + Sync {
    /// Whose name and password they are.
    ///
    /// # Errors
    ///
    /// [`AuthError::Invalid`] where they do not belong together, and
    /// [`AuthError::Unavailable`] where that cannot be told now.
    async fn verify(&self, name: &str, password: &str) -> Result<Arc<Principal>, AuthError>;
}

/// `Authorization: Basic …`, judged by a [`PasswordVerifier`].
///
/// # Security
///
/// The password travels with every request: over TLS alone.
#[derive(Debug, Clone)]
pub struct Basic<V> {
    realm: String,
    verifier: V,
}

impl<V: PasswordVerifier> Basic<V> {
    /// Names and passwords for that realm, judged by `verifier`.
    pub fn new(realm: &str, verifier: V) -> Self {
        let plain = |it: &char| (' '..='~').contains(it) && !['"', '\\'].contains(it);
        Self {
            realm: realm.chars().filter(plain).collect(),
            verifier,
        }
    }
}

#[async_trait]
impl<V: PasswordVerifier> AuthPolicy for Basic<V> {
    async fn authenticate(
        &self,
        headers: &dyn Headers,
    ) -> Result<Option<Arc<Principal>>, AuthError> {
        let Some(encoded) = shown(headers, "basic")? else {
            return Ok(None);
        };
        let malformed = || AuthError::malformed("the name and password cannot be read");
        let decoded = STANDARD.decode(encoded).map_err(|_| malformed())?;
        let decoded = String::from_utf8(decoded).map_err(|_| malformed())?;
        let (name, password) = decoded.split_once(':').ok_or_else(malformed)?;
        self.verifier.verify(name, password).await.map(Some)
    }

    fn challenge(&self, challenge: &Challenge<'_>) -> Option<String> {
        // More scopes are nothing that another password brings.
        let helps = challenge.problem != Some(Problem::InsufficientScope);
        helps.then(|| format!("Basic realm=\"{}\", charset=\"UTF-8\"", self.realm))
    }
}

/// Passwords that the application hands out itself, to its own services.
///
/// # Security
///
/// Kept as [`StaticTokens`](super::StaticTokens) are: for long and random passwords. What people
/// choose themselves belongs behind a password hash, in a [`PasswordVerifier`] of your own.
#[derive(Default)]
pub struct StaticPasswords {
    fingerprints: Fingerprints,
    owners: HashMap<Fingerprint, Arc<Principal>>,
}

impl StaticPasswords {
    /// No passwords yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whoever shows this name and password is `principal`.
    #[must_use]
    pub fn password(mut self, name: &str, password: &str, principal: Principal) -> Self {
        let fingerprint = self.fingerprints.of(&[name, password]);
        self.owners.insert(fingerprint, Arc::new(principal));
        self
    }
}

#[async_trait]
impl PasswordVerifier for StaticPasswords {
    async fn verify(&self, name: &str, password: &str) -> Result<Arc<Principal>, AuthError> {
        let fingerprint = self.fingerprints.of(&[name, password]);
        let owner = self.owners.get(&fingerprint).cloned();
        owner.ok_or_else(|| AuthError::invalid("an unknown name or a wrong password"))
    }
}

impl fmt::Debug for StaticPasswords {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("StaticPasswords")
            .field("len", &self.owners.len())
            .finish()
    }
}
