//! The ways in that belong to a session: its messages, its stream, its end.
//!
//! Source: `basic/transports` of 2025-03-26 to 2025-11-25; of 2024-11-05, "HTTP with SSE".

use std::{fmt, future::Future, sync::Arc, time::Duration};

use bytes::Bytes;
use mcp_codec::{Era, Failure, FailureKind, HeaderValue, Reply, headers, outcome::clipped};

use crate::{
    Answer, Dispatcher, EventStream, Incoming, Message, Start,
    caller::Caller,
    dispatcher::closing,
    owned::{Owned, text, version_header},
    peer::Peer,
    session::{self, HeldSession, Record},
    stream::{Event, Replay, Standalone, StreamId, hub_failure},
};

impl Dispatcher {
    /// The session that a request names, unless it is of a revision that has none.
    pub(crate) fn named_session(
        &self,
        incoming: &Incoming<'_>,
    ) -> Result<Option<Box<str>>, Failure> {
        let Some(seen) = incoming.headers.filter(|_| self.has_sessions()) else {
            return Ok(None);
        };
        let id = match seen.value(SESSION_ID) {
            HeaderValue::Absent => return Ok(None),
            HeaderValue::Repeated => {
                let message = "Mcp-Session-Id is there more than once";
                return Err(Failure::new(FailureKind::InvalidRequest, message));
            }
            HeaderValue::Once(id) => id,
        };
        // A version that is there twice is refused with the message that it came with.
        let unclear = seen.value(headers::PROTOCOL_VERSION) == HeaderValue::Repeated;
        if unclear || self.is_modern(incoming) {
            return Ok(None);
        }
        let id = std::str::from_utf8(id).map_err(|_| session::not_found())?;
        Ok(Some(id.trim().into()))
    }

    /// Whether the address or the version header says that the request carries its own context.
    fn is_modern(&self, incoming: &Incoming<'_>) -> bool {
        let header = version_header(incoming);
        let version = incoming.pinned.or(header);
        let revision = version.and_then(|it| self.registry().config().revisions.find(it));
        revision.is_some_and(|it| it.era() == Era::Modern)
    }

    /// Whether the version that a request without a message names is spoken here.
    fn spoken(&self, incoming: &Incoming<'_>) -> Result<(), Failure> {
        let revisions = &self.registry().config().revisions;
        match version_header(incoming) {
            Some(version) if revisions.find(version).is_none() => {
                let version = clipped(version);
                Err(Failure::unsupported_version(
                    &version,
                    &revisions.versions(),
                ))
            }
            _ => Ok(()),
        }
    }

    /// Answers a message of a session, once that is found.
    pub(crate) fn answer_in_session(&self, id: Box<str>, incoming: &Incoming<'_>) -> Answer {
        let caller = self.caller(incoming);
        if let Some(session) = self.registry().session_now(&id, &caller) {
            return self.answer_peer(incoming, &Peer::Session(Arc::new(session)), &caller);
        }
        let dispatcher = self.clone();
        let owned = Owned::of(incoming);
        Answer::opening(false, async move {
            let found = dispatcher.registry().find_session(&id, &caller);
            let peer = match found.await {
                Ok(session) => Peer::Session(Arc::new(session)),
                // A client that begins anew may still name the session that it has lost.
                Err(_) if owned.begins() => Peer::Stranger,
                // However often it asks: a client begins anew only once it hears of this.
                Err(failure) => return Answer::ready(dispatcher.refuse(failure)),
            };
            owned.with(|incoming| dispatcher.answer_peer(incoming, &peer, &caller))
        })
    }

