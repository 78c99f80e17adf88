//! The spine: bytes in, an [`Answer`] out, one `match` in between.

use std::sync::Arc;

use bytes::Bytes;
use mcp_codec::{
    ClientMessage, ClientNotification, Envelope, Failure, FailureKind, MessageKind, Reply,
    Revision, envelope, outcome::clipped,
};
use mcp_types::{NotificationParams, RequestId, ServerNotification};

use crate::{Answer, Change, Connection, Incoming, Registry, catalog::Catalog, request::Request};

/// Answers messages by a registry.
#[derive(Debug, Clone)]
pub struct Dispatcher {
    registry: Registry,
}

impl Dispatcher {
    /// Answers by that registry.
    #[must_use]
    pub fn new(registry: Registry) -> Self {
        Self { registry }
    }

    /// What it answers by.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Answers one message, or a batch.
    ///
    /// Everything up to the handler's first `await` happens when the answer is first polled, and
    /// everything before the handler here.
    #[must_use]
    pub fn answer(&self, incoming: &Incoming<'_>) -> Answer {
        let catalog = self.registry.catalog();
        if is_array(&incoming.body) {
            return self.answer_batch(incoming, &catalog);
        }
        match Envelope::parse(&incoming.body) {
            Ok(envelope) => {
                let selected = self
                    .registry
                    .config()
                    .revisions
                    .select(&envelope, incoming.hints());
                self.answer_one(envelope, selected, incoming, &catalog)
            }
            Err(unreadable) => {
                let reason = &*unreadable.failure.message;
                tracing::warn!(reason, "a message could not be read");
                Answer::ready(self.refused(unreadable.id.as_ref(), unreadable.failure, &catalog))
            }
        }
    }

    /// Words a refusal for which no message was read.
    #[must_use]
    pub fn refuse(&self, failure: Failure) -> Reply {
        self.refused(None, failure, &self.registry.catalog())
    }

    /// Words a change of a listing for one connection, if it wants to hear of it.
    #[must_use]
    pub fn announce(&self, change: Change, connection: &Connection) -> Option<Bytes> {
        let params = NotificationParams::new();
        let notification = match change {
            Change::Tools => ServerNotification::ToolsListChanged(params),
            Change::Prompts => ServerNotification::PromptsListChanged(params),
            Change::Resources => ServerNotification::ResourcesListChanged(params),
        };
        connection.notifiable()?.notify(&notification)
    }

    fn refused(&self, id: Option<&RequestId>, failure: Failure, catalog: &Catalog) -> Reply {
        let newest = self.registry.config().revisions.newest();
        newest.encode(id, failure.into(), &catalog.manifest)
    }

    fn answer_batch(&self, incoming: &Incoming<'_>, catalog: &Arc<Catalog>) -> Answer {
        let refuse = |failure| Answer::ready(self.refused(None, failure, catalog));
        let members = match envelope::batch(&incoming.body) {
            Some(Ok(members)) => members,
            Some(Err(unreadable)) => return refuse(unreadable.failure),
            None => return refuse(Failure::new(FailureKind::Parse, "not valid JSON")),
        };
        let revision = match self
            .registry
            .config()
            .revisions
            .select_batch(incoming.hints())
        {
            Ok(revision) => revision,
            Err(failure) => return refuse(failure),
        };
        let max = self.registry.config().max_batch;
        if members.is_empty() || members.len() > max {
            let message = format!("a batch has 1 to {max} messages");
            return refuse(Failure::new(FailureKind::InvalidRequest, message));
        }
        let answers = members
            .into_iter()
            .map(|member| match Envelope::of_member(member) {
                Ok(envelope) if envelope.method() == "initialize" => {
                    let message = "`initialize` is not part of a batch";
                    let failure = Failure::new(FailureKind::InvalidRequest, message);
                    self.answer_one(envelope, Err(failure), incoming, catalog)
                }
                Ok(envelope) => self.answer_one(envelope, Ok(revision), incoming, catalog),
                Err(unreadable) => {
                    Answer::ready(self.refused(unreadable.id.as_ref(), unreadable.failure, catalog))
                }
            });
        Answer::batch(answers.collect())
    }

    fn answer_one(
        &self,
        mut envelope: Envelope<'_>,
        selected: Result<Revision, Failure>,
        incoming: &Incoming<'_>,
        catalog: &Arc<Catalog>,
    ) -> Answer {
        let manifest = &catalog.manifest;
        let (revision, decoded) = match selected {
            Ok(revision) => (
                revision,
                revision.decode(&envelope, incoming.headers, manifest),
            ),
            Err(failure) => (self.registry.config().revisions.newest(), Err(failure)),
        };
        match (envelope.kind(), decoded, envelope.take_id()) {
            (MessageKind::Request, Ok(ClientMessage::Call(call)), Some(id)) => {
                let request = Request {
                    dispatcher: self,
                    revision,
                    incoming,
                    catalog,
                    id,
                };
                request.dispatch(call)
            }
            (MessageKind::Request, Err(failure), id) => {
                Answer::ready(revision.encode(id.as_ref(), failure.into(), manifest))
            }
            (_, Ok(message), _) => {
                if let (ClientMessage::Notification(it), Some(connection)) =
                    (message, incoming.connection)
                {
                    notified(it, connection);
                }
                Answer::ready(Reply::bare(202))
            }
            (_, Err(failure), _) => {
                tracing::info!(message = %failure.message, "a notification was refused");
                let reply = revision.encode(None, failure.into(), manifest);
                Answer::ready(Reply::bare(reply.status))
            }
        }
    }
}

/// What a notification changes on its connection.
fn notified(notification: ClientNotification<'_>, connection: &Connection) {
    match notification {
        ClientNotification::Initialized => connection.initialized(),
        ClientNotification::Cancelled(cancelled) => {
            let reason = cancelled.reason.as_deref().map(clipped);
            tracing::debug!(id = %cancelled.request_id, ?reason, "the client cancelled a call");
            connection.cancel(&cancelled.request_id);
        }
        ClientNotification::RootsListChanged | ClientNotification::Other => {}
    }
}

fn is_array(body: &[u8]) -> bool {
    let body = body.strip_prefix("\u{feff}".as_bytes()).unwrap_or(body);
    body.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[')
}
