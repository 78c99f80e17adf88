//! What somebody else wrote, in a line of the log.

use std::fmt;

/// A text as a quoted and escaped line of bounded length.
pub(crate) struct Shown<'a>(pub(crate) &'a str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(text) = self;
        match text.char_indices().nth(LONGEST) {
            Some((end, _)) => write!(formatter, "{:?}…", text.get(..end).unwrap_or_default()),
            None => write!(formatter, "{text:?}"),
        }
    }
}

/// In characters.
const LONGEST: usize = 120;
