//! The form of an answer: JSON in one piece, or a stream of events.

use std::{
    future::poll_fn,
    task::{Context, Poll},
};

use actix_web::{
    HttpResponse,
    http::{
        StatusCode,
        header::{
            ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER,
            WWW_AUTHENTICATE,
        },
    },
};
use bytes::Bytes;
use futures_util::future::LocalBoxFuture;
use mcp_core::{Begun, EventStream, Reply};

use crate::{
    Endpoint,
    headers::SESSION_ID,
    negotiate::Accepted,
    sse::{Events, Pending},
};

/// How a response begins.
pub(crate) enum Begins<'a> {
    /// It is there already.
    Whole(HttpResponse),
    /// Something has to be waited for, or it is a stream.
    Later(LocalBoxFuture<'a, HttpResponse>),
}

impl Endpoint {
    /// The response to a GET that opens a stream.
    pub(crate) async fn opened(&self, opened: Result<EventStream, Reply>) -> HttpResponse {
        match opened {
            Ok(stream) => self.stream(Events::new(stream)).await,
            Err(reply) => whole(reply),
        }
    }

    /// JSON where the first message is the reply, a stream otherwise.
    pub(crate) fn begin<'a>(
        &'a self,
        mut answer: Pending,
        accepted: Accepted,
        context: &mut Context<'_>,
    ) -> Begins<'a> {
        let begun = match answer.poll_begin(context, accepted.json) {
            Poll::Ready(Begun::Reply(reply)) => return Begins::Whole(whole(reply)),
            Poll::Ready(begun) => Some(begun),
            Poll::Pending => None,
        };
        Begins::Later(Box::pin(self.respond(begun, answer, accepted)))
    }

    async fn respond(
        &self,
        begun: Option<Begun>,
        mut answer: Pending,
        accepted: Accepted,
    ) -> HttpResponse {
        let begun = match begun {
            Some(begun) => begun,
            None => match self.wait(&mut answer, accepted).await {
                Some(begun) => begun,
                None => {
                    let Some(stream) = answer.into_events() else {
                        return HttpResponse::Accepted().finish();
                    };
                    let mut events = Events::new(stream);
                    events.push_comment();
                    return self.stream(events).await;
                }
            },
        };
        match begun {
            Begun::Nothing => HttpResponse::Accepted().finish(),
            Begun::Reply(reply) => whole(reply),
            Begun::Stream(stream) => {
                let session = stream.session().map(str::to_owned);
                let mut response = self.stream(Events::new(stream)).await;
                name_session(&mut response, session.as_deref());
                response
            }
        }
    }

    /// How the answer begins, or nothing where its handler is silent and a stream can be opened.
    async fn wait(&self, answer: &mut Pending, accepted: Accepted) -> Option<Begun> {
        let begun = poll_fn(|context| answer.poll_begin(context, accepted.json));
        if accepted.events {
            tokio::time::timeout(self.keep_alive, begun).await.ok()
        } else {
            Some(begun.await)
        }
    }

    async fn stream(&self, mut events: Events) -> HttpResponse {
        poll_fn(|context| {
            events.collect(context);
            Poll::Ready(())
        })
        .await;
        let mut response = HttpResponse::Ok();
        response.insert_header((CONTENT_TYPE, HeaderValue::from_static("text/event-stream")));
        response.insert_header((CACHE_CONTROL, HeaderValue::from_static("no-store")));
        response.insert_header((ACCEL_BUFFERING, HeaderValue::from_static("no")));
        match events.complete() {
            Some(body) => response.body(body),
            None => response.body(events.stream(self.keep_alive)),
        }
    }
}

/// A reply in one piece.
pub(crate) fn whole(reply: Reply) -> HttpResponse {
    let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = HttpResponse::build(status);
    for challenge in &reply.challenges {
        if let Ok(challenge) = HeaderValue::from_str(challenge) {
            response.append_header((WWW_AUTHENTICATE, challenge));
        }
    }
    if let Some(seconds) = reply.retry_after {
        response.insert_header((RETRY_AFTER, seconds));
    }
    if status == StatusCode::METHOD_NOT_ALLOWED {
        response.insert_header((ALLOW, HeaderValue::from_static("POST, GET, DELETE")));
    }
    let mut response = match reply.body {
        Some(body) => {
            response.insert_header((CONTENT_TYPE, HeaderValue::from_static("application/json")));
            response.body::<Bytes>(body)
        }
        None => response.finish(),
    };
    name_session(&mut response, reply.session.as_deref());
    response
}

/// Tells the client the session that its request has opened.
fn name_session(response: &mut HttpResponse, session: Option<&str>) {
    if let Some(id) = session.and_then(|id| HeaderValue::from_str(id).ok()) {
        response.headers_mut().insert(SESSION_ID, id);
    }
}

const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");
