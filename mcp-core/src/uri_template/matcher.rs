//! Matching a URI in one pass; the rules are in the module's own documentation.
//!
//! Each token looks for the literal after it with [`str::find`], which is linear, from where the
//! token before it stopped. With `k` variables that is O(k · n) at worst, and `k` is the author's.
//! Shortest-first loses no match: a variable never crosses a `/`, so within a segment an earlier
//! literal only leaves more to those after it, and a literal with a `/` has one place to be.

use std::sync::Arc;

use super::encoding::{decode, lower_scheme, normalize};
use super::{Kind, Query, Refusal, RefusalReason, Slot, Token, UriTemplate, Variables};

/// Matches `uri`; see [`UriTemplate::matches`].
pub(super) fn matches(template: &UriTemplate, uri: &str) -> Result<Option<Variables>, Refusal> {
    let mut normal = normalize(uri);
    lower_scheme(&mut normal);
    let mut found = Found {
        template,
        values: vec![None; template.names.len()],
        repeated: None,
    };
    if found.uri(&normal).is_none() {
        return Ok(None);
    }
    found.decode().map(Some)
}

/// The pieces found so far, still encoded, in the order of [`UriTemplate::names`].
struct Found<'t, 'u> {
    template: &'t UriTemplate,
    values: Vec<Option<(Kind, &'u str)>>,
    /// A member that came twice. Told only if everything else matches.
    repeated: Option<usize>,
}

impl<'u> Found<'_, 'u> {
    fn uri(&mut self, uri: &'u str) -> Option<()> {
        let template = self.template;
        let rest = match &template.fragment {
            Some(tokens) => {
                let (rest, fragment) = uri.split_once('#')?;
                self.tokens(tokens, fragment)?;
                rest
            }
            None => uri,
        };
        let Some(query) = &template.query else {
            return self.tokens(&template.path, rest);
        };
        let (path, members) = split_query(query, rest);
        self.tokens(&template.path, path)?;
        match members {
            // Without a fragment of its own the template describes no URI that has one.
            Some(members) if members.contains('#') => None,
            Some(members) => {
                self.members(&query.members, members.split('&'));
                Some(())
            }
            None => Some(()),
        }
    }

    /// Matches `tokens` against all of `text`.
    fn tokens(&mut self, tokens: &[Token], text: &'u str) -> Option<()> {
        let reserved = tokens.iter().position(|token| {
            matches!(
                token,
                Token::Variable(Slot {
                    kind: Kind::Reserved { .. },
                    ..
                })
            )
        });
        let Some(at) = reserved else {
            return self.forward(tokens, text, true)?.is_empty().then_some(());
        };
        let (before, rest) = tokens.split_at(at);
        let (reserved, after) = rest.split_first()?;
        let text = self.forward(before, text, false)?;
        let text = self.backward(after, text)?;
        match reserved {
            Token::Variable(slot) => self.store(*slot, text),
            Token::Literal(_) | Token::Parameters(_) => None,
        }
    }

