//! Framing: one message a line, bounded.

use bytes::{Buf, Bytes, BytesMut};

/// Bytes read so far, cut into lines.
#[derive(Debug)]
pub(crate) struct Lines {
    buffer: BytesMut,
    /// Bytes of the buffer that are known to hold no line end.
    searched: usize,
    max: usize,
    /// Whether the line being read is too long and thrown away up to its end.
    skipping: bool,
}

/// What was found in the buffer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A line without its end.
    Message(Bytes),
    /// A line longer than the limit, of which nothing was kept.
    TooLong,
}

impl Lines {
    /// Lines of at most `max` bytes.
    pub(crate) fn new(max: usize) -> Self {
        Self {
            buffer: BytesMut::new(),
            searched: 0,
            max,
            skipping: false,
        }
    }

    /// Where to read into.
    pub(crate) fn buffer(&mut self) -> &mut BytesMut {
        self.buffer.reserve(READ_SIZE);
        &mut self.buffer
    }

    /// The next line that is complete. Empty lines are not lines.
    pub(crate) fn next(&mut self) -> Option<Line> {
        loop {
            let unsearched = self.buffer.get(self.searched..).unwrap_or_default();
            let Some(at) = memchr::memchr(b'\n', unsearched) else {
                self.searched = self.buffer.len();
                self.drop_overlong();
                return None;
            };
            let mut line = self.buffer.split_to(self.searched + at);
            self.buffer.advance(1);
            self.searched = 0;
            if std::mem::take(&mut self.skipping) || line.len() > self.max {
                return Some(Line::TooLong);
            }
            trim(&mut line);
            if !line.is_empty() {
                return Some(Line::Message(line.freeze()));
            }
        }
    }

    /// What is left at the end of input: a last line without an end.
    pub(crate) fn rest(&mut self) -> Option<Line> {
        let mut line = self.buffer.split();
        self.searched = 0;
        if std::mem::take(&mut self.skipping) || line.len() > self.max {
            return Some(Line::TooLong);
        }
        trim(&mut line);
        (!line.is_empty()).then(|| Line::Message(line.freeze()))
    }

    /// Keeps nothing of a line that is already too long.
    fn drop_overlong(&mut self) {
        if self.skipping || self.buffer.len() > self.max {
            self.skipping = true;
            self.buffer.clear();
            self.searched = 0;
        }
    }
}

/// Takes off the white space around a line; the codec tolerates a byte order mark.
fn trim(line: &mut BytesMut) {
    let end = line.trim_ascii_end().len();
    line.truncate(end);
    let start = line.len() - line.trim_ascii_start().len();
    line.advance(start);
}

const READ_SIZE: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn all(lines: &mut Lines, chunk: &[u8]) -> Vec<Line> {
        lines.buffer().extend_from_slice(chunk);
        std::iter::from_fn(|| lines.next()).collect()
    }

    fn message(text: &str) -> Line {
        Line::Message(Bytes::copy_from_slice(text.as_bytes()))
    }

    #[test]
    fn lines_are_cut_wherever_the_reads_fall() {
        let mut lines = Lines::new(100);
        assert_eq!(all(&mut lines, b"{\"a\""), []);
        assert_eq!(
            all(&mut lines, b":1}\r\n\n  \n{}\nrest"),
            [message("{\"a\":1}"), message("{}")]
        );
        assert_eq!(lines.rest(), Some(message("rest")));
        assert_eq!(lines.rest(), None);
    }

    #[test]
    fn an_overlong_line_costs_no_memory_and_the_next_one_is_read() {
        let mut lines = Lines::new(8);
        for _ in 0..1000 {
            assert_eq!(all(&mut lines, &[b'x'; 64]), []);
        }
        assert!(lines.buffer.len() <= 8);
        assert_eq!(all(&mut lines, b"\nok\n"), [Line::TooLong, message("ok")]);
        assert_eq!(all(&mut lines, b"123456789\n"), [Line::TooLong]);
    }
}
