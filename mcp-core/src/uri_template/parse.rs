//! Reading a template: RFC 6570 section 2, plus what makes it impossible to match.

use std::sync::Arc;

use super::encoding::{MALFORMED, lower_scheme, normalize};
use super::{Kind, Query, Slot, TemplateError, TemplateProblem, Token, UriTemplate};

/// Parses `source`; see [`UriTemplate::parse`].
pub(super) fn parse(source: &str) -> Result<UriTemplate, TemplateError> {
    let mut parser = Parser::default();
    let mut rest = source;
    while !rest.is_empty() {
        parser.offset = source.len() - rest.len();
        rest = if let Some(inside) = rest.strip_prefix('{') {
            let (expression, after) = inside
                .split_once('}')
                .ok_or_else(|| parser.error(TemplateProblem::Unclosed))?;
            parser.expression(expression)?;
            after
        } else {
            let (literal, after) = rest.split_at(rest.find('{').unwrap_or(rest.len()));
            parser.literal(literal)?;
            after
        };
    }
    Ok(parser.finish(source))
}

#[derive(Default)]
struct Parser {
    /// Of the piece being read.
    offset: usize,
    names: Vec<Arc<str>>,
    path: Vec<Token>,
    /// The path has reached a literal `?`.
    in_query: bool,
    query: Option<Query>,
    fragment: Option<Vec<Token>>,
}

impl Parser {
    fn finish(mut self, source: &str) -> UriTemplate {
        if let Some(Token::Literal(first)) = self.path.first_mut() {
            lower_scheme(first);
        }
        UriTemplate {
            source: source.into(),
            names: self.names,
            path: self.path,
            query: self.query,
            fragment: self.fragment,
            unsafe_paths: false,
        }
    }

    /// Text between expressions (RFC 6570 section 2.1).
    fn literal(&mut self, text: &str) -> Result<(), TemplateError> {
        let start = self.offset;
        for (at, character) in text.char_indices() {
            self.offset = start + at;
            match character {
                '}' => return Err(self.error(TemplateProblem::Unopened)),
                ' ' | '"' | '<' | '>' | '\\' | '^' | '`' | '|' => {
                    return Err(self.error(TemplateProblem::BadLiteral(character)));
                }
                _ if character.is_control() => {
                    return Err(self.error(TemplateProblem::BadLiteral(character)));
                }
                '%' if normalize(text.get(at..at + 3).unwrap_or("%")).starts_with(MALFORMED) => {
                    return Err(self.error(TemplateProblem::MalformedEscape));
                }
                _ => {}
            }
        }
        self.offset = start;
        match text.split_once('#') {
            Some((path, fragment)) if self.fragment.is_none() => {
                self.path_literal(path)?;
                self.fragment = Some(Vec::new());
                self.token(Token::Literal(normalize(fragment)))
            }
            _ => self.path_literal(text),
        }
    }

    fn path_literal(&mut self, text: &str) -> Result<(), TemplateError> {
        if text.is_empty() {
            return Ok(());
        }
        if self.fragment.is_none() {
            if self.query.is_some() {
                return Err(self.error(TemplateProblem::Misplaced(
                    "only `{&…}` and a fragment can follow a query expression",
                )));
            }
            self.in_query |= text.contains('?');
        }
        self.token(Token::Literal(normalize(text)))
    }

    /// What is between braces (RFC 6570 section 2.2).
    fn expression(&mut self, expression: &str) -> Result<(), TemplateError> {
        let start = self.offset + 1;
        let (operator, names) = match expression.chars().next() {
            Some(operator @ ('+' | '#' | '.' | '/' | ';' | '?' | '&')) => {
                (operator, expression.get(1..).unwrap_or_default())
            }
            Some(operator @ ('=' | ',' | '!' | '@' | '|')) => {
                return Err(self.error(TemplateProblem::ReservedOperator(operator)));
            }
            _ => (' ', expression),
        };
        let mut offset = start + expression.len() - names.len();
        let mut indices = Vec::new();
        for name in names.split(',') {
            self.offset = offset;
            indices.push(self.name(name)?);
            offset += name.len() + 1;
        }
        self.offset = start - 1;
        match operator {
            '?' | '&' => self.query(operator, indices),
            ';' => self.token(Token::Parameters(indices)),
            '#' if self.fragment.is_some() => Err(self.error(TemplateProblem::Misplaced(
                "a URI has one fragment, the template a second",
            ))),
            '#' => {
                self.fragment = Some(Vec::new());
                self.list('+', &indices)
            }
            _ => self.list(operator, &indices),
        }
    }

    /// A variable's name (RFC 6570 section 2.3), as its index.
    fn name(&mut self, name: &str) -> Result<usize, TemplateError> {
        let bare = name.split(['*', ':']).next().unwrap_or_default();
        if bare.len() != name.len() {
            return Err(self.error(TemplateProblem::Modifier(bare.to_owned())));
        }
        let valid = |part: &str| {
            !part.is_empty()
                && part
                    .bytes()
                    .all(|it| it.is_ascii_alphanumeric() || it == b'_')
        };
        if !name.split('.').all(valid) {
            return Err(self.error(TemplateProblem::BadName(name.to_owned())));
        }
        if self.names.iter().any(|known| &**known == name) {
            return Err(self.error(TemplateProblem::Duplicate(name.to_owned())));
        }
        self.names.push(name.into());
        Ok(self.names.len() - 1)
    }

