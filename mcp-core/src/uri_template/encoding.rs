//! The normal form in which URIs and literals are compared, and the one decoding.
//!
//! In it an escaped octet is *one* character, so that a literal can neither be found inside an
//! escape nor confuse `%2F` with `/`: octet `n` is U+E000 + n, from the private use area. A plain
//! character outside ASCII is brought to its escaped octets first, so none is mistaken for one.

use super::RefusalReason;

/// Brings a URI, or a template's literal, to normal form (RFC 3986 section 6.2.2).
///
/// Escaped unreserved characters become plain, all other escaped octets and all octets of
/// characters outside ASCII become one marker character each, a malformed `%` becomes
/// [`MALFORMED`], which no literal contains.
pub(super) fn normalize(text: &str) -> String {
    let mut normal = String::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let mut ahead = bytes.clone();
            match (ahead.next().and_then(hex), ahead.next().and_then(hex)) {
                (Some(high), Some(low)) => {
                    normal.push(escaped(high << 4 | low));
                    bytes = ahead;
                }
                _ => normal.push(MALFORMED),
            }
        } else if byte.is_ascii() {
            normal.push(char::from(byte));
        } else {
            normal.push(marker(byte));
        }
    }
    normal
}

/// Lower-cases the scheme of a normalized URI (RFC 3986 section 6.2.2.1).
pub(super) fn lower_scheme(normal: &mut str) {
    if let Some(end) = scheme_end(normal)
        && let Some(scheme) = normal.get_mut(..end)
    {
        scheme.make_ascii_lowercase();
    }
}

/// Decodes a piece of a normalized URI, exactly once.
pub(super) fn decode(normal: &str) -> Result<String, RefusalReason> {
    let mut bytes = Vec::with_capacity(normal.len());
    for character in normal.chars() {
        if character == MALFORMED {
            return Err(RefusalReason::MalformedEscape);
        }
        // Markers and ASCII alike keep their octet in the low eight bits.
        bytes.push((u32::from(character) & 0xFF) as u8);
    }
    String::from_utf8(bytes).map_err(|_| RefusalReason::InvalidUtf8)
}

/// `ALPHA / DIGIT / "-" / "." / "_" / "~"` (RFC 3986 section 2.3).
pub(super) fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

fn escaped(octet: u8) -> char {
    if is_unreserved(octet) {
        char::from(octet)
    } else {
        marker(octet)
    }
}

fn marker(octet: u8) -> char {
    char::from_u32(MARKERS + u32::from(octet)).unwrap_or(MALFORMED)
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit)
        .to_digit(16)
        .and_then(|it| u8::try_from(it).ok())
}

/// `ALPHA *( ALPHA / DIGIT / "+" / "-" / "." ) ":"` (RFC 3986 section 3.1).
fn scheme_end(text: &str) -> Option<usize> {
    let end = text.find(':')?;
    let scheme = text.get(..end)?;
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    (scheme.starts_with(|it: char| it.is_ascii_alphabetic()) && scheme.bytes().all(inner))
        .then_some(end)
}

/// Where the characters that stand for escaped octets start. A multiple of 256.
const MARKERS: u32 = 0xE000;

/// A `%` that starts no escape.
pub(super) const MALFORMED: char = '\u{F000}';
