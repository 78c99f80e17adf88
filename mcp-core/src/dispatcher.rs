//! The spine: bytes in, an [`Answer`] out, one `match` in between.

use std::{cell::Cell, sync::Arc};

use mcp_codec::{
    Envelope, Failure, FailureKind, Reply, adapter_set, depth::has_more_values,
    envelope::Unreadable,
};
use mcp_types::RequestId;

use crate::{
    Answer, Connection, Incoming, Principal, Registry, SessionMode, Unasked,
    arriving::Arriving,
    asking::{Progress, Seen},
    auth::Authorization,
    caller::Caller,
    catalog::Catalog,
    peer::Peer,
};

/// Answers messages by a registry.
#[derive(Debug, Clone)]
pub struct Dispatcher {
    registry: Registry,
    authorization: Option<Authorization>,
}

impl Dispatcher {
    /// Answers by that registry.
    #[must_use]
    pub fn new(registry: Registry) -> Self {
        Self {
            registry,
            authorization: None,
        }
    }

    /// Lets those in alone that `authorization` lets in.
    ///
    /// A transport asks [`Dispatcher::admit`] whose a request is before it reads more of it.
    #[must_use]
    pub fn authorization(mut self, authorization: Authorization) -> Self {
        self.authorization = Some(authorization);
        self
    }

    /// Who may call, if that was said.
    pub(crate) fn door(&self) -> Option<&Authorization> {
        self.authorization.as_ref()
    }

    /// What it answers by.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Answers one message, or a batch.
    ///
    /// Everything up to the handler's first `await` happens when the answer is first polled, and
    /// everything before the handler here, unless a session has to be looked up first.
    #[must_use]
    pub fn answer(&self, incoming: &Incoming<'_>) -> Answer {
        if incoming.headers.is_some() && self.is_closing() {
            return Answer::ready(self.refuse(closing()));
        }
        match self.named_session(incoming) {
            Ok(None) => self.answer_peer(incoming, &Peer::of(incoming), &self.caller(incoming)),
            Ok(Some(id)) => self.answer_in_session(id, incoming),
            Err(failure) => Answer::ready(self.refuse(failure)),
        }
    }

    /// Answers a message of a peer that is known as far as it can be.
    pub(crate) fn answer_peer(
        &self,
        incoming: &Incoming<'_>,
        peer: &Peer,
        caller: &Caller,
    ) -> Answer {
        self.answer_resumed(incoming, peer, caller, None)
    }

    /// The same, of a call whose progress was fetched already.
    pub(crate) fn answer_resumed(
        &self,
        incoming: &Incoming<'_>,
        peer: &Peer,
        caller: &Caller,
        progress: Option<(Box<Progress>, Seen)>,
    ) -> Answer {
        let catalog = self.registry.catalog();
        let max = self.registry.config().limits.max_values;
        if progress.is_none() && has_more_values(&incoming.body, max) {
            let message = format!("the message has more than {max} values");
            let failure = Failure::new(FailureKind::TooLarge, message);
            return Answer::ready(self.refused(None, failure, &catalog));
        }
        let message = Arriving {
            dispatcher: self,
            incoming,
            peer,
            caller,
            resumed: progress.is_some(),
            progress: Cell::new(progress),
            catalog: &catalog,
            lacking: Cell::default(),
        };
        if is_array(&incoming.body) {
            return message.answer_batch();
        }
        match Envelope::parse(&incoming.body) {
            Ok(envelope) => {
                let revisions = &self.registry.config().revisions;
                let selected = revisions.select(&envelope, peer.hints(incoming));
                message.answer(envelope, selected, incoming.body.clone())
            }
            Err(unreadable) => {
                Answer::ready(self.refuse_unreadable(unreadable, incoming, caller, &catalog))
            }
        }
    }

    /// Words the refusal of what is no message; its caller is charged as for one.
    fn refuse_unreadable(
        &self,
        unreadable: Unreadable,
        incoming: &Incoming<'_>,
        caller: &Caller,
        catalog: &Catalog,
    ) -> Reply {
        // Whoever talks over pipes has a mistake to find; strangers are not to fill a log.
        if incoming.headers.is_none() {
            let reason = &*unreadable.failure.message;
            tracing::warn!(reason, "a message could not be read");
        }
        let charged = self.charge(caller).err();
        let failure = charged.unwrap_or(unreadable.failure);
        self.refused(unreadable.id.as_ref(), failure, catalog)
    }

    /// Words a refusal for which no message was read.
    #[must_use]
    pub fn refuse(&self, failure: Failure) -> Reply {
        self.refused(None, failure, &self.registry.catalog())
    }

    /// What a connection with a handshake is to hear without asking.
    #[must_use]
    pub fn unasked(&self, connection: &Arc<Connection>) -> Unasked {
        Unasked::new(self.registry.clone(), Arc::clone(connection))
    }

    pub(crate) fn refused(
        &self,
        id: Option<&RequestId>,
        failure: Failure,
        catalog: &Catalog,
    ) -> Reply {
        self.registry.note_refusal(&failure);
        let newest = self.registry.config().revisions.newest();
        adapter_set::render(newest, id, failure.into(), &catalog.manifest)
    }

    /// Whose a message is.
    pub(crate) fn caller(&self, incoming: &Incoming<'_>) -> Caller {
        let namespace_of = |principal: &Principal| match &self.authorization {
            Some(authorization) => authorization.namespace(principal),
            None => principal.identity(),
        };
        Caller::of(incoming, namespace_of)
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.registry.backplane().closing.is_closed()
    }

    pub(crate) fn has_sessions(&self) -> bool {
        self.session_mode() != SessionMode::Stateless
    }

    pub(crate) fn session_mode(&self) -> SessionMode {
        self.registry.config().sessions.mode
    }
}

/// How a request is refused while the server ends.
pub(crate) fn closing() -> Failure {
    Failure::new(FailureKind::Overloaded, "the server is shutting down")
}

fn is_array(body: &[u8]) -> bool {
    let body = body.strip_prefix("\u{feff}".as_bytes()).unwrap_or(body);
    body.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[')
}
