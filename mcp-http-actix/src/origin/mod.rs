//! Which `Host` and `Origin` a request may come with: the defence against DNS rebinding.
//!
//! Source: `basic/transports` of each revision, "Security Warning"; RFC 9110 section 7.2
//! (`Host`), RFC 6454 section 7 (`Origin`).

mod authority;
mod forwarded;
mod judge;
mod last;
mod pattern;
mod settings;
#[cfg(test)]
mod tests;

pub use settings::InvalidEntry;

use self::{
    authority::{Authority, Origin},
    last::Last,
    pattern::{HostPattern, OriginPattern},
};

/// The hosts and origins that are served.
#[derive(Debug, Clone, Default)]
pub(crate) struct Allowed {
    hosts: Vec<HostPattern>,
    origins: Vec<OriginPattern>,
    /// Where the endpoint itself is, as the application said.
    public: Option<OriginPattern>,
    /// Where it is, as the resource says that clients log in to.
    resource: Option<OriginPattern>,
    any_host: bool,
    any_origin: bool,
    forwarded: bool,
    /// What is named only adds to what is served, so that it stays ours.
    last: Last,
}

impl Allowed {
    /// Whether a host was named, or all of them: whoever binds an address that others reach has to.
    pub(crate) fn names_hosts(&self) -> bool {
        self.any_host || !self.hosts.is_empty() || self.own().next().is_some()
    }

    /// Whether anything but loopback is served.
    fn is_public(&self) -> bool {
        self.any_host
            || !self.hosts.iter().all(HostPattern::is_loopback)
            || !self.own().all(OriginPattern::is_loopback)
    }

    /// The origins of the endpoint itself.
    fn own(&self) -> impl Iterator<Item = &OriginPattern> {
        self.public.iter().chain(&self.resource)
    }

    /// Whether a `Host` is one of ours: loopback, or one that was named.
    ///
    /// The name is compared, whole and without regard to case; the port only where it was named.
    fn serves_host(&self, host: &str) -> bool {
        if self.any_host || self.last.is(host) {
            return true;
        }
        let served = self.is_ours(host);
        if served {
            self.last.remember(host);
        }
        served
    }

    fn is_ours(&self, host: &str) -> bool {
        let Ok(seen) = Authority::parse(host) else {
            return false;
        };
        seen.host.is_loopback()
            || self.hosts.iter().any(|it| it.matches(seen))
            // At every port, as a proxy may drop or change it.
            || self.own().any(|it| it.names(seen.host))
    }

    /// Whether an `Origin` is one of ours: one that was named, a page of this very host, or, while
    /// only loopback is served, any page of this machine.
    fn serves_origin(&self, origin: &str, host: Option<&str>) -> bool {
        if self.any_origin {
            return true;
        }
        // `null` is none either.
        let Ok(origin) = Origin::parse(origin) else {
            return false;
        };
        let mut named = self.origins.iter().chain(self.own());
        if named.any(|it| it.matches(origin)) {
            return true;
        }
        let host = host.and_then(|host| Authority::parse(host).ok());
        let same = host.is_some_and(|host| self.is_same(origin, host));
        let local = || !self.is_public() && origin.authority.host.is_loopback();
        origin.is_web() && (same || local())
    }

    /// Whether a page is of this very host. Its scheme is known where the public address is.
    fn is_same(&self, origin: Origin<'_>, host: Authority<'_>) -> bool {
        let port = Origin {
            authority: host,
            ..origin
        };
        host.host.is(origin.authority.host)
            && port.port() == origin.port()
            && !self.own().any(|it| it.names(host.host))
    }
}
