//! `_meta`: the keys the protocol reserves, and what a request carries in it, from the
//! [Overview] page of the specification.
//!
//! [Overview]: https://modelcontextprotocol.io/specification/2026-07-28/basic

use crate::capabilities::{ClientCapabilities, Implementation};
use crate::jsonrpc::RequestId;
use crate::logging::LoggingLevel;
use crate::wire::{JsonObject, setters};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The `_meta` object of a message, a result or a definition.
pub type MetaObject = JsonObject;

/// The token by which a client recognises the progress of its request: a string or an integer.
///
/// Like a [`RequestId`], an integer of any size comes back digit for digit.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProgressToken(RequestId);

impl ProgressToken {
    /// Reads the JSON text of a token; `None` for anything but a string or an integer.
    #[must_use]
    pub fn parse(raw_json: &str) -> Option<Self> {
        RequestId::parse(raw_json).map(Self)
    }

    /// Appends the token as JSON.
    pub fn write_json(&self, out: &mut Vec<u8>) {
        self.0.write_json(out);
    }
}

impl fmt::Display for ProgressToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: Into<RequestId>> From<T> for ProgressToken {
    fn from(token: T) -> Self {
        Self(token.into())
    }
}

/// What the protocol reads in the `_meta` of a request; other keys are not kept.
///
/// A legacy request carries at most `progressToken`, so every member is optional here, and the
/// revision says which it requires.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RequestMetaObject {
    /// Asks for progress notifications under this token.
    #[serde(
        rename = "progressToken",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub progress_token: Option<ProgressToken>,
    /// The protocol version the request is written in.
    #[serde(
        rename = "io.modelcontextprotocol/protocolVersion",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub protocol_version: Option<String>,
    /// Who asks.
    #[serde(
        rename = "io.modelcontextprotocol/clientInfo",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub client_info: Option<Implementation>,
    /// What the client can do, for this request only.
    #[serde(
        rename = "io.modelcontextprotocol/clientCapabilities",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub client_capabilities: Option<ClientCapabilities>,
    /// The least severe log message to send; none without it.
    #[serde(
        rename = "io.modelcontextprotocol/logLevel",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub log_level: Option<LoggingLevel>,
    /// W3C Trace Context, the position of the request in a trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<String>,
    /// W3C Trace Context, what vendors add to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracestate: Option<String>,
    /// W3C Baggage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baggage: Option<String>,
}

impl RequestMetaObject {
    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        into progress_token: ProgressToken,
        into protocol_version: String,
        value client_info: Implementation,
        value client_capabilities: ClientCapabilities,
        value log_level: LoggingLevel,
        into traceparent: String,
        into tracestate: String,
        into baggage: String,
    }
}

/// The keys the protocol reserves in `_meta`.
pub mod keys {
    /// Request: asks for progress notifications.
    pub const PROGRESS_TOKEN: &str = "progressToken";
    /// Request: the protocol version it is written in.
    pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    /// Request: who asks.
    pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
    /// Request: what the client can do.
    pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    /// Request: the least severe log message to send.
    pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
    /// Result: who answers.
    pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
    /// Notification: the listen request it belongs to.
    pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
    /// Any message of revision 2025-11-25: the task it belongs to.
    pub const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";
    /// W3C Trace Context.
    pub const TRACEPARENT: &str = "traceparent";
    /// W3C Trace Context.
    pub const TRACESTATE: &str = "tracestate";
    /// W3C Baggage.
    pub const BAGGAGE: &str = "baggage";
}

#[cfg(test)]
mod tests {
    use super::{ProgressToken, RequestMetaObject, keys};
    use crate::wire::testing::check;

    #[test]
    fn the_meta_of_a_request() {
        check::<RequestMetaObject>("{}");
        let meta = check::<RequestMetaObject>(concat!(
            r#"{"progressToken":123456789012345678901234567890,"#,
            r#""io.modelcontextprotocol/protocolVersion":"some-date","#,
            r#""io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"#,
            r#""io.modelcontextprotocol/clientCapabilities":{"roots":{}},"#,
            r#""io.modelcontextprotocol/logLevel":"info","#,
            r#""traceparent":"00-0-0-00","tracestate":"a=b","baggage":"c=d"}"#,
        ));
        let token = ProgressToken::parse("123456789012345678901234567890");
        assert_eq!(meta.progress_token, token);
    }

    #[test]
    fn the_members_have_the_reserved_keys() {
        let meta = RequestMetaObject::new()
            .progress_token("t")
            .protocol_version("some-date")
            .baggage("c=d");
        let json = serde_json::to_value(&meta).unwrap();
        assert_eq!(json[keys::PROGRESS_TOKEN], "t");
        assert_eq!(json[keys::PROTOCOL_VERSION], "some-date");
        assert_eq!(json[keys::BAGGAGE], "c=d");
        assert_eq!(json.as_object().unwrap().len(), 3);
    }
}
