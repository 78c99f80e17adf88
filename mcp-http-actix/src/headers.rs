//! A request's headers as the codec reads them.

use actix_web::http::header::{HeaderMap, HeaderName};
use mcp_core::{HeaderValue, Headers};

pub(crate) const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
pub(crate) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
const AUTHORIZATION: HeaderName = HeaderName::from_static("authorization");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

pub(crate) struct ActixHeaders<'a>(pub(crate) &'a HeaderMap);

impl Headers for ActixHeaders<'_> {
    fn value(&self, name: &str) -> HeaderValue<'_> {
        let mut values = match name {
            "mcp-protocol-version" => self.0.get_all(PROTOCOL_VERSION),
            "mcp-session-id" => self.0.get_all(SESSION_ID),
            "mcp-method" => self.0.get_all(METHOD),
            "authorization" => self.0.get_all(AUTHORIZATION),
            "mcp-name" => self.0.get_all(NAME),
            other => self.0.get_all(other),
        };
        match (values.next(), values.next()) {
            (None, _) => HeaderValue::Absent,
            (Some(value), None) => HeaderValue::Once(value.as_bytes()),
            (Some(_), Some(_)) => HeaderValue::Repeated,
        }
    }
}
