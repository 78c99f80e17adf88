//! What is decided before anything of a request is looked at: where it comes from (`origin`), its
//! size, its form.

use actix_web::{
    dev::RequestHead,
    http::header::{CONTENT_LENGTH, HeaderMap},
    web,
};
use bytes::Bytes;
use mcp_core::{Failure, FailureKind, Limits};

use crate::{Endpoint, negotiate};

impl Endpoint {
    /// The body of a request that may be served.
    pub(crate) async fn body(&self, body: web::Payload) -> Result<Bytes, Failure> {
        let limits = self.limits();
        let reading = body.to_bytes_limited(limits.max_body);
        let refused = |kind, message| Err(Failure::new(kind, message));
        match tokio::time::timeout(limits.read_timeout, reading).await {
            Ok(Ok(Ok(body))) => Ok(body),
            Ok(Ok(Err(_))) => refused(FailureKind::InvalidRequest, "the body broke off"),
            Ok(Err(_)) => Err(self.too_large()),
            Err(_) => refused(FailureKind::TooSlow, "the body did not arrive in time"),
        }
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
        let length = length.and_then(|length| length.parse::<usize>().ok());
        if length.is_some_and(|length| length > self.limits().max_body) {
            return Err(self.too_large());
        }
        Ok(())
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

    fn too_large(&self) -> Failure {
        let message = format!("the body is larger than {} bytes", self.limits().max_body);
        Failure::new(FailureKind::TooLarge, message)
    }
}
