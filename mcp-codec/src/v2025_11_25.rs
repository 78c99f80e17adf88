//! 2025-11-25: icons, descriptions of implementations, url elicitation, sampling with tools,
//! experimental tasks, resumable POST streams.
//!
//! Changelog: `docs/specification/2025-11-25/changelog`.

use bytes::Bytes;
use mcp_types::{ContentBlock, ProtocolVersion, RequestId, ServerNotification};

use crate::{
    ClientMessage, Envelope, Era, Failure, Headers, InputStyle, Manifest, Outcome, Reply,
    Resumption, RevisionAdapter, ServerResult, content, legacy, write,
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
}
