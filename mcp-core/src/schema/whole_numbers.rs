//! Whole numbers written with a point or an exponent, where the schema asks for an integer.
//!
//! JSON Schema 2020-12 validation 6.1.1: any number with a zero fractional part is an integer, so
//! `30.0` and `1e2` satisfy `"type":"integer"`. Serde refuses them for an integer field.

use std::fmt::Write as _;

use serde_json::Value;

use super::reference;

/// Turns such numbers in `tree`, read from `text`, into integers.
///
/// Digits are taken from the text: a float of more than 2^53 has lost some.
pub(super) fn take(tree: &mut Value, text: &str, schema: &Value) {
    let Some(rewritten) = rewrite(text) else {
        return;
    };
    let Ok(exact) = serde_json::from_str::<Value>(&rewritten) else {
        return;
    };
    Places {
        root: schema,
        visits: 0,
    }
    .visit(tree, &exact, schema);
}

struct Places<'s> {
    /// For `$ref`.
    root: &'s Value,
    /// Recursive alternatives can lead to one place in exponentially many ways.
    visits: usize,
}

impl Places<'_> {
    /// Goes through all that `schema` may say about `value`, alternatives included.
    fn visit(&mut self, value: &mut Value, exact: &Value, schema: &Value) {
        self.visits += 1;
        if self.visits > MAX_VISITS {
            return;
        }
        if value.is_f64() && reference::types(schema).any(|name| name == "integer") {
            value.clone_from(exact);
        }
        if let Some(target) = schema.get("$ref").and_then(Value::as_str)
            && let Some(target) = reference::local(self.root, target)
        {
            self.visit(value, exact, target);
        }
        for key in ["anyOf", "oneOf", "allOf"] {
            for branch in schema
                .get(key)
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
            {
                self.visit(value, exact, branch);
            }
        }
        for branch in ["then", "else"].iter().filter_map(|key| schema.get(key)) {
            self.visit(value, exact, branch);
        }
        self.inside(value, exact, schema);
    }

    /// Goes on with the members or items of `value`.
    fn inside(&mut self, value: &mut Value, exact: &Value, schema: &Value) {
        match (value, exact) {
            (Value::Object(members), Value::Object(exact)) => {
                for (name, value) in members {
                    if let Some(exact) = exact.get(name) {
                        self.member(name, value, exact, schema);
                    }
                }
            }
            (Value::Array(items), Value::Array(exact)) => {
                for (at, (value, exact)) in items.iter_mut().zip(exact).enumerate() {
                    let first = schema.get("prefixItems").and_then(|it| it.get(at));
                    if let Some(schema) = first.or_else(|| schema.get("items")) {
                        self.visit(value, exact, schema);
                    }
                }
            }
            _ => {}
        }
    }

    fn member(&mut self, name: &str, value: &mut Value, exact: &Value, schema: &Value) {
        let known = schema.get("properties").and_then(|it| it.get(name));
        if let Some(schema) = known {
            return self.visit(value, exact, schema);
        }
        // Which pattern a name matches is left open: they all may say integer.
        let patterns = schema.get("patternProperties").and_then(Value::as_object);
        for schema in patterns.into_iter().flat_map(|it| it.values()) {
            self.visit(value, exact, schema);
        }
        if let Some(schema) = schema.get("additionalProperties") {
            self.visit(value, exact, schema);
        }
    }
}

/// The JSON `text` with every whole number written as an integer; `None` if there is none.
fn rewrite(text: &str) -> Option<String> {
    let mut rewritten = String::with_capacity(text.len());
    let mut changed = false;
    let mut rest = text;
    while let Some(at) = rest.find(|it: char| it == '"' || it == '-' || it.is_ascii_digit()) {
        let (before, token) = rest.split_at(at);
        rewritten.push_str(before);
        let end = if token.starts_with('"') {
            string_end(token)
        } else {
            token.find(|it: char| !it.is_ascii_digit() && !"+-.eE".contains(it))
        };
        let (token, after) = token.split_at(end.unwrap_or(token.len()));
        match whole(token) {
            Some(integer) => {
                changed = true;
                rewritten.push_str(&integer);
            }
            None => rewritten.push_str(token),
        }
        rest = after;
    }
    rewritten.push_str(rest);
    changed.then_some(rewritten)
}

/// Where the string that `text` starts with ends.
fn string_end(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// The integer a JSON number with a point or an exponent stands for, if it is one.
fn whole(token: &str) -> Option<String> {
    if token.starts_with('"') || !token.contains(['.', 'e', 'E']) {
        return None;
    }
    let (mantissa, exponent) = token.split_once(['e', 'E']).unwrap_or((token, "0"));
    let exponent: i32 = exponent.parse().ok()?;
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", mantissa),
    };
    let (units, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    let digits = format!("{units}{fraction}");
    let point = i32::try_from(units.len()).ok()?.checked_add(exponent)?;
    if digits.bytes().all(|it| it == b'0') {
        return Some("0".to_owned());
    }
    let point = usize::try_from(point)
        .ok()
        .filter(|point| *point <= MAX_DIGITS + units.len())?;
    let (kept, dropped) = digits.split_at_checked(point).unwrap_or((&digits, ""));
    if !dropped.bytes().all(|it| it == b'0') {
        return None;
    }
    let kept = kept.trim_start_matches('0');
    let mut integer = String::new();
    // Writing to a string cannot fail.
    let _ = write!(
        integer,
        "{sign}{kept}{:0<1$}",
        "",
        point.saturating_sub(digits.len())
    );
    (integer.len() <= MAX_DIGITS).then_some(integer)
}

/// After so many the rest keeps its spelling.
const MAX_VISITS: usize = 100_000;

/// Of an integer that fits any Rust type.
const MAX_DIGITS: usize = 40;
