//! 2025-06-18: structured tool output, elicitation, resource links, titles, `_meta` everywhere,
//! completion context, the version header; batches are gone.
//!
//! Changelog: `docs/specification/2025-06-18/changelog`.

use bytes::Bytes;
use mcp_types::{
    Annotations, CallToolResult, ContentBlock, ElicitRequestParams, InputRequest, ProtocolVersion,
    RequestId, ResourceLink, SamplingContentBlock, ServerNotification, TextContent, Tool,
    ToolAnnotations,
};

use crate::{
    ClientMessage, Envelope, Era, Failure, Headers, InputStyle, Manifest, Outcome, Reply,
    Resumption, RevisionAdapter, ServerResult, content, legacy, write,
};

/// The adapter for 2025-06-18.
#[derive(Debug, Clone, Copy)]
pub(crate) struct V2025_06_18;

impl RevisionAdapter for V2025_06_18 {
    fn version(&self) -> ProtocolVersion {
        ProtocolVersion::new("2025-06-18")
    }

    fn era(&self) -> Era {
        Era::Legacy
    }

    fn input_style(&self) -> InputStyle {
        InputStyle::OnStream
    }

    fn resumption(&self) -> Resumption {
        Resumption::ByEvent
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
        legacy::notify(notification)
    }

    fn withdraw(&self, result: &mut ServerResult) {
        match result {
            ServerResult::Tools(tools) => tools.iter_mut().for_each(plain_tool),
            ServerResult::Prompts(prompts) => {
                for prompt in prompts {
                    prompt.title = None;
                    prompt.meta = None;
                    for argument in prompt.arguments.iter_mut().flatten() {
                        argument.title = None;
                    }
                }
            }
            ServerResult::Describe(description) => description.info.title = None,
            other => {
                if let ServerResult::CallTool(called) = other {
                    structured_as_text(&mut called.result);
                }
                content::listed(other, |parts| {
                    *parts.title = None;
                    *parts.meta = None;
                    undated(parts.annotations);
                });
                content::contents(other, |contents| contents.meta = None);
                content::blocks(other, plain_block);
            }
        }
    }

    /// A form is the only elicitation here, and has no `mode`.
    fn question(&self, id: &RequestId, question: &InputRequest) -> Option<Bytes> {
        match question {
            InputRequest::Elicit(ElicitRequestParams::Form(form)) => {
                Some(write::request(id, question.method(), Some(form)))
            }
            other => legacy::question(id, other),
        }
    }

    fn withdraw_question(&self, question: &mut InputRequest) -> bool {
        match question {
            InputRequest::CreateMessage(params) => {
                content::sampled(params, plain_sample);
                true
            }
            InputRequest::ListRoots(_) => true,
            InputRequest::Elicit(_) => false,
        }
    }
}

/// A tool as it was before: its title moves to the annotations, where clients looked for one.
fn plain_tool(tool: &mut Tool) {
    if let Some(title) = tool.title.take() {
        let annotations = tool.annotations.get_or_insert_with(ToolAnnotations::new);
        annotations.title.get_or_insert(title);
    }
    tool.output_schema = None;
    tool.meta = None;
}

fn plain_block(block: &mut ContentBlock) {
    if let ContentBlock::ResourceLink(link) = block {
        let mut text = TextContent::new(described(link));
        text.annotations = link.annotations.take();
        *block = ContentBlock::Text(text);
    }
    undated(content::annotations(block));
    *content::meta(block) = None;
}

/// A block of a conversation; those of tools go no further than to this revision's successor.
fn plain_sample(block: &mut SamplingContentBlock) {
    let (annotations, meta) = match block {
        SamplingContentBlock::Text(text) => (&mut text.annotations, &mut text.meta),
        SamplingContentBlock::Image(image) => (&mut image.annotations, &mut image.meta),
        SamplingContentBlock::Audio(audio) => (&mut audio.annotations, &mut audio.meta),
        _ => return,
    };
    undated(annotations);
    *meta = None;
}

/// A resource link in words: name, URI, media type, description.
fn described(link: &ResourceLink) -> String {
    let mut text = format!("{}: {}", link.name, link.uri);
    if let Some(mime_type) = &link.mime_type {
        text.push_str(&format!(" ({mime_type})"));
    }
    if let Some(description) = &link.description {
        text.push('\n');
        text.push_str(description);
    }
    text
}

fn undated(annotations: &mut Option<Annotations>) {
    if let Some(it) = annotations {
        it.last_modified = None;
        if *it == Annotations::new() {
            *annotations = None;
        }
    }
}

/// Structured content leaves as text, unless a block says the same already.
fn structured_as_text(result: &mut CallToolResult) {
    let Some(structured) = result.structured_content.take() else {
        return;
    };
    let text = structured.get();
    // A newer revision may have wrapped what it alone can carry.
    let inner = text
        .strip_prefix("{\"result\":")
        .and_then(|rest| rest.strip_suffix('}'));
    let said = |block: &ContentBlock| matches!(block, ContentBlock::Text(it) if it.text == text || Some(&*it.text) == inner);
    if !result.content.iter().any(said) {
        result.content.push(ContentBlock::text(text));
    }
}
