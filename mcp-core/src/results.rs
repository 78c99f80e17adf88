//! What a handler may return.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use mcp_types::{
    CallToolResult, Completion, ContentBlock, GetPromptResult, PromptMessage, RawJson,
    ReadResourceResult, ResourceContents,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::{HandlerError, schema};

/// What a tool may return.
#[diagnostic::on_unimplemented(
    message = "a tool cannot return `{Self}`",
    note = "a tool returns text, `Json<T>`, content blocks or a `CallToolResult`, or a `Result` \
            of one of them with `HandlerError`"
)]
pub trait IntoToolResult {
    /// The schema of its structured content, if it has one.
    #[must_use]
    fn output_schema() -> Option<Value> {
        None
    }

    /// Makes it the tool's result.
    ///
    /// # Errors
    ///
    /// Whatever the handler failed with.
    fn into_tool_result(self) -> Result<CallToolResult, HandlerError>;
}

/// Structured content: the value's schema becomes the tool's `outputSchema`, and a copy in a text
/// block serves the revisions without structured content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "handlers build it")]
pub struct Json<T>(pub T);

impl<T: Serialize + JsonSchema> IntoToolResult for Json<T> {
    fn output_schema() -> Option<Value> {
        Some(schema::output_schema_of::<T>())
    }

    fn into_tool_result(self) -> Result<CallToolResult, HandlerError> {
        let structured = RawJson::from_value(&self.0)?;
        let text = ContentBlock::text(structured.get());
        Ok(CallToolResult::new([text]).structured_content(structured))
    }
}

impl IntoToolResult for CallToolResult {
    fn into_tool_result(self) -> Result<CallToolResult, HandlerError> {
        Ok(self)
    }
}

impl IntoToolResult for String {
    fn into_tool_result(self) -> Result<CallToolResult, HandlerError> {
        Ok(CallToolResult::text(self))
    }
}

impl IntoToolResult for &'static str {
    fn into_tool_result(self) -> Result<CallToolResult, HandlerError> {
        Ok(CallToolResult::text(self))
    }
}

impl IntoToolResult for ContentBlock {
    fn into_tool_result(self) -> Result<CallToolResult, HandlerError> {
        Ok(CallToolResult::new([self]))
    }
}

impl IntoToolResult for Vec<ContentBlock> {
    fn into_tool_result(self) -> Result<CallToolResult, HandlerError> {
        Ok(CallToolResult::new(self))
    }
}

impl IntoToolResult for () {
    fn into_tool_result(self) -> Result<CallToolResult, HandlerError> {
        Ok(CallToolResult::new([]))
    }
}

impl<T: IntoToolResult> IntoToolResult for Result<T, HandlerError> {
    fn output_schema() -> Option<Value> {
        T::output_schema()
    }

    fn into_tool_result(self) -> Result<CallToolResult, HandlerError> {
        self?.into_tool_result()
    }
}

/// What a resource may return.
#[diagnostic::on_unimplemented(
    message = "a resource cannot return `{Self}`",
    note = "a resource returns text, bytes, `ResourceContents` or a `ReadResourceResult`, or a \
            `Result` of one of them with `HandlerError`"
)]
pub trait IntoResource {
    /// Makes it the contents of the resource at `uri`, of the media type it was registered with.
    ///
    /// # Errors
    ///
    /// Whatever the handler failed with.
    fn into_resource(
        self,
        uri: &str,
        mime_type: Option<&str>,
    ) -> Result<ReadResourceResult, HandlerError>;
}

impl IntoResource for ReadResourceResult {
    fn into_resource(self, _: &str, _: Option<&str>) -> Result<ReadResourceResult, HandlerError> {
        Ok(self)
    }
}

impl IntoResource for Vec<ResourceContents> {
    fn into_resource(self, _: &str, _: Option<&str>) -> Result<ReadResourceResult, HandlerError> {
        Ok(ReadResourceResult::new(self))
    }
}

impl IntoResource for ResourceContents {
    fn into_resource(
        mut self,
        _: &str,
        mime_type: Option<&str>,
    ) -> Result<ReadResourceResult, HandlerError> {
        if self.mime_type.is_none() {
            self.mime_type = mime_type.map(str::to_owned);
        }
        Ok(ReadResourceResult::new([self]))
    }
}

