//! What a connection with a handshake hears without asking.

use std::{
    collections::VecDeque,
    fmt,
    future::poll_fn,
    sync::Arc,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use mcp_codec::Notice;

use super::{Changes, Heard};
use crate::{Connection, Registry};

/// The changes that a connection with a handshake hears of, once it is ready for them.
pub struct Unasked {
    connection: Arc<Connection>,
    changes: Changes,
    ready: VecDeque<Bytes>,
}

impl Unasked {
    pub(crate) fn new(registry: Registry, connection: Arc<Connection>) -> Self {
        Self {
            connection,
            changes: Changes::new(registry),
            ready: VecDeque::new(),
        }
    }

    /// The next notification, to be written as it is.
    ///
    /// # Cancel safety
    ///
    /// Safe: nothing is lost when it is dropped.
    pub async fn next(&mut self) -> Bytes {
        poll_fn(|context| self.poll_next(context)).await
    }

    /// As [`Unasked::next`], for a transport that polls.
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Bytes> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Poll::Ready(message);
            }
            let heard = ready!(self.changes.poll(context));
            let Some(wanted) = self.connection.wanted() else {
                continue;
            };
            match heard {
                Heard::Change(notice, _) if wanted.wants(notice.change()) => {
                    return Poll::Ready(notice.message());
                }
                Heard::Change(..) => {}
                // The one connection there is cannot be cut off; nothing is lost by telling all.
                Heard::Missed | Heard::TooSlow => {
                    let everything = wanted.everything();
                    let everything = everything.map(|change| Notice::new(change).message());
                    self.ready.extend(everything);
                }
            }
        }
    }
}

impl fmt::Debug for Unasked {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Unasked").finish_non_exhaustive()
    }
}
