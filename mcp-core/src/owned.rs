//! A request that waits for something to be looked up.

use bytes::Bytes;
use mcp_codec::{Envelope, Era, HeaderValue, Headers, headers};

use crate::Incoming;

/// What of a request outlives it, while something is looked up.
pub(crate) struct Owned {
    body: Bytes,
    version: Option<String>,
    pinned: Option<String>,
    streams: bool,
    local: bool,
}

impl Owned {
    pub(crate) fn of(incoming: &Incoming<'_>) -> Self {
        Self {
            body: incoming.body.clone(),
            version: version_header(incoming).map(str::to_owned),
            pinned: incoming.pinned.map(str::to_owned),
            streams: incoming.streams,
            local: incoming.local,
        }
    }

    /// Whether it is a client's introduction.
    pub(crate) fn begins(&self) -> bool {
        Envelope::parse(&self.body).is_ok_and(|it| it.method() == "initialize")
    }

    /// The same request with another body.
    pub(crate) fn with_body(mut self, body: Bytes) -> Self {
        self.body = body;
        self
    }

    /// The same request once more: its headers were judged before, and only the version that a
    /// handshake revision is told by them still counts.
    pub(crate) fn again<R>(&self, era: Era, use_it: impl FnOnce(&Incoming<'_>) -> R) -> R {
        if era == Era::Legacy {
            return self.with(use_it);
        }
        use_it(&self.incoming())
    }

    pub(crate) fn with<R>(&self, use_it: impl FnOnce(&Incoming<'_>) -> R) -> R {
        let headers = VersionHeader(self.version.as_deref());
        use_it(&self.incoming().headers(&headers))
    }

    fn incoming(&self) -> Incoming<'_> {
        let mut incoming = Incoming::new(self.body.clone())
            .pinned(self.pinned.as_deref())
            .streams(self.streams);
        incoming.local = self.local;
        incoming
    }
}

/// The only header that a handshake revision looks at.
struct VersionHeader<'a>(Option<&'a str>);

impl Headers for VersionHeader<'_> {
    fn value(&self, name: &str) -> HeaderValue<'_> {
        match self.0 {
            Some(version) if name == headers::PROTOCOL_VERSION => {
                HeaderValue::Once(version.as_bytes())
            }
            _ => HeaderValue::Absent,
        }
    }
}

pub(crate) fn version_header<'a>(incoming: &Incoming<'a>) -> Option<&'a str> {
    text(incoming.headers?, headers::PROTOCOL_VERSION)
}

pub(crate) fn text<'a>(headers: &'a dyn Headers, name: &str) -> Option<&'a str> {
    match headers.value(name) {
        HeaderValue::Once(value) => std::str::from_utf8(value).ok().map(str::trim),
        HeaderValue::Absent | HeaderValue::Repeated => None,
    }
}