    /// Opens the stream of a session: what its client hears without asking, or the rest of a
    /// stream that broke off.
    ///
    /// # Errors
    ///
    /// The refusal to answer with where there is to be no stream.
    pub fn open_stream(
        &self,
        incoming: &Incoming<'_>,
    ) -> impl Future<Output = Result<EventStream, Reply>> + Send + use<> {
        let dispatcher = self.clone();
        let named = self.named_session(incoming);
        let spoken = self.spoken(incoming);
        let (streams, caller) = (incoming.streams, self.caller(incoming));
        let last = incoming
            .headers
            .and_then(|it| text(it, LAST_EVENT_ID))
            .map(str::to_owned);
        async move {
            let opened = async {
                let Some(id) = named? else {
                    return Err(no_stream());
                };
                spoken?;
                if !streams {
                    return Err(not_acceptable());
                }
                let session = dispatcher.registry().find_session(&id, &caller).await?;
                dispatcher.charge(&caller)?;
                dispatcher.stream_of(Arc::new(session), last).await
            };
            opened.await.map_err(|failure| dispatcher.refuse(failure))
        }
    }

    async fn stream_of(
        &self,
        session: Arc<HeldSession>,
        last: Option<String>,
    ) -> Result<EventStream, Failure> {
        if self.is_closing() {
            return Err(closing());
        }
        let registry = self.registry().clone();
        let backplane = registry.backplane();
        let limits = &registry.config().limits;
        let place = last.and_then(|id| backplane.event_ids.open(&session.id, &id));
        let stream = place.map_or(StreamId::STANDALONE, |it| it.stream);
        let open = backplane.gauges.enter(
            limits,
            Some(&session.id),
            Some(stream),
            session.caller.account(),
        )?;
        match place {
            Some(place) if place.last => Err(Failure::new(
                FailureKind::InvalidRequest,
                "nothing comes after the event that Last-Event-ID names",
            )),
            Some(place) if place.stream != StreamId::STANDALONE => {
                let replay = Replay::begin(registry.clone(), session, place, open);
                Ok(EventStream::of_replay(replay.await?))
            }
            place => {
                let after = place.map(|it| it.position);
                let stream = Standalone::begin(registry.clone(), session, after, open);
                Ok(EventStream::of_session(stream.await?))
            }
        }
    }

    /// Ends the session that a request names.
    pub fn end_session(
        &self,
        incoming: &Incoming<'_>,
    ) -> impl Future<Output = Reply> + Send + use<> {
        let dispatcher = self.clone();
        let named = self.named_session(incoming);
        let (modern, spoken) = (self.is_modern(incoming), self.spoken(incoming));
        let caller = self.caller(incoming);
        async move {
            let ended = async {
                let Some(id) = named? else {
                    return Err(if dispatcher.has_sessions() && !modern {
                        let message = "the Mcp-Session-Id header is missing";
                        Failure::new(FailureKind::SessionRequired, message)
                    } else {
                        no_stream()
                    });
                };
                spoken?;
                let session = dispatcher.registry().find_session(&id, &caller).await?;
                dispatcher.registry().end_session(&session).await
            };
            match ended.await {
                Ok(()) => Reply::bare(204),
                Err(failure) => dispatcher.refuse(failure),
            }
        }
    }

