//! HTTP headers as a transport hands them over, and the form of mirrored values in them.
//!
//! Source: `basic/transports/streamable-http` of 2026-07-28, "Standard Request Headers" and
//! "Custom Headers from Tool Parameters".

use std::borrow::Cow;

use base64::{Engine as _, engine::general_purpose::STANDARD};

/// The protocol version of a request.
pub const PROTOCOL_VERSION: &str = "mcp-protocol-version";
/// The mirrored `method`.
pub const METHOD: &str = "mcp-method";
/// The mirrored `params.name` or `params.uri`.
pub const NAME: &str = "mcp-name";
/// What a mirrored tool parameter's header begins with.
pub const PARAM_PREFIX: &str = "mcp-param-";

/// What a request says under one header name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a header is there never, once or more often"
)]
pub enum HeaderValue<'a> {
    /// The header is absent.
    Absent,
    /// The header is there once; attacker controlled bytes.
    Once(&'a [u8]),
    /// The header is there more than once, so that it means nothing certain.
    Repeated,
}

/// The headers of one HTTP request, by name in lower case.
pub trait Headers: Sync {
    /// What the request says under `name`.
    fn value(&self, name: &str) -> HeaderValue<'_>;
}

/// A list of names and values; names are compared without regard to case.
impl Headers for [(&str, &str)] {
    fn value(&self, name: &str) -> HeaderValue<'_> {
        let mut found = self
            .iter()
            .filter(|(key, _)| key.eq_ignore_ascii_case(name));
        match (found.next(), found.next()) {
            (None, _) => HeaderValue::Absent,
            (Some((_, value)), None) => HeaderValue::Once(value.as_bytes()),
            (Some(_), Some(_)) => HeaderValue::Repeated,
        }
    }
}

/// Why a header cannot be compared with the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadHeader {
    /// The header is missing.
    #[error("is missing")]
    Missing,
    /// The header is there more than once.
    #[error("is there more than once")]
    Repeated,
    /// The value has bytes other than visible ASCII, space and tab.
    #[error("has characters outside visible ASCII")]
    Characters,
    /// The value looks encoded and is not Base64 of UTF-8.
    #[error("is not the Base64 form of UTF-8 text")]
    Base64,
}

/// A plain header: there once, visible ASCII, white space around it dropped.
///
/// # Errors
///
/// [`BadHeader`] names what is wrong.
pub fn plain<'a>(headers: &'a dyn Headers, name: &str) -> Result<&'a str, BadHeader> {
    match headers.value(name) {
        HeaderValue::Absent => Err(BadHeader::Missing),
        HeaderValue::Repeated => Err(BadHeader::Repeated),
        HeaderValue::Once(bytes) => visible(bytes),
    }
}

/// A mirrored value: as [`plain`], then out of its Base64 form if it has one.
///
/// # Errors
///
/// [`BadHeader`] names what is wrong.
pub fn mirrored<'a>(headers: &'a dyn Headers, name: &str) -> Result<Cow<'a, str>, BadHeader> {
    decode(plain(headers, name)?)
}

/// Takes a value out of `=?base64?…?=`; anything else is literal.
///
/// # Errors
///
/// [`BadHeader::Base64`] where the value has the form and no valid content: padding is required,
/// stray bits and other alphabets are not accepted.
pub fn decode(value: &str) -> Result<Cow<'_, str>, BadHeader> {
    let inner = value
        .strip_prefix("=?base64?")
        .and_then(|rest| rest.strip_suffix("?="));
    let Some(inner) = inner else {
        return Ok(Cow::Borrowed(value));
    };
    let bytes = STANDARD.decode(inner).map_err(|_| BadHeader::Base64)?;
    String::from_utf8(bytes)
        .map(Cow::Owned)
        .map_err(|_| BadHeader::Base64)
}

/// Writes a value as a client has to: as it is where that is safe, encoded otherwise.
#[must_use]
pub fn encode(value: &str) -> Cow<'_, str> {
    let safe = visible(value.as_bytes()) == Ok(value) && !value.starts_with("=?base64?");
    if safe && !value.is_empty() {
        return Cow::Borrowed(value);
    }
    Cow::Owned(format!("=?base64?{}?=", STANDARD.encode(value)))
}

fn visible(bytes: &[u8]) -> Result<&str, BadHeader> {
    let allowed = |byte: &u8| matches!(byte, b'\t' | b' '..=b'~');
    if !bytes.iter().all(allowed) {
        return Err(BadHeader::Characters);
    }
    let text = std::str::from_utf8(bytes).map_err(|_| BadHeader::Characters)?;
    Ok(text.trim_matches([' ', '\t']))
}

#[cfg(test)]
mod tests {
    use super::*;

    // req: http-2026-base64-sentinel-decoded
    // req: http-2026-base64-sentinel-exact
    // req: http-2026-base64-invalid-400
    // req: http-2026-header-ows-trimmed
    // req: http-2026-param-header-invalid-chars
    #[test]
    fn mirrored_values() {
        for (value, expected) in [
            ("Hello", Ok("Hello")),
            ("  foo \t", Ok("foo")),
            ("=?base64?SGVsbG8=?=", Ok("Hello")),
            ("=?base64?SGVsbG8?=", Err(BadHeader::Base64)),
            ("=?base64?SGVs!!!bG8=?=", Err(BadHeader::Base64)),
            ("=?base64?SGVsbG9=?=", Err(BadHeader::Base64)),
            ("=?base64?/w==?=", Err(BadHeader::Base64)),
            ("SGVsbG8=", Ok("SGVsbG8=")),
            ("=?base64?SGVsbG8=", Ok("=?base64?SGVsbG8=")),
            ("=?BASE64?SGVsbG8=?=", Ok("=?BASE64?SGVsbG8=?=")),
            ("=?base64?=", Ok("=?base64?=")),
            ("=?base64??=", Ok("")),
            ("caf\u{e9}", Err(BadHeader::Characters)),
        ] {
            let headers: &[(&str, &str)] = &[("Mcp-Name", value)];
            let found = mirrored(&headers, NAME);
            assert_eq!(found.as_deref(), expected.as_ref().copied(), "{value}");
        }
    }

    #[test]
    fn a_header_that_comes_twice_means_nothing() {
        let headers: &[(&str, &str)] = &[("Mcp-Name", "a"), ("mcp-name", "a")];
        assert_eq!(mirrored(&headers, NAME), Err(BadHeader::Repeated));
    }

    impl Headers for &[(&str, &str)] {
        fn value(&self, name: &str) -> HeaderValue<'_> {
            (**self).value(name)
        }
    }

    proptest::proptest! {
        #[test]
        fn what_is_encoded_decodes(value in ".*") {
            let encoded = encode(&value);
            proptest::prop_assert_eq!(visible(encoded.as_bytes()), Ok(&*encoded));
            proptest::prop_assert_eq!(decode(&encoded).unwrap(), &*value);
        }

        #[test]
        fn any_value_is_survived(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..60)) {
            if let Ok(text) = visible(&bytes) {
                let _ = decode(text);
            }
        }
    }
}
