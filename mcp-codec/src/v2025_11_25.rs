//! 2025-11-25: icons, descriptions of implementations, url elicitation, sampling with tools,
//! experimental tasks, resumable POST streams.
//!
//! Changelog: `docs/specification/2025-11-25/changelog`.

use std::sync::Arc;

use bytes::Bytes;
use mcp_types::{
    ContentBlock, CreateMessageRequestParams, ElicitRequestParams, ElicitSchema, InputRequest,
    PrimitiveSchemaDefinition, ProtocolVersion, RequestId, SamplingMessage, ServerNotification,
    StringSchema,
};

use crate::{
    ClientMessage, Envelope, Era, Failure, Headers, InputStyle, Manifest, Outcome, Reply,
    Resumption, RevisionAdapter, ServerResult, content, legacy, question, write,
};

/// The adapter for 2025-11-25.
#[derive(Debug, Clone, Copy)]
pub(crate) struct V2025_11_25;

impl RevisionAdapter for V2025_11_25 {
    fn version(&self) -> ProtocolVersion {
        ProtocolVersion::new("2025-11-25")
    }

    fn era(&self) -> Era {
        Era::Legacy
    }

    fn input_style(&self) -> InputStyle {
        InputStyle::OnStream
    }

    fn resumption(&self) -> Resumption {
        Resumption::Primed
    }

    fn decode<'a>(
        &self,
        envelope: &Envelope<'a>,
        _headers: Option<&dyn Headers>,
        _manifest: &Manifest,
    ) -> Result<ClientMessage<'a>, Failure> {
        legacy::decode(envelope, legacy::method)
    }

    fn encode(&self, id: Option<&RequestId>, outcome: Outcome, _manifest: &Manifest) -> Reply {
        legacy::encode(self.version(), id, outcome)
    }

    fn notify(&self, notification: &ServerNotification) -> Option<Bytes> {
        match notification {
            ServerNotification::ElicitationComplete(params) => Some(write::notification(
                "notifications/elicitation/complete",
                Some(params),
            )),
            other => legacy::notify(other),
        }
    }

    fn withdraw(&self, result: &mut ServerResult) {
        match result {
            ServerResult::Tools(tools) => {
                for tool in tools {
                    tool.icons = None;
                    tool.execution = None;
                }
            }
            ServerResult::Prompts(prompts) => {
                prompts.iter_mut().for_each(|prompt| prompt.icons = None);
            }
            ServerResult::Describe(description) => {
                description.info.icons = None;
                description.info.description = None;
                description.info.website_url = None;
                description.capabilities.tasks = None;
            }
            other => {
                content::listed(other, |parts| *parts.icons = None);
                content::blocks(other, |block| {
                    if let ContentBlock::ResourceLink(link) = block {
                        link.icons = None;
                    }
                });
            }
        }
    }

    fn gates_context(&self) -> bool {
        true
    }

    /// A URL needs its `elicitationId` here; without one it is not asked.
    fn question(&self, id: &RequestId, question: &InputRequest) -> Option<Bytes> {
        match question {
            InputRequest::Elicit(ElicitRequestParams::Url(url)) if url.elicitation_id.is_none() => {
                None
            }
            InputRequest::Elicit(params) => {
                Some(write::request(id, question.method(), Some(params)))
            }
            other => legacy::question(id, other),
        }
    }

    fn withdraw_question(&self, question: &mut InputRequest) -> bool {
        match question {
            InputRequest::CreateMessage(params) => older_conversation(params),
            InputRequest::ListRoots(_) => true,
            InputRequest::Elicit(ElicitRequestParams::Form(form)) => {
                older_form(Arc::make_mut(&mut form.requested_schema))
            }
            InputRequest::Elicit(_) => false,
        }
    }
}

/// A conversation without tools, in which each message is one block.
fn older_conversation(params: &mut CreateMessageRequestParams) -> bool {
    if question::uses_tools(params) {
        return false;
    }
    let messages = std::mem::take(&mut params.messages).into_iter();
    let split = |message: SamplingMessage| {
        let blocks = message.content.into_iter();
        blocks.map(move |block| SamplingMessage::new(message.role, [block]))
    };
    params.messages = messages.flat_map(split).collect();
    true
}

/// A form with defaults for yes and no alone, and no choice of several.
fn older_form(schema: &mut ElicitSchema) -> bool {
    schema.schema = None;
    schema.properties.iter_mut().all(|(_, field)| {
        match field {
            PrimitiveSchemaDefinition::String(text) => older_text(text),
            PrimitiveSchemaDefinition::Number(number)
            | PrimitiveSchemaDefinition::Integer(number) => number.default_value = None,
            PrimitiveSchemaDefinition::Boolean(_) => {}
            _ => return false,
        }
        true
    })
}

/// Text without a default; titled choices are `enum` beside `enumNames`.
fn older_text(text: &mut StringSchema) {
    text.default_value = None;
    if let Some(options) = text.one_of.take() {
        let options = options.into_iter().map(|it| (it.value, it.title));
        let (values, titles) = options.unzip();
        text.enum_values = Some(values);
        text.enum_names = Some(titles);
    }
}
