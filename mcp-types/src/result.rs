//! What every result may say, from the [Overview] and [Caching] pages of the specification.
//!
//! Results are written by the revision of the peer, which adds `resultType`, so no result here has
//! it as a field.
//!
//! [Overview]: https://modelcontextprotocol.io/specification/2026-07-28/basic
//! [Caching]: https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching

use crate::meta::MetaObject;
use crate::wire::setters;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// What kind of result an object is; an open set.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ResultType(Cow<'static, str>);

impl ResultType {
    /// The key that holds it.
    pub const KEY: &'static str = "resultType";
    /// The answer.
    pub const COMPLETE: Self = Self(Cow::Borrowed("complete"));
    /// Questions to answer before the request is sent again.
    pub const INPUT_REQUIRED: Self = Self(Cow::Borrowed("input_required"));
    /// A task that will have the answer; of the tasks extension.
    pub const TASK: Self = Self(Cow::Borrowed("task"));

    /// The type as it stands on the wire.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ResultType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl From<String> for ResultType {
    fn from(result_type: String) -> Self {
        Self(result_type.into())
    }
}

impl From<&'static str> for ResultType {
    fn from(result_type: &'static str) -> Self {
        Self(result_type.into())
    }
}

/// Who may keep a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(clippy::exhaustive_enums, reason = "the specification has two scopes")]
pub enum CacheScope {
    /// Anyone, shared caches too.
    Public,
    /// Only the one who asked.
    #[default]
    Private,
}

/// For how long, and by whom, a result may be kept; by default not at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CacheHints {
    /// For how long the client may take the result as fresh.
    pub ttl_ms: u64,
    /// Who may keep it.
    pub cache_scope: CacheScope,
}

impl CacheHints {
    /// Both hints.
    #[must_use]
    pub const fn new(ttl_ms: u64, cache_scope: CacheScope) -> Self {
        Self {
            ttl_ms,
            cache_scope,
        }
    }
}

/// A result that says no more than that it worked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct EmptyResult {
    /// Whatever else, by reserved or prefixed key.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl EmptyResult {
    /// Nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        value meta: MetaObject,
    }
}

/// What `tools/list`, `prompts/list` and their like carry.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PaginatedRequestParams {
    /// Where the last page ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Whatever else, by reserved or prefixed key.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl PaginatedRequestParams {
    /// The first page.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        into cursor: String,
        value meta: MetaObject,
    }
}

#[cfg(test)]
mod tests {
    use super::{CacheHints, CacheScope, EmptyResult, PaginatedRequestParams, ResultType};
    use crate::wire::testing::{check, refuse};

    #[test]
    fn a_result_type_may_be_unknown() {
        let known: ResultType = serde_json::from_str(r#""input_required""#).unwrap();
        assert_eq!(known, ResultType::INPUT_REQUIRED);
        let unknown: ResultType = serde_json::from_str(r#""later""#).unwrap();
        assert_eq!(unknown.as_str(), "later");
    }

    #[test]
    fn nothing_is_kept_by_default() {
        assert_eq!(
            CacheHints::default(),
            CacheHints::new(0, CacheScope::Private)
        );
        check::<CacheHints>(r#"{"ttlMs":5000,"cacheScope":"public"}"#);
        refuse::<CacheScope>(r#""shared""#);
    }

    #[test]
    fn the_small_ones_come_back() {
        check::<EmptyResult>("{}");
        check::<EmptyResult>(r#"{"_meta":{"k":1}}"#);
        check::<PaginatedRequestParams>("{}");
        check::<PaginatedRequestParams>(r#"{"cursor":"c","_meta":{}}"#);
    }
}
