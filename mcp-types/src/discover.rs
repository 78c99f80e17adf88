//! Getting to know each other: [Discovery], and the handshake of revisions up to 2025-11-25.
//!
//! [Discovery]: https://modelcontextprotocol.io/specification/2026-07-28/server/discover

use crate::capabilities::{ClientCapabilities, Implementation, ServerCapabilities};
use crate::meta::MetaObject;
use crate::result::CacheScope;
use crate::wire::setters;
use serde::{Deserialize, Serialize};

/// What a server is and can do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DiscoverResult {
    /// The protocol versions it speaks.
    pub supported_versions: Vec<String>,
    /// What it can do.
    pub capabilities: ServerCapabilities,
    /// How to use it, for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// For how long the client may take it as fresh.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl_ms: Option<u64>,
    /// Who may keep it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_scope: Option<CacheScope>,
    /// Whatever else, by reserved or prefixed key.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl DiscoverResult {
    /// The required members.
    #[must_use]
    pub fn new(
        supported_versions: impl IntoIterator<Item = impl Into<String>>,
        capabilities: ServerCapabilities,
    ) -> Self {
        Self {
            supported_versions: supported_versions.into_iter().map(Into::into).collect(),
            capabilities,
            ..Self::default()
        }
    }

    setters! {
        into instructions: String,
        value ttl_ms: u64,
        value cache_scope: CacheScope,
        value meta: MetaObject,
    }
}

/// What `initialize` carries; revisions up to 2025-11-25.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct InitializeRequestParams {
    /// The newest protocol version the client speaks.
    pub protocol_version: String,
    /// What it can do.
    #[serde(default)]
    pub capabilities: ClientCapabilities,
    /// Who it is.
    pub client_info: Implementation,
    /// Whatever else, by reserved or prefixed key.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl InitializeRequestParams {
    /// The required members.
    #[must_use]
    pub fn new(
        protocol_version: impl Into<String>,
        capabilities: ClientCapabilities,
        client_info: Implementation,
    ) -> Self {
        Self {
            protocol_version: protocol_version.into(),
            capabilities,
            client_info,
            ..Self::default()
        }
    }

    setters! {
        value meta: MetaObject,
    }
}

/// The answer to `initialize`; revisions up to 2025-11-25.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct InitializeResult {
    /// The protocol version of the session.
    pub protocol_version: String,
    /// What the server can do.
    pub capabilities: ServerCapabilities,
    /// Who it is.
    pub server_info: Implementation,
    /// How to use it, for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Whatever else, by reserved or prefixed key.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl InitializeResult {
    /// The required members.
    #[must_use]
    pub fn new(
        protocol_version: impl Into<String>,
        capabilities: ServerCapabilities,
        server_info: Implementation,
    ) -> Self {
        Self {
            protocol_version: protocol_version.into(),
            capabilities,
            server_info,
            ..Self::default()
        }
    }

    setters! {
        into instructions: String,
        value meta: MetaObject,
    }
}

#[cfg(test)]
mod tests {
    use super::{DiscoverResult, InitializeRequestParams, InitializeResult};
    use crate::wire::testing::{check, refuse};

    #[test]
    fn introductions_come_back() {
        check::<DiscoverResult>(concat!(
            r#"{"supportedVersions":["some-date"],"capabilities":{"tools":{}},"#,
            r#""instructions":"i","ttlMs":0,"cacheScope":"private","_meta":{}}"#,
        ));
        check::<InitializeRequestParams>(concat!(
            r#"{"protocolVersion":"some-date","capabilities":{"sampling":{}},"#,
            r#""clientInfo":{"name":"c","version":"1"}}"#,
        ));
        refuse::<InitializeRequestParams>(r#"{"protocolVersion":"some-date","capabilities":{}}"#);
        check::<InitializeResult>(concat!(
            r#"{"protocolVersion":"some-date","capabilities":{"tools":{}},"#,
            r#""serverInfo":{"name":"s","version":"1"},"instructions":"i"}"#,
        ));
    }
}
