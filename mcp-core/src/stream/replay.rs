//! A call's stream taken up again by the client, on whichever worker.

use std::{
    sync::Arc,
    task::{Context, Poll},
};

use super::{Event, Place, StreamId, Watch, journal::Entry};
use crate::{
    Failure, FailureKind, HubError, Registry, Start, Subscription,
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
    /// Whether its own beginning was heard: what others began before it, it takes over.
    begun: bool,
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
        Place {
            stream, position, ..
        }: Place,
        open: OpenStream,
    ) -> Result<Self, Failure> {
        let backplane = registry.backplane();
        let topic = session.stream_topic(stream);
        let subscribed = backplane
            .hub
            .subscribe(&topic, Start::After(position))
            .await;
        let entries = subscribed.map_err(|error| unavailable(&error))?;
        let claim = Watch::claim(&registry, &session, stream).await?;
        Ok(Self {
            control: claim.watch,
            stream,
            writer: claim.writer,
            begun: false,
            entries,
            ended: false,
            _occupied: backplane.busy.enter(claim.session.key()),
            _open: open,
            session: claim.session,
            registry,
        })
    }

    fn hear(&mut self, control: Option<&Control>) {
        match control {
            // Where something was missed, the client comes back.
            None | Some(Control::Ended) => self.ended = true,
            Some(Control::Taken(stream, writer)) if *stream == self.stream => {
                self.ended = self.begun && *writer != self.writer;
                self.begun |= *writer == self.writer;
            }
            Some(_) => {}
        }
    }

    pub(crate) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Event>> {
        while !self.ended {
            if let Poll::Ready(control) = self.control.poll(context) {
                self.hear(control.as_ref());
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
            let place = Place {
                stream: self.stream,
                position: delivery.position,
                last: matches!(entry, Entry::Reply(_)),
            };
            let id = ids.seal(&self.session.id, place);
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
