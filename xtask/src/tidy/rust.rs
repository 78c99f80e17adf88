//! Just enough of Rust's lexical structure to tell code from comments, strings and tests.

/// One source file, seen in three ways that have the same lines.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
    /// Without comments and what stands in strings.
    pub(crate) bare: String,
    /// The same without tests.
    pub(crate) code: String,
    /// Strings, but neither comments nor tests.
    pub(crate) strings: String,
}

impl Source {
    pub(crate) fn new(path: &str, text: &str) -> Self {
        let bare = mask(text, false);
        let tests = test_lines(&bare);
        let code = without(&bare, &tests);
        let strings = without(&mask(text, true), &tests);
        Self {
            path: path.to_owned(),
            text: text.to_owned(),
            bare,
            code,
            strings,
        }
    }

    /// The lines that are no test.
    pub(crate) fn length(&self) -> usize {
        let tests = test_lines(&self.bare);
        tests.iter().filter(|is_test| !**is_test).count()
    }

    /// Name, first line and number of lines of each function outside the tests.
    pub(crate) fn functions(&self) -> Vec<(String, usize, usize)> {
        let mut found = Vec::new();
        for (at, _) in self.code.match_indices("fn ") {
            let (before, rest) = self.code.split_at(at);
            let joined = before.chars().next_back().is_some_and(is_word);
            let name: String = rest.chars().skip(3).take_while(|at| is_word(*at)).collect();
            if joined || name.is_empty() {
                continue;
            }
            if let Some(length) = body_lines(rest) {
                found.push((name, before.matches('\n').count() + 1, length));
            }
        }
        found
    }
}

fn is_word(at: char) -> bool {
    at.is_alphanumeric() || at == '_'
}

