//! The body of a request: read as far as it is wanted, and no further.

use std::{
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use actix_web::{
    HttpRequest, HttpResponse,
    body::{BodySize, BodyStream, BoxBody, MessageBody},
    http::header::TRANSFER_ENCODING,
    web,
};
use bytes::Bytes;
use mcp_core::{Failure, FailureKind, Receiving};

/// A body on its way in.
pub(crate) struct Arriving {
    rest: Option<BodyStream<web::Payload>>,
}

impl Arriving {
    pub(crate) fn new(payload: web::Payload) -> Self {
        Self {
            rest: Some(BodyStream::new(payload)),
        }
    }

    /// Reads all of it, if it comes in time and finds room.
    pub(crate) async fn read(
        &mut self,
        room: Receiving,
        limit: Duration,
    ) -> Result<Bytes, Failure> {
        match tokio::time::timeout(limit, self.collect(room)).await {
            Ok(read) => read,
            Err(_) => {
                let message = "the body did not arrive in time";
                Err(Failure::new(FailureKind::TooSlow, message))
            }
        }
    }

    async fn collect(&mut self, mut room: Receiving) -> Result<Bytes, Failure> {
        let mut body = Vec::new();
        while let Some(rest) = &mut self.rest {
            match poll_fn(|context| Pin::new(&mut *rest).poll_next(context)).await {
                Some(Ok(piece)) => {
                    room.grow(piece.len())?;
                    if body.capacity() - body.len() < piece.len() {
                        // By a quarter, not by as much again: the room is counted in bytes.
                        body.reserve_exact(piece.len().max(body.len() / 4));
                    }
                    body.extend_from_slice(&piece);
                }
                Some(Err(_)) => {
                    let message = "the body broke off";
                    return Err(Failure::new(FailureKind::InvalidRequest, message));
                }
                None => self.rest = None,
            }
        }
        Ok(room.hold(body.into()))
    }

    /// The response to the request. Where some of the body is not read, the connection ends with
    /// it: nobody reads on to find out where the next request would begin.
    pub(crate) fn respond(self, response: HttpResponse) -> HttpResponse {
        let Some(unread) = self.rest else {
            return response;
        };
        // actix-web reads a chunked body to its end, if there is one, as soon as nobody else has it.
        response.map_body(|_, body| Last { body, unread }.boxed())
    }

    /// The response to a request that should have no body.
    pub(crate) fn refuse(
        request: &HttpRequest,
        payload: web::Payload,
        response: HttpResponse,
    ) -> HttpResponse {
        if request.headers().contains_key(TRANSFER_ENCODING) {
            return Self::new(payload).respond(response);
        }
        response
    }
}

/// What no route takes.
pub(crate) async fn not_found(request: HttpRequest, payload: web::Payload) -> HttpResponse {
    Arriving::refuse(&request, payload, HttpResponse::NotFound().finish())
}

/// The body of a response after which the connection ends.
struct Last {
    body: BoxBody,
    #[expect(dead_code, reason = "that it is held is what counts")]
    unread: BodyStream<web::Payload>,
}

impl MessageBody for Last {
    type Error = <BoxBody as MessageBody>::Error;

    fn size(&self) -> BodySize {
        self.body.size()
    }

    fn poll_next(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Self::Error>>> {
        Pin::new(&mut self.get_mut().body).poll_next(context)
    }
}
