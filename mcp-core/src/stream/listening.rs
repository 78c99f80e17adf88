//! `subscriptions/listen`: a request that stays open and hears of changes.
//!
//! Source: `basic/patterns/subscriptions` of 2026-07-28.

use std::{
    collections::VecDeque,
    sync::Arc,
    task::{Context, Poll, ready},
};

use mcp_codec::{Notice, Revision, ServerResult, adapter_set};
use mcp_types::{
    CancelledNotificationParams, MetaObject, RequestId, ServerNotification, SubscriptionFilter,
    SubscriptionsAcknowledgedNotificationParams, SubscriptionsListenResult, meta_keys,
};

use super::{Changes, Event, Heard, Wanted};
use crate::{
    Connection, HubError, Registry, Start, answer::Step, caller::Caller, catalog::Catalog,
    closing::Closed, exchange::CallState, gauges::OpenStream,
};

/// An open subscription.
pub(crate) struct Listening {
    revision: Revision,
    id: RequestId,
    catalog: Arc<Catalog>,
    wanted: Wanted,
    tag: Box<[u8]>,
    changes: Changes,
    ready: VecDeque<Step>,
    closed: Closed,
    shared: Option<Box<Shared>>,
    done: bool,
    _open: OpenStream,
}

/// What a subscription needs where it shares a connection with other calls: to be cancelled by its
/// id, and to end with the connection.
pub(crate) struct Shared {
    connection: Arc<Connection>,
    call: Arc<CallState>,
    closed: Closed,
}

impl Shared {
    pub(crate) fn new(connection: Arc<Connection>, call: CallState) -> Self {
        let closed = connection.closed();
        Self {
            connection,
            call: Arc::new(call),
            closed,
        }
    }

    /// Whether the client has cancelled it; otherwise it hears of that.
    fn is_cancelled(&self, context: &Context<'_>) -> bool {
        // Before it is looked at, so that a cancellation in between is not missed.
        self.call.outbox.register(context.waker());
        self.call.is_cancelled()
    }
}

/// What a subscription is made of.
pub(crate) struct Listener {
    pub(crate) revision: Revision,
    pub(crate) id: RequestId,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) caller: Caller,
    pub(crate) wanted: Wanted,
    pub(crate) granted: SubscriptionFilter,
    pub(crate) shared: Option<Shared>,
    pub(crate) open: OpenStream,
}

impl Listening {
    /// Subscribes, and has the acknowledgement ready: nothing that changes in between is missed.
    pub(crate) async fn begin(registry: Registry, listener: Listener) -> Result<Self, HubError> {
        let Listener {
            revision,
            id,
            catalog,
            caller,
            wanted,
            granted,
            shared,
            open,
        } = listener;
        let closed = registry.backplane().closing.closed_for(&caller);
        let changes = Changes::begin(registry, caller.namespace().into(), Start::Now).await?;
        let mut params = SubscriptionsAcknowledgedNotificationParams::new(granted);
        params.meta = Some(meta(&id));
        let acknowledged = ServerNotification::SubscriptionsAcknowledged(params);
        let acknowledged = revision.notify(&acknowledged);
        if let Some(shared) = &shared {
            shared.connection.begin(id.clone(), &shared.call);
        }
        Ok(Self {
            tag: revision.subscription_tag(&id).unwrap_or_default()[..].into(),
            ready: acknowledged.map(Step::Notification).into_iter().collect(),
            closed,
            done: false,
            _open: open,
            revision,
            id,
            catalog,
            wanted,
            changes,
            shared: shared.map(Box::new),
        })
    }

    pub(crate) fn poll_step(&mut self, context: &mut Context<'_>) -> Poll<Option<Step>> {
        loop {
            let shared = self.shared.as_ref();
            if shared.is_some_and(|it| it.is_cancelled(context)) {
                return Poll::Ready(None);
            }
            if let Some(step) = self.ready.pop_front() {
                if self.ready.is_empty() {
                    // The next one may be long in coming.
                    self.ready = VecDeque::new();
                }
                return Poll::Ready(Some(step));
            }
            if self.done {
                return Poll::Ready(None);
            }
            let shared = self.shared.as_mut();
            let disconnected = shared.is_some_and(|it| it.closed.poll(context).is_ready());
            if disconnected || self.closed.poll(context).is_ready() {
                self.finish();
                continue;
            }
            match ready!(self.changes.poll(context)) {
                Heard::Change(notice, _) if self.wanted.wants(notice.change()) => {
                    let message = notice.tagged(&self.tag);
                    return Poll::Ready(Some(Step::Notification(message)));
                }
                Heard::Change(..) => {}
                Heard::Missed => {
                    let everything = self.wanted.everything();
                    let tagged = everything.map(|it| Notice::new(it).tagged(&self.tag));
                    self.ready.extend(tagged.map(Step::Notification));
                }
                Heard::TooSlow => self.finish(),
            }
        }
    }

    /// The same as an event of a stream of its own.
    pub(crate) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Event>> {
        let step = ready!(self.poll_step(context));
        Poll::Ready(step.and_then(Step::into_message).map(Event::message))
    }

    /// Takes a step back, to be said first.
    pub(crate) fn put_back(&mut self, step: Step) {
        self.ready.push_front(step);
    }

    /// The server ends the subscription: the result, and before it, where messages of several
    /// requests share a stream, that it is cancelled.
    fn finish(&mut self) {
        if self.shared.is_some() {
            let mut params = CancelledNotificationParams::new().request_id(self.id.clone());
            params.meta = Some(meta(&self.id));
            let cancelled = ServerNotification::Cancelled(params);
            let cancelled = self.revision.notify(&cancelled);
            self.ready.extend(cancelled.map(Step::Notification));
        }
        let result = SubscriptionsListenResult::new().meta(meta(&self.id));
        let result = ServerResult::Listened(result);
        let manifest = &self.catalog.manifest;
        let reply = adapter_set::render(self.revision, Some(&self.id), result.into(), manifest);
        self.ready.push_back(Step::Reply(reply));
        self.done = true;
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        if let Some(shared) = &self.shared {
            shared.connection.end(&self.id);
        }
    }
}

/// The tag of everything that belongs to a subscription.
fn meta(id: &RequestId) -> MetaObject {
    let mut meta = MetaObject::new();
    let id = serde_json::to_value(id).unwrap_or_default();
    meta.insert(meta_keys::SUBSCRIPTION_ID.to_owned(), id);
    meta
}

/// Whether an id stays the same in a tag: an integer of more than 64 bits does not.
pub(crate) fn can_name(id: &RequestId) -> bool {
    let tag = serde_json::to_value(id).and_then(serde_json::from_value);
    tag.is_ok_and(|tag: RequestId| tag == *id)
}
