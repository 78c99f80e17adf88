//! Refusing requests by the host they are for and the page they are from.

use std::borrow::Cow;

use actix_web::{
    dev::RequestHead,
    http::header::{HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN},
};
use mcp_core::{Failure, FailureKind};

use super::forwarded;
use crate::Endpoint;

impl Endpoint {
    /// Whether a request is for a host and from a page that are served.
    pub(crate) fn judge_source(&self, head: &RequestHead) -> Result<(), Failure> {
        let host = self.judge_host(head)?;
        let Some(origin) = only(head.headers(), &ORIGIN)? else {
            return Ok(());
        };
        if self.allowed.serves_origin(origin, host.as_deref()) {
            return Ok(());
        }
        Err(refused(
            "Origin",
            origin,
            "if it is trusted, use `Endpoint::allow_origin`",
        ))
    }

    /// Whether a request is for a host that is served, and for which.
    ///
    /// One that names no host comes from no browser.
    pub(crate) fn judge_host<'a>(
        &self,
        head: &'a RequestHead,
    ) -> Result<Option<Cow<'a, str>>, Failure> {
        let setting = "if this host is yours, use `Endpoint::allow_host`";
        if self.allowed.forwarded {
            let forwarded = forwarded::hosts(head.headers()).map_err(|it| unclear(&it))?;
            let foreign = |host: &&Cow<'_, str>| !self.allowed.serves_host(host);
            if let Some(host) = forwarded.iter().find(foreign) {
                return Err(refused("forwarded host", host, setting));
            }
            if let Some(host) = forwarded.into_iter().next() {
                return Ok(Some(host));
            }
        }
        // HTTP/2, and HTTP/1.1 where a target is a whole address, name the host in the target
        // (RFC 9113 section 8.3.1, RFC 9112 section 3.2.2).
        let target = head.uri.authority().map(|it| it.as_str());
        let header = only(head.headers(), &HOST)?;
        for host in [target, header].into_iter().flatten() {
            if !self.allowed.serves_host(host) {
                return Err(refused("Host", host, setting));
            }
        }
        Ok(target.or(header).map(Cow::Borrowed))
    }
}

/// A header that decides who is served: two of it, or other than text, and nobody can tell.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, Failure> {
    let mut values = headers.get_all(name);
    match (values.next().map(HeaderValue::to_str), values.next()) {
        (None, _) => Ok(None),
        (Some(Ok(value)), None) => Ok(Some(value)),
        _ => Err(unclear(name)),
    }
}

fn unclear(name: &HeaderName) -> Failure {
    tracing::warn!(header = name.as_str(), "refused: sent twice, or unreadable");
    let message = format!("the header {name} is there twice, or cannot be read");
    Failure::new(FailureKind::Forbidden, message)
}

fn refused(what: &str, seen: &str, setting: &str) -> Failure {
    let seen = shortened(seen);
    tracing::warn!("refused: the {what} {seen:?} is not served; {setting}");
    let message = format!("the {what} {seen:?} is not served; {setting}");
    Failure::new(FailureKind::Forbidden, message)
}

/// As much of it as tells somebody what to look for.
fn shortened(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", text.split_at(end).0).into(),
        None => text.into(),
    }
}

/// How many letters of a hostile header are repeated.
const LONGEST: usize = 100;
