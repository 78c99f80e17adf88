//! JSON string literals: finding plain runs, escaping as Python does, decoding, ordering.

use std::cmp::Ordering;

/// The length of the leading run of bytes that Python writes as they are: 0x20 to 0x7E without
/// the quote and the backslash.
pub(crate) fn plain_run(bytes: &[u8]) -> usize {
    let mut run = 0;
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        let special = special_bytes(u64::from_le_bytes(*word));
        if special != 0 {
            return run + special.trailing_zeros() as usize / 8;
        }
        run += 8;
    }
    run + rest.iter().take_while(|byte| is_plain(**byte)).count()
}

/// Marks, by its top bit, the first byte of the word that is not plain; later marks may be wrong.
const fn special_bytes(word: u64) -> u64 {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const TOPS: u64 = ONES << 7;
    const fn zero_bytes(word: u64) -> u64 {
        word.wrapping_sub(ONES) & !word
    }
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    let quote = zero_bytes(word ^ (ONES * b'"' as u64));
    let backslash = zero_bytes(word ^ (ONES * b'\\' as u64));
    let delete = zero_bytes(word ^ (ONES * 0x7f));
    (control | quote | backslash | delete | word) & TOPS
}

const fn is_plain(byte: u8) -> bool {
    matches!(byte, 0x20..=0x7e) && byte != b'"' && byte != b'\\'
}

/// Appends the inside of the literal that Python's `json.dumps` writes for `text`.
pub(crate) fn escape(out: &mut Vec<u8>, text: &str) {
    let mut rest = text;
    loop {
        rest = take_plain(out, rest);
        if rest.is_empty() {
            return;
        }
        rest = escape_run(out, rest);
    }
}

/// Appends the inside of a literal, given the inside of another spelling of it.
///
/// `raw` has been scanned, so every backslash starts a whole escape. Works on UTF-16 units, so a
/// surrogate without its partner survives as it does in Python.
pub(crate) fn transcribe(out: &mut Vec<u8>, raw: &str) {
    let mut rest = raw;
    loop {
        rest = take_plain(out, rest);
        if let Some((unit, tail)) = take_escape(rest) {
            escape_unit(out, unit);
            rest = tail;
            continue;
        }
        if rest.is_empty() {
            return;
        }
        rest = escape_run(out, rest);
    }
}

/// The text of a scanned literal, or `None` where it holds a surrogate without its partner.
pub(crate) fn decode(raw: &str) -> Option<String> {
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    loop {
        let mut at = plain_run(rest.as_bytes());
        if rest.as_bytes().get(at).is_some_and(|byte| *byte != b'\\') {
            at = rest.find('\\').unwrap_or(rest.len());
        }
        let (plain, tail) = rest.split_at_checked(at)?;
        text.push_str(plain);
        if tail.is_empty() {
            return Some(text);
        }
        let (unit, tail) = take_escape(tail)?;
        if let Some(one) = char::from_u32(unit.into()) {
            text.push(one);
            rest = tail;
        } else {
            let (low, tail) = take_escape(tail)?;
            text.push(char::decode_utf16([unit, low]).next()?.ok()?);
            rest = tail;
        }
    }
}

/// Orders two keys, as written by [`escape`] or [`transcribe`], by Unicode code point.
pub(crate) fn compare_escaped(left: &[u8], right: &[u8]) -> Ordering {
    CodePoints(left).cmp(CodePoints(right))
}

/// The code points of an escaped, pure ASCII key.
struct CodePoints<'a>(&'a [u8]);

impl CodePoints<'_> {
    fn unit(&self) -> Option<(u16, usize)> {
        match *self.0 {
            [] => None,
            [b'\\', b'u', a, b, c, d, ..] => Some((hex4([a, b, c, d])?, 6)),
            [b'\\', short, ..] => Some((unescape_short(short)?, 2)),
            [byte, ..] => Some((byte.into(), 1)),
        }
    }

    fn skip(&mut self, len: usize) {
        self.0 = self.0.get(len..).unwrap_or_default();
    }
}

impl Iterator for CodePoints<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let (unit, len) = self.unit()?;
        self.skip(len);
        if matches!(unit, 0xd800..0xdc00)
            && let Some((low @ 0xdc00..0xe000, len)) = self.unit()
        {
            self.skip(len);
            return Some(0x1_0000 + ((u32::from(unit) - 0xd800) << 10) + u32::from(low) - 0xdc00);
        }
        Some(unit.into())
    }
}

/// Moves the leading plain run of `text` to `out`, and gives what follows.
fn take_plain<'a>(out: &mut Vec<u8>, text: &'a str) -> &'a str {
    let (plain, rest) = text
        .split_at_checked(plain_run(text.as_bytes()))
        .unwrap_or((text, ""));
    out.extend_from_slice(plain.as_bytes());
    rest
}

