//! URI templates of RFC 6570, used to match the URIs clients ask for.
//!
//! A resource template (`resources.mdx` § Resource Templates of every revision) publishes an
//! [RFC 6570] template; `resources/read` then names a concrete URI, which is attacker controlled.
//! [`UriTemplate::matches`] takes the variables out of it again, in time linear in the URI.
//!
//! # What is supported
//!
//! Levels 1 to 3 (RFC 6570 section 1.2), every operator of section 2.2:
//!
//! | Expression | RFC 6570 | Takes from the URI |
//! |---|---|---|
//! | `{a}`, `{a,b}` | 3.2.2 | one piece of a path segment, never a plain `/`, `?` or `#` |
//! | `{+a}` | 3.2.3 | anything, `/` included; at most once in a template |
//! | `{#a}` | 3.2.4 | the fragment |
//! | `{.a,b}` | 3.2.5 | a piece after each `.` |
//! | `{/a,b}` | 3.2.6 | a piece after each `/` |
//! | `{;a,b}` | 3.2.7 | `;name=value` members, in any order, each optional |
//! | `{?a,b}`, `{&a}` | 3.2.8, 3.2.9 | query members, in any order, each optional |
//!
//! The modifiers of level 4 (`{a*}`, `{a:3}`) are refused when the template is parsed.
//!
//! # How a URI is matched
//!
//! Expansion is not reversible in general, so these rules make it so (RFC 6570 section 1.4 leaves
//! them to the template's author). There is no backtracking: every choice is made once.
//!
//! - The template is cut into path, query expression and fragment, and so is the URI.
//! - Left of `{+a}`, and in templates without one, each variable is as **short** as the literal
//!   after it allows: `{name}.{ext}` reads `a.tar.gz` as `a` and `tar.gz`.
//! - Right of `{+a}` the same holds from the end backwards, and `{+a}` takes what is between:
//!   `{+dir}/{file}` reads `a/b/c` as `a/b` and `c`.
//! - Variables outside `{;…}`, `{?…}` and `{&…}` are required and never empty.
//! - Unknown query members and path parameters do not prevent a match; one that is named in the
//!   template and comes twice is refused. `+` is a plus, not a space (RFC 3986 knows no other).
//! - Two variables with nothing between them could be told apart in no way: refused by
//!   [`UriTemplate::parse`], as are two `{+a}` and a name used twice.
//!
//! Literals are compared after the normalization of RFC 3986 section 6.2.2: the scheme without
//! regard to case, `%7E` as `~`, hexadecimal digits without regard to case, and a plain `é` (RFC
//! 3987 section 3.1) as `%C3%A9`. An escaped reserved character is not the plain one:
//! `%2F` never matches a literal `/`. Host names keep their case.
//!
//! # Security
//!
//! Values are percent-decoded exactly once, after matching, and then checked, because
//! `..%2F..%2Fkey.pem` has no `/` before that (`26-07/server/resources` § Security Considerations).
//! What is refused is listed at [`RefusalReason`]; [`UriTemplate::allow_unsafe_paths`] opts out.
//!
//! [RFC 6570]: https://www.rfc-editor.org/rfc/rfc6570

mod encoding;
#[cfg(any(test, fuzzing))]
mod expand;
mod matcher;
mod parse;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::schema::coerce_strings;

/// A parsed URI template, ready to match.
///
/// ```text
/// let template = UriTemplate::parse("file:///docs/{name}{?page}")?;
/// let variables = template.matches("file:///docs/caf%C3%A9.txt?page=2")?.unwrap();
/// assert_eq!(variables.to_json(&schema), r#"{"name":"café.txt","page":2}"#);
/// ```
#[derive(Clone)]
pub(crate) struct UriTemplate {
    source: Arc<str>,
    names: Vec<Arc<str>>,
    path: Vec<Token>,
    query: Option<Query>,
    fragment: Option<Vec<Token>>,
    unsafe_paths: bool,
}

