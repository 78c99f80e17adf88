//! What a token permits, and what an operation needs.
//!
//! Source: RFC 6749 section 3.3.

use std::{collections::BTreeSet, fmt};

/// A set of OAuth scopes, in the order of their names.
///
/// ```
/// use mcp_core::auth::Scopes;
///
/// let held = Scopes::parse("files:read audit:log");
/// assert!(held.contains("audit:log"));
/// assert_eq!(held.to_string(), "audit:log files:read");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Scopes(BTreeSet<Box<str>>);

impl Scopes {
    /// No scope at all.
    #[must_use]
    pub const fn none() -> Self {
        Self(BTreeSet::new())
    }

    /// Reads a `scope` parameter or claim: names between spaces.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        text.split(' ').filter(|it| !it.is_empty()).collect()
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether it has that one.
    #[must_use]
    pub fn contains(&self, scope: &str) -> bool {
        self.0.contains(scope)
    }

    /// Its scopes, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|it| &**it)
    }

    /// All of both.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self(self.0.union(&other.0).cloned().collect())
    }

    /// The first scope that is none: a scope is printable ASCII without space, `"` and `\`.
    pub(crate) fn first_invalid(&self) -> Option<&str> {
        let allowed = |byte: u8| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e);
        self.iter()
            .find(|scope| scope.is_empty() || !scope.bytes().all(allowed))
    }
}

impl<S: Into<String>> FromIterator<S> for Scopes {
    fn from_iter<I: IntoIterator<Item = S>>(scopes: I) -> Self {
        let scopes = scopes.into_iter();
        Self(scopes.map(|it| it.into().into_boxed_str()).collect())
    }
}

impl<S: Into<String>, const N: usize> From<[S; N]> for Scopes {
    fn from(scopes: [S; N]) -> Self {
        scopes.into_iter().collect()
    }
}

impl<S: Into<String>> From<Vec<S>> for Scopes {
    fn from(scopes: Vec<S>) -> Self {
        scopes.into_iter().collect()
    }
}

/// As a `scope` parameter has it.
impl fmt::Display for Scopes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, scope) in self.iter().enumerate() {
            let space = if at == 0 { "" } else { " " };
            write!(formatter, "{space}{scope}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes() {
        let scopes = Scopes::from(["b", "a", "b"]);
        assert_eq!(scopes.to_string(), "a b");
        assert_eq!(Scopes::parse("  b a "), scopes);
        assert_eq!(Scopes::parse(""), Scopes::none());
        assert_eq!(scopes.union(&Scopes::from(["c"])).to_string(), "a b c");
    }

    #[test]
    fn knows_what_cannot_be_a_scope() {
        for bad in ["", "a b", "a\"b", "a\\b", "é", "a\nb"] {
            assert_eq!(Scopes::from(["ok", bad]).first_invalid(), Some(bad));
        }
        assert_eq!(Scopes::from(["files:write", "!~"]).first_invalid(), None);
    }
}
