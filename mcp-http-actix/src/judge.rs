//! What is decided before anything of a request is looked at: where it comes from (`origin`), its
//! size, its form.

use actix_web::{
    dev::RequestHead,
    http::header::{CONTENT_LENGTH, HeaderMap},
};
use bytes::Bytes;
use mcp_core::{Failure, FailureKind, Limits};

use crate::{Endpoint, body::Arriving, negotiate};

impl Endpoint {
    /// The body of a request that may be served.
    pub(crate) async fn body(&self, body: &mut Arriving) -> Result<Bytes, Failure> {
        let limit = self.limits().read_timeout;
        body.read(self.dispatcher.receiving(), limit).await
    }

    /// Everything that is decided before credentials are looked at.
    pub(crate) fn judge(
        &self,
        head: &RequestHead,
        accepted: negotiate::Accepted,
    ) -> Result<(), Failure> {
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
        length.map_or(Ok(()), |length| self.dispatcher.receiving().judge(length))
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
