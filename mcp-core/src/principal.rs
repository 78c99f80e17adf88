//! Who a request is from, once somebody has verified it.

use std::fmt;

/// Who a request is from, as the transport or the application has verified it.
///
/// Sessions, streams and handles belong to it: the same issuer, client and subject reach them
/// again, with whichever token, and nobody else.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub struct Principal {
    /// Who vouches for the subject: the `iss` of a token, or whatever the application uses.
    pub issuer: String,
    /// The client that acts for the subject, where one is known: `client_id` or `azp`.
    pub client: String,
    /// The subject: a user or a service.
    pub subject: String,
}

impl Principal {
    /// A subject that `issuer` vouches for.
    #[must_use]
    pub fn new(issuer: impl Into<String>, subject: impl Into<String>) -> Self {
        Self {
            issuer: issuer.into(),
            client: String::new(),
            subject: subject.into(),
        }
    }

    /// The client that acts for the subject.
    #[must_use]
    pub fn client(mut self, client: impl Into<String>) -> Self {
        self.client = client.into();
        self
    }

    /// One text for one principal: no two of them share it.
    #[must_use]
    pub fn identity(&self) -> String {
        let Self {
            issuer,
            client,
            subject,
        } = self;
        format!(
            "{}:{issuer}{}:{client}{subject}",
            issuer.len(),
            client.len()
        )
    }
}

/// A name is personal data: only that there is one is shown.
impl fmt::Debug for Principal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Principal").finish_non_exhaustive()
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
}
