//! Writing a URI, RFC 6570 section 3.2.

use std::fmt::Write as _;

use super::encoding::is_unreserved;
use super::{Kind, Query, Token, UriTemplate, Variables};

/// Expands `template`; see [`UriTemplate::expand`].
pub(super) fn expand(template: &UriTemplate, variables: &Variables) -> String {
    let mut expansion = Expansion {
        source: Source {
            template,
            variables,
        },
        uri: String::new(),
    };
    expansion.tokens(&template.path);
    if let Some(query) = &template.query {
        expansion.query(query);
    }
    if let Some(fragment) = &template.fragment {
        expansion.uri.push('#');
        expansion.tokens(fragment);
    }
    expansion.uri
}

#[derive(Clone, Copy)]
struct Source<'a> {
    template: &'a UriTemplate,
    variables: &'a Variables,
}

impl<'a> Source<'a> {
    /// Name and value of a variable, if it has one.
    fn entry(self, index: usize) -> Option<(&'a str, &'a str)> {
        let name = self.template.names.get(index)?;
        Some((name, self.variables.get(name)?))
    }

    fn entries(self, indices: &[usize]) -> impl Iterator<Item = (&'a str, &'a str)> {
        indices.iter().filter_map(move |&index| self.entry(index))
    }
}

struct Expansion<'a> {
    source: Source<'a>,
    uri: String,
}

impl Expansion<'_> {
    fn tokens(&mut self, tokens: &[Token]) {
        let source = self.source;
        for token in tokens {
            match token {
                Token::Literal(text) => text.chars().for_each(|it| self.normal(it)),
                Token::Variable(slot) => {
                    if let Some((_, value)) = source.entry(slot.index) {
                        self.value(value, matches!(slot.kind, Kind::Reserved { .. }));
                    }
                }
                Token::Parameters(members) => {
                    for (name, value) in source.entries(members) {
                        self.uri.push(';');
                        self.uri.push_str(name);
                        if !value.is_empty() {
                            self.uri.push('=');
                            self.value(value, false);
                        }
                    }
                }
            }
        }
    }

    fn query(&mut self, query: &Query) {
        let source = self.source;
        let mut separator = if query.after.is_some() { '&' } else { '?' };
        for (name, value) in source.entries(&query.members) {
            self.uri.push(separator);
            self.uri.push_str(name);
            self.uri.push('=');
            self.value(value, false);
            separator = '&';
        }
    }

    fn value(&mut self, value: &str, reserved: bool) {
        for byte in value.bytes() {
            if is_unreserved(byte) || reserved && is_reserved(byte) {
                self.uri.push(char::from(byte));
            } else {
                self.escape(byte);
            }
        }
    }

    /// One character of a literal in normal form.
    fn normal(&mut self, character: char) {
        if character.is_ascii() {
            self.uri.push(character);
        } else {
            self.escape((u32::from(character) & 0xFF) as u8);
        }
    }

    fn escape(&mut self, byte: u8) {
        // Writing to a string cannot fail.
        let _ = write!(self.uri, "%{byte:02X}");
    }
}

/// `gen-delims / sub-delims` (RFC 3986 section 2.2).
fn is_reserved(byte: u8) -> bool {
    b":/?#[]@!$&'()*+,;=".contains(&byte)
}
