//! The way in: what is decided before anything of a request is looked at - where it comes from
//! (`origin`), its size, its form -, whose it is, and its body.

use std::rc::Rc;

use actix_web::{
    HttpRequest,
    dev::RequestHead,
    http::header::{CONTENT_LENGTH, HeaderMap},
};
use bytes::Bytes;
use mcp_core::{Failure, FailureKind, Limits, Receiving, Reply};

use crate::{
    Endpoint,
    body::Arriving,
    link::Work,
    negotiate::{self, Accepted},
    source::Source,
};

impl Endpoint {
    /// Whose a request without a body is, if it may be served.
    pub(crate) async fn admitted(&self, request: &HttpRequest) -> Result<Source, Reply> {
        self.judge_source(request.head())
            .map_err(|failure| self.dispatcher.refuse(failure))?;
        self.admit(request).await
    }

    /// Whose a request is, and its body, if it may be served.
    pub(crate) async fn received(
        &self,
        request: &HttpRequest,
        body: &mut Arriving,
        accepted: Accepted,
    ) -> Result<(Source, Bytes), Reply> {
        let refuse = |failure| self.dispatcher.refuse(failure);
        let room = self.judge(request.head(), accepted).map_err(refuse)?;
        let source = self.admit(request).await?;
        let limit = self.limits().read_timeout;
        let connection = request.conn_data::<Rc<Work>>().map(|it| &**it);
        let body = body.read(room, limit, connection).await;
        let body = body.map_err(refuse)?;
        Ok((source, body))
    }

    /// Everything that is decided before credentials are looked at.
    fn judge(&self, head: &RequestHead, accepted: Accepted) -> Result<Receiving, Failure> {
        self.judge_source(head)?;
        let headers = head.headers();
        self.judge_size(headers)?;
        if !negotiate::is_json(headers) {
            let message = "the Content-Type is application/json";
            return Err(Failure::new(FailureKind::UnsupportedMediaType, message));
        }
        if !accepted.json && !accepted.events {
            let message = "the client has to accept application/json or text/event-stream";
            return Err(Failure::new(FailureKind::NotAcceptable, message));
        }
        let length = headers
            .get(CONTENT_LENGTH)
            .and_then(|value| value.to_str().ok());
        // What is larger than any number has that many digits.
        let length = length.map(|length| length.parse::<usize>().unwrap_or(usize::MAX));
        let room = self.dispatcher.receiving();
        room.judge(length.unwrap_or_default())?;
        Ok(room)
    }

    /// Headers cost memory before anybody knows whose they are.
    fn judge_size(&self, headers: &HeaderMap) -> Result<(), Failure> {
        let sizes = headers.iter();
        let size: usize = sizes
            .map(|(name, value)| name.as_str().len() + value.len() + 4)
            .sum();
        let max = self.limits().max_headers;
        if size <= max {
            return Ok(());
        }
        let message = format!("the headers are larger than {max} bytes");
        Err(Failure::new(FailureKind::HeadersTooLarge, message))
    }

    fn limits(&self) -> &Limits {
        &self.dispatcher.registry().config().limits
    }
}