    /// `{a,b}`, `{+a}`, `{.a,b}`, `{/a,b}`: values with a separator before or between them.
    fn list(&mut self, operator: char, indices: &[usize]) -> Result<(), TemplateError> {
        let separator = if matches!(operator, '.' | '/') {
            operator
        } else {
            ','
        };
        for (at, &index) in indices.iter().enumerate() {
            if at > 0 || separator != ',' {
                self.token(Token::Literal(separator.to_string()))?;
            }
            let kind = match operator {
                '+' => Kind::Reserved {
                    below: self.is_below(),
                },
                _ => Kind::Segment {
                    in_query: self.in_query && self.fragment.is_none(),
                },
            };
            self.token(Token::Variable(Slot { index, kind }))?;
        }
        Ok(())
    }

    /// `{?a,b}` and `{&a}`, which continue one another.
    fn query(&mut self, operator: char, indices: Vec<usize>) -> Result<(), TemplateError> {
        if self.fragment.is_some() {
            return Err(self.error(TemplateProblem::Misplaced(
                "a query expression cannot follow a fragment",
            )));
        }
        match &mut self.query {
            Some(query) if operator == '&' => query.members.extend(indices),
            None if (operator == '&') == self.in_query => {
                let after = self.in_query.then(|| ampersands(&self.path));
                self.query = Some(Query {
                    after,
                    members: indices,
                });
            }
            Some(_) => {
                return Err(self.error(TemplateProblem::Misplaced(
                    "a second `{?…}`, continue the first with `{&…}`",
                )));
            }
            None => {
                return Err(self.error(TemplateProblem::Misplaced(if self.in_query {
                    "`{?…}` after a literal `?`, continue it with `{&…}`"
                } else {
                    "`{&…}` continues a query, start it with `{?…}` or a literal `?`"
                })));
            }
        }
        Ok(())
    }

    /// Appends a token where its border with the one before can be found again.
    fn token(&mut self, token: Token) -> Result<(), TemplateError> {
        if self.fragment.is_none() && self.query.is_some() {
            return Err(self.error(TemplateProblem::Misplaced(
                "only `{&…}` and a fragment can follow a query expression",
            )));
        }
        let problem = border_problem(self.tokens(), &token);
        if let Some(problem) = problem {
            return Err(self.error(problem));
        }
        let tokens = match &mut self.fragment {
            Some(fragment) => fragment,
            None => &mut self.path,
        };
        match (tokens.last_mut(), token) {
            (Some(Token::Literal(last)), Token::Literal(more)) => last.push_str(&more),
            (_, Token::Literal(empty)) if empty.is_empty() => {}
            (_, token) => tokens.push(token),
        }
        Ok(())
    }

    fn tokens(&self) -> &[Token] {
        self.fragment.as_deref().unwrap_or(&self.path)
    }

    /// Whether a value here is relative to what the author wrote: not after `file://`, which an
    /// absolute path follows, nor after a host (`x://host{+path}`) or `#`.
    fn is_below(&self) -> bool {
        match self.tokens().last() {
            Some(Token::Literal(text)) => {
                text.ends_with(['/', ':']) && !text.eq_ignore_ascii_case("file://")
            }
            Some(Token::Variable(_) | Token::Parameters(_)) => false,
            None => self.fragment.is_none(),
        }
    }

    fn error(&self, problem: TemplateProblem) -> TemplateError {
        TemplateError {
            offset: self.offset,
            problem,
        }
    }
}

/// Why `next` cannot follow `tokens`.
fn border_problem(tokens: &[Token], next: &Token) -> Option<TemplateProblem> {
    let reserved = |it: &Token| {
        matches!(
            it,
            Token::Variable(Slot {
                kind: Kind::Reserved { .. },
                ..
            })
        )
    };
    if reserved(next) && tokens.iter().any(reserved) {
        return Some(TemplateProblem::TwoReserved);
    }
    match (tokens.last(), next) {
        (Some(Token::Variable(_)), Token::Variable(_)) => Some(TemplateProblem::Adjacent),
        (_, Token::Parameters(_)) if tokens.iter().any(reserved) => Some(
            TemplateProblem::Misplaced("`{;…}` cannot be told from the `{+…}` before it"),
        ),
        (Some(Token::Parameters(_)), Token::Literal(text)) if text.starts_with('/') => None,
        (Some(Token::Parameters(_)), _) => Some(TemplateProblem::Misplaced(
            "only `/`, a query or a fragment can follow `{;…}`",
        )),
        _ => None,
    }
}

/// How many ampersands the literal query of `path` has, up to now.
fn ampersands(path: &[Token]) -> usize {
    let mut texts = path.iter().filter_map(|token| match token {
        Token::Literal(text) => Some(text.as_str()),
        Token::Variable(_) | Token::Parameters(_) => None,
    });
    // Ampersands before the `?` are the path's own.
    let first = texts.find_map(|text| text.split_once('?'));
    let first = first.map_or("", |(_, query)| query);
    first.matches('&').count() + texts.map(|text| text.matches('&').count()).sum::<usize>()
}