/// Splits a leading escape off a scanned literal, as one UTF-16 unit.
fn take_escape(raw: &str) -> Option<(u16, &str)> {
    let (unit, len) = match *raw.as_bytes() {
        [b'\\', b'u', a, b, c, d, ..] => (hex4([a, b, c, d])?, 6),
        [b'\\', short, ..] => (unescape_short(short)?, 2),
        _ => return None,
    };
    Some((unit, raw.get(len..)?))
}

/// The value of four hexadecimal digits.
pub(crate) fn hex4(digits: [u8; 4]) -> Option<u16> {
    digits.iter().try_fold(0, |value, digit| {
        let digit = u16::try_from(char::from(*digit).to_digit(16)?).ok()?;
        Some(value << 4 | digit)
    })
}

/// What a two-character escape stands for.
pub(crate) const fn unescape_short(letter: u8) -> Option<u16> {
    Some(match letter {
        b'"' | b'\\' | b'/' => letter as u16,
        b'b' => 0x08,
        b'f' => 0x0c,
        b'n' => 0x0a,
        b'r' => 0x0d,
        b't' => 0x09,
        _ => return None,
    })
}

/// Escapes one character and, if it is not ASCII, those after it as far as none of them is.
fn escape_run<'a>(out: &mut Vec<u8>, text: &'a str) -> &'a str {
    // Quotes, mostly.
    if let Some(first) = text.bytes().next().filter(u8::is_ascii) {
        escape_unit(out, first.into());
        return text.get(1..).unwrap_or_default();
    }
    let mut chars = text.chars();
    if let Some(first) = chars.next() {
        escape_char(out, first);
    }
    let mut rest = chars.as_str();
    for next in chars {
        if next.is_ascii() {
            break;
        }
        escape_char(out, next);
        rest = rest.get(next.len_utf8()..).unwrap_or_default();
    }
    rest
}

fn escape_char(out: &mut Vec<u8>, next: char) {
    if next.is_ascii() {
        return escape_unit(out, next as u16);
    }
    for unit in next.encode_utf16(&mut [0; 2]) {
        escape_hex(out, *unit);
    }
}

fn escape_unit(out: &mut Vec<u8>, unit: u16) {
    match u8::try_from(unit) {
        Ok(byte) if is_plain(byte) => out.push(byte),
        Ok(byte @ (b'"' | b'\\')) => out.extend_from_slice(&[b'\\', byte]),
        Ok(0x08) => out.extend_from_slice(b"\\b"),
        Ok(0x0c) => out.extend_from_slice(b"\\f"),
        Ok(b'\n') => out.extend_from_slice(b"\\n"),
        Ok(b'\r') => out.extend_from_slice(b"\\r"),
        Ok(b'\t') => out.extend_from_slice(b"\\t"),
        _ => escape_hex(out, unit),
    }
}

fn escape_hex(out: &mut Vec<u8>, unit: u16) {
    let hex = |shift: u16| {
        let digit = (unit >> shift & 0xf) as u8;
        digit + if digit < 10 { b'0' } else { b'a' - 10 }
    };
    out.extend_from_slice(&[b'\\', b'u', hex(12), hex(8), hex(4), hex(0)]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_run_ends_where_the_byte_by_byte_rule_says() {
        for special in 0..=u8::MAX {
            for at in 0..20 {
                let mut bytes = [b'a'; 20];
                bytes[at] = special;
                // A borrow out of the special byte must not reach one before it.
                for neighbour in [0x20, 0x21, 0x7e, b'#', b'['] {
                    if let Some(byte) = at.checked_sub(1).and_then(|at| bytes.get_mut(at)) {
                        *byte = neighbour;
                    }
                    if let Some(byte) = bytes.get_mut(at + 1) {
                        *byte = neighbour;
                    }
                    let expected = bytes.iter().take_while(|byte| is_plain(**byte)).count();
                    assert_eq!(plain_run(&bytes), expected, "{special:#x} at {at}");
                }
            }
        }
    }

    #[test]
    fn keys_are_ordered_by_code_point_not_by_unit_or_spelling() {
        let mut keys = [
            "😀", "\u{ffff}", "é", "z", "a", "A", "", "\"", "\\", "\n", "\u{e000}",
        ];
        keys.sort_by(|left, right| {
            let escaped = |text| {
                let mut out = Vec::new();
                escape(&mut out, text);
                out
            };
            compare_escaped(&escaped(left), &escaped(right))
        });
        let expected = [
            "", "\n", "\"", "A", "\\", "a", "z", "é", "\u{e000}", "\u{ffff}", "😀",
        ];
        assert_eq!(keys, expected);
    }

    #[test]
    fn decoding_joins_surrogates_and_refuses_lone_ones() {
        assert_eq!(
            decode(r"\ud83d\ude00 \u00e9\n\/").as_deref(),
            Some("😀 é\n/")
        );
        for lone in [
            r"\ud83d",
            r"\ude00",
            r"\ud83dx",
            r"\ud83d\n",
            r"\ud83d\ud83d",
        ] {
            assert_eq!(decode(lone), None, "{lone}");
        }
    }
}
