//! Who a request is from, once somebody has verified it.

use std::{fmt, sync::Arc, time::SystemTime};

use mcp_types::JsonObject;
use serde::de::DeserializeOwned;

use crate::{Exchange, FromExchange, HandlerError, auth::Scopes};

/// Who a request is from, as the transport or the application has verified it.
///
/// Sessions, streams, states, cursors and handles belong to it: the same issuer, client and subject
/// reach them again, with whichever token, and nobody else.
///
/// A handler takes it as an argument:
///
/// ```
/// use mcp_core::{Principal, tool};
///
/// async fn whoami((): (), principal: Principal) -> String {
///     principal.subject
/// }
///
/// let spec = tool("whoami", whoami);
/// ```
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct Principal {
    /// Who vouches for the subject: the `iss` of a token, or whatever the application uses.
    pub issuer: String,
    /// The client that acts for the subject, where one is known: `client_id` or `azp`.
    pub client: String,
    /// The subject: a user or a service.
    pub subject: String,
    /// What it may do.
    pub scopes: Scopes,
    /// Until when its credentials are good.
    pub expires: Option<SystemTime>,
    /// Whatever else its credentials say.
    pub claims: JsonObject,
}

impl Principal {
    /// A subject that `issuer` vouches for.
    #[must_use]
    pub fn new(issuer: impl Into<String>, subject: impl Into<String>) -> Self {
        Self {
            issuer: issuer.into(),
            subject: subject.into(),
            ..Self::default()
        }
    }

    /// The client that acts for the subject.
    #[must_use]
    pub fn client(mut self, client: impl Into<String>) -> Self {
        self.client = client.into();
        self
    }

    /// What it may do.
    #[must_use]
    pub fn scopes(mut self, scopes: impl Into<Scopes>) -> Self {
        self.scopes = scopes.into();
        self
    }

    /// Until when its credentials are good.
    #[must_use]
    pub fn expires(mut self, at: SystemTime) -> Self {
        self.expires = Some(at);
        self
    }

    /// Whatever else its credentials say.
    #[must_use]
    pub fn claims(mut self, claims: JsonObject) -> Self {
        self.claims = claims;
        self
    }

    /// A claim of its credentials, if there is one of that type.
    #[must_use]
    pub fn claim<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        T::deserialize(self.claims.get(name)?).ok()
    }

    /// One text for one principal: no two of them share it.
    #[must_use]
    pub fn identity(&self) -> String {
        let Self {
            issuer,
            client,
            subject,
            ..
        } = self;
        format!(
            "{}:{issuer}{}:{client}{subject}",
            issuer.len(),
            client.len()
        )
    }
}

/// The same issuer, client and subject, with whichever credentials.
impl PartialEq for Principal {
    fn eq(&self, other: &Self) -> bool {
        let same = |part: fn(&Self) -> &str| part(self) == part(other);
        same(|it| &it.subject) && same(|it| &it.issuer) && same(|it| &it.client)
    }
}

impl Eq for Principal {}

/// A name is personal data: only that there is one is shown.
impl fmt::Debug for Principal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Principal").finish_non_exhaustive()
    }
}

impl FromExchange for Principal {
    fn needs_principal() -> bool {
        true
    }

    fn from_exchange(exchange: &Exchange) -> Result<Self, HandlerError> {
        <Arc<Self>>::from_exchange(exchange).map(Arc::unwrap_or_clone)
    }
}

/// As [`Principal`], without a copy.
impl FromExchange for Arc<Principal> {
    fn needs_principal() -> bool {
        true
    }

    fn from_exchange(exchange: &Exchange) -> Result<Self, HandlerError> {
        let principal = exchange.principal().cloned();
        principal.ok_or_else(|| HandlerError::tell("this needs somebody who has logged in"))
    }
}

/// Who calls, where that is known.
impl FromExchange for Option<Arc<Principal>> {
    fn from_exchange(exchange: &Exchange) -> Result<Self, HandlerError> {
        Ok(exchange.principal().cloned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_do_not_collide() {
        let principals = [
            Principal::new("a", "bc"),
            Principal::new("ab", "c"),
            Principal::new("a", "c").client("b"),
            Principal::new("", "abc"),
            Principal::new("1:a", "c"),
        ];
        let distinct: std::collections::HashSet<_> =
            principals.iter().map(Principal::identity).collect();
        assert_eq!(distinct.len(), principals.len());
    }

    #[test]
    fn another_token_makes_no_other_principal() {
        let alice = Principal::new("x", "alice");
        let refreshed = alice.clone().scopes(["files:write"]);
        assert_eq!(alice, refreshed.clone().expires(SystemTime::UNIX_EPOCH));
        assert_eq!(alice.identity(), refreshed.identity());
        assert_ne!(alice, Principal::new("y", "alice"));
    }
}
