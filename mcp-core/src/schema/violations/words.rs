//! The words of a report.

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::{JsonType, ValidationError};
use serde_json::Value;

use super::MAX_NAME;
use crate::schema::reference::{bounded, types};

/// What was expected where a plain keyword failed.
pub(super) fn expected(error: &ValidationError<'_>, schema: &Value) -> String {
    let limited = |relation, limit| limited(error, schema, relation, limit);
    match error.kind() {
        Kind::Type { kind } => format!("expected {}", nouns(kind)),
        Kind::Minimum { limit } => limited("of at least", limit),
        Kind::Maximum { limit } => limited("of at most", limit),
        Kind::ExclusiveMinimum { limit } => limited("greater than", limit),
        Kind::ExclusiveMaximum { limit } => limited("less than", limit),
        // The kind's own field depends on a feature of `jsonschema`.
        Kind::MultipleOf { .. } => match schema.pointer(error.schema_path().as_str()) {
            Some(of) => limited("that is a multiple of", of),
            None => NOT_ACCEPTED.to_owned(),
        },
        Kind::Constant { expected_value } => one_of(&[expected_value.as_ref()]),
        Kind::Enum { options } => {
            one_of(&options.as_array().into_iter().flatten().collect::<Vec<_>>())
        }
        Kind::MinLength { limit } => format!("expected at least {}", characters(*limit)),
        Kind::MaxLength { limit } => format!("expected at most {}", characters(*limit)),
        Kind::MinItems { limit } => format!("expected at least {}", items(*limit)),
        Kind::MaxItems { limit } => format!("expected at most {}", items(*limit)),
        Kind::MinProperties { limit } => format!("expected at least {limit} members"),
        Kind::MaxProperties { limit } => format!("expected at most {limit} members"),
        Kind::AdditionalItems { limit } => format!("expected at most {}", items(*limit as u64)),
        Kind::Pattern { pattern } => {
            format!(
                "expected a match of the pattern {}",
                bounded(pattern, MAX_PATTERN)
            )
        }
        Kind::Format { format } => format!("expected the format `{format}`"),
        kind => fixed(kind).to_owned(),
    }
}

fn limited(error: &ValidationError<'_>, schema: &Value, relation: &str, limit: &Value) -> String {
    let keyword = error.schema_path().as_str();
    let owner = keyword
        .rsplit_once('/')
        .and_then(|(owner, _)| schema.pointer(owner));
    let types: Vec<_> = owner.into_iter().flat_map(types).collect();
    let whole = types.contains(&"integer") && !types.contains(&"number");
    let noun = if whole { "an integer" } else { "a number" };
    format!("expected {noun} {relation} {limit}")
}

/// Texts that depend on nothing.
fn fixed(kind: &Kind) -> &'static str {
    match kind {
        Kind::FalseSchema => "not allowed",
        Kind::UniqueItems => "expected distinct items",
        Kind::Contains => "expected another number of matching items",
        Kind::UnevaluatedItems { .. } => "expected fewer items",
        Kind::OneOfMultipleValid { .. } => "expected a match of one alternative only",
        Kind::AnyOf { .. } | Kind::OneOfNotValid { .. } => NO_ALTERNATIVE,
        Kind::Not { .. } => "matches what is excluded",
        Kind::ContentEncoding { .. } | Kind::ContentMediaType { .. } | Kind::FromUtf8 { .. } => {
            "expected another content encoding or media type"
        }
        Kind::BacktrackLimitExceeded { .. } | Kind::RegexEngineFailure { .. } => {
            "takes too long to compare with its pattern"
        }
        _ => NOT_ACCEPTED,
    }
}

pub(super) fn nouns(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(one) => noun(*one).to_owned(),
        TypeKind::Multiple(many) => {
            // Null last, as people say it.
            let (null, rest): (Vec<_>, Vec<_>) = many
                .into_iter()
                .partition(|it| matches!(it, JsonType::Null));
            let names: Vec<_> = rest.into_iter().chain(null).map(noun).collect();
            names.join(" or ")
        }
    }
}

fn noun(of: JsonType) -> &'static str {
    match of {
        JsonType::Array => "an array",
        JsonType::Boolean => "a boolean",
        JsonType::Integer => "an integer",
        JsonType::Null => "null",
        JsonType::Number => "a number",
        JsonType::Object => "an object",
        JsonType::String => "a string",
    }
}

pub(super) fn one_of(values: &[&Value]) -> String {
    let shown = values.iter().take(MAX_OPTIONS).map(|value| {
        let text = value.to_string();
        bounded(&text, MAX_NAME).into_owned()
    });
    let shown: Vec<_> = shown.collect();
    let more = if values.len() > MAX_OPTIONS {
        ", …"
    } else {
        ""
    };
    let which = if values.len() == 1 { "" } else { "one of " };
    format!("expected {which}{}{more}", shown.join(", "))
}

fn characters(count: u64) -> String {
    format!("{count} character{}", if count == 1 { "" } else { "s" })
}

fn items(count: u64) -> String {
    format!("{count} item{}", if count == 1 { "" } else { "s" })
}

const NOT_ACCEPTED: &str = "not accepted";

pub(super) const NO_ALTERNATIVE: &str = "matches none of the accepted forms";

/// Characters of a pattern.
const MAX_PATTERN: usize = 200;

/// Values listed of a choice.
const MAX_OPTIONS: usize = 20;
