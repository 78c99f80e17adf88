//! A message that has arrived, on its way to becoming a request.

use std::{cell::Cell, sync::Arc};

use bytes::Bytes;
use mcp_codec::{
    ClientMessage, ClientNotification, Envelope, Era, Failure, FailureKind, MessageKind, Reply,
    Revision, adapter_set, depth::is_deeper_than, envelope, outcome::clipped,
};
use mcp_types::RequestId;

use crate::{
    Answer, Dispatcher, Incoming, SessionMode,
    asking::{Progress, Seen},
    auth::Needs,
    caller::Caller,
    catalog::Catalog,
    peer::Peer,
    request::Request,
    session::{self, Control, HeldSession, Record},
};

/// A message that has arrived, on its way to becoming a request.
pub(crate) struct Arriving<'a, 'b> {
    pub(crate) dispatcher: &'a Dispatcher,
    pub(crate) incoming: &'a Incoming<'b>,
    pub(crate) peer: &'a Peer,
    pub(crate) caller: &'a Caller,
    /// What was fetched of a call that is taken up again.
    pub(crate) progress: Cell<Option<(Box<Progress>, Seen)>>,
    pub(crate) catalog: &'a Arc<Catalog>,
    /// What is needed and the caller lacks.
    pub(crate) lacking: Cell<Needs>,
    /// Whether it was looked at before, and something had to be fetched.
    pub(crate) resumed: bool,
}

impl Arriving<'_, '_> {
    fn refuse(&self, id: Option<&RequestId>, failure: Failure) -> Answer {
        Answer::ready(self.dispatcher.refused(id, failure, self.catalog))
    }

    pub(crate) fn answer_batch(&self) -> Answer {
        let members = match envelope::batch(&self.incoming.body) {
            Some(Ok(members)) => members,
            Some(Err(unreadable)) => return self.refuse(None, unreadable.failure),
            None => return self.refuse(None, Failure::new(FailureKind::Parse, "not valid JSON")),
        };
        let config = self.dispatcher.registry().config();
        let selected = config
            .revisions
            .select_batch(self.peer.hints(self.incoming));
        let revision = match selected.and_then(|it| self.in_session(it)) {
            Ok(revision) => revision,
            Err(failure) => return self.refuse(None, failure),
        };
        let max = config.limits.max_batch;
        if members.is_empty() || members.len() > max {
            let message = format!("a batch has 1 to {max} messages");
            return self.refuse(None, Failure::new(FailureKind::InvalidRequest, message));
        }
        let answers = members.into_iter().map(|member| {
            let text = self.incoming.body.slice_ref(member.get().as_bytes());
            match Envelope::of_member(member) {
                Ok(envelope) if envelope.method() == "initialize" => {
                    let message = "`initialize` is not part of a batch";
                    let failure = Failure::new(FailureKind::InvalidRequest, message);
                    self.answer(envelope, Err(failure), text)
                }
                Ok(envelope) => self.answer(envelope, Ok(revision), text),
                Err(unreadable) => self.refuse(unreadable.id.as_ref(), unreadable.failure),
            }
        });
        let answers = answers.collect();
        // Before any of it runs: whoever comes back with more scopes sends all of it again.
        let (lacking, local) = (self.lacking.take(), self.incoming.local);
        match self.dispatcher.gate(self.caller, local).denial(&lacking) {
            Some(denied) => Answer::ready(self.dispatcher.turned_away(denied)),
            None => Answer::batch(answers),
        }
    }

    /// Handshake revisions have sessions over HTTP, and only `initialize` comes before one.
    fn in_session(&self, revision: Revision) -> Result<Revision, Failure> {
        let missing = matches!(self.peer, Peer::Stranger)
            && self.incoming.headers.is_some()
            && self.dispatcher.session_mode() == SessionMode::Stateful
            && revision.era() == Era::Legacy;
        if missing {
            let message =
                "the Mcp-Session-Id header is missing: send `initialize` to open a session";
            return Err(Failure::new(FailureKind::SessionRequired, message));
        }
        Ok(revision)
    }

    /// Charges the message to its caller, and refuses what costs too much to read; unless that
    /// was done when it arrived.
    fn bearable(&self, revision: Revision, text: &[u8]) -> Result<Revision, Failure> {
        if self.resumed {
            return Ok(revision);
        }
        self.dispatcher.charge(self.caller)?;
        let max = self.dispatcher.registry().config().limits.max_depth;
        if is_deeper_than(text, max) {
            let message = format!("arrays and objects lie more than {max} deep in one another");
            return Err(Failure::new(FailureKind::InvalidRequest, message));
        }
        Ok(revision)
    }

