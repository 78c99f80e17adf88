//! 2025-03-26: Streamable HTTP, batches, audio, tool annotations, the `completions` capability,
//! progress messages.
//!
//! Changelog: `docs/specification/2025-03-26/changelog`.

use bytes::Bytes;
use mcp_types::{
    ContentBlock, EmbeddedResource, InputRequest, ProtocolVersion, RequestId, ResourceContents,
    SamplingContentBlock, ServerNotification,
};

use crate::{
    ClientMessage, Envelope, Era, Failure, Headers, InputStyle, Manifest, Outcome, Reply,
    Resumption, RevisionAdapter, ServerResult, content, legacy,
};

/// The adapter for 2025-03-26.
#[derive(Debug, Clone, Copy)]
pub(crate) struct V2025_03_26;

impl RevisionAdapter for V2025_03_26 {
    fn version(&self) -> ProtocolVersion {
        ProtocolVersion::new("2025-03-26")
    }

    fn era(&self) -> Era {
        Era::Legacy
    }

    fn input_style(&self) -> InputStyle {
        InputStyle::InArguments
    }

    fn batches(&self) -> bool {
        true
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
        let mut message = legacy::decode(envelope, legacy::method)?;
        legacy::without_completion_context(&mut message);
        Ok(message)
    }

    fn encode(&self, id: Option<&RequestId>, outcome: Outcome, _manifest: &Manifest) -> Reply {
        legacy::encode(self.version(), id, outcome)
    }

    fn notify(&self, notification: &ServerNotification) -> Option<Bytes> {
        legacy::notify(notification)
    }

    fn withdraw(&self, result: &mut ServerResult) {
        match result {
            ServerResult::Tools(tools) => {
                tools.iter_mut().for_each(|tool| tool.annotations = None);
            }
            ServerResult::Describe(description) => description.capabilities.completions = None,
            other => content::blocks(other, embed_audio),
        }
    }

    fn question(&self, id: &RequestId, question: &InputRequest) -> Option<Bytes> {
        legacy::question(id, question)
    }

    /// A conversation has nothing else that could carry audio.
    fn withdraw_question(&self, question: &mut InputRequest) -> bool {
        let mut older = true;
        if let InputRequest::CreateMessage(params) = question {
            content::sampled(params, |block| {
                older &= !matches!(block, SamplingContentBlock::Audio(_));
            });
        }
        older
    }
}

/// Audio becomes an embedded resource, which carries the same bytes and their type.
fn embed_audio(block: &mut ContentBlock) {
    if let ContentBlock::Audio(audio) = block {
        let mut contents = ResourceContents::blob("audio:inline", std::mem::take(&mut audio.data));
        contents.mime_type = Some(std::mem::take(&mut audio.mime_type));
        let mut embedded = EmbeddedResource::new(contents);
        embedded.annotations = audio.annotations.take();
        *block = ContentBlock::from(embedded);
    }
}
