//! One subscriber of a topic.

use std::{
    sync::Arc,
    task::{Context, Poll},
};

use super::{shared::Shared, topic::Topic, waiting::Ticket};
use crate::{Delivery, HubError, Position, Subscription, memory::shards::lock};

/// A place in a topic.
pub(super) struct MemorySubscription {
    hub: Arc<Shared>,
    topic: Arc<Topic>,
    cursor: Position,
    ticket: Option<Ticket>,
}

impl MemorySubscription {
    /// For one that the topic has counted already.
    pub(super) fn new(hub: Arc<Shared>, topic: Arc<Topic>, cursor: Position) -> Self {
        Self {
            hub,
            topic,
            cursor,
            ticket: None,
        }
    }
}

impl Subscription for MemorySubscription {
    fn position(&self) -> Position {
        self.cursor
    }

    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Result<Delivery, HubError>> {
        let mut state = self.hub.lock(&self.topic);
        match state.after(self.cursor).map(|mut rest| rest.next()) {
            Err(trimmed) => return Poll::Ready(Err(trimmed)),
            Ok(Some(delivery)) => {
                self.cursor = delivery.position;
                return Poll::Ready(Ok(delivery));
            }
            Ok(None) if state.is_deleted() => return Poll::Ready(Err(HubError::Deleted)),
            Ok(None) => {}
        }
        let outdated = state.waiting.enter(&mut self.ticket, context.waker());
        drop(state);
        drop(outdated);
        Poll::Pending
    }
}

impl Drop for MemorySubscription {
    fn drop(&mut self) {
        let mut state = lock(&self.topic.state);
        state.subscribers -= 1;
        let waker = state.waiting.leave(self.ticket.take());
        drop(state);
        drop(waker);
    }
}