    /// Answers one message, which is the whole body or, in a batch, `text` of it.
    pub(crate) fn answer(
        &self,
        mut envelope: Envelope<'_>,
        selected: Result<Revision, Failure>,
        text: Bytes,
    ) -> Answer {
        let (revision, decoded) = self.decoded(&envelope, selected, &text);
        match (envelope.kind(), decoded, envelope.take_id()) {
            (MessageKind::Request, Ok(ClientMessage::Call(call)), Some(id)) => {
                let request = Request {
                    dispatcher: self.dispatcher,
                    revision,
                    incoming: self.incoming,
                    peer: self.peer,
                    caller: self.caller,
                    text,
                    progress: self.progress.take(),
                    catalog: self.catalog,
                    id,
                    lacking: &self.lacking,
                };
                request.dispatch(call)
            }
            (MessageKind::Request, Err(failure), id) => {
                Answer::ready(self.refused_by(revision, id.as_ref(), failure))
            }
            (_, Ok(ClientMessage::Notification(notification)), _) => self.notified(notification),
            (_, Ok(ClientMessage::Response), Some(id)) => self.answered(id, text),
            (_, Ok(_), _) => accepted(),
            (_, Err(failure), _) => {
                let reply = self.refused_by(revision, None, failure);
                let mut bare = Reply::bare(reply.status);
                bare.retry_after = reply.retry_after;
                Answer::ready(bare)
            }
        }
    }

    /// What a message says, and in which revision's words it is answered.
    fn decoded<'e>(
        &self,
        envelope: &Envelope<'e>,
        selected: Result<Revision, Failure>,
        text: &[u8],
    ) -> (Revision, Result<ClientMessage<'e>, Failure>) {
        let selected = match selected {
            Ok(revision) if envelope.method() != "initialize" => self.in_session(revision),
            selected => selected,
        };
        match selected.and_then(|revision| self.bearable(revision, text)) {
            Ok(revision) => {
                let manifest = &self.catalog.manifest;
                let decoded = revision.decode(envelope, self.incoming.headers, manifest);
                (revision, decoded)
            }
            Err(failure) => {
                let newest = self.dispatcher.registry().config().revisions.newest();
                (newest, Err(failure))
            }
        }
    }

    /// Words the refusal of a message whose revision is known.
    fn refused_by(&self, revision: Revision, id: Option<&RequestId>, failure: Failure) -> Reply {
        self.dispatcher.registry().note_refusal(&failure);
        adapter_set::render(revision, id, failure.into(), &self.catalog.manifest)
    }

    /// What a notification changes for the calls of its client.
    fn notified(&self, notification: ClientNotification<'_>) -> Answer {
        match notification {
            ClientNotification::Initialized => match self.peer {
                Peer::Stranger => {}
                Peer::Connection(connection) => connection.initialized(),
                Peer::Session(session) if session.record.initialized => {}
                Peer::Session(session) => return self.initialized(session),
            },
            ClientNotification::Cancelled(cancelled) => {
                let reason = cancelled.reason.as_deref().map(clipped);
                tracing::debug!(id = %cancelled.request_id, ?reason, "the client cancelled a call");
                match self.peer {
                    Peer::Stranger => {}
                    Peer::Connection(connection) => connection.cancel(&cancelled.request_id),
                    Peer::Session(_) => return self.tell(Control::Cancelled(cancelled.request_id)),
                }
            }
            ClientNotification::RootsListChanged | ClientNotification::Other => {}
        }
        accepted()
    }

    /// The client is ready for what it did not ask for, and its streams are told.
    fn initialized(&self, session: &Arc<HeldSession>) -> Answer {
        let dispatcher = self.dispatcher.clone();
        let session = Arc::clone(session);
        Answer::opening(false, async move {
            let registry = dispatcher.registry();
            let ready = |record: &mut Record| {
                let changed = !std::mem::replace(&mut record.initialized, true);
                Ok((changed, ()))
            };
            if let Err(error) = registry.change_record(&session.key(), ready).await {
                let failure = session::failure(error);
                return Answer::ready(dispatcher.refuse(failure));
            }
            registry.backplane().tell(&session, &Control::Watched).await;
            accepted()
        })
    }

    /// A client's answer to a question, for whichever worker waits for it.
    fn answered(&self, id: RequestId, text: Bytes) -> Answer {
        match self.peer {
            Peer::Session(_) => return self.tell(Control::Answered(id, text)),
            Peer::Connection(connection) => connection.deliver(&id, &text),
            Peer::Stranger => {}
        }
        accepted()
    }

    /// Tells whoever serves the session, then says that the message was taken.
    fn tell(&self, message: Control) -> Answer {
        let Some(session) = self.peer.session().cloned() else {
            return accepted();
        };
        let registry = self.dispatcher.registry().clone();
        Answer::opening(false, async move {
            registry.backplane().tell(&session, &message).await;
            accepted()
        })
    }
}

fn accepted() -> Answer {
    Answer::ready(Reply::bare(202))
}
