//! `subscriptions/listen`: a request that stays open and hears of changes.
//!
//! Source: `basic/patterns/subscriptions` of 2026-07-28.

use std::{
    collections::VecDeque,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use mcp_codec::{Notice, Revision, ServerResult, adapter_set};
use mcp_types::{
    CancelledNotificationParams, MetaObject, RequestId, ServerNotification, SubscriptionFilter,
    SubscriptionsAcknowledgedNotificationParams, SubscriptionsListenResult, meta_keys,
};

use super::Wanted;
use crate::{
    Connection, HubError, Start, Subscription, answer::Step, backplane::Backplane,
    catalog::Catalog, closing::Closed, exchange::CallState, gauges::OpenStream,
};

/// An open subscription.
pub(crate) struct Listening {
    revision: Revision,
    id: RequestId,
    catalog: Arc<Catalog>,
    wanted: Wanted,
    tag: Bytes,
    changes: Box<dyn Subscription>,
    ready: VecDeque<Step>,
    closed: Closed,
    /// The end of the connection, where there is one.
    disconnected: Option<Closed>,
    call: Arc<CallState>,
    connection: Option<Arc<Connection>>,
    done: bool,
    _open: OpenStream,
}

/// What a subscription is made of.
pub(crate) struct Listener {
    pub(crate) revision: Revision,
    pub(crate) id: RequestId,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) wanted: Wanted,
    pub(crate) granted: SubscriptionFilter,
    pub(crate) call: Arc<CallState>,
    pub(crate) connection: Option<Arc<Connection>>,
    pub(crate) open: OpenStream,
}

impl Listening {
    /// Subscribes, and has the acknowledgement ready: nothing that changes in between is missed.
    pub(crate) async fn begin(backplane: &Backplane, listener: Listener) -> Result<Self, HubError> {
        let changes = backplane.changes(Start::Now).await?;
        let Listener {
            revision,
            id,
            catalog,
            wanted,
            granted,
            call,
            connection,
            open,
        } = listener;
        let mut params = SubscriptionsAcknowledgedNotificationParams::new(granted);
        params.meta = Some(meta(&id));
        let acknowledged = ServerNotification::SubscriptionsAcknowledged(params);
        let acknowledged = revision.notify(&acknowledged);
        if let Some(connection) = &connection {
            connection.begin(id.clone(), &call);
        }
        Ok(Self {
            tag: revision.subscription_tag(&id).unwrap_or_default(),
            ready: acknowledged.map(Step::Notification).into_iter().collect(),
            closed: backplane.closing.closed(),
            disconnected: connection.as_ref().map(|it| it.closed()),
            done: false,
            _open: open,
            revision,
            id,
            catalog,
            wanted,
            changes,
            call,
            connection,
        })
    }

    pub(crate) fn poll_step(&mut self, context: &mut Context<'_>) -> Poll<Option<Step>> {
        loop {
            if self.call.is_cancelled() {
                return Poll::Ready(None);
            }
            if let Some(step) = self.ready.pop_front() {
                return Poll::Ready(Some(step));
            }
            if self.done {
                return Poll::Ready(None);
            }
            let disconnected = self.disconnected.as_mut();
            let disconnected = disconnected.is_some_and(|it| it.poll(context).is_ready());
            if disconnected || self.closed.poll(context).is_ready() {
                self.finish();
                continue;
            }
            self.call.outbox.register(context.waker());
            match self.changes.poll_next(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(delivery)) => {
                    let notice = Notice::read(delivery.message);
                    if let Some(notice) = notice.filter(|it| self.wanted.wants(it.change())) {
                        let message = notice.tagged(&self.tag);
                        return Poll::Ready(Some(Step::Notification(message)));
                    }
                }
                Poll::Ready(Err(error)) => {
                    tracing::warn!(%error, "a subscription was cut off: its reader is too slow");
                    self.finish();
                }
            }
        }
    }

    /// The server ends the subscription: the result, and before it, where messages of several
    /// requests share a stream, that it is cancelled.
    fn finish(&mut self) {
        if self.connection.is_some() {
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
        if let Some(connection) = &self.connection {
            connection.end(&self.id);
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