impl UriTemplate {
    /// Parses a template (RFC 6570 section 2).
    ///
    /// # Errors
    ///
    /// What is wrong and at which byte: a syntax error, a level 4 modifier, or a template that
    /// cannot be matched without guessing.
    pub(crate) fn parse(template: &str) -> Result<Self, TemplateError> {
        parse::parse(template)
    }

    /// Hands decoded values to the handler unchecked: separators, `..`, absolute paths and NUL.
    ///
    /// # Security
    ///
    /// The values are attacker controlled. A handler that joins one to a directory then reads
    /// outside that directory. Malformed escapes and invalid UTF-8 stay refused.
    pub(crate) fn allow_unsafe_paths(mut self) -> Self {
        self.unsafe_paths = true;
        self
    }

    /// The variables' names, in the order of the template.
    pub(crate) fn variables(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|name| &**name)
    }

    /// Takes the variables out of `uri`; `None` if the template does not describe it.
    ///
    /// # Errors
    ///
    /// The URI is of this template, but a value must not reach a handler. Not the same as `None`:
    /// a less careful template must not get a second try at such a URI.
    ///
    /// # Security
    ///
    /// `uri` is attacker controlled; time and memory are linear in its length.
    pub(crate) fn matches(&self, uri: &str) -> Result<Option<Variables>, Refusal> {
        matcher::matches(self, uri)
    }

    /// Writes the URI for `variables` (RFC 6570 section 3.2), the inverse of [`Self::matches`].
    ///
    /// Absent variables are left out. Values are plain text, so a `%` is always encoded, where
    /// RFC 6570 section 3.2.3 would let an already encoded triplet through.
    #[cfg(any(test, fuzzing))]
    pub(crate) fn expand(&self, variables: &Variables) -> String {
        expand::expand(self, variables)
    }
}

impl fmt::Debug for UriTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("UriTemplate").field(&self.source).finish()
    }
}

impl fmt::Display for UriTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)
    }
}

/// The decoded values of a template's variables.
///
/// `Debug` shows names and sizes only: the values are a client's.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct Variables {
    entries: Vec<(Arc<str>, String)>,
}

impl Variables {
    /// The value of `name`, decoded once; `None` for an absent query member.
    #[cfg(any(test, fuzzing))]
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let mut entries = self.entries.iter();
        entries
            .find(|(known, _)| &**known == name)
            .map(|(_, value)| value.as_str())
    }

    /// Names and values, in the order of the template.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let entries = self.entries.iter();
        entries.map(|(name, value)| (&**name, value.as_str()))
    }

    /// A JSON object of the values, for reading into a handler's argument type.
    ///
    /// A value becomes a number or boolean where `schema.properties.<name>` says so and it parses
    /// as one (see `coerce_strings`); absent members are left out.
    pub(crate) fn to_json(&self, schema: &Value) -> String {
        coerce_strings(self.iter(), schema)
    }
}

impl fmt::Debug for Variables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes = self.entries.iter();
        f.debug_map()
            .entries(sizes.map(|(name, value)| (name, format!("{} bytes", value.len()))))
            .finish()
    }
}

impl<N: Into<Arc<str>>, V: Into<String>> FromIterator<(N, V)> for Variables {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(entries: I) -> Self {
        let entries = entries.into_iter();
        Self {
            entries: entries.map(|(n, v)| (n.into(), v.into())).collect(),
        }
    }
}

/// Why a string is no template that can be matched, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid URI template: {problem}, at byte {offset}")]
pub(crate) struct TemplateError {
    /// The byte of the template at which the trouble starts.
    pub(crate) offset: usize,
    /// What is wrong.
    pub(crate) problem: TemplateProblem,
}

