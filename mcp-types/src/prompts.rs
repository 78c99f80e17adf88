//! Prompts, from the [Prompts] page of the specification.
//!
//! [Prompts]: https://modelcontextprotocol.io/specification/2026-07-28/server/prompts

use crate::content::{ContentBlock, Icon, Role};
use crate::input::InputResponses;
use crate::meta::MetaObject;
use crate::result::CacheScope;
use crate::wire::setters;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A prompt that a user may choose.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Prompt {
    /// Its name, for programs.
    pub name: String,
    /// Its name, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Pictures of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icons: Option<Vec<Icon>>,
    /// What it is filled in with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Vec<PromptArgument>>,
    /// Whatever else, by reserved or prefixed key.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl Prompt {
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
        into description: String,
        into icons: Vec<Icon>,
        into arguments: Vec<PromptArgument>,
        value meta: MetaObject,
    }
}

/// Something a prompt is filled in with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PromptArgument {
    /// Its name, for programs.
    pub name: String,
    /// Its name, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether the prompt needs it; not when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required: Option<bool>,
}

impl PromptArgument {
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
        into description: String,
        value required: bool,
    }
}

/// What `prompts/get` carries.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct GetPromptRequestParams {
    /// The prompt.
    pub name: String,
    /// What it is filled in with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<BTreeMap<String, String>>,
    /// The answers to what the server asked, by key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_responses: Option<InputResponses>,
    /// The state that came with the questions, as it came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_state: Option<String>,
    /// Whatever else, by reserved or prefixed key.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl GetPromptRequestParams {
    /// The required members.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }

    setters! {
        value arguments: BTreeMap<String, String>,
        value input_responses: InputResponses,
        into request_state: String,
        value meta: MetaObject,
    }
}

/// One message of a prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PromptMessage {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub content: ContentBlock,
}

impl PromptMessage {
    /// A message of either side.
    #[must_use]
    pub fn new(role: Role, content: impl Into<ContentBlock>) -> Self {
        Self {
            role,
            content: content.into(),
        }
    }

    /// Text that the user says.
    #[must_use]
    pub fn user(text: impl Into<String>) -> Self {
        Self::new(Role::User, ContentBlock::text(text))
    }

    /// Text that the model says.
    #[must_use]
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::new(Role::Assistant, ContentBlock::text(text))
    }
}

/// A prompt, filled in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct GetPromptResult {
    /// The conversation to begin with.
    pub messages: Vec<PromptMessage>,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whatever else, by reserved or prefixed key.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl GetPromptResult {
    /// The required members.
    #[must_use]
    pub fn new(messages: impl Into<Vec<PromptMessage>>) -> Self {
        Self {
            messages: messages.into(),
            ..Self::default()
        }
    }

    setters! {
        into description: String,
        value meta: MetaObject,
    }
}

/// One page of prompts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListPromptsResult {
    /// The prompts.
    pub prompts: Vec<Prompt>,
    /// Where the next page begins; none at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// For how long the client may take it as fresh.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl_ms: Option<u64>,
    /// Who may keep it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_scope: Option<CacheScope>,
    /// Whatever else, by reserved or prefixed key.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl ListPromptsResult {
    /// The required members.
    #[must_use]
    pub fn new(prompts: impl Into<Vec<Prompt>>) -> Self {
        Self {
            prompts: prompts.into(),
            ..Self::default()
        }
    }

    setters! {
        into next_cursor: String,
        value ttl_ms: u64,
        value cache_scope: CacheScope,
        value meta: MetaObject,
    }
}

#[cfg(test)]
mod tests {
    use super::{
        GetPromptRequestParams, GetPromptResult, ListPromptsResult, Prompt, PromptMessage,
    };
    use crate::wire::testing::{check, refuse};

    #[test]
    fn prompts_come_back() {
        check::<Prompt>(concat!(
            r#"{"name":"p","title":"P","description":"d","icons":[{"src":"data:,"}],"#,
            r#""arguments":[{"name":"a","title":"A","description":"d","required":true}],"#,
            r#""_meta":{"k":1}}"#,
        ));
        check::<ListPromptsResult>(r#"{"prompts":[{"name":"p"}],"nextCursor":"c","ttlMs":1}"#);
    }

    #[test]
    fn filled_in_prompts_come_back() {
        check::<GetPromptRequestParams>(concat!(
            r#"{"name":"p","arguments":{"a":"b"},"inputResponses":{"q":{}},"#,
            r#""requestState":"s","_meta":{}}"#,
        ));
        refuse::<GetPromptRequestParams>(r#"{"name":"p","arguments":{"a":1}}"#);
        let result = check::<GetPromptResult>(concat!(
            r#"{"messages":[{"role":"user","content":{"type":"text","text":"q"}},"#,
            r#"{"role":"assistant","content":{"type":"text","text":"a"}}],"description":"d"}"#,
        ));
        let messages = [PromptMessage::user("q"), PromptMessage::assistant("a")];
        assert_eq!(result, GetPromptResult::new(messages).description("d"));
    }
}
