//! A scanner for JSON text: one pass, no recursion, no tree, no number ever rounded.
//!
//! Accepts what Python's `json.loads` accepts: JSON, and the three words `NaN`, `Infinity` and
//! `-Infinity`. A parser of values would not do: it rounds numbers or forgets their spelling, and
//! cargo features of `serde_json` that any crate of an application may switch on change what it
//! keeps.

use crate::{
    error::JsonError,
    text::{hex4, plain_run, unescape_short},
};

/// What the scanner reports, in the order of the text.
pub(crate) trait Sink {
    /// `{` or `[`.
    fn open(&mut self, bracket: u8);
    /// `}` or `]`.
    fn close(&mut self, bracket: u8);
    /// A comma between two members or elements.
    fn comma(&mut self);
    /// A member's name; its value follows.
    fn key(&mut self, key: Literal<'_>);
    /// A string.
    fn string(&mut self, string: Literal<'_>);
    /// A number.
    fn number(&mut self, number: Number<'_>);
    /// One of the bare words.
    fn word(&mut self, word: &'static str);
}

/// Scans and forgets.
pub(crate) struct Skip;

impl Sink for Skip {
    fn open(&mut self, _: u8) {}
    fn close(&mut self, _: u8) {}
    fn comma(&mut self) {}
    fn key(&mut self, _: Literal<'_>) {}
    fn string(&mut self, _: Literal<'_>) {}
    fn number(&mut self, _: Number<'_>) {}
    fn word(&mut self, _: &'static str) {}
}

/// The inside of a string literal, known to be well formed.
#[derive(Clone, Copy)]
pub(crate) struct Literal<'a> {
    /// The text between the quotes.
    pub(crate) raw: &'a str,
    /// Whether Python would write exactly the same.
    pub(crate) plain: bool,
}

impl Literal<'_> {
    /// Whether the literal stands for `text`, however it is spelled.
    pub(crate) fn is(self, text: &str) -> bool {
        if self.plain {
            self.raw == text
        } else {
            crate::text::decode(self.raw).is_some_and(|decoded| decoded == text)
        }
    }
}

/// A number as it was spelled.
#[derive(Clone, Copy)]
pub(crate) struct Number<'a> {
    pub(crate) text: &'a str,
    /// How much of the text is the sign and the digits before a point.
    pub(crate) whole: usize,
    pub(crate) has_exponent: bool,
}

/// Reads one text that is one value, reporting it to `sink`.
pub(crate) fn scan(text: &str, sink: &mut impl Sink) -> Result<(), JsonError> {
    let mut scanner = Scanner::new(text);
    scanner.value(sink)?;
    scanner.end()
}

/// A value that was found.
#[derive(Clone, Copy)]
pub(crate) struct Found<'a> {
    /// All of its text.
    pub(crate) raw: &'a str,
    /// The literal that it is, if it is a string.
    pub(crate) literal: Option<Literal<'a>>,
}

/// The values of the named members of the object that `text` is; of a repeated name the last one
/// counts. `None` where it is some other value.
///
/// Fastest where the members come in the order of `names`, which are all different.
pub(crate) fn find<'a, const N: usize>(
    text: &'a str,
    names: [&str; N],
) -> Result<Option<[Option<Found<'a>>; N]>, JsonError> {
    let mut found = [None; N];
    let mut next = 0;
    let is_object = members(text, |key, value| {
        let is_named = |at: &usize| names.get(*at).is_some_and(|name| key.is(name));
        let Some(at) = (next..N).chain(0..next).find(is_named) else {
            return;
        };
        next = at + 1;
        if let Some(found) = found.get_mut(at) {
            *found = Some(value);
        }
    })?;
    Ok(is_object.then_some(found))
}

/// Calls `visit` with each member of the object that `text` is, in order, repeated names included.
///
/// Gives false, after scanning it, where the text is some other value.
fn members<'a>(
    text: &'a str,
    mut visit: impl FnMut(Literal<'a>, Found<'a>),
) -> Result<bool, JsonError> {
    let mut scanner = Scanner::new(text);
    scanner.space();
    if scanner.peek() != Some(b'{') {
        scanner.value(&mut Skip)?;
        scanner.end()?;
        return Ok(false);
    }
    scanner.at += 1;
    scanner.space();
    if scanner.take(b'}') {
        scanner.end()?;
        return Ok(true);
    }
    loop {
        let key = scanner.name()?;
        let value = scanner.found()?;
        visit(key, value);
        scanner.space();
        if !scanner.take(b',') {
            break;
        }
        scanner.space();
    }
    if !scanner.take(b'}') {
        return Err(scanner.error());
    }
    scanner.end()?;
    Ok(true)
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    const fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// Scans one value and gives its text, without the white space around it.
    fn value(&mut self, sink: &mut impl Sink) -> Result<&'a str, JsonError> {
        self.space();
        let start = self.at;
        // The closing brackets that are still to come. On the heap, so that depth is not a crash.
        let mut open = Vec::new();
        loop {
            if self.begin(&mut open, sink)? {
                continue;
            }
            if !self.another(&mut open, sink)? {
                return Ok(self.text.get(start..self.at).unwrap_or_default());
            }
        }
    }

    /// Scans one value and keeps what it learns of a string.
    fn found(&mut self) -> Result<Found<'a>, JsonError> {
        self.space();
        if self.peek() != Some(b'"') {
            let (raw, literal) = (self.value(&mut Skip)?, None);
            return Ok(Found { raw, literal });
        }
        let start = self.at;
        let literal = Some(self.literal()?);
        let raw = self.text.get(start..self.at).unwrap_or_default();
        Ok(Found { raw, literal })
    }