    /// Opens an HTTP+SSE connection of 2024-11-05: the first event says where to POST, as
    /// `endpoint` makes it of the connection's id.
    ///
    /// # Errors
    ///
    /// The refusal to answer with where there is to be no connection.
    pub fn open_connection(
        &self,
        incoming: &Incoming<'_>,
        endpoint: impl FnOnce(&str) -> String + Send + 'static,
    ) -> impl Future<Output = Result<EventStream, Reply>> + Send + 'static {
        let dispatcher = self.clone();
        let (streams, caller) = (incoming.streams, self.caller(incoming));
        async move {
            let opened = async {
                dispatcher.charge(&caller)?;
                if !streams {
                    return Err(not_acceptable());
                }
                dispatcher.connection(caller, endpoint).await
            };
            opened.await.map_err(|failure| dispatcher.refuse(failure))
        }
    }

    async fn connection(
        &self,
        caller: Caller,
        endpoint: impl FnOnce(&str) -> String,
    ) -> Result<EventStream, Failure> {
        if self.is_closing() {
            return Err(closing());
        }
        let registry = self.registry().clone();
        let backplane = registry.backplane();
        let open =
            backplane
                .gauges
                .enter(&registry.config().limits, None, None, caller.account())?;
        let record = Record {
            owner: Bytes::copy_from_slice(caller.owner().as_bytes()),
            ..Record::default()
        };
        // It lives as long as its stream: whether the client goes on shows there.
        let ttl = registry.config().sessions.idle;
        let id = registry.open_session(&caller, &record, ttl).await?;
        let first = Event::named("endpoint", endpoint(&id));
        let session = Arc::new(HeldSession { id, caller, record });
        let outbox = session.outbox_topic();
        let outbox = backplane.hub.subscribe(&outbox, Start::Now).await;
        let outbox = outbox.map_err(|error| hub_failure(&error))?;
        let stream = Standalone::begin(registry.clone(), session, None, open).await?;
        Ok(EventStream::of_session(stream.with_outbox(outbox, first)))
    }

    /// Takes a message of an HTTP+SSE connection: gives the status to answer with, and the work
    /// that is left, whose messages go to the connection's stream, on whichever worker that is.
    pub fn post_message(
        &self,
        incoming: &Incoming<'_>,
        connection: Option<&str>,
    ) -> impl Future<Output = (Reply, Option<Posted>)> + Send + use<> {
        let dispatcher = self.clone();
        let connection: Option<Box<str>> = connection.map(Into::into);
        let (owned, caller) = (Owned::of(incoming), self.caller(incoming));
        async move {
            let found = async {
                let id = connection.ok_or_else(|| {
                    let message = "the address lacks the connection's id: POST to the `endpoint`";
                    Failure::new(FailureKind::SessionRequired, message)
                })?;
                dispatcher.registry().find_session(&id, &caller).await
            };
            match found.await {
                Err(failure) => (dispatcher.refuse(failure), None),
                Ok(session) => {
                    let peer = Peer::Session(Arc::new(session));
                    let mut answer =
                        owned.with(|incoming| dispatcher.answer_peer(incoming, &peer, &caller));
                    match answer.take_denial() {
                        Some(reply) => (reply, None),
                        None => (Reply::bare(202), Posted::new(dispatcher, &peer, answer)),
                    }
                }
            }
        }
    }
}

/// A message of an HTTP+SSE connection that is still at work.
#[must_use = "nothing is answered before it runs"]
pub struct Posted {
    dispatcher: Dispatcher,
    session: Arc<HeldSession>,
    answer: Answer,
}

impl Posted {
    fn new(dispatcher: Dispatcher, peer: &Peer, answer: Answer) -> Option<Self> {
        let session = Arc::clone(peer.session()?);
        Some(Self {
            dispatcher,
            session,
            answer,
        })
    }

    /// Runs the call, and sends what it says to the connection's stream.
    pub async fn run(mut self) {
        let backplane = self.dispatcher.registry().backplane();
        let topic = self.session.outbox_topic();
        while let Some(message) = self.answer.next().await {
            let body = match message {
                Message::Notification(body) => Some(body),
                Message::Reply(reply) => reply.body,
            };
            let Some(body) = body else { continue };
            if let Err(error) = backplane.hub.publish(&topic, body, OUTBOX_KEEP).await {
                tracing::error!(%error, "a message of a connection was lost");
            }
        }
    }
}

impl fmt::Debug for Posted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Posted").finish_non_exhaustive()
    }
}

fn no_stream() -> Failure {
    let message = "without a session this endpoint takes POST";
    Failure::new(FailureKind::MethodNotAllowed, message)
}

fn not_acceptable() -> Failure {
    Failure::new(
        FailureKind::NotAcceptable,
        "the client has to accept text/event-stream",
    )
}

const SESSION_ID: &str = "mcp-session-id";
const LAST_EVENT_ID: &str = "last-event-id";
/// What a connection's stream is sent is for who reads already.
const OUTBOX_KEEP: Duration = Duration::from_secs(60);
