//! Who is to hear of which changes.
//!
//! Source: `server/resources` of 2024-11-05 to 2025-11-25, "Subscriptions";
//! `basic/patterns/subscriptions` of 2026-07-28.

use std::sync::Arc;

use bytes::Bytes;
use mcp_codec::{Failure, FailureKind, ServerResult, call::RequestContext};
use mcp_types::SubscriptionFilter;

use super::Request;
use crate::{
    Answer,
    auth::Needs,
    dispatcher::closing,
    gauges::OpenStream,
    peer::Peer,
    resources::has_scheme,
    stream::{Listener, Listening, Shared, Wanted, can_name, hub_failure},
};

impl Request<'_, '_> {
    /// What may be subscribed to, and what that needs.
    fn may_subscribe(&self, method: &str, uri: &str) -> Result<Needs, Failure> {
        let offers = self.catalog.manifest.capabilities.resources.as_ref();
        let offered = offers.and_then(|it| it.subscribe) == Some(true);
        if !offered || matches!(self.peer, Peer::Stranger) {
            return Err(Failure::method_not_found(method));
        }
        if !has_scheme(uri) {
            let message = "`params.uri` is not a URI: it has no scheme";
            return Err(Failure::new(FailureKind::InvalidParams, message));
        }
        match self.catalog.subscribable(uri, self.revision) {
            Some((true, needs)) => Ok(needs),
            Some((false, _)) => {
                let message = "this resource cannot be subscribed to";
                Err(Failure::new(FailureKind::InvalidParams, message))
            }
            None => Err(Failure::resource_not_found(uri)),
        }
    }

    pub(super) fn subscribe(self, uri: &str) -> Answer {
        match self.may_subscribe("resources/subscribe", uri) {
            Ok(needs) => {
                if let Some(denied) = self.denial(&needs) {
                    return self.deny(denied);
                }
            }
            Err(failure) => return self.fail(failure),
        }
        let max = self.dispatcher.registry().config().limits.max_watched;
        match self.peer {
            Peer::Session(session) => {
                let (key, uri) = (session.key(), Bytes::copy_from_slice(uri.as_bytes()));
                self.in_session(key, move |record| {
                    if record.watched.contains(&uri) {
                        return Ok(false);
                    }
                    if record.watched.len() >= max {
                        return Err(too_many_watched());
                    }
                    record.watched.push(uri.clone());
                    Ok(true)
                })
            }
            Peer::Connection(connection) if !connection.watch(uri, max) => {
                self.fail(too_many_watched())
            }
            Peer::Connection(_) | Peer::Stranger => self.finish(ServerResult::Empty),
        }
    }

    pub(super) fn unsubscribe(self, uri: &str) -> Answer {
        match self.may_subscribe("resources/unsubscribe", uri) {
            // What is watched no more need not be there any more.
            Ok(_) => {}
            Err(failure) if failure.kind == FailureKind::ResourceNotFound => {}
            Err(failure) => return self.fail(failure),
        }
        match self.peer {
            Peer::Session(session) => {
                let (key, uri) = (session.key(), Bytes::copy_from_slice(uri.as_bytes()));
                self.in_session(key, move |record| {
                    let before = record.watched.len();
                    record.watched.retain(|it| *it != uri);
                    Ok(record.watched.len() < before)
                })
            }
            Peer::Connection(connection) => {
                connection.unwatch(uri);
                self.finish(ServerResult::Empty)
            }
            Peer::Stranger => self.finish(ServerResult::Empty),
        }
    }

    pub(super) fn listen(self, filter: SubscriptionFilter) -> Answer {
        if let Some(denied) = self.denial(&self.needs_of(&filter)) {
            return self.deny(denied);
        }
        let open = match self.may_listen(&filter) {
            Ok(open) => open,
            Err(failure) => return self.fail(failure),
        };
        if self.is_in_flight() {
            return Answer::nothing();
        }
        let subscribable = |uri: &str| {
            let found = self.catalog.subscribable(uri, self.revision);
            found.is_some_and(|(subscribable, _)| subscribable)
        };
        let offers = &self.catalog.manifest.capabilities;
        let (wanted, granted) = Wanted::granted(filter, offers, subscribable);
        let shared = self.peer.connection().cloned();
        let shared = shared.map(|it| Shared::new(it, self.call_state(RequestContext::default())));
        let listener = Listener {
            revision: self.revision,
            id: self.id.clone(),
            catalog: Arc::clone(self.catalog),
            shared,
            caller: self.caller.clone(),
            wanted,
            granted,
            open,
        };
        let registry = self.dispatcher.registry().clone();
        let worded = self.worded();
        Answer::opening(true, async move {
            match Listening::begin(registry, listener).await {
                Ok(listening) => Answer::listening(listening),
                Err(error) => Answer::ready(worded.refuse(hub_failure(&error))),
            }
        })
    }

    /// What all the resources together need that a client asks to hear of.
    fn needs_of(&self, filter: &SubscriptionFilter) -> Needs {
        let uris = filter.resource_subscriptions.iter().flatten();
        let found = uris.filter_map(|uri| self.catalog.subscribable(uri, self.revision));
        found.fold(Needs::default(), |all, (_, needs)| all.and(&needs))
    }

    /// Whether there is room for one more subscription, of a client that can have one.
    fn may_listen(&self, filter: &SubscriptionFilter) -> Result<OpenStream, Failure> {
        let registry = self.dispatcher.registry();
        let (backplane, config) = (registry.backplane(), registry.config());
        if !self.incoming.streams {
            let message = "a subscription needs a client that accepts text/event-stream";
            return Err(Failure::new(FailureKind::NotAcceptable, message));
        }
        if !can_name(&self.id) {
            let message = "`id` is too large a number to name a subscription";
            return Err(Failure::new(FailureKind::InvalidRequest, message));
        }
        if backplane.closing.is_closed() {
            return Err(closing());
        }
        let asked = filter.resource_subscriptions.as_ref().map_or(0, Vec::len);
        if asked > config.limits.max_watched {
            return Err(too_many_watched());
        }
        let connection = self.peer.connection().map(|it| it.name());
        let (gauges, who) = (&backplane.gauges, self.caller.account());
        gauges.enter(&config.limits, connection.as_deref(), None, who)
    }
}

fn too_many_watched() -> Failure {
    let message = "too many resources are subscribed to";
    Failure::new(FailureKind::InvalidParams, message)
}
