//! 2024-11-05, the first revision: handshake, HTTP+SSE, text, images and embedded resources.
//!
//! Changelog: none; see `schema/2024-11-05/schema.ts`.

use bytes::Bytes;
use mcp_types::{InputRequest, ProtocolVersion, RequestId, ServerNotification};

use crate::{
    ClientMessage, Envelope, Era, Failure, Headers, InputStyle, Manifest, Outcome, Reply,
    RevisionAdapter, legacy,
};

/// The adapter for 2024-11-05.
#[derive(Debug, Clone, Copy)]
pub(crate) struct V2024_11_05;

impl RevisionAdapter for V2024_11_05 {
    fn version(&self) -> ProtocolVersion {
        ProtocolVersion::new("2024-11-05")
    }

    fn era(&self) -> Era {
        Era::Legacy
    }

    fn input_style(&self) -> InputStyle {
        InputStyle::InArguments
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
        let ServerNotification::Progress(progress) = notification else {
            return legacy::notify(notification);
        };
        let mut progress = progress.clone();
        progress.message = None;
        legacy::notify(&ServerNotification::Progress(progress))
    }

    fn question(&self, id: &RequestId, question: &InputRequest) -> Option<Bytes> {
        legacy::question(id, question)
    }
}
