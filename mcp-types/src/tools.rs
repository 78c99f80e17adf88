//! Tools, from the [Tools] page of the specification.
//!
//! [Tools]: https://modelcontextprotocol.io/specification/2026-07-28/server/tools

use crate::content::{ContentBlock, Icon};
use crate::input::InputResponses;
use crate::meta::MetaObject;
use crate::result::CacheScope;
use crate::wire::{JsonObject, RawJson, present, setters};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A tool that a model may call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Tool {
    /// Its name, for programs.
    pub name: String,
    /// Its name, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it does, for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Pictures of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icons: Option<Vec<Icon>>,
    /// The JSON Schema of its arguments; the root has `type: object`.
    pub input_schema: JsonObject,
    /// How it is run; only in revision 2025-11-25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution: Option<ToolExecution>,
    /// The JSON Schema of its structured content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// Hints about its behaviour.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<ToolAnnotations>,
    /// Whatever else, by reserved or prefixed key.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl Tool {
    /// The required members.
    #[must_use]
    pub fn new(name: impl Into<String>, input_schema: JsonObject) -> Self {
        Self {
            name: name.into(),
            input_schema,
            ..Self::default()
        }
    }

    setters! {
        into title: String,
        into description: String,
        into icons: Vec<Icon>,
        value execution: ToolExecution,
        into output_schema: Value,
        value annotations: ToolAnnotations,
        value meta: MetaObject,
    }
}

/// Hints about the behaviour of a tool.
///
/// Clients must not trust them unless they trust the server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolAnnotations {
    /// The name of the tool, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// It changes nothing; false when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// It may destroy something; true when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// Calling it again changes nothing more; false when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// It reaches beyond a closed set of things; true when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

impl ToolAnnotations {
    /// No hint.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        into title: String,
        value read_only_hint: bool,
        value destructive_hint: bool,
        value idempotent_hint: bool,
        value open_world_hint: bool,
    }
}

/// How a tool is run; only in revision 2025-11-25.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolExecution {
    /// Whether it runs as a task; forbidden when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_support: Option<TaskSupport>,
}

impl ToolExecution {
    /// The usual way.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        value task_support: TaskSupport,
    }
}

/// Whether a tool runs as a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum TaskSupport {
    /// It never does.
    #[default]
    Forbidden,
    /// It does when asked to.
    Optional,
    /// It always does.
    Required,
}

/// What `tools/call` carries.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CallToolRequestParams {
    /// The tool.
    pub name: String,
    /// Its arguments, an object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<RawJson>,
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

impl CallToolRequestParams {
    /// The required members.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }

    setters! {
        into arguments: RawJson,
        value input_responses: InputResponses,
        into request_state: String,
        value meta: MetaObject,
    }
}

/// What a tool says.
///
/// ```
/// use mcp_types::CallToolResult;
///
/// let result = CallToolResult::text("42");
/// assert_eq!(
/// serde_json::to_string(&result).unwrap(),
/// r#"{"content":[{"type":"text","text":"42"}]}"#,
/// );
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CallToolResult {
    /// What the model reads.
    pub content: Vec<ContentBlock>,
    /// What programs read; any JSON value.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub structured_content: Option<RawJson>,
    /// The tool failed, and the content says how.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
    /// Whatever else, by reserved or prefixed key.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl CallToolResult {
    /// The required members.
    #[must_use]
    pub fn new(content: impl Into<Vec<ContentBlock>>) -> Self {
        Self {
            content: content.into(),
            ..Self::default()
        }
    }

    /// One block of text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::new([ContentBlock::text(text)])
    }

    /// A failure that the model should read about.
    #[must_use]
    pub fn error(text: impl Into<String>) -> Self {
        Self::text(text).is_error(true)
    }

    setters! {
        into structured_content: RawJson,
        value is_error: bool,
        value meta: MetaObject,
    }
}

/// One page of tools.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListToolsResult {
    /// The tools.
    pub tools: Vec<Tool>,
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

impl ListToolsResult {
    /// The required members.
    #[must_use]
    pub fn new(tools: impl Into<Vec<Tool>>) -> Self {
        Self {
            tools: tools.into(),
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
        CallToolRequestParams, CallToolResult, ListToolsResult, TaskSupport, Tool, ToolExecution,
    };
    use crate::wire::RawJson;
    use crate::wire::testing::{check, refuse};
    use serde_json::Value;

    #[test]
    fn tools_come_back() {
        check::<Tool>(r#"{"name":"t","inputSchema":{"type":"object"}}"#);
        let tool = check::<Tool>(concat!(
            r#"{"name":"t","title":"T","description":"d","icons":[{"src":"data:,"}],"#,
            r#""inputSchema":{"type":"object"},"execution":{"taskSupport":"required"},"#,
            r#""outputSchema":true,"annotations":{"title":"T","readOnlyHint":true,"#,
            r#""destructiveHint":false,"idempotentHint":true,"openWorldHint":false},"#,
            r#""_meta":{"k":1}}"#,
        ));
        let execution = ToolExecution::new().task_support(TaskSupport::Required);
        assert_eq!(tool.execution, Some(execution));
        refuse::<Tool>(r#"{"name":"t","inputSchema":true}"#);
        check::<ListToolsResult>(concat!(
            r#"{"tools":[{"name":"t","inputSchema":{}}],"nextCursor":"c","#,
            r#""ttlMs":0,"cacheScope":"private","_meta":{}}"#,
        ));
    }

    #[test]
    fn calls_come_back() {
        check::<CallToolRequestParams>(r#"{"name":"t"}"#);
        let params = check::<CallToolRequestParams>(concat!(
            r#"{"name":"t","arguments":{"n":123456789012345678901234567890},"#,
            r#""inputResponses":{"q":{"action":"cancel"}},"requestState":"s","_meta":{}}"#,
        ));
        assert!(params.input_responses.unwrap()["q"].elicit().is_ok());
    }

    #[test]
    fn structured_content_is_any_json() {
        for json in ["null", "[1, 2]", "1.0", r#"{"b":1,"a":2}"#] {
            let raw = format!(r#"{{"content":[],"structuredContent":{json}}}"#);
            let result: CallToolResult = serde_json::from_str(&raw).unwrap();
            assert_eq!(
                result.structured_content,
                Some(RawJson::from_text(json).unwrap())
            );
            assert_eq!(serde_json::to_string(&result).unwrap(), raw);
        }
        let result = CallToolResult::new([]).structured_content(Value::Null);
        assert_eq!(
            check::<CallToolResult>(r#"{"content":[],"structuredContent":null}"#),
            result
        );
        assert_eq!(
            check::<CallToolResult>(r#"{"content":[]}"#).structured_content,
            None
        );
    }

    #[test]
    fn a_failure_says_so() {
        let json = r#"{"content":[{"type":"text","text":"no"}],"isError":true}"#;
        assert_eq!(check::<CallToolResult>(json), CallToolResult::error("no"));
    }
}