/// What is wrong with a template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TemplateProblem {
    /// Two variables with nothing between them.
    #[error("two variables with no literal between them cannot be told apart")]
    Adjacent,
    /// A character RFC 6570 section 2.1 does not allow outside an expression.
    #[error("{0:?} is not allowed in a literal")]
    BadLiteral(char),
    /// Not a name of RFC 6570 section 2.3.
    #[error("{0:?} is not a variable name (letters, digits, `_` and inner dots)")]
    BadName(String),
    /// The same name in two places: the two values could differ.
    #[error("variable `{0}` appears twice")]
    Duplicate(String),
    /// `%` without two hexadecimal digits in a literal.
    #[error("`%` is not followed by two hexadecimal digits")]
    MalformedEscape,
    /// `*` or `:n`, RFC 6570 section 2.4.
    #[error("the modifiers `*` and `:n` of level 4 are not supported, use `{{+{0}}}` for a path")]
    Modifier(String),
    /// A query or parameter expression where it cannot be told from what follows.
    #[error("{0}")]
    Misplaced(&'static str),
    /// An operator RFC 6570 section 2.2 keeps for later.
    #[error("operator `{0}` is reserved by RFC 6570")]
    ReservedOperator(char),
    /// More than one `{+a}`: where one ends and the other starts would be a guess.
    #[error("only one `{{+…}}` variable can be matched in a template")]
    TwoReserved,
    /// `{` without `}`.
    #[error("`{{` is never closed")]
    Unclosed,
    /// `}` without `{`.
    #[error("`}}` without `{{`")]
    Unopened,
}

/// A URI that matched a template with a value that must not reach a handler.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("variable `{variable}` {reason}")]
pub(crate) struct Refusal {
    /// The template's name of the value.
    pub(crate) variable: Arc<str>,
    /// Why it is refused.
    pub(crate) reason: RefusalReason,
}

/// Why a matched value is refused.
///
/// `{+a}`, `{#a}`, `{;a}`, `{?a}` and `{&a}` may hold a `/`; every other value is one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RefusalReason {
    /// A path that `Path::join` would put in place of the handler's directory: a leading `/`
    /// (except after `file://`, a host or `#`, where it belongs), or on Windows a drive.
    #[error("is an absolute path")]
    AbsolutePath,
    /// `\`, a separator on Windows.
    #[error("contains a backslash")]
    Backslash,
    /// A `.` or `..` segment.
    #[error("contains a dot segment")]
    DotSegment,
    /// Not UTF-8 after decoding.
    #[error("is not valid UTF-8")]
    InvalidUtf8,
    /// `%` without two hexadecimal digits (RFC 3986 section 2.1).
    #[error("has a malformed percent-escape")]
    MalformedEscape,
    /// U+0000, the end of a path for the operating system.
    #[error("contains a NUL")]
    Nul,
    /// A query member or path parameter that comes twice.
    #[error("is given twice")]
    Repeated,
    /// `/` where one segment was asked for.
    #[error("contains a slash")]
    Slash,
}

/// One step of a path or fragment, in the order of the URI.
#[derive(Clone, Debug)]
enum Token {
    /// Normalized text ([`encoding::normalize`]).
    Literal(String),
    /// One variable.
    Variable(Slot),
    /// `{;a,b}`: the variables with these indices.
    Parameters(Vec<usize>),
}

/// Where a variable's value goes, and what it may be.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// Into [`UriTemplate::names`].
    index: usize,
    kind: Kind,
}

/// What a variable takes from the URI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A piece of one path segment; after a literal `?`, of one query member.
    Segment { in_query: bool },
    /// `{+a}` and `{#a}`. `below` says that a value starting with `/` would be out of place.
    Reserved { below: bool },
    /// A member of `{;a}`, `{?a}` or `{&a}`.
    Member,
}

/// `{?a,b}` or `{&a}`.
#[derive(Clone, Debug)]
struct Query {
    /// Ampersands of the path's own literal query, before which the expression cannot start;
    /// `None` if the expression starts with `?`.
    after: Option<usize>,
    /// Into [`UriTemplate::names`].
    members: Vec<usize>,
}
