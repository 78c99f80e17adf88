//! A message on its way in, with what its transport knows of it.

use std::sync::Arc;

use bytes::Bytes;
use mcp_codec::Headers;

use crate::{Connection, Principal};

/// One message as it arrived, with what its transport knows.
#[non_exhaustive]
pub struct Incoming<'a> {
    /// The message, or a batch of them.
    pub body: Bytes,
    /// The HTTP headers, where there are any.
    pub headers: Option<&'a dyn Headers>,
    /// The connection it came on, where messages belong together.
    pub connection: Option<&'a Arc<Connection>>,
    /// Who it is from, where somebody has verified that.
    pub principal: Option<&'a Arc<Principal>>,
    /// The namespace (tenant) of everything that belongs to the request, where the application
    /// sets it; otherwise it follows from the principal.
    pub namespace: Option<&'a str>,
    /// What tells strangers apart, for what each of them may do: an address.
    pub source: Option<&'a str>,
    /// The one revision that the endpoint's address names.
    pub pinned: Option<&'a str>,
    /// Whether the client takes notifications before the reply.
    pub streams: bool,
    /// Whether its sender is the owner of this process, to whom nothing has to be permitted.
    pub(crate) local: bool,
}

impl<'a> Incoming<'a> {
    /// A message that came alone.
    #[must_use]
    pub fn new(body: Bytes) -> Self {
        Self {
            body,
            headers: None,
            connection: None,
            principal: None,
            namespace: None,
            source: None,
            pinned: None,
            streams: true,
            local: false,
        }
    }

    /// Its HTTP headers.
    #[must_use]
    pub fn headers(mut self, headers: &'a dyn Headers) -> Self {
        self.headers = Some(headers);
        self
    }

    /// It came from whoever has started this process, as over its pipes: no scopes are needed.
    ///
    /// # Security
    ///
    /// Not for what comes over a network, or from a socket that others can reach.
    #[must_use]
    pub fn local(mut self) -> Self {
        self.local = true;
        self
    }

    /// The connection it came on.
    #[must_use]
    pub fn connection(mut self, connection: &'a Arc<Connection>) -> Self {
        self.connection = Some(connection);
        self
    }

    /// Who it is from, as somebody has verified.
    #[must_use]
    pub fn principal(mut self, principal: Option<&'a Arc<Principal>>) -> Self {
        self.principal = principal;
        self
    }

    /// The namespace of everything that belongs to the request.
    #[must_use]
    pub fn namespace(mut self, namespace: Option<&'a str>) -> Self {
        self.namespace = namespace;
        self
    }

    /// What tells strangers apart.
    #[must_use]
    pub fn source(mut self, source: Option<&'a str>) -> Self {
        self.source = source;
        self
    }

    /// The one revision that the endpoint's address names.
    #[must_use]
    pub fn pinned(mut self, version: Option<&'a str>) -> Self {
        self.pinned = version;
        self
    }

    /// Whether the client takes notifications before the reply.
    #[must_use]
    pub fn streams(mut self, streams: bool) -> Self {
        self.streams = streams;
        self
    }
}

impl std::fmt::Debug for Incoming<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut formatter = formatter.debug_struct("Incoming");
        formatter
            .field("body", &self.body.len())
            .finish_non_exhaustive()
    }
}
