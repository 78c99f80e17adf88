//! The body of a request: read as far as it is wanted, and no further.

use std::{
    future::{Future as _, poll_fn},
    pin::{Pin, pin},
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
use tokio::time::{Instant, sleep_until};

use crate::link::Work;

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
    ///
    /// The time is that of the connection, where it has one: most bodies are there after one wait,
    /// for which no timer of their own is set.
    pub(crate) async fn read(
        &mut self,
        room: Receiving,
        limit: Duration,
        connection: Option<&Work>,
    ) -> Result<Bytes, Failure> {
        let mut read = pin!(self.collect(room));
        let (mut deadline, mut timer) = (None, None);
        poll_fn(|context| {
            if let Poll::Ready(read) = read.as_mut().poll(context) {
                return Poll::Ready(read);
            }
            let deadline = *deadline.get_or_insert_with(|| Instant::now() + limit);
            let late = match connection {
                Some(connection) => connection.poll_until(deadline, context),
                None => timer
                    .get_or_insert_with(|| Box::pin(sleep_until(deadline)))
                    .as_mut()
                    .poll(context),
            };
            late.map(|()| {
                let message = "the body did not arrive in time";
                Err(Failure::new(FailureKind::TooSlow, message))
            })
        })
        .await
    }

    async fn collect(&mut self, mut room: Receiving) -> Result<Bytes, Failure> {
        let mut body = Segments::default();
        while let Some(rest) = &mut self.rest {
            match poll_fn(|context| Pin::new(&mut *rest).poll_next(context)).await {
                Some(Ok(piece)) => {
                    room.grow(piece.len())?;
                    body.push(&piece);
                }
                Some(Err(_)) => {
                    let message = "the body broke off";
                    return Err(Failure::new(FailureKind::InvalidRequest, message));
                }
                None => self.rest = None,
            }
        }
        Ok(room.hold(body.join()))
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

/// A body in parts of one size: one that grows in one piece leaves holes of every size behind,
/// which the memory of a process then consists of.
#[derive(Default)]
struct Segments {
    full: Vec<Vec<u8>>,
    last: Vec<u8>,
}

impl Segments {
    fn push(&mut self, mut piece: &[u8]) {
        if self.last.capacity() == 0 {
            self.last.reserve_exact(piece.len());
        }
        while !piece.is_empty() {
            if self.last.len() == self.last.capacity() {
                let next = Vec::with_capacity(SEGMENT);
                self.full.push(std::mem::replace(&mut self.last, next));
            }
            let free = self.last.capacity() - self.last.len();
            let (now, later) = piece.split_at(free.min(piece.len()));
            self.last.extend_from_slice(now);
            piece = later;
        }
    }

    fn join(self) -> Bytes {
        if self.full.is_empty() {
            return self.last.into();
        }
        let size = self.full.iter().map(Vec::len).sum::<usize>() + self.last.len();
        let mut body = Vec::with_capacity(size);
        // Each part is freed as soon as it is copied.
        for part in self.full.into_iter().chain([self.last]) {
            body.extend_from_slice(&part);
        }
        body.into()
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

/// The size of a part.
const SEGMENT: usize = 32 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_what_its_pieces_were() {
        for sizes in [
            &[][..],
            &[1],
            &[10, 0, 10],
            &[5, 100_000, 3],
            &[SEGMENT; 3],
            &[7; 9000],
        ] {
            let (mut body, mut whole) = (Segments::default(), Vec::new());
            for size in sizes {
                let piece: Vec<u8> = (0..*size).map(|at| (at % 251) as u8).collect();
                body.push(&piece);
                whole.extend_from_slice(&piece);
            }
            assert_eq!(body.join(), whole);
        }
    }
}
