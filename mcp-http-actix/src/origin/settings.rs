//! What an application says of hosts and origins.

use std::fmt;

use mcp_core::auth::Metadata;

use super::pattern::{HostPattern, OriginPattern};
use crate::Endpoint;

/// A host, an origin or an address that an application named, and that is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidEntry {
    setting: &'static str,
    entry: String,
    problem: &'static str,
}

impl fmt::Display for InvalidEntry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            setting,
            entry,
            problem,
        } = self;
        write!(formatter, "`Endpoint::{setting}` got {entry:?}: {problem}")
    }
}

impl std::error::Error for InvalidEntry {}

impl Endpoint {
    /// Serves requests for that host as well.
    ///
    /// | Entry | Serves |
    /// |---|---|
    /// | `mcp.example.com` | that name, at any port |
    /// | `mcp.example.com:8443` | that port alone; 80 and 443 also where `Host` names none |
    /// | `*.example.com` | every name of exactly one label more: `a.example.com`, neither `example.com` nor `a.b.example.com` |
    /// | `192.0.2.7`, `[2001:db8::7]:8443` | that address, however it is written |
    ///
    /// Names are compared whole and without regard to case. Loopback names are always served.
    ///
    /// # Errors
    ///
    /// The entry is no host, or one that would open more than it says: `*`, `*.com`.
    pub fn allow_host(mut self, host: &str) -> Result<Self, InvalidEntry> {
        let entry = checked("allow_host", host, HostPattern::parse)?;
        self.allowed.hosts.push(entry);
        Ok(self)
    }

    /// Serves requests of pages of that origin, which may read the answers (see
    /// [`Endpoint::without_cors`]).
    ///
    /// | Entry | Serves |
    /// |---|---|
    /// | `https://app.example.com` | that origin, which `https://app.example.com:443` is as well |
    /// | `http://localhost:6274` | that port alone |
    /// | `http://localhost:*` | every port |
    /// | `https://*.example.com` | hosts of exactly one label more |
    /// | `chrome-extension://abcdef` | a browser extension, or a page of another scheme |
    ///
    /// Pages of the very host that they ask are served without; and, while nothing but loopback is
    /// served, so are pages of this machine.
    ///
    /// # Errors
    ///
    /// The entry is no origin, or one that would open more than it says: `*`, `null`.
    pub fn allow_origin(mut self, origin: &str) -> Result<Self, InvalidEntry> {
        let entry = checked("allow_origin", origin, OriginPattern::parse)?;
        self.allowed.origins.push(entry);
        Ok(self)
    }

    /// Says where clients find the endpoint, `https://mcp.example.com/mcp`, which a server behind a
    /// proxy that ends TLS cannot know.
    ///
    /// Requests for its host are served, at any port, and so are pages of its origin. Pages of that
    /// host with another scheme or port are not. An [`Endpoint::authorization`] that describes a
    /// resource says the same of that resource's address.
    ///
    /// # Errors
    ///
    /// It is no `https` or `http` address.
    pub fn public_url(mut self, url: &str) -> Result<Self, InvalidEntry> {
        let entry = checked("public_url", url, OriginPattern::of_url)?;
        self.allowed.public = Some(entry);
        Ok(self)
    }

    /// Takes `Forwarded` (RFC 7239) and `X-Forwarded-Host` for the host that a client asked for, in
    /// place of `Host`.
    ///
    /// Where several hosts were forwarded, each has to be one that is served. Without any, `Host`
    /// counts.
    ///
    /// # Security
    ///
    /// For servers that are reached through a proxy alone, which sets or removes both headers.
    /// Scheme and port are never taken from a request: [`Endpoint::public_url`] says them.
    #[must_use]
    pub fn trust_forwarded_host(mut self) -> Self {
        self.allowed.forwarded = true;
        self
    }

    /// Serves requests for any host.
    ///
    /// # Security
    ///
    /// For servers behind a proxy that checks `Host` itself; otherwise any web page can reach the
    /// server through its visitors' browsers.
    #[must_use]
    pub fn trust_any_host(mut self) -> Self {
        self.allowed.any_host = true;
        self
    }

    /// Serves requests of pages of any origin, `null` too.
    ///
    /// # Security
    ///
    /// For public servers whose requests carry no ambient authority.
    #[must_use]
    pub fn trust_any_origin(mut self) -> Self {
        self.allowed.any_origin = true;
        self
    }

    /// Takes the address that a resource says is its own.
    pub(crate) fn learn_address(&mut self, metadata: Option<&Metadata>) {
        // The core has checked it: it is an address.
        self.allowed.resource = metadata.and_then(|it| OriginPattern::of_url(it.url()).ok());
    }
}

fn checked<T>(
    setting: &'static str,
    entry: &str,
    parse: impl Fn(&str) -> Result<T, &'static str>,
) -> Result<T, InvalidEntry> {
    parse(entry).map_err(|problem| InvalidEntry {
        setting,
        entry: entry.to_owned(),
        problem,
    })
}
