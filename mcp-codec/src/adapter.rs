//! What a revision can do: read a message, write an answer, take back what it introduced.

use std::fmt;

use bytes::Bytes;
use mcp_types::{InputRequest, ProtocolVersion, RequestId, ServerNotification};

use crate::{ClientMessage, Envelope, Failure, Headers, Manifest, Outcome, Reply, ServerResult};

/// Whether a conversation begins with a handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a third era would change every transport"
)]
pub enum Era {
    /// `initialize` comes first and settles the rest.
    Legacy,
    /// Every request carries its own context.
    Modern,
}

/// How a question of the server reaches the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a fourth way would change the dispatcher"
)]
pub enum InputStyle {
    /// The result says what is needed, and the client calls again.
    InResult,
    /// A request on the call's own stream.
    OnStream,
    /// An ordinary result, answered in two extra arguments.
    InArguments,
}

/// How a broken stream of a session can be taken up again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a third way would change the streams of the core"
)]
pub enum Resumption {
    /// Not at all: events have no ids.
    Never,
    /// By the id of an event that was received.
    ByEvent,
    /// Also by the id of an empty event that each stream begins with; so the server may end a
    /// stream before the reply and have its client come back.
    Primed,
}

/// One protocol revision: how its bytes become a call and an [`Outcome`] its bytes.
///
/// Stateless and shared. Whatever the rest of the workspace may ask about a revision is a method
/// here, so that no other code ever compares protocol versions.
pub trait RevisionAdapter: fmt::Debug + Send + Sync {
    /// The version on the wire.
    fn version(&self) -> ProtocolVersion;

    /// Whether a handshake comes first.
    fn era(&self) -> Era;

    /// How an elicitation reaches the client.
    fn input_style(&self) -> InputStyle;

    /// How that question reaches the client.
    ///
    /// Where an elicitation goes into arguments, the model and the roots are asked for on the
    /// stream all the same: both have been there since the first revision.
    fn input_style_of(&self, question: &InputRequest) -> InputStyle {
        match (question, self.input_style()) {
            (InputRequest::Elicit(_), style) => style,
            (_, InputStyle::InArguments) => InputStyle::OnStream,
            (_, style) => style,
        }
    }

    /// Whether a client says by `sampling.context` that it takes an `includeContext`.
    fn gates_context(&self) -> bool {
        false
    }

    /// Whether several messages may come in one array.
    fn batches(&self) -> bool {
        false
    }

    /// Whether log messages are silent until the request itself asks for them.
    fn logs_on_request_only(&self) -> bool {
        self.era() == Era::Modern
    }

    /// Whether a closed response stream cancels the call.
    fn disconnect_cancels(&self) -> bool {
        self.era() == Era::Modern
    }

    /// How a broken stream of a session can be taken up again.
    fn resumption(&self) -> Resumption {
        Resumption::Never
    }

    /// The member that marks each notification of the subscription `id`, to be put into its
    /// `params`; `None` where the revision has no subscriptions of that kind.
    fn subscription_tag(&self, id: &RequestId) -> Option<Bytes> {
        let _ = id;
        None
    }

    /// Reads one message. `headers` is `None` where the transport has none.
    ///
    /// # Errors
    ///
    /// The failure to answer with; for a notification or a response, which get no answer, the
    /// reason for the log.
    fn decode<'a>(
        &self,
        envelope: &Envelope<'a>,
        headers: Option<&dyn Headers>,
        manifest: &Manifest,
    ) -> Result<ClientMessage<'a>, Failure>;

    /// Writes an answer, choosing this revision's error code and HTTP status.
    fn encode(&self, id: Option<&RequestId>, outcome: Outcome, manifest: &Manifest) -> Reply;

    /// Writes a notification, or nothing where this revision has none like it.
    fn notify(&self, notification: &ServerNotification) -> Option<Bytes>;

    /// Takes out what older revisions had and this one has not.
    fn retire(&self, result: &mut ServerResult) {
        let _ = result;
    }

    /// Takes out, or replaces, what this revision introduced in a result bound for an older peer.
    fn withdraw(&self, result: &mut ServerResult) {
        let _ = result;
    }

    /// Writes a projected question as a request of the server, or nothing where this revision
    /// has no requests of the server, or none like it.
    fn question(&self, id: &RequestId, question: &InputRequest) -> Option<Bytes> {
        let _ = (id, question);
        None
    }

    /// Takes out what older revisions had in a question and this one has not.
    fn retire_question(&self, question: &mut InputRequest) {
        let _ = question;
    }

    /// Takes out, or replaces, what this revision introduced in a question to an older peer;
    /// false where that cannot be done, so that the older peer cannot be asked.
    fn withdraw_question(&self, question: &mut InputRequest) -> bool {
        let _ = question;
        true
    }
}
