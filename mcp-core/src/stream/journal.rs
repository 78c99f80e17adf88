//! What one call's stream has sent, kept in the hub so that it can be taken up again.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::{BufMut, Bytes, BytesMut};
use mcp_codec::Resumption;
use tokio::time::Sleep;

use super::{Event, Place, StreamId};
use crate::{HubError, Key, Position, Registry, session::HeldSession};

type Publishing = Pin<Box<dyn Future<Output = Result<Position, HubError>> + Send>>;

/// Publishes each event of a stream before it is sent, and gives it its id.
pub(crate) struct Journal {
    registry: Registry,
    session: Arc<HeldSession>,
    pub(crate) stream: StreamId,
    /// Tells this writer of the stream from one that replays it.
    pub(crate) writer: u64,
    topic: Key,
    primed: bool,
    publishing: Option<(Publishing, Entry)>,
    heartbeat: Pin<Box<Sleep>>,
}

/// What stands at one place of the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Entry {
    /// The stream has begun: nothing for the client.
    Begun,
    /// The stream has begun, and the client is told the place.
    Primed,
    /// A message that is not the last one.
    Message(Bytes),
    /// The reply.
    Reply(Bytes),
    /// The stream is to end here, and its client to come back after a while.
    Paused(Duration),
}

impl Entry {
    pub(crate) fn write(&self) -> Bytes {
        let mut out = BytesMut::new();
        match self {
            Self::Begun | Self::Primed => out.put_u8(b'.'),
            Self::Message(message) => {
                out.put_u8(b'm');
                out.put_slice(message);
            }
            Self::Reply(message) => {
                out.put_u8(b'r');
                out.put_slice(message);
            }
            Self::Paused(after) => {
                out.put_u8(b'p');
                out.put_u64(u64::try_from(after.as_millis()).unwrap_or(u64::MAX));
            }
        }
        out.freeze()
    }

    /// Reads what [`Entry::write`] wrote; `None` where it is nothing of the kind.
    pub(crate) fn read(bytes: &Bytes) -> Option<Self> {
        let (tag, rest) = bytes.split_first()?;
        let content = bytes.slice_ref(rest);
        match tag {
            b'.' => Some(Self::Begun),
            b'm' => Some(Self::Message(content)),
            b'r' => Some(Self::Reply(content)),
            b'p' => {
                let after = u64::from_be_bytes(rest.try_into().ok()?);
                Some(Self::Paused(Duration::from_millis(after)))
            }
            _ => None,
        }
    }

    /// The event of an entry, where the client is to see one.
    pub(crate) fn event(self, id: Option<String>, retry: Duration) -> Option<Event> {
        match self {
            Self::Begun => None,
            // Nothing can be taken up behind an event without an id.
            Self::Primed if id.is_none() => None,
            Self::Primed => Some(Event::message(Bytes::new()).id(id).retry(retry)),
            Self::Message(message) | Self::Reply(message) => Some(Event::message(message).id(id)),
            Self::Paused(after) => Some(Event::message(Bytes::new()).id(id).retry(after)),
        }
    }
}

impl Journal {
    pub(crate) fn new(
        registry: Registry,
        session: Arc<HeldSession>,
        resumption: Resumption,
    ) -> Option<Self> {
        if resumption == Resumption::Never {
            return None;
        }
        let stream = StreamId::random();
        let topic = session.stream_topic(stream);
        let heartbeat = Box::pin(tokio::time::sleep(registry.config().streams.keep / 2));
        let mut journal = Self {
            registry,
            session,
            stream,
            writer: rand::random(),
            topic,
            primed: resumption == Resumption::Primed,
            publishing: None,
            heartbeat,
        };
        journal.publish(if journal.primed {
            Entry::Primed
        } else {
            Entry::Begun
        });
        Some(journal)
    }

    /// Whether the stream may end before the reply.
    pub(crate) fn may_pause(&self) -> bool {
        self.primed
    }

    /// Publishes an entry; nothing else may be under way.
    pub(crate) fn publish(&mut self, entry: Entry) {
        let (registry, topic) = (self.registry.clone(), self.topic.clone());
        let keep = registry.config().streams.keep;
        let message = entry.write();
        let publishing = async move {
            registry
                .backplane()
                .hub
                .publish(&topic, message, keep)
                .await
        };
        self.publishing = Some((Box::pin(publishing), entry));
    }

    /// Finishes what is under way; then gives its event, if it has one.
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Event>> {
        let Some((publishing, _)) = &mut self.publishing else {
            return Poll::Ready(None);
        };
        let published = match publishing.as_mut().poll(context) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(published) => published,
        };
        let Some((_, entry)) = self.publishing.take() else {
            return Poll::Ready(None);
        };
        let id = match published {
            Ok(position) => {
                let ids = &self.registry.backplane().event_ids;
                let place = Place {
                    stream: self.stream,
                    position,
                    last: matches!(entry, Entry::Reply(_)),
                };
                ids.seal(&self.session.id, place)
            }
            Err(error) => {
                tracing::warn!(%error, "an event cannot be replayed");
                None
            }
        };
        Poll::Ready(entry.event(id, self.registry.config().streams.retry))
    }

    /// Keeps what the call has said, for as long as it is at work.
    pub(crate) fn poll_heartbeat(&mut self, context: &mut Context<'_>) {
        while self.heartbeat.as_mut().poll(context).is_ready() {
            let (registry, topic) = (self.registry.clone(), self.topic.clone());
            let keep = registry.config().streams.keep;
            let next = tokio::time::Instant::now() + keep / 2;
            self.heartbeat.as_mut().reset(next);
            self.registry.backplane().do_soon(async move {
                if let Err(error) = registry.backplane().hub.touch(&topic, keep).await {
                    tracing::warn!(%error, "what a silent call has said may not be kept");
                }
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back() {
        for entry in [
            Entry::Begun,
            Entry::Message(Bytes::from_static(b"{}")),
            Entry::Reply(Bytes::from_static(b"")),
            Entry::Paused(Duration::from_millis(1500)),
        ] {
            assert_eq!(Entry::read(&entry.write()), Some(entry));
        }
        assert_eq!(Entry::read(&Entry::Primed.write()), Some(Entry::Begun));
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..40)) {
            let _ = Entry::read(&Bytes::from(bytes));
        }
    }
}
