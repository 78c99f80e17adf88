//! Questions of the server: what a client must have declared to be asked, and how it answers.
//!
//! Source: `client/elicitation`, `client/sampling` and `client/roots` of each revision;
//! `basic/index` of 2026-07-28 ("Error Codes").

#[cfg(test)]
mod tests;

use std::{borrow::Cow, fmt};

use mcp_types::{
    ClientCapabilities, CreateMessageRequestParams, ElicitRequestParams, IncludeContext,
    InputRequest, RawJson, SamplingContentBlock, error_codes,
};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use crate::{Envelope, MessageKind, Revision, envelope::text_of, params::Object};

/// What a client must declare to be asked, as the least `ClientCapabilities`: the
/// `requiredCapabilities` of a [missing capability](crate::Failure::missing_capability).
#[must_use]
pub fn required_capability(question: &InputRequest) -> Value {
    match question {
        InputRequest::CreateMessage(params) if uses_tools(params) => {
            json!({"sampling": {"tools": {}}})
        }
        InputRequest::CreateMessage(_) => json!({"sampling": {}}),
        InputRequest::ListRoots(_) => json!({"roots": {}}),
        InputRequest::Elicit(ElicitRequestParams::Form(_)) => json!({"elicitation": {"form": {}}}),
        InputRequest::Elicit(ElicitRequestParams::Url(_)) => json!({"elicitation": {"url": {}}}),
        InputRequest::Elicit(_) => json!({"elicitation": {}}),
    }
}

/// Whether a client has declared what the question needs. `elicitation: {}` counts as forms.
///
/// An `includeContext` needs nothing here: it is left out for a client that does not take one
/// ([`without_undeclared_context`]).
#[must_use]
pub fn declares(capabilities: &ClientCapabilities, question: &InputRequest) -> bool {
    let sampling = capabilities.sampling.as_ref();
    let elicitation = capabilities.elicitation.as_ref();
    match question {
        InputRequest::CreateMessage(params) => {
            sampling.is_some_and(|it| it.tools.is_some() || !uses_tools(params))
        }
        InputRequest::ListRoots(_) => capabilities.roots.is_some(),
        InputRequest::Elicit(ElicitRequestParams::Form(_)) => {
            elicitation.is_some_and(|it| it.supports_form())
        }
        InputRequest::Elicit(ElicitRequestParams::Url(_)) => {
            elicitation.is_some_and(|it| it.supports_url())
        }
        InputRequest::Elicit(_) => false,
    }
}

/// Takes `includeContext` out of a question to a client that does not say it takes one, where
/// the revision has a way to say so.
pub fn without_undeclared_context(
    revision: Revision,
    capabilities: &ClientCapabilities,
    question: &mut InputRequest,
) {
    let sampling = capabilities.sampling.as_ref();
    let declared = sampling.is_some_and(|it| it.context.is_some());
    if let InputRequest::CreateMessage(params) = question
        && params.include_context != Some(IncludeContext::None)
        && revision.gates_context()
        && !declared
    {
        params.include_context = None;
    }
}

/// Whether the client's model needs tools to go on with the conversation.
pub(crate) fn uses_tools(params: &CreateMessageRequestParams) -> bool {
    let of_tools = |block: &SamplingContentBlock| {
        use SamplingContentBlock::{ToolResult, ToolUse};
        matches!(block, ToolUse(_) | ToolResult(_))
    };
    let mut blocks = params.messages.iter().flat_map(|message| &message.content);
    params.tools.is_some() || params.tool_choice.is_some() || blocks.any(of_tools)
}

/// The error that a client answered a question with.
///
/// Attacker controlled: `Debug` shows how long the message is, and `Display` leaves it out.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("the client answered with error {code}")]
#[non_exhaustive]
pub struct ClientError {
    /// The code; that of an internal error where the client gave none that is an integer.
    pub code: i64,
    /// What the client says; empty where it says nothing.
    pub message: String,
}

impl fmt::Debug for ClientError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ClientError")
            .field("code", &self.code)
            .field("message", &self.message.len())
            .finish()
    }
}

impl ClientError {
    /// Reads as much of an `error` member as can be read.
    fn read(raw: &RawValue) -> Self {
        #[derive(Default, Deserialize)]
        struct Wire<'a> {
            #[serde(borrow)]
            code: Option<&'a RawValue>,
            #[serde(borrow)]
            message: Option<&'a RawValue>,
        }
        let wire =
            serde_json::from_str(raw.get()).map_or_else(|_| Wire::default(), |it: Object<_>| it.0);
        let code = wire.code.and_then(|raw| raw.get().parse().ok());
        let message = wire.message.and_then(text_of);
        Self {
            code: code.unwrap_or(error_codes::INTERNAL_ERROR),
            message: message.map(Cow::into_owned).unwrap_or_default(),
        }
    }
}

/// Reads a client's response to a question, one JSON-RPC message; `None` where it is no response.
///
/// `"error": null` beside a result is no error, as some clients write every member. Whether the
/// result has the shape of an answer is not looked at.
#[must_use]
pub fn answer(body: &[u8]) -> Option<Result<RawJson, ClientError>> {
    let envelope = Envelope::parse(body).ok()?;
    if envelope.kind() != MessageKind::Response {
        return None;
    }
    let answer = envelope.answer();
    let failed = |error: &&RawValue| error.get() != "null" || answer.result.is_none();
    match (answer.error.filter(failed), answer.result) {
        (Some(error), _) => Some(Err(ClientError::read(error))),
        (None, Some(result)) => RawJson::from_text(result.get()).ok().map(Ok),
        (None, None) => None,
    }
}
