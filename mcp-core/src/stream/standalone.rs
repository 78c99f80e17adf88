//! The stream that a session's client opens to hear what it did not ask for.
//!
//! Source: `basic/transports` of 2025-03-26 to 2025-11-25, "Listening for Messages from the
//! Server"; of 2024-11-05, "HTTP with SSE".

use std::{
    collections::VecDeque,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use mcp_codec::{Failure, Notice, Resumption};

use super::{Changes, Event, Heard, Place, StreamId, Wanted, Watch, hub_failure};
use crate::{
    HubError, Position, Registry, Start, Subscription,
    busy::Occupied,
    closing::Closed,
    gauges::OpenStream,
    session::{Control, HeldSession},
};

type Refreshing = Pin<Box<dyn Future<Output = Result<HeldSession, Failure>> + Send>>;

/// Changes that a session hears of, and, on HTTP+SSE, everything else that it is sent.
pub(crate) struct Standalone {
    registry: Registry,
    session: Arc<HeldSession>,
    /// Whether events have ids.
    resumption: Resumption,
    writer: u64,
    /// Whether its own beginning was heard: what others began before it, it takes over.
    begun: bool,
    wanted: Wanted,
    changes: Changes,
    control: Watch,
    /// What an HTTP+SSE connection is sent besides.
    outbox: Option<Box<dyn Subscription>>,
    refreshing: Option<Refreshing>,
    ready: VecDeque<Event>,
    closed: Closed,
    ended: bool,
    _occupied: Occupied,
    _open: OpenStream,
}

impl Standalone {
    /// Opens the stream; the one that the session had until now ends.
    ///
    /// `after` is the place behind which a stream of before is taken up.
    pub(crate) async fn begin(
        registry: Registry,
        session: Arc<HeldSession>,
        after: Option<Position>,
        open: OpenStream,
    ) -> Result<Self, Failure> {
        let backplane = registry.backplane();
        // Whoever had the stream hears of its end before a change that it would deliver as well.
        let claim = Watch::claim(&registry, &session, StreamId::STANDALONE).await?;
        let session = claim.session;
        let (changes, missed) = changes_after(&registry, &session, after).await?;
        let resumption = session.record.revision.map(|it| it.resumption());
        let mut stream = Self {
            resumption: resumption.unwrap_or(Resumption::Never),
            writer: claim.writer,
            begun: false,
            wanted: wanted(&session),
            changes,
            control: claim.watch,
            outbox: None,
            refreshing: None,
            ready: VecDeque::new(),
            closed: backplane.closing.closed_for(&session.caller),
            ended: false,
            _occupied: backplane.busy.enter(session.key()),
            _open: open,
            registry,
            session,
        };
        stream.prime();
        if missed {
            stream.tell_all();
        }
        Ok(stream)
    }

    /// Sends what is published to the session's outbox as well, after an event of its own.
    ///
    /// Such a connection outlives the credentials that it was opened with: its client cannot take
    /// it up with others, and shows those with every message that it posts.
    pub(crate) fn with_outbox(mut self, outbox: Box<dyn Subscription>, first: Event) -> Self {
        self.closed = self.registry.backplane().closing.closed();
        self.outbox = Some(outbox);
        self.ready.push_front(first);
        self
    }

    /// Tells the client where the stream begins, so that it can be taken up from there.
    fn prime(&mut self) {
        if self.resumption == Resumption::Primed {
            let id = self.changes.position().and_then(|it| self.id(it));
            let retry = self.registry.config().streams.retry;
            self.ready
                .push_back(Event::message(Bytes::new()).id(id).retry(retry));
        }
    }

    /// What was missed is unknown, so that anything may have changed.
    fn tell_all(&mut self) {
        let everything = self.wanted.everything();
        let events = everything.map(|it| Event::message(Notice::new(it).message()));
        self.ready.extend(events);
    }

    fn id(&self, position: Position) -> Option<String> {
        if self.resumption == Resumption::Never {
            return None;
        }
        let ids = &self.registry.backplane().event_ids;
        ids.seal(
            &self.session.id,
            Place {
                stream: StreamId::STANDALONE,
                position,
                last: false,
            },
        )
    }

    pub(crate) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Event>> {
        loop {
            while let Poll::Ready(control) = self.control.poll(context) {
                match control {
                    Some(control) => self.hear(&control),
                    // Whether the stream is still its own is unknown: the client comes back.
                    None => self.ended = true,
                }
            }
            if self.ended || self.closed.poll(context).is_ready() {
                return Poll::Ready(None);
            }
            if self.poll_refreshing(context).is_pending() {
                return Poll::Pending;
            }
            if let Some(event) = self.ready.pop_front() {
                return Poll::Ready(Some(event));
            }
            if let Some(message) = self.poll_outbox(context) {
                return Poll::Ready(Some(Event::message(message)));
            }
            match ready!(self.changes.poll(context)) {
                Heard::Change(notice, position) if self.wanted.wants(notice.change()) => {
                    let event = Event::message(notice.message());
                    return Poll::Ready(Some(event.id(self.id(position))));
                }
                Heard::Change(..) => {}
                Heard::Missed => self.tell_all(),
                Heard::TooSlow => self.ended = true,
            }
        }
    }

    fn hear(&mut self, control: &Control) {
        match control {
            Control::Ended => self.ended = true,
            Control::Taken(stream, writer) if *stream == StreamId::STANDALONE => {
                self.ended |= self.begun && *writer != self.writer;
                self.begun |= *writer == self.writer;
            }
            Control::Watched => {
                let (registry, session) = (self.registry.clone(), Arc::clone(&self.session));
                self.refreshing = Some(Box::pin(async move {
                    registry.find_session(&session.id, &session.caller).await
                }));
            }
            Control::Taken(..) | Control::Cancelled(_) | Control::Answered(..) => {}
        }
    }

    /// Reads again what the session watches, where that has changed.
    fn poll_refreshing(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let Some(refreshing) = &mut self.refreshing else {
            return Poll::Ready(());
        };
        match refreshing.as_mut().poll(context) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(Ok(session)) => self.wanted = wanted(&session),
            Poll::Ready(Err(failure)) => {
                tracing::info!(reason = %failure.message, "a stream has lost its session");
                self.ended = true;
            }
        }
        self.refreshing = None;
        Poll::Ready(())
    }

    fn poll_outbox(&mut self, context: &mut Context<'_>) -> Option<Bytes> {
        match self.outbox.as_mut()?.poll_next(context) {
            Poll::Pending => None,
            Poll::Ready(Ok(delivery)) => Some(delivery.message),
            Poll::Ready(Err(error)) => {
                tracing::warn!(%error, "a stream was cut off: its reader is too slow");
                self.ended = true;
                None
            }
        }
    }
}

