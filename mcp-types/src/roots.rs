//! Roots, from the [Roots] page of the specification.
//!
//! [Roots]: https://modelcontextprotocol.io/specification/2026-07-28/client/roots

use crate::meta::MetaObject;
use crate::wire::setters;
use serde::{Deserialize, Serialize};

/// A folder or a file the client works in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Root {
    /// Its `file:` URI.
    pub uri: String,
    /// Its name, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whatever else, by reserved or prefixed key.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl Root {
    /// The required members.
    #[must_use]
    pub fn new(uri: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            ..Self::default()
        }
    }

    setters! {
        into name: String,
        value meta: MetaObject,
    }
}

/// What `roots/list` carries.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListRootsRequestParams {
    /// Whatever else, by reserved or prefixed key.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl ListRootsRequestParams {
    /// Nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        value meta: MetaObject,
    }
}

/// The answer to `roots/list`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListRootsResult {
    /// The roots.
    pub roots: Vec<Root>,
    /// Whatever else, by reserved or prefixed key.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl ListRootsResult {
    /// The required members.
    #[must_use]
    pub fn new(roots: impl Into<Vec<Root>>) -> Self {
        Self {
            roots: roots.into(),
            ..Self::default()
        }
    }

    setters! {
        value meta: MetaObject,
    }
}

#[cfg(test)]
mod tests {
    use super::{ListRootsRequestParams, ListRootsResult, Root};
    use crate::wire::testing::check;

    #[test]
    fn roots_come_back() {
        check::<ListRootsRequestParams>("{}");
        let json = r#"{"roots":[{"uri":"file:///a","name":"a"}]}"#;
        let result = ListRootsResult::new([Root::new("file:///a").name("a")]);
        assert_eq!(check::<ListRootsResult>(json), result);
    }
}
