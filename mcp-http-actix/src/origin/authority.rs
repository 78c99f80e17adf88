//! Hosts and origins as requests name them.
//!
//! Source: RFC 3986 section 3.2, RFC 6454 section 6.1, RFC 1035 section 2.3.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A host, and the port where one is named.
#[derive(Debug, Clone, Copy)]
pub(super) struct Authority<'a> {
    pub(super) host: Host<'a>,
    pub(super) port: Option<u16>,
}

/// A host without its port.
#[derive(Debug, Clone, Copy)]
pub(super) enum Host<'a> {
    /// A name, without the dot that may end it.
    Name(&'a str),
    Address(IpAddr),
}

/// Where a page is from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Origin<'a> {
    pub(super) scheme: &'a str,
    pub(super) authority: Authority<'a>,
}

impl<'a> Authority<'a> {
    /// `name`, `name:port`, `[v6]` or `[v6]:port`; otherwise what is wrong with it.
    pub(super) fn parse(text: &'a str) -> Result<Self, &'static str> {
        let (host, port) = split(text)?;
        Ok(Self {
            host: Host::parse(host)?,
            port: port.map(port_of).transpose()?,
        })
    }
}

impl<'a> Host<'a> {
    pub(super) fn parse(text: &'a str) -> Result<Self, &'static str> {
        if let Some(address) = text.strip_prefix('[') {
            let address = address.strip_suffix(']').ok_or(NO_BRACKET)?;
            let address = address.parse::<Ipv6Addr>();
            return Ok(Self::Address(address.map_err(|_| NO_V6)?.into()));
        }
        let name = text.strip_suffix('.').unwrap_or(text);
        let labels = || name.split('.');
        if name.is_empty() || labels().any(str::is_empty) {
            return Err("a name, or a part of it, is empty");
        }
        let sound = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if !name.is_ascii() {
            return Err("a name is written in ASCII, an international one as `xn--…`");
        }
        if !labels().all(|label| label.bytes().all(sound)) {
            return Err("a name has letters, digits, hyphens and dots only");
        }
        if name.len() > 253 || labels().any(|label| label.len() > 63) {
            return Err("no name is that long");
        }
        // A browser takes a name that ends in a number for an address.
        let last = labels().next_back().unwrap_or_default();
        if last.bytes().all(|byte| byte.is_ascii_digit()) {
            let address = name.parse::<Ipv4Addr>();
            return Ok(Self::Address(
                address.map_err(|_| "no IPv4 address")?.into(),
            ));
        }
        Ok(Self::Name(name))
    }

    pub(super) fn is(self, other: Host<'_>) -> bool {
        match (self, other) {
            (Self::Name(one), Host::Name(other)) => one.eq_ignore_ascii_case(other),
            (Self::Address(one), Host::Address(other)) => one == other,
            _ => false,
        }
    }

    pub(super) fn is_loopback(self) -> bool {
        match self {
            Self::Name(name) => name.eq_ignore_ascii_case("localhost"),
            Self::Address(address) => address.to_canonical().is_loopback(),
        }
    }
}

impl<'a> Origin<'a> {
    /// `scheme://host` or `scheme://host:port`; otherwise what is wrong with it.
    pub(super) fn parse(text: &'a str) -> Result<Self, &'static str> {
        let (scheme, authority) = scheme_of(text)?;
        Ok(Self {
            scheme,
            authority: Authority::parse(authority)?,
        })
    }

    /// The port that it means, if its scheme has one.
    pub(super) fn port(self) -> Option<u16> {
        self.authority.port.or_else(|| default_port(self.scheme))
    }

    /// Whether a page of this origin came over HTTP.
    pub(super) fn is_web(self) -> bool {
        default_port(self.scheme).is_some()
    }
}

/// A scheme, and what follows its `://`.
pub(super) fn scheme_of(text: &str) -> Result<(&str, &str), &'static str> {
    let (scheme, rest) = text
        .split_once("://")
        .ok_or("an origin starts with its scheme, as in `https://app.example.com`")?;
    let sound = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    if !scheme.starts_with(|first: char| first.is_ascii_alphabetic()) || !scheme.bytes().all(sound)
    {
        return Err("that is no scheme");
    }
    Ok((scheme, rest))
}

/// The port that a URL means which names none (RFC 9110 section 4.2).
pub(super) fn default_port(scheme: &str) -> Option<u16> {
    if scheme.eq_ignore_ascii_case("https") {
        Some(443)
    } else if scheme.eq_ignore_ascii_case("http") {
        Some(80)
    } else {
        None
    }
}

/// A host, brackets and all, and the text of its port.
pub(super) fn split(text: &str) -> Result<(&str, Option<&str>), &'static str> {
    if text.contains(['/', '?', '#', '@']) {
        return Err("a host has no path, no query and no user");
    }
    let end = if text.starts_with('[') {
        text.find(']').ok_or(NO_BRACKET)? + 1
    } else if text.parse::<Ipv6Addr>().is_ok() {
        return Err("an IPv6 address stands in brackets, as in `[::1]`");
    } else {
        text.find(':').unwrap_or(text.len())
    };
    match text.split_at_checked(end) {
        Some((host, "")) => Ok((host, None)),
        Some((host, rest)) => {
            let port = rest.strip_prefix(':');
            Ok((host, Some(port.ok_or("after the bracket comes a port")?)))
        }
        None => Err(NO_BRACKET),
    }
}

pub(super) fn port_of(text: &str) -> Result<u16, &'static str> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        Ok(port @ 1..) if digits => Ok(port),
        _ => Err("a port is a number from 1 to 65535"),
    }
}

const NO_BRACKET: &str = "a bracket is not closed";
const NO_V6: &str = "between brackets stands an IPv6 address";
