//! Addresses that keys and answers may come from.

use std::net::IpAddr;

use hyper::{Uri, http::uri::Scheme};

use crate::ConfigError;

/// An address that is reached over TLS, or on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address(Uri);

impl Address {
    /// Reads an absolute `https` URI, or an `http` one of this machine.
    pub(crate) fn parse(what: &'static str, text: &str) -> Result<Self, ConfigError> {
        Self::read(text).map_err(|problem| ConfigError::Address {
            what,
            address: text.to_owned(),
            problem,
        })
    }

    fn read(text: &str) -> Result<Self, &'static str> {
        let uri: Uri = text.parse().map_err(|_| "it is no URI")?;
        if text.contains('#') {
            return Err("it has a fragment");
        }
        let authority = uri.authority().ok_or("it is not absolute")?;
        if authority.as_str().contains('@') || authority.host().is_empty() {
            return Err("it has no host, or a user");
        }
        let address = Self(uri);
        match address.0.scheme() {
            Some(scheme) if *scheme == Scheme::HTTPS => Ok(address),
            Some(scheme) if *scheme == Scheme::HTTP && address.is_here() => Ok(address),
            _ => Err("other than on this machine it has to be `https`"),
        }
    }

    /// Where that document says something else is. It must not lead from the network to services
    /// of this machine.
    pub(crate) fn points_at(&self, what: &'static str, text: &str) -> Result<Self, ConfigError> {
        let there = Self::parse(what, text)?;
        if there.is_tls() || !self.is_tls() {
            return Ok(there);
        }
        Err(ConfigError::Address {
            what,
            address: text.to_owned(),
            problem: "an `https` document points away from `https`",
        })
    }

    /// Where a redirect leads: on the same server alone.
    pub(crate) fn redirected(&self, location: &str) -> Option<Self> {
        let there = if location.starts_with('/') && !location.starts_with("//") {
            self.at(location)?
        } else {
            Self::read(location).ok()?
        };
        let same = there.0.scheme() == self.0.scheme() && there.0.authority() == self.0.authority();
        same.then_some(there)
    }

    /// Another path, with its query if it has one, on the same server.
    pub(crate) fn at(&self, path_and_query: &str) -> Option<Self> {
        let mut parts = self.0.clone().into_parts();
        parts.path_and_query = Some(path_and_query.parse().ok()?);
        Uri::from_parts(parts).ok().map(Self)
    }

    /// Its path, without a slash at the end.
    pub(crate) fn path(&self) -> &str {
        self.0.path().trim_end_matches('/')
    }

    pub(crate) fn has_query(&self) -> bool {
        self.0.query().is_some()
    }

    pub(crate) const fn uri(&self) -> &Uri {
        &self.0
    }

    pub(crate) fn is_tls(&self) -> bool {
        self.0.scheme() == Some(&Scheme::HTTPS)
    }

    fn is_here(&self) -> bool {
        let host = self.0.host().unwrap_or_default();
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let is_loopback = bare.parse::<IpAddr>().is_ok_and(|it| it.is_loopback());
        host.eq_ignore_ascii_case("localhost") || is_loopback
    }
}

#[cfg(test)]
mod tests {
    use super::Address;

    #[test]
    fn only_tls_or_this_machine() {
        for good in [
            "https://login.example.com",
            "https://login.example.com:8443/a?b",
            "http://127.0.0.1:3000/x",
            "http://[::1]:1",
            "http://LOCALHOST/x",
        ] {
            Address::parse("it", good).unwrap();
        }
        for (bad, word) in [
            ("", "URI"),
            ("login.example.com", "https"),
            ("/keys", "absolute"),
            ("https://", "URI"),
            ("https://user@h/", "user"),
            ("https://h/#f", "fragment"),
            ("http://login.example.com", "https"),
            ("http://127.0.0.1.evil.example", "https"),
            ("http://localhost.evil.example", "https"),
            ("ftp://127.0.0.1/", "https"),
            ("file:///etc/passwd", "URI"),
        ] {
            let error = Address::parse("it", bad).unwrap_err().to_string();
            assert!(error.contains(word), "{bad}: {error}");
        }
    }

    #[test]
    fn a_redirect_stays_on_its_server() {
        let from = Address::parse("it", "https://h:8443/a").unwrap();
        let there = |location| Some(from.redirected(location)?.uri().to_string());
        assert_eq!(there("/b?c").as_deref(), Some("https://h:8443/b?c"));
        assert_eq!(
            there("https://h:8443/b").as_deref(),
            Some("https://h:8443/b")
        );
        for elsewhere in [
            "//evil/b",
            "https://evil/b",
            "https://h/b",
            "http://h:8443/b",
            "b",
            "",
        ] {
            assert_eq!(there(elsewhere), None, "{elsewhere}");
        }
    }

    #[test]
    fn a_document_from_the_network_does_not_point_at_this_machine() {
        let network = Address::parse("it", "https://h").unwrap();
        let here = Address::parse("it", "http://127.0.0.1:1").unwrap();
        network.points_at("keys", "https://other/keys").unwrap();
        network
            .points_at("keys", "http://127.0.0.1/keys")
            .unwrap_err();
        here.points_at("keys", "http://127.0.0.1:2/keys").unwrap();
        here.points_at("keys", "https://h/keys").unwrap();
    }
}
