//! A call's stream taken up again by the client, on whichever worker.

use std::{
    sync::Arc,
    task::{Context, Poll},
};

use super::{Event, StreamId, Watch, journal::Entry};
use crate::{
    Failure, FailureKind, HubError, Position, Registry, Start, Subscription,
    backplane::Backplane,
    busy::Occupied,
    gauges::OpenStream,
    session::{Control, HeldSession},
};

/// What a stream has sent behind a place, and what is still to come of it.
pub(crate) struct Replay {
    registry: Registry,
    session: Arc<HeldSession>,
    stream: StreamId,
    writer: u64,
    entries: Box<dyn Subscription>,
    control: Watch,
    ended: bool,
    _occupied: Occupied,
    _open: OpenStream,
}

impl Replay {
    /// Takes up a stream behind a place; whoever wrote it until now stops.
    pub(crate) async fn begin(
        registry: Registry,
        session: Arc<HeldSession>,
        (stream, after): (StreamId, Position),
        open: OpenStream,
    ) -> Result<Self, Failure> {
        let backplane = registry.backplane();
        let topic = Backplane::stream_topic(&session.id, stream);
        let subscribed = backplane.hub.subscribe(&topic, Start::After(after)).await;
        let entries = subscribed.map_err(|error| unavailable(&error))?;
        let writer = rand::random();
        let taken = Control::Taken(stream, writer);
        backplane.tell(&session.id, &taken).await;
        let control = Watch::begin(registry.clone(), Arc::clone(&session)).await;
        Ok(Self {
            control: control.map_err(|error| unavailable(&error))?,
            stream,
            writer,
            entries,
            ended: false,
            _occupied: backplane.busy.enter(session.key()),
            _open: open,
            registry,
            session,
        })
    }

    pub(crate) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Event>> {
        while !self.ended {
            if let Poll::Ready(control) = self.control.poll(context) {
                self.ended = match control {
                    Control::Ended => true,
                    Control::Taken(stream, writer) => {
                        stream == self.stream && writer != self.writer
                    }
                    Control::Cancelled(_) | Control::Answered(..) | Control::Watched => false,
                };
                continue;
            }
            let delivery = match self.entries.poll_next(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(delivery)) => delivery,
                Poll::Ready(Err(error)) => {
                    tracing::warn!(%error, "a replayed stream was cut off");
                    self.ended = true;
                    continue;
                }
            };
            let Some(entry) = Entry::read(&delivery.message) else {
                continue;
            };
            self.ended = matches!(entry, Entry::Reply(_) | Entry::Paused(_));
            let ids = &self.registry.backplane().event_ids;
            let id = ids.seal(&self.session.id, self.stream, delivery.position);
            let retry = self.registry.config().streams.retry;
            if let Some(event) = entry.event(id, retry) {
                return Poll::Ready(Some(event));
            }
        }
        Poll::Ready(None)
    }
}

/// What was to be replayed is kept no more; waiting for it would be in vain.
fn unavailable(error: &HubError) -> Failure {
    tracing::info!(%error, "a stream cannot be replayed");
    let message = "the stream of this event id can no longer be replayed";
    Failure::new(FailureKind::InvalidRequest, message)
}
