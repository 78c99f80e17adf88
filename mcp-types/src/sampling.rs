//! Asking the model of the client, from the [Sampling] page of the specification.
//!
//! [Sampling]: https://modelcontextprotocol.io/specification/2026-07-28/client/sampling

use crate::content::{AudioContent, ContentBlock, ImageContent, Role, TextContent};
use crate::meta::MetaObject;
use crate::tools::Tool;
use crate::wire::{JsonObject, one_or_many, present, setters};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What `sampling/createMessage` carries.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CreateMessageRequestParams {
    /// The conversation so far.
    pub messages: Vec<SamplingMessage>,
    /// Which model to prefer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_preferences: Option<ModelPreferences>,
    /// A system prompt, which the client may change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    /// Context of servers to add; deprecated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_context: Option<IncludeContext>,
    /// How much the model may stray.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// The most the model may write.
    pub max_tokens: u64,
    /// Where it must stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_sequences: Option<Vec<String>>,
    /// Whatever the provider of the model defines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<JsonObject>,
    /// Tools it may call; since revision 2025-11-25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<Tool>>,
    /// Whether it must.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<ToolChoice>,
    /// Whatever else, by reserved or prefixed key.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl CreateMessageRequestParams {
    /// The required members.
    #[must_use]
    pub fn new(messages: impl Into<Vec<SamplingMessage>>, max_tokens: u64) -> Self {
        Self {
            messages: messages.into(),
            max_tokens,
            ..Self::default()
        }
    }

    setters! {
        value model_preferences: ModelPreferences,
        into system_prompt: String,
        value include_context: IncludeContext,
        value temperature: f64,
        into stop_sequences: Vec<String>,
        value metadata: JsonObject,
        into tools: Vec<Tool>,
        value tool_choice: ToolChoice,
        value meta: MetaObject,
    }
}

/// One message of a conversation with the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SamplingMessage {
    /// Who says it.
    pub role: Role,
    /// What is said; one block is written without an array.
    #[serde(with = "one_or_many")]
    pub content: Vec<SamplingContentBlock>,
    /// Whatever else, by reserved or prefixed key.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl SamplingMessage {
    /// The required members.
    #[must_use]
    pub fn new(role: Role, content: impl Into<Vec<SamplingContentBlock>>) -> Self {
        Self {
            role,
            content: content.into(),
            meta: None,
        }
    }

    /// Text that the user says.
    #[must_use]
    pub fn user(text: impl Into<String>) -> Self {
        Self::new(Role::User, [SamplingContentBlock::text(text)])
    }

    /// Text that the model says.
    #[must_use]
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::new(Role::Assistant, [SamplingContentBlock::text(text)])
    }

    setters! {
        value meta: MetaObject,
    }
}

/// One block of content in a conversation with the model: `SamplingMessageContentBlock`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum SamplingContentBlock {
    /// Text.
    Text(TextContent),
    /// A picture.
    Image(ImageContent),
    /// A sound.
    Audio(AudioContent),
    /// The model calls a tool; since revision 2025-11-25.
    ToolUse(ToolUseContent),
    /// What the tool said; since revision 2025-11-25.
    ToolResult(ToolResultContent),
}

impl SamplingContentBlock {
    /// Text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextContent::new(text))
    }
}

impl From<TextContent> for SamplingContentBlock {
    fn from(content: TextContent) -> Self {
        Self::Text(content)
    }
}

impl From<ImageContent> for SamplingContentBlock {
    fn from(content: ImageContent) -> Self {
        Self::Image(content)
    }
}

impl From<AudioContent> for SamplingContentBlock {
    fn from(content: AudioContent) -> Self {
        Self::Audio(content)
    }
}

impl From<ToolUseContent> for SamplingContentBlock {
    fn from(content: ToolUseContent) -> Self {
        Self::ToolUse(content)
    }
}

impl From<ToolResultContent> for SamplingContentBlock {
    fn from(content: ToolResultContent) -> Self {
        Self::ToolResult(content)
    }
}

/// The model calls a tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolUseContent {
    /// The id of the call.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its arguments.
    pub input: JsonObject,
    /// Whatever else, by reserved or prefixed key.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl ToolUseContent {
    /// The required members.
    #[must_use]
    pub fn new(id: impl Into<String>, name: impl Into<String>, input: JsonObject) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            input,
            ..Self::default()
        }
    }

    setters! {
        value meta: MetaObject,
    }
}

/// What a tool said to the model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolResultContent {
    /// The id of the call.
    pub tool_use_id: String,
    /// What the model reads.
    pub content: Vec<ContentBlock>,
    /// What programs read; any JSON value.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub structured_content: Option<Value>,
    /// The tool failed, and the content says how.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
    /// Whatever else, by reserved or prefixed key.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl ToolResultContent {
    /// The required members.
    #[must_use]
    pub fn new(tool_use_id: impl Into<String>, content: impl Into<Vec<ContentBlock>>) -> Self {
        Self {
            tool_use_id: tool_use_id.into(),
            content: content.into(),
            ..Self::default()
        }
    }

    setters! {
        into structured_content: Value,
        value is_error: bool,
        value meta: MetaObject,
    }
}

