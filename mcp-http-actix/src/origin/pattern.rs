//! Hosts and origins as the application names them.

use std::net::IpAddr;

use super::authority::{Authority, Host, Origin, default_port, port_of, scheme_of, split};

/// The hosts that one entry names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HostPattern {
    name: Name,
    port: Port,
}

/// The origins that one entry names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OriginPattern {
    scheme: String,
    host: HostPattern,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Name {
    Exact(String),
    /// Every name of one more label.
    Below(String),
    Address(IpAddr),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Port {
    Any,
    Only(Option<u16>),
}

impl HostPattern {
    /// An entry of [`Endpoint::allow_host`](crate::Endpoint::allow_host), which says what it takes.
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        if text.contains("://") {
            return Err("a host has no scheme; `Endpoint::public_url` takes a whole address");
        }
        if text == "*" {
            return Err("every host is `Endpoint::trust_any_host`");
        }
        Self::with_port(text, Port::Any)
    }

    fn with_port(text: &str, port: Port) -> Result<Self, &'static str> {
        let (host, written) = split(text)?;
        Ok(Self {
            name: Name::parse(host)?,
            port: match written {
                None => port,
                Some("*") => Port::Any,
                Some(digits) => Port::Only(Some(port_of(digits)?)),
            },
        })
    }

    /// A `Host` without a port is one of the default ports, and which of them only its scheme says.
    pub(super) fn matches(&self, seen: Authority<'_>) -> bool {
        let port = match (self.port, seen.port) {
            (Port::Any, _) | (Port::Only(Some(80 | 443)), None) => true,
            (Port::Only(port), seen) => port == seen,
        };
        port && self.names(seen.host)
    }

    /// Whether a host is meant, whatever its port.
    pub(super) fn names(&self, host: Host<'_>) -> bool {
        match (&self.name, host) {
            (Name::Exact(name), host) => Host::Name(name).is(host),
            (Name::Address(address), host) => Host::Address(*address).is(host),
            (Name::Below(parent), Host::Name(name)) => name
                .split_once('.')
                .is_some_and(|(_, rest)| rest.eq_ignore_ascii_case(parent)),
            (Name::Below(_), Host::Address(_)) => false,
        }
    }

    pub(super) fn is_loopback(&self) -> bool {
        match &self.name {
            Name::Exact(name) | Name::Below(name) => Host::Name(name).is_loopback(),
            Name::Address(address) => Host::Address(*address).is_loopback(),
        }
    }
}

impl OriginPattern {
    /// An entry of [`Endpoint::allow_origin`](crate::Endpoint::allow_origin), which says what it
    /// takes.
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        match text {
            "*" => return Err("every origin is `Endpoint::trust_any_origin`"),
            "null" => {
                return Err(
                    "any page can make its origin `null`: to serve it is to serve everybody, \
                     which is `Endpoint::trust_any_origin`",
                );
            }
            _ => {}
        }
        let (scheme, host) = scheme_of(text)?;
        // As it is copied from a browser's address bar.
        Self::new(scheme, host.strip_suffix('/').unwrap_or(host))
    }

    /// The origin of a web address, whose path does not count.
    pub(super) fn of_url(text: &str) -> Result<Self, &'static str> {
        let (scheme, rest) = scheme_of(text)?;
        if default_port(scheme).is_none() {
            return Err("the address is neither `https` nor `http`");
        }
        if rest.contains(['*', '#']) {
            return Err("the address of an endpoint has neither wildcard nor fragment");
        }
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        Self::new(scheme, rest.split_at_checked(end).map_or(rest, |it| it.0))
    }

    fn new(scheme: &str, host: &str) -> Result<Self, &'static str> {
        Ok(Self {
            scheme: scheme.to_ascii_lowercase(),
            host: HostPattern::with_port(host, Port::Only(default_port(scheme)))?,
        })
    }

    pub(super) fn matches(&self, seen: Origin<'_>) -> bool {
        let port = match self.host.port {
            Port::Any => true,
            Port::Only(port) => port == seen.port(),
        };
        port && self.scheme.eq_ignore_ascii_case(seen.scheme) && self.names(seen.authority.host)
    }

    /// Whether a host is meant, whatever its scheme and port.
    pub(super) fn names(&self, host: Host<'_>) -> bool {
        self.host.names(host)
    }

    pub(super) fn is_loopback(&self) -> bool {
        self.host.is_loopback()
    }
}

impl Name {
    fn parse(text: &str) -> Result<Self, &'static str> {
        let (wildcard, rest) = match text.strip_prefix("*.") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        if rest.contains('*') {
            return Err("a wildcard is the whole first label, as in `*.example.com`");
        }
        match (Host::parse(rest)?, wildcard) {
            (Host::Address(_), true) => Err("there is nothing below an address"),
            (Host::Address(address), false) => Ok(Self::Address(address)),
            (Host::Name(name), false) => Ok(Self::Exact(name.to_owned())),
            (host @ Host::Name(name), true) if name.contains('.') || host.is_loopback() => {
                Ok(Self::Below(name.to_owned()))
            }
            (Host::Name(_), true) => Err("that is a whole top-level domain"),
        }
    }
}