    /// Matches from the left; gives what is left over. `to_end` says that nothing may be.
    fn forward(&mut self, tokens: &[Token], mut text: &'u str, to_end: bool) -> Option<&'u str> {
        let mut tokens = tokens.iter().peekable();
        while let Some(token) = tokens.next() {
            text = match token {
                Token::Literal(literal) => text.strip_prefix(literal.as_str())?,
                Token::Parameters(members) => {
                    let (parameters, rest) = text.split_at(text.find('/').unwrap_or(text.len()));
                    match parameters.strip_prefix(';') {
                        Some(parameters) => self.members(members, parameters.split(';')),
                        None if parameters.is_empty() => {}
                        None => return None,
                    }
                    rest
                }
                Token::Variable(slot) => {
                    let next = tokens.peek().copied();
                    let last = to_end && tokens.len() <= 1;
                    let (value, rest) = text.split_at(shortest(text, next, last)?);
                    self.store(*slot, value)?;
                    rest
                }
            };
        }
        Some(text)
    }

    /// Matches from the right; gives what is left over for the reserved variable.
    fn backward(&mut self, tokens: &[Token], mut text: &'u str) -> Option<&'u str> {
        let mut tokens = tokens.iter().rev().peekable();
        while let Some(token) = tokens.next() {
            text = match token {
                Token::Literal(literal) => text.strip_suffix(literal.as_str())?,
                Token::Variable(slot) => {
                    // A literal it is, see `border_problem`; the value must not be empty.
                    let Some(Token::Literal(before)) = tokens.peek() else {
                        return None;
                    };
                    let last = text.chars().next_back()?.len_utf8();
                    let searched = text.get(..text.len() - last)?;
                    let (rest, value) = text.split_at(searched.rfind(before)? + before.len());
                    self.store(*slot, value)?;
                    rest
                }
                Token::Parameters(_) => return None,
            };
        }
        Some(text)
    }

    /// Takes the known ones out of `name=value` members; a member without `=` is empty.
    fn members(&mut self, known: &[usize], members: impl Iterator<Item = &'u str>) {
        for member in members {
            let (name, value) = member.split_once('=').unwrap_or((member, ""));
            let is_named = |&&index: &&usize| {
                self.template
                    .names
                    .get(index)
                    .is_some_and(|it| &**it == name)
            };
            let Some(&index) = known.iter().find(is_named) else {
                continue;
            };
            match self.values.get_mut(index) {
                Some(Some(_)) => self.repeated = Some(index),
                Some(slot) => *slot = Some((Kind::Member, value)),
                None => {}
            }
        }
    }

    /// Keeps a required value, if it can be one.
    fn store(&mut self, slot: Slot, value: &'u str) -> Option<()> {
        let fits = match slot.kind {
            Kind::Segment { in_query: false } => !value.contains(['/', '?', '#']),
            Kind::Segment { in_query: true } => !value.contains(['/', '?', '#', '&']),
            Kind::Reserved { .. } | Kind::Member => true,
        };
        if value.is_empty() || !fits {
            return None;
        }
        *self.values.get_mut(slot.index)? = Some((slot.kind, value));
        Some(())
    }

    /// Decodes what was found, once, and looks at the result.
    fn decode(self) -> Result<Variables, Refusal> {
        let names = &self.template.names;
        let refuse = |variable: &Arc<str>, reason| {
            Err(Refusal {
                variable: Arc::clone(variable),
                reason,
            })
        };
        if let Some(name) = self.repeated.and_then(|index| names.get(index)) {
            return refuse(name, RefusalReason::Repeated);
        }
        let mut entries = Vec::with_capacity(names.len());
        for (name, value) in names.iter().zip(self.values) {
            let Some((kind, value)) = value else { continue };
            let value = match decode(value) {
                Ok(value) => value,
                Err(reason) => return refuse(name, reason),
            };
            if !self.template.unsafe_paths
                && let Some(reason) = danger(kind, &value)
            {
                return refuse(name, reason);
            }
            entries.push((Arc::clone(name), value));
        }
        Ok(Variables { entries })
    }
}

/// Cuts the members of a query expression off; `None` if there are none.
fn split_query<'u>(query: &Query, uri: &'u str) -> (&'u str, Option<&'u str>) {
    let Some(ampersands) = query.after else {
        return match uri.split_once('?') {
            Some((path, members)) => (path, Some(members)),
            None => (uri, None),
        };
    };
    let start = uri.find('?').unwrap_or(uri.len());
    let mut cuts = uri.match_indices('&').filter(|&(at, _)| at > start);
    match cuts
        .nth(ampersands)
        .and_then(|(at, _)| uri.split_at_checked(at))
    {
        Some((path, members)) => (path, members.get(1..)),
        None => (uri, None),
    }
}

/// Where a variable ends that starts `text` and takes as little as it can.
fn shortest(text: &str, next: Option<&Token>, last: bool) -> Option<usize> {
    let first = text.chars().next()?.len_utf8();
    let after = text.get(first..)?;
    match next {
        None => Some(text.len()),
        Some(Token::Literal(literal)) if last => after
            .strip_suffix(literal.as_str())
            .map(|value| first + value.len()),
        Some(Token::Literal(literal)) => Some(first + after.find(literal.as_str())?),
        Some(Token::Parameters(_)) => Some(first + after.find([';', '/']).unwrap_or(after.len())),
        Some(Token::Variable(_)) => None,
    }
}

/// Why `value` could leave the place the template's author gave it.
fn danger(kind: Kind, value: &str) -> Option<RefusalReason> {
    let one_segment = matches!(kind, Kind::Segment { .. });
    let below = !matches!(kind, Kind::Reserved { below: false });
    let drive = cfg!(windows) && value.as_bytes().get(1) == Some(&b':');
    if value.contains('\0') {
        Some(RefusalReason::Nul)
    } else if value.contains('\\') {
        Some(RefusalReason::Backslash)
    } else if value
        .split('/')
        .any(|segment| matches!(segment, "." | ".."))
    {
        Some(RefusalReason::DotSegment)
    } else if one_segment && value.contains('/') {
        Some(RefusalReason::Slash)
    } else if below && (value.starts_with('/') || drive) {
        Some(RefusalReason::AbsolutePath)
    } else {
        None
    }
}
