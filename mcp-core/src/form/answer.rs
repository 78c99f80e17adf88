//! Reading what the user filled in.

use std::fmt;

use mcp_types::{ElicitSchema, JsonObject};
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::Segment;

use super::accept::accept;
use crate::schema::Violation;

/// Reads the accepted `content` of a form with this `schema`.
///
/// No content is an empty form, and null is a field left empty. Members that are no fields are
/// ignored. A default of the schema is a suggestion to the user: a field left empty is what `T`
/// makes of it, `None` or its `serde(default)`.
///
/// # Errors
///
/// Everything in which the content breaks the schema; or else what `T` refuses for reasons of
/// its own.
///
/// # Security
///
/// `content` is attacker controlled. Of it nothing is repeated but what a `Deserialize` of the
/// application's own says.
pub(crate) fn read<T: DeserializeOwned>(
    schema: &ElicitSchema,
    content: Option<JsonObject>,
) -> Result<T, FormViolations> {
    let filled = Value::Object(filled(schema, content.unwrap_or_default())?);
    // Once more where it does not fit, to say where.
    T::deserialize(&filled)
        .or_else(|_| serde_path_to_error::deserialize(&filled).map_err(|error| refused(&error)))
}

/// In what an answer is not as the form asks; at most [`MAX_VIOLATIONS`], and that there are more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FormViolations(pub(crate) Vec<Violation>);

impl fmt::Display for FormViolations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("invalid answer: ")?;
        for (at, violation) in self.0.iter().enumerate() {
            let separator = if at == 0 { "" } else { "; " };
            write!(f, "{separator}{violation}")?;
        }
        Ok(())
    }
}

impl std::error::Error for FormViolations {}

/// The fields that are filled in, each as its type in the form.
fn filled(schema: &ElicitSchema, mut content: JsonObject) -> Result<JsonObject, FormViolations> {
    let (mut found, mut violations) = (0, Vec::new());
    for (name, field) in &schema.properties {
        let required = || schema.required.iter().flatten().any(|it| it == name);
        match content.get_mut(name).filter(|it| !it.is_null()) {
            Some(value) => match accept(field, value.take()) {
                Ok(accepted) => {
                    *value = accepted;
                    found += 1;
                }
                Err(expected) => violations.push(violation(name, expected)),
            },
            None if required() => violations.push(violation(name, "required")),
            None => {}
        }
    }
    if content.len() > found {
        let fields = schema.properties.iter();
        let given = fields.filter_map(|(name, _)| content.remove_entry(name));
        content = given.filter(|(_, value)| !value.is_null()).collect();
    }
    if violations.len() > MAX_VIOLATIONS {
        violations.truncate(MAX_VIOLATIONS);
        violations.push(violation("", "and more"));
    }
    if violations.is_empty() {
        Ok(content)
    } else {
        Err(FormViolations(violations))
    }
}

/// What a type refuses although the form allows it: a `Deserialize` with rules of its own, or a
/// hand-made form for a type it does not fit.
fn refused(error: &serde_path_to_error::Error<serde_json::Error>) -> FormViolations {
    let message = error.inner().to_string();
    let missing = message.strip_prefix("missing field `");
    if let Some(name) = missing.and_then(|it| it.strip_suffix('`')) {
        return FormViolations(vec![violation(name, "required")]);
    }
    let path = error.path().iter().next();
    let name = match path {
        Some(Segment::Map { key }) => key.as_str(),
        _ => "",
    };
    let standard = STANDARD.iter().any(|prefix| message.starts_with(prefix));
    let long = message.chars().nth(MAX_MESSAGE).is_some();
    let expected = if standard || long {
        "not accepted".to_owned()
    } else {
        message
    };
    FormViolations(vec![violation(name, expected)])
}

fn violation(field: &str, expected: impl Into<String>) -> Violation {
    Violation {
        path: field.to_owned(),
        expected: expected.into(),
    }
}

/// How serde's own messages start. They name Rust types.
const STANDARD: &[&str] = &[
    "invalid type",
    "invalid value",
    "invalid length",
    "unknown variant",
    "unknown field",
    "missing field",
    "duplicate field",
    "data did not match any variant",
    "no variant of enum",
    "can only flatten",
];

/// More violations are counted as one.
const MAX_VIOLATIONS: usize = 10;

/// Characters of what a type says of its own; longer texts are likely to repeat the answer.
const MAX_MESSAGE: usize = 200;
