//! The sealed payload: who minted what, when, for which request and which principal.

use rand::Rng;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::{
    binding::RequestIdentity,
    error::Reason,
    json::{Found, Literal, find},
    number,
    text::{decode, escape, transcribe},
    token::{base64url, base64url_exact},
};

/// A fresh salt for every principal claim, so that equal principals do not look equal.
pub(crate) type Salt = [u8; SALT_LEN];

/// Everything that goes into an envelope.
pub(crate) struct Envelope<'a> {
    pub(crate) identity: &'a RequestIdentity,
    pub(crate) state: &'a str,
    pub(crate) issued: f64,
    pub(crate) expires: f64,
    pub(crate) audience: Option<&'a str>,
    pub(crate) principal: Option<(&'a str, Salt)>,
}

impl Envelope<'_> {
    /// Writes the claims in the order and the spelling of the Python SDK.
    pub(crate) fn write(&self) -> Vec<u8> {
        let target = self.identity.escaped_target();
        let mut out = Vec::with_capacity(FIXED_LEN + target.len() + self.state.len());
        out.extend_from_slice(b"{\"v\":1,\"iat\":");
        number::float(&mut out, self.issued);
        out.extend_from_slice(b",\"exp\":");
        number::float(&mut out, self.expires);
        for (name, escaped) in [
            ("m", self.identity.method()),
            ("t", target),
            ("a", self.identity.args_digest()),
        ] {
            string_member(&mut out, name, |out| {
                out.extend_from_slice(escaped.as_bytes());
            });
        }
        string_member(&mut out, "s", |out| escape(out, self.state));
        if let Some(audience) = self.audience {
            string_member(&mut out, "aud", |out| escape(out, audience));
        }
        if let Some((principal, salt)) = self.principal {
            let claim = principal_claim(principal, salt);
            string_member(&mut out, "p", |out| out.extend_from_slice(claim.as_bytes()));
        }
        out.push(b'}');
        out
    }
}

fn string_member(out: &mut Vec<u8>, name: &str, value: impl FnOnce(&mut Vec<u8>)) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":\"");
    value(out);
    out.push(b'"');
}

/// The claims of an authentic payload: each a JSON value as it is written there, or absent.
///
/// Authentic does not mean well formed: another holder of the keys may have written anything.
pub(crate) struct Claims<'a> {
    issued: &'a str,
    expires: &'a str,
    state: Literal<'a>,
    method: Option<Found<'a>>,
    target: Option<Found<'a>>,
    digest: Option<Found<'a>>,
    audience: Option<Found<'a>>,
    principal: Option<Found<'a>>,
}

impl<'a> Claims<'a> {
    /// Reads the claims, of which `v`, `iat`, `exp` and `s` have to be there.
    pub(crate) fn read(payload: &'a [u8]) -> Result<Self, Reason> {
        let text = str::from_utf8(payload).map_err(|_| Reason::Malformed)?;
        let found = find(text, NAMES).map_err(|_| Reason::Malformed)?;
        let [
            version,
            issued,
            expires,
            method,
            target,
            digest,
            state,
            audience,
            principal,
        ] = found.ok_or(Reason::Malformed)?;
        let state = state.and_then(|it| it.literal);
        let (Some(version), Some(issued), Some(expires), Some(state)) =
            (version, issued, expires, state)
        else {
            return Err(Reason::Malformed);
        };
        if version.raw != "1" && seconds(version.raw) != Some(VERSION) {
            return Err(Reason::Malformed);
        }
        let present = |claim: Option<Found<'a>>| claim.filter(|it| it.raw != "null");
        let (audience, principal) = (present(audience), present(principal));
        Ok(Self {
            issued: issued.raw,
            expires: expires.raw,
            state,
            method,
            target,
            digest,
            audience,
            principal,
        })
    }

