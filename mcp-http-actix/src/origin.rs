//! Which `Host` and `Origin` a request may come with: the defence against DNS rebinding.
//!
//! Source: `basic/transports` of each revision, "Security Warning"; RFC 9110 section 7.2
//! (`Host`), RFC 6454 section 7 (`Origin`).

use std::net::IpAddr;

/// The hosts and origins that are served.
#[derive(Debug, Clone, Default)]
pub(crate) struct Allowed {
    hosts: Vec<Authority>,
    origins: Vec<String>,
    any_host: bool,
    any_origin: bool,
}

/// A host name, and a port if one was named.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Authority {
    name: String,
    port: Option<u16>,
}

impl Allowed {
    pub(crate) fn host(&mut self, host: &str) {
        if let Some(host) = Authority::parse(host) {
            self.hosts.push(host);
        }
    }

    pub(crate) fn origin(&mut self, origin: &str) {
        self.origins.push(normal(origin));
    }

    pub(crate) fn any_host(&mut self) {
        self.any_host = true;
    }

    pub(crate) fn any_origin(&mut self) {
        self.any_origin = true;
    }

    /// Whether anything but loopback is served.
    pub(crate) fn is_public(&self) -> bool {
        self.any_host || !self.hosts.is_empty()
    }

    /// Whether a `Host` is one of ours: loopback, or one that was named.
    ///
    /// The name is compared, whole and without regard to case; the port only where it was named.
    pub(crate) fn serves_host(&self, host: &str) -> bool {
        if self.any_host {
            return true;
        }
        let Some(host) = Authority::parse(host) else {
            return false;
        };
        let named =
            |it: &Authority| it.name == host.name && (it.port.is_none() || it.port == host.port);
        host.is_loopback() || self.hosts.iter().any(named)
    }

    /// Whether an `Origin` is one of ours: one that was named, a page of this very host, or, while
    /// only loopback is served, any page of this machine.
    pub(crate) fn serves_origin(&self, origin: &str, host: Option<&str>) -> bool {
        if self.any_origin || self.origins.contains(&normal(origin)) {
            return true;
        }
        let Some((scheme, authority)) = origin.split_once("://") else {
            return false;
        };
        if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
            return false;
        }
        if host.is_some_and(|host| host.eq_ignore_ascii_case(authority)) {
            return true;
        }
        !self.is_public() && Authority::parse(authority).is_some_and(|it| it.is_loopback())
    }
}

impl Authority {
    /// `name`, `name:port`, `[v6]` or `[v6]:port`.
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (name, port) = if let Some(rest) = text.strip_prefix('[') {
            let (name, rest) = rest.split_once(']')?;
            (
                name,
                rest.strip_prefix(':')
                    .or_else(|| rest.is_empty().then_some("")),
            )
        } else {
            match text.split_once(':') {
                Some((name, port)) => (name, Some(port)),
                None => (text, Some("")),
            }
        };
        let port = match port? {
            "" => None,
            digits => Some(digits.parse().ok()?),
        };
        let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
        (!name.is_empty()).then_some(Self { name, port })
    }

    fn is_loopback(&self) -> bool {
        self.name == "localhost"
            || self
                .name
                .parse::<IpAddr>()
                .is_ok_and(|address| address.is_loopback())
    }
}

/// An origin in one spelling: lower case, without a trailing slash.
fn normal(origin: &str) -> String {
    origin.trim().trim_end_matches('/').to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Allowed {
        let mut allowed = Allowed::default();
        allowed.host("mcp.example.com");
        allowed.host("other.example:8443");
        allowed.origin("https://app.example.com");
        allowed
    }

    #[test]
    fn a09_hosts_are_compared_as_names() {
        let allowed = example();
        for host in [
            "127.0.0.1",
            "127.0.0.1:8000",
            "LOCALHOST:8000",
            "[::1]",
            "[::1]:8000",
            "mcp.example.com",
            "MCP.example.com:443",
            "other.example:8443",
        ] {
            assert!(allowed.serves_host(host), "{host}");
        }
        for host in [
            "evil.example:8000",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "mcp.example.com.evil.example",
            "other.example",
            "other.example:80",
            "",
            "[::1",
            "[::1]x",
            "127.0.0.1:x",
            "mcp.example.com@evil.example",
        ] {
            assert!(!allowed.serves_host(host), "{host}");
        }
    }

    // req: http-origin-validated
    #[test]
    fn origins_are_exact() {
        let allowed = example();
        let host = Some("mcp.example.com");
        for origin in [
            "https://app.example.com",
            "HTTPS://APP.example.com",
            "https://mcp.example.com",
        ] {
            assert!(allowed.serves_origin(origin, host), "{origin}");
        }
        for origin in [
            "http://app.example.com",
            "https://app.example.com:8443",
            "null",
            "",
            "https://app.example.com.evil.example",
            "http://localhost:3000",
            "file://",
        ] {
            assert!(!allowed.serves_origin(origin, host), "{origin}");
        }
    }

    #[test]
    fn while_only_loopback_is_served_pages_of_this_machine_are_ours() {
        let allowed = Allowed::default();
        let host = Some("127.0.0.1:3000");
        assert!(allowed.serves_origin("http://localhost:6274", host));
        assert!(allowed.serves_origin("http://[::1]:6274", host));
        assert!(!allowed.serves_origin("http://evil.example", host));
        assert!(!allowed.serves_host("evil.example"));
        assert!(!allowed.is_public());
    }
}