impl IntoResource for String {
    fn into_resource(
        self,
        uri: &str,
        mime_type: Option<&str>,
    ) -> Result<ReadResourceResult, HandlerError> {
        let mime_type = Some(mime_type.unwrap_or("text/plain"));
        ResourceContents::text(uri, self).into_resource(uri, mime_type)
    }
}

impl IntoResource for &'static str {
    fn into_resource(
        self,
        uri: &str,
        mime_type: Option<&str>,
    ) -> Result<ReadResourceResult, HandlerError> {
        self.to_owned().into_resource(uri, mime_type)
    }
}

impl IntoResource for Vec<u8> {
    fn into_resource(
        self,
        uri: &str,
        mime_type: Option<&str>,
    ) -> Result<ReadResourceResult, HandlerError> {
        let mime_type = Some(mime_type.unwrap_or("application/octet-stream"));
        ResourceContents::blob(uri, STANDARD.encode(self)).into_resource(uri, mime_type)
    }
}

impl IntoResource for Bytes {
    fn into_resource(
        self,
        uri: &str,
        mime_type: Option<&str>,
    ) -> Result<ReadResourceResult, HandlerError> {
        Vec::from(self).into_resource(uri, mime_type)
    }
}

impl<T: Serialize> IntoResource for Json<T> {
    fn into_resource(
        self,
        uri: &str,
        mime_type: Option<&str>,
    ) -> Result<ReadResourceResult, HandlerError> {
        let text = serde_json::to_string(&self.0)?;
        text.into_resource(uri, Some(mime_type.unwrap_or("application/json")))
    }
}

impl<T: IntoResource> IntoResource for Result<T, HandlerError> {
    fn into_resource(
        self,
        uri: &str,
        mime_type: Option<&str>,
    ) -> Result<ReadResourceResult, HandlerError> {
        self?.into_resource(uri, mime_type)
    }
}

/// What a prompt may return.
#[diagnostic::on_unimplemented(
    message = "a prompt cannot return `{Self}`",
    note = "a prompt returns text, messages or a `GetPromptResult`, or a `Result` of one of them \
            with `HandlerError`"
)]
pub trait IntoPromptResult {
    /// Makes it the prompt's result.
    ///
    /// # Errors
    ///
    /// Whatever the handler failed with.
    fn into_prompt_result(self) -> Result<GetPromptResult, HandlerError>;
}

impl IntoPromptResult for GetPromptResult {
    fn into_prompt_result(self) -> Result<GetPromptResult, HandlerError> {
        Ok(self)
    }
}

impl IntoPromptResult for PromptMessage {
    fn into_prompt_result(self) -> Result<GetPromptResult, HandlerError> {
        Ok(GetPromptResult::new([self]))
    }
}

impl IntoPromptResult for Vec<PromptMessage> {
    fn into_prompt_result(self) -> Result<GetPromptResult, HandlerError> {
        Ok(GetPromptResult::new(self))
    }
}

impl IntoPromptResult for String {
    /// One message of the user.
    fn into_prompt_result(self) -> Result<GetPromptResult, HandlerError> {
        PromptMessage::user(self).into_prompt_result()
    }
}

impl IntoPromptResult for &'static str {
    /// One message of the user.
    fn into_prompt_result(self) -> Result<GetPromptResult, HandlerError> {
        PromptMessage::user(self).into_prompt_result()
    }
}

impl<T: IntoPromptResult> IntoPromptResult for Result<T, HandlerError> {
    fn into_prompt_result(self) -> Result<GetPromptResult, HandlerError> {
        self?.into_prompt_result()
    }
}

/// What a completer may return.
pub trait IntoCompletion {
    /// Makes it suggestions; more than 100 are cut off, which the answer says.
    ///
    /// # Errors
    ///
    /// Whatever the completer failed with.
    fn into_completion(self) -> Result<Completion, HandlerError>;
}

impl IntoCompletion for Completion {
    fn into_completion(self) -> Result<Completion, HandlerError> {
        Ok(self)
    }
}

impl<S: Into<String>> IntoCompletion for Vec<S> {
    fn into_completion(self) -> Result<Completion, HandlerError> {
        Ok(Completion::new(self))
    }
}

impl<T: IntoCompletion> IntoCompletion for Result<T, HandlerError> {
    fn into_completion(self) -> Result<Completion, HandlerError> {
        self?.into_completion()
    }
}
