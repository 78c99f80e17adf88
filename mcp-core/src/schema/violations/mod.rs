//! What is wrong with a value, in words for the model that sent it.
//!
//! Nothing here names a Rust type, and of the value itself only member names are repeated, cut
//! to [`MAX_NAME`] characters (`26-07/server/tools` § Error Handling asks for text a model can
//! act on).

mod report;
mod words;

use std::fmt::{self, Write as _};

use jsonschema::paths::{Location, LocationSegment};
use serde_json::Value;

pub(super) use self::report::report;
use super::reference::bounded;

/// One place where a value does not fit its schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    /// The place, such as `filter.a` or `tags[2]`; empty for the value itself.
    pub(crate) path: String,
    /// What was expected there, such as `expected a string` or `required`.
    pub(crate) expected: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            f.write_str(&self.expected)
        } else {
            write!(f, "`{}`: {}", self.path, self.expected)
        }
    }
}

impl Violation {
    pub(super) fn new(path: String, expected: impl Into<String>) -> Self {
        let expected = expected.into();
        Self {
            path,
            expected: bounded(&expected, MAX_TEXT).into_owned(),
        }
    }
}

/// A path in the making.
#[derive(Clone, Debug, Default)]
pub(super) struct Path(String);

impl Path {
    fn of(location: &Location) -> Self {
        let mut path = Self::default();
        for segment in location.segments() {
            match segment {
                LocationSegment::Property(name) => path.member(&name),
                LocationSegment::Index(index) => path.index(index),
            }
        }
        path
    }

    pub(super) fn member(&mut self, name: &str) {
        if self.has_room() {
            let name: String = bounded(name, MAX_NAME).chars().map(printable).collect();
            let dot = if self.0.is_empty() { "" } else { "." };
            let _ = write!(self.0, "{dot}{name}");
        }
    }

    pub(super) fn index(&mut self, index: usize) {
        if self.has_room() {
            let _ = write!(self.0, "[{index}]");
        }
    }

    fn with(mut self, name: &str) -> String {
        self.member(name);
        self.0
    }

    /// The text; a path that got too long ends in `…`.
    pub(super) fn finish(self) -> String {
        self.0
    }

    fn has_room(&mut self) -> bool {
        let room = self.0.len() < MAX_PATH;
        if !room && !self.0.ends_with('…') {
            self.0.push('…');
        }
        room
    }
}

/// Reads a tree, or says what about the text does not allow it.
pub(super) fn tree(text: &str) -> Result<Value, Vec<Violation>> {
    serde_json::from_str(text).map_err(|error| {
        let message = error.to_string();
        let expected = if message.starts_with("recursion limit") {
            "expected at most 127 levels of nesting"
        } else if message.starts_with("number out of range") {
            "expected numbers within the range of a double"
        } else {
            "expected JSON that decodes to Unicode text"
        };
        vec![Violation::new(String::new(), expected)]
    })
}

fn printable(character: char) -> char {
    if character.is_control() || character == '`' {
        '\u{FFFD}'
    } else {
        character
    }
}

/// Characters of a name or value that are repeated.
const MAX_NAME: usize = 40;

/// Bytes after which a path goes no deeper.
const MAX_PATH: usize = 200;

/// Characters of what was expected.
const MAX_TEXT: usize = 400;