/// Which model a server prefers; the client decides.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ModelPreferences {
    /// Names to look for, best first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hints: Option<Vec<ModelHint>>,
    /// How much cheap matters, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_priority: Option<f64>,
    /// How much fast matters, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed_priority: Option<f64>,
    /// How much clever matters, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intelligence_priority: Option<f64>,
}

impl ModelPreferences {
    /// No preference.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        into hints: Vec<ModelHint>,
        value cost_priority: f64,
        value speed_priority: f64,
        value intelligence_priority: f64,
    }
}

/// Part of the name of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ModelHint {
    /// The part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl ModelHint {
    /// No hint.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        into name: String,
    }
}

/// Which context of servers to add; deprecated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum IncludeContext {
    /// None.
    #[default]
    None,
    /// That of the server that asks.
    ThisServer,
    /// That of all servers.
    AllServers,
}

/// Whether the model must call tools.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolChoice {
    /// Whether; `auto` when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<ToolChoiceMode>,
}

impl ToolChoice {
    /// As the model likes.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        value mode: ToolChoiceMode,
    }
}

/// Whether the model must call tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ToolChoiceMode {
    /// As it likes.
    #[default]
    Auto,
    /// It must.
    Required,
    /// It must not.
    None,
}

/// The answer of the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CreateMessageResult {
    /// Who says it.
    pub role: Role,
    /// What is said; one block is written without an array.
    #[serde(with = "one_or_many")]
    pub content: Vec<SamplingContentBlock>,
    /// The model that was asked.
    pub model: String,
    /// Why it stopped: `endTurn`, `stopSequence`, `maxTokens`, `toolUse` or another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// Whatever else, by reserved or prefixed key.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl CreateMessageResult {
    /// The required members.
    #[must_use]
    pub fn new(
        role: Role,
        content: impl Into<Vec<SamplingContentBlock>>,
        model: impl Into<String>,
    ) -> Self {
        Self {
            role,
            content: content.into(),
            model: model.into(),
            stop_reason: None,
            meta: None,
        }
    }

    setters! {
        into stop_reason: String,
        value meta: MetaObject,
    }
}

#[cfg(test)]
mod tests {
    use super::{
        CreateMessageRequestParams, CreateMessageResult, SamplingContentBlock, SamplingMessage,
    };
    use crate::wire::testing::{check, refuse};

    #[test]
    fn one_block_is_written_without_an_array() {
        let one = r#"{"role":"user","content":{"type":"text","text":"a"}}"#;
        let array = r#"{"role":"user","content":[{"type":"text","text":"a"}]}"#;
        let message = SamplingMessage::user("a");
        assert_eq!(check::<SamplingMessage>(one), message);
        assert_eq!(
            serde_json::from_str::<SamplingMessage>(array).unwrap(),
            message
        );
        let two = concat!(
            r#"{"role":"assistant","content":[{"type":"text","text":"a"},"#,
            r#"{"type":"image","data":"AA==","mimeType":"image/png"}]}"#,
        );
        assert_eq!(check::<SamplingMessage>(two).content.len(), 2);
        check::<SamplingMessage>(r#"{"role":"user","content":[]}"#);
        refuse::<SamplingMessage>(r#"{"role":"user","content":"a"}"#);
    }

    #[test]
    fn tool_blocks_come_back() {
        check::<SamplingContentBlock>(r#"{"type":"tool_use","id":"1","name":"t","input":{"a":1}}"#);
        check::<SamplingContentBlock>(concat!(
            r#"{"type":"tool_result","toolUseId":"1","content":[{"type":"text","text":"a"}],"#,
            r#""structuredContent":null,"isError":true,"_meta":{}}"#,
        ));
        refuse::<SamplingContentBlock>(r#"{"type":"resource_link","uri":"a:b","name":"a"}"#);
    }

    #[test]
    fn requests_and_results_come_back() {
        check::<CreateMessageRequestParams>(concat!(
            r#"{"messages":[{"role":"user","content":{"type":"text","text":"a"}}],"#,
            r#""modelPreferences":{"hints":[{"name":"m"}],"costPriority":0.1,"#,
            r#""speedPriority":0.2,"intelligencePriority":0.3},"systemPrompt":"s","#,
            r#""includeContext":"thisServer","temperature":0.7,"maxTokens":9,"#,
            r#""stopSequences":["x"],"metadata":{"k":1},"#,
            r#""tools":[{"name":"t","inputSchema":{}}],"toolChoice":{"mode":"required"}}"#,
        ));
        check::<CreateMessageResult>(concat!(
            r#"{"role":"assistant","content":{"type":"text","text":"a"},"model":"m","#,
            r#""stopReason":"endTurn"}"#,
        ));
    }
}