    /// Scans a scalar, an empty container, or into a container; true where it went in.
    fn begin(&mut self, open: &mut Vec<u8>, sink: &mut impl Sink) -> Result<bool, JsonError> {
        self.space();
        match self.peek() {
            Some(b'"') => {
                let string = self.literal()?;
                sink.string(string);
            }
            Some(b'{') => return self.enter(open, (b'{', b'}'), sink),
            Some(b'[') => return self.enter(open, (b'[', b']'), sink),
            Some(b'-' | b'0'..=b'9') if !self.rest().starts_with(b"-I") => {
                let number = self.number()?;
                sink.number(number);
            }
            _ => {
                let word = WORDS
                    .iter()
                    .find(|word| self.rest().starts_with(word.as_bytes()));
                let word = word.ok_or_else(|| self.error())?;
                self.at += word.len();
                sink.word(word);
            }
        }
        Ok(false)
    }

    fn enter(
        &mut self,
        open: &mut Vec<u8>,
        (bracket, closing): (u8, u8),
        sink: &mut impl Sink,
    ) -> Result<bool, JsonError> {
        self.at += 1;
        sink.open(bracket);
        self.space();
        if self.take(closing) {
            sink.close(closing);
            return Ok(false);
        }
        open.push(closing);
        if bracket == b'{' {
            let name = self.name()?;
            sink.key(name);
        }
        Ok(true)
    }

    /// Scans what follows a value: closing brackets, then a comma (true) or the end (false).
    fn another(&mut self, open: &mut Vec<u8>, sink: &mut impl Sink) -> Result<bool, JsonError> {
        while let Some(&closing) = open.last() {
            self.space();
            if self.take(closing) {
                sink.close(closing);
                open.pop();
                continue;
            }
            if !self.take(b',') {
                return Err(self.error());
            }
            sink.comma();
            if closing == b'}' {
                self.space();
                let name = self.name()?;
                sink.key(name);
            }
            return Ok(true);
        }
        Ok(false)
    }

    /// Scans a member's name and the colon after it.
    fn name(&mut self) -> Result<Literal<'a>, JsonError> {
        let name = self.literal()?;
        self.space();
        if self.take(b':') {
            Ok(name)
        } else {
            Err(self.error())
        }
    }

    fn literal(&mut self) -> Result<Literal<'a>, JsonError> {
        if !self.take(b'"') {
            return Err(self.error());
        }
        let start = self.at;
        let mut plain = true;
        loop {
            self.at += plain_run(self.rest());
            match *self.rest() {
                [b'"', ..] => break,
                [b'\\', b'u', a, b, c, d, ..] if hex4([a, b, c, d]).is_some() => self.at += 6,
                [b'\\', short, ..] if unescape_short(short).is_some() => self.at += 2,
                [0x7f..=0xff, ..] => {
                    self.at += self.rest().iter().take_while(|byte| **byte >= 0x7f).count();
                }
                _ => return Err(self.error()),
            }
            plain = false;
        }
        let raw = self.text.get(start..self.at).unwrap_or_default();
        self.at += 1;
        Ok(Literal { raw, plain })
    }

    fn number(&mut self) -> Result<Number<'a>, JsonError> {
        let start = self.at;
        self.take(b'-');
        if !self.take(b'0') {
            self.digits()?;
        }
        let whole_end = self.at;
        if self.take(b'.') {
            self.digits()?;
        }
        let fraction_end = self.at;
        if self.take(b'e') || self.take(b'E') {
            let _signed = self.take(b'+') || self.take(b'-');
            self.digits()?;
        }
        let text = self.text.get(start..self.at).unwrap_or_default();
        let has_exponent = self.at > fraction_end;
        Ok(Number {
            text,
            whole: whole_end - start,
            has_exponent,
        })
    }

    fn digits(&mut self) -> Result<(), JsonError> {
        let len = self
            .rest()
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        self.at += len;
        if len == 0 { Err(self.error()) } else { Ok(()) }
    }

    fn end(&mut self) -> Result<(), JsonError> {
        self.space();
        if self.at == self.text.len() {
            Ok(())
        } else {
            Err(self.error())
        }
    }

    fn space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        let taken = self.peek() == Some(byte);
        self.at += usize::from(taken);
        taken
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    const fn error(&self) -> JsonError {
        JsonError::new(self.at)
    }
}

const WORDS: [&str; 6] = ["true", "false", "null", "NaN", "Infinity", "-Infinity"];