/// The lines from the start of an item to the brace that ends its body, if it has one.
fn body_lines(item: &str) -> Option<usize> {
    let mut nested = 0_usize;
    let mut braces = 0_usize;
    for (at, found) in item.char_indices() {
        match found {
            '(' | '[' if braces == 0 => nested += 1,
            ')' | ']' if braces == 0 => nested = nested.saturating_sub(1),
            ';' if braces == 0 && nested == 0 => return None,
            '{' if nested == 0 => braces += 1,
            '}' if braces == 1 => return Some(item.get(..at)?.matches('\n').count() + 1),
            '}' if nested == 0 => braces = braces.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// For each line, whether it belongs to an item under `#[cfg(test)]`.
fn test_lines(bare: &str) -> Vec<bool> {
    let mut is_test = vec![false; bare.lines().count()];
    let mut lines_before = 0;
    let mut rest = bare;
    while let Some(at) = rest.find("#[cfg(test)]") {
        let (before, item) = rest.split_at(at);
        lines_before += before.matches('\n').count();
        let length = body_lines(item).unwrap_or_else(|| {
            let end = item.find(';').unwrap_or(item.len());
            item.get(..end).unwrap_or(item).matches('\n').count() + 1
        });
        for line in is_test.iter_mut().skip(lines_before).take(length) {
            *line = true;
        }
        lines_before += length - 1;
        let end = item.match_indices('\n').nth(length - 1).map(|(at, _)| at);
        rest = end.and_then(|at| item.get(at..)).unwrap_or("");
    }
    is_test
}

fn without(text: &str, is_test: &[bool]) -> String {
    let mut kept = String::with_capacity(text.len());
    for (line, is_test) in text.lines().zip(is_test) {
        if !is_test {
            kept.push_str(line);
        }
        kept.push('\n');
    }
    kept
}

/// The text with every comment, and on demand everything in quotes, turned into spaces.
fn mask(text: &str, keep_strings: bool) -> String {
    let mut mask = Mask {
        chars: text.chars().collect(),
        at: 0,
        kept: String::with_capacity(text.len()),
        keep_strings,
    };
    while mask.peek(0).is_some() {
        mask.step();
    }
    mask.kept
}

struct Mask {
    chars: Vec<char>,
    at: usize,
    kept: String,
    keep_strings: bool,
}

impl Mask {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn take(&mut self, count: usize, keep: bool) {
        for found in self.chars.iter().skip(self.at).take(count) {
            let kept = keep || *found == '\n';
            self.kept.push(if kept { *found } else { ' ' });
        }
        self.at += count;
    }

    fn step(&mut self) {
        match (self.peek(0), self.peek(1)) {
            (Some('/'), Some('/')) => {
                let rest = self.chars.iter().skip(self.at);
                let length = rest.take_while(|found| **found != '\n').count();
                self.take(length, false);
            }
            (Some('/'), Some('*')) => self.block_comment(),
            (Some('"'), _) => self.string(),
            (Some('\''), _) => self.quote(),
            (Some('r'), Some('"' | '#')) => self.raw_string(),
            (Some(found), _) if is_word(found) => self.word(),
            _ => self.take(1, true),
        }
    }

    /// An identifier, or the prefix of a string: those of one letter end before the quote.
    fn word(&mut self) {
        let rest = self.chars.iter().skip(self.at);
        let length = rest.take_while(|found| is_word(**found)).count();
        let raw = self.peek(length - 1) == Some('r')
            && length == 2
            && matches!(self.peek(length), Some('"' | '#'));
        self.take(if raw { length - 1 } else { length }, true);
    }

    fn block_comment(&mut self) {
        let mut depth = 0;
        loop {
            match (self.peek(0), self.peek(1)) {
                (Some('/'), Some('*')) => {
                    depth += 1;
                    self.take(2, false);
                }
                (Some('*'), Some('/')) => {
                    depth -= 1;
                    self.take(2, false);
                }
                (Some(_), _) => self.take(1, false),
                (None, _) => return,
            }
            if depth == 0 {
                return;
            }
        }
    }

    fn string(&mut self) {
        self.take(1, true);
        loop {
            match self.peek(0) {
                Some('\\') => self.take(2, self.keep_strings),
                Some('"') => return self.take(1, true),
                Some(_) => self.take(1, self.keep_strings),
                None => return,
            }
        }
    }

    fn raw_string(&mut self) {
        let rest = self.chars.iter().skip(self.at + 1);
        let hashes = rest.take_while(|found| **found == '#').count();
        if self.peek(1 + hashes) != Some('"') {
            return self.take(1, true); // r#identifier
        }
        self.take(hashes + 2, true);
        while self.peek(0).is_some() {
            let closing = (1..=hashes).all(|ahead| self.peek(ahead) == Some('#'));
            if self.peek(0) == Some('"') && closing {
                return self.take(hashes + 1, true);
            }
            self.take(1, self.keep_strings);
        }
    }

    /// A character, or the start of a lifetime.
    fn quote(&mut self) {
        let escaped = self.peek(1) == Some('\\');
        if !escaped && self.peek(2) != Some('\'') {
            return self.take(1, true);
        }
        let rest = self.chars.iter().skip(self.at + 2);
        let inside = rest.take_while(|found| **found != '\'').count();
        // '\'' is the one character whose inside ends a quote too early.
        let inside = if escaped { inside.max(1) } else { inside };
        self.take(1, true);
        self.take(inside + 1, self.keep_strings);
        self.take(1, true);
    }
}

#[cfg(test)]
mod tests {
    use super::{Source, mask};

    fn check(text: &str, want: &str) {
        assert_eq!(mask(text, false), want, "{text}");
    }

    #[test]
    fn masks_comments_and_strings() {
        check("a // b\nc", "a     \nc");
        check("a /* b /* c */ d\n */ e", "a               \n    e");
        check(r#"f("a\"b") // "c"#, r#"f("    ")      "#);
        check(r##"r#"a"b"# + br"c""##, r##"r#"   "# + br" ""##);
        check(r"'a' '\'' '\n' 'static x '", r"' ' '  ' '  ' 'static x '");
        check("r#type var\"x\"", "r#type var\" \"");
        check("'\"' + \"'\"", "' ' + \" \"");
    }

    #[test]
    fn keeps_strings_on_demand() {
        assert_eq!(mask("f(\"a // b\") // c", true), "f(\"a // b\")     ");
    }

    const FILE: &str = r#"//! Docs.
use a::{b, c};

#[cfg(test)]
mod tests;

fn one(x: [u8; 3]) -> u8 {
    // }
    x
}

trait T {
    fn two();
    fn three(&self) {}
}

#[cfg(test)]
mod more {
    fn four() {
        "}"
    }
}
"#;

    #[test]
    fn leaves_tests_out() {
        let source = Source::new("x.rs", FILE);
        assert!(!source.code.contains("four"));
        assert!(source.code.contains("three"));
        assert!(source.bare.contains("four"));
        assert_eq!(source.length(), FILE.lines().count() - 2 - 6);
    }

    #[test]
    fn measures_functions() {
        let source = Source::new("x.rs", FILE);
        let want = [("one".to_owned(), 7, 4), ("three".to_owned(), 14, 1)];
        assert_eq!(source.functions(), want);
    }
}