    /// Checks everything but the principal, in the order that decides the logged reason.
    ///
    /// Conditions are stated positively, so that a NaN fails every one of them. A request without
    /// an identity is never the one that state was minted for.
    pub(crate) fn check(
        &self,
        now: f64,
        identity: Option<&RequestIdentity>,
        audience: Option<&str>,
    ) -> Result<(), Reason> {
        let in_time = |claim, accept: fn(f64, f64) -> bool| {
            seconds(claim).is_some_and(|seconds| accept(seconds, now))
        };
        if !in_time(self.issued, |issued, now| issued <= now + FUTURE_SKEW) {
            return Err(Reason::MintedInTheFuture);
        }
        if !in_time(self.expires, |expires, now| now < expires) {
            return Err(Reason::Expired);
        }
        let same_request = identity.is_some_and(|identity| {
            is_string(self.method, identity.method())
                && is_string(self.target, identity.escaped_target())
                && is_string(self.digest, identity.args_digest())
        });
        if !same_request {
            return Err(Reason::RequestBinding);
        }
        let audience = audience.map(|audience| {
            let mut escaped = Vec::with_capacity(audience.len());
            escape(&mut escaped, audience);
            escaped
        });
        let same_audience = match (self.audience, &audience) {
            (None, None) => true,
            (claim, Some(escaped)) => is_literal(claim, escaped),
            (Some(_), None) => false,
        };
        if same_audience {
            Ok(())
        } else {
            Err(Reason::Audience)
        }
    }

    /// Checks that the state is bound to exactly this principal, or to none where there is none.
    pub(crate) fn check_principal(&self, principal: Option<&str>) -> Result<(), Reason> {
        match (self.principal, principal) {
            (None, None) => Ok(()),
            (Some(claim), Some(principal)) if principal_matches(claim, principal) => Ok(()),
            (Some(_), Some(_)) => Err(Reason::Principal),
            _ => Err(Reason::PrincipalDrift),
        }
    }

    /// When the state expires, once checked.
    pub(crate) fn expires(&self) -> f64 {
        seconds(self.expires).unwrap_or_default()
    }

    /// The inner state.
    ///
    /// Python can put a surrogate without its partner into it; Rust text cannot hold one.
    pub(crate) fn state(&self) -> Result<String, Reason> {
        if self.state.plain {
            return Ok(self.state.raw.to_owned());
        }
        decode(self.state.raw).ok_or(Reason::Malformed)
    }
}

/// The value of a claim that is a number.
fn seconds(claim: &str) -> Option<f64> {
    let is_number = claim.starts_with(['-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']);
    if is_number || claim == "Infinity" {
        claim.parse().ok()
    } else {
        None
    }
}

/// Whether a claim is a string that is written, canonically, as `escaped`.
fn is_string(claim: Option<Found<'_>>, escaped: &str) -> bool {
    is_literal(claim, escaped.as_bytes())
}

fn is_literal(claim: Option<Found<'_>>, escaped: &[u8]) -> bool {
    let Some(literal) = claim.and_then(|it| it.literal) else {
        return false;
    };
    if literal.plain || literal.raw.as_bytes() == escaped {
        return literal.raw.as_bytes() == escaped;
    }
    let mut canonical = Vec::with_capacity(escaped.len());
    transcribe(&mut canonical, literal.raw);
    canonical == escaped
}

/// A salt for the next principal claim.
pub(crate) fn fresh_salt() -> Salt {
    let mut salt = Salt::default();
    rand::rng().fill_bytes(&mut salt);
    salt
}

/// Salt and tag in base64url.
fn principal_claim(principal: &str, salt: Salt) -> String {
    base64url(&[&salt[..], &principal_tag(principal, salt)].concat())
}

fn principal_matches(claim: Found<'_>, principal: &str) -> bool {
    let literal = claim.literal.filter(|literal| literal.plain);
    let bytes = literal.and_then(|it| base64url_exact::<{ SALT_LEN + TAG_LEN }>(it.raw));
    let Some((salt, tag)) = bytes.as_ref().and_then(|bytes| bytes.split_first_chunk()) else {
        return false;
    };
    principal_tag(principal, *salt).ct_eq(tag).into()
}

fn principal_tag(principal: &str, salt: Salt) -> [u8; TAG_LEN] {
    let hash = Sha256::new()
        .chain_update(PRINCIPAL_LABEL)
        .chain_update(salt)
        .chain_update(principal)
        .finalize();
    let mut tag = [0; TAG_LEN];
    for (to, from) in tag.iter_mut().zip(hash) {
        *to = from;
    }
    tag
}

/// The claims' names, in the order in which they are written.
const NAMES: [&str; 9] = ["v", "iat", "exp", "m", "t", "a", "s", "aud", "p"];
const VERSION: f64 = 1.0;
/// How far ahead another worker's clock may be, in seconds.
const FUTURE_SKEW: f64 = 60.0;
const PRINCIPAL_LABEL: &[u8] = b"mcp/request-state/principal:";
const SALT_LEN: usize = 8;
const TAG_LEN: usize = 16;
/// About what an envelope has besides target and state.
const FIXED_LEN: usize = 192;