impl Drop for Standalone {
    /// A connection of HTTP+SSE ends with its stream.
    fn drop(&mut self) {
        if self.outbox.is_none() {
            return;
        }
        let (registry, session) = (self.registry.clone(), Arc::clone(&self.session));
        self.registry.backplane().do_soon(async move {
            if let Err(failure) = registry.end_session(&session).await {
                tracing::warn!(reason = %failure.message, "a connection could not be ended");
            }
        });
    }
}

/// What changes behind that place, or from now on; and whether some of it was missed.
async fn changes_after(
    registry: &Registry,
    session: &HeldSession,
    after: Option<Position>,
) -> Result<(Changes, bool), Failure> {
    let start = after.map_or(Start::Now, Start::After);
    let namespace: Box<str> = session.caller.namespace().into();
    let mut changes = Changes::begin(registry.clone(), namespace.clone(), start).await;
    let missed = matches!(changes, Err(HubError::Trimmed));
    if missed {
        changes = Changes::begin(registry.clone(), namespace, Start::Now).await;
    }
    let changes = changes.map_err(|error| hub_failure(&error))?;
    Ok((changes, missed))
}

fn wanted(session: &HeldSession) -> Wanted {
    if !session.record.initialized {
        return Wanted::default();
    }
    let mut wanted = Wanted::lists();
    let watched = session.record.watched.iter();
    let watched = watched.filter_map(|uri| std::str::from_utf8(uri).ok());
    wanted.watched = watched.map(Into::into).collect();
    wanted
}
