//! Completion of arguments, from the [Completion] page of the specification.
//!
//! [Completion]: https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion

use crate::meta::MetaObject;
use crate::wire::setters;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What has the argument that is completed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type")]
#[non_exhaustive]
pub enum CompletionReference {
    /// A prompt.
    #[serde(rename = "ref/prompt")]
    Prompt(PromptReference),
    /// A resource template, or a resource.
    #[serde(rename = "ref/resource")]
    Resource(ResourceTemplateReference),
}

impl CompletionReference {
    /// The prompt of that name.
    #[must_use]
    pub fn prompt(name: impl Into<String>) -> Self {
        Self::Prompt(PromptReference::new(name))
    }

    /// The resource template of that URI.
    #[must_use]
    pub fn resource(uri: impl Into<String>) -> Self {
        Self::Resource(ResourceTemplateReference::new(uri))
    }
}

/// A prompt, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PromptReference {
    /// Its name, for programs.
    pub name: String,
    /// Its name, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

impl PromptReference {
    /// The required members.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }

    setters! {
        into title: String,
    }
}

/// A resource template, by its URI.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourceTemplateReference {
    /// The URI or URI template.
    pub uri: String,
}

impl ResourceTemplateReference {
    /// The required members.
    #[must_use]
    pub fn new(uri: impl Into<String>) -> Self {
        Self { uri: uri.into() }
    }
}

/// The argument that is completed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CompletionArgument {
    /// Its name.
    pub name: String,
    /// What the user has typed so far.
    pub value: String,
}

impl CompletionArgument {
    /// The required members.
    #[must_use]
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            value: value.into(),
        }
    }
}

/// What else the user has filled in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CompletionContext {
    /// The other arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<BTreeMap<String, String>>,
}

impl CompletionContext {
    /// Nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        value arguments: BTreeMap<String, String>,
    }
}

/// What `completion/complete` carries.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CompleteRequestParams {
    /// What has the argument.
    #[serde(rename = "ref")]
    pub reference: CompletionReference,
    /// The argument.
    pub argument: CompletionArgument,
    /// What else is filled in; since revision 2025-06-18.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<CompletionContext>,
    /// Whatever else, by reserved or prefixed key.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl CompleteRequestParams {
    /// The required members.
    #[must_use]
    pub fn new(reference: CompletionReference, argument: CompletionArgument) -> Self {
        Self {
            reference,
            argument,
            context: None,
            meta: None,
        }
    }

    setters! {
        value context: CompletionContext,
        value meta: MetaObject,
    }
}

/// Suggestions for the rest of an argument.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Completion {
    /// The suggestions; at most [`MAX_VALUES`](Self::MAX_VALUES).
    pub values: Vec<String>,
    /// How many there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// There are more than were sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub has_more: Option<bool>,
}

impl Completion {
    /// The required members.
    #[must_use]
    pub fn new(values: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            values: values.into_iter().map(Into::into).collect(),
            ..Self::default()
        }
    }

    /// "An array of completion values. Must not exceed 100 items."
    pub const MAX_VALUES: usize = 100;

    setters! {
        value total: u64,
        value has_more: bool,
    }
}

/// The answer to `completion/complete`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CompleteResult {
    /// The suggestions.
    pub completion: Completion,
    /// Whatever else, by reserved or prefixed key.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl CompleteResult {
    /// The required members.
    #[must_use]
    pub fn new(completion: Completion) -> Self {
        Self {
            completion,
            ..Self::default()
        }
    }

    setters! {
        value meta: MetaObject,
    }
}

#[cfg(test)]
mod tests {
    use super::{CompleteRequestParams, CompleteResult, Completion, CompletionReference};
    use crate::wire::testing::{check, refuse};

    #[test]
    fn completions_come_back() {
        let params = check::<CompleteRequestParams>(concat!(
            r#"{"ref":{"type":"ref/prompt","name":"p","title":"P"},"#,
            r#""argument":{"name":"a","value":"v"},"context":{"arguments":{"b":"c"}}}"#,
        ));
        assert!(matches!(params.reference, CompletionReference::Prompt(_)));
        let params = check::<CompleteRequestParams>(
            r#"{"ref":{"type":"ref/resource","uri":"a:{b}"},"argument":{"name":"b","value":""}}"#,
        );
        assert_eq!(params.reference, CompletionReference::resource("a:{b}"));
        refuse::<CompletionReference>(r#"{"type":"ref/tool","name":"t"}"#);
        let json = r#"{"completion":{"values":["a"],"total":2,"hasMore":true}}"#;
        let completion = Completion::new(["a"]).total(2).has_more(true);
        assert_eq!(
            check::<CompleteResult>(json),
            CompleteResult::new(completion)
        );
    }
}
