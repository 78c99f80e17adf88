//! A schema compiled for validation, never fetching anything.

use std::{fmt, sync::OnceLock};

use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::Value;

use super::check::Check;
use super::violations::{self, Violation};
use super::{SchemaError, reference};

/// A compiled schema.
///
/// # Dialects
///
/// Without `$schema` the dialect is 2020-12; 2019-09, draft-07, draft-06 and draft-04 are honoured
/// where `$schema` names them, anything else is an error (`26-07/basic` § Schema Dialect).
/// Formats are annotations in 2020-12 and 2019-09.
///
/// # Bounds
///
/// At most [`MAX_VALUES`] JSON values nested at most [`MAX_DEPTH`] deep (`26-07/basic`
/// § Composition-Keyword Resource Use); a pattern gives up after [`MAX_BACKTRACKS`] steps back.
pub(super) struct Rules {
    /// The schema as text, a fraction of the size of a tree.
    text: Box<str>,
    draft: Draft,
    /// Made at once where there is no check, which compiles for sound schemas alone; otherwise
    /// when the first value does not pass the check. It costs some megabytes and milliseconds.
    full: OnceLock<Option<Box<Full>>>,
    check: Option<Check>,
}

/// What words violations.
struct Full {
    schema: Value,
    validator: Validator,
}

impl Rules {
    /// Compiles `schema`.
    ///
    /// # Errors
    ///
    /// The schema is no valid one of its dialect, names a dialect not listed above, is too large,
    /// or has a `$ref` that only another document could resolve. Such a `$ref` is not fetched, and
    /// not ignored either (`26-07/basic` § `$ref` Resolution).
    pub(super) fn compile(schema: Value) -> Result<Self, SchemaError> {
        let mut values = 0;
        measure(&schema, 0, &mut values)?;
        let draft = draft(&schema)?;
        let check = matches!(draft, Draft::Draft202012).then(|| Check::compile(&schema));
        let check = check.flatten();
        let text = schema.to_string().into_boxed_str();
        let full = OnceLock::new();
        if check.is_none() {
            let compiled = Full::compile(schema, draft).map_err(|error| not_compiled(&error))?;
            let _ = full.set(Some(Box::new(compiled)));
        }
        Ok(Self {
            text,
            draft,
            full,
            check,
        })
    }

    fn full(&self) -> Option<&Full> {
        let compile = || {
            let schema = serde_json::from_str(&self.text).ok()?;
            Full::compile(schema, self.draft).ok().map(Box::new)
        };
        self.full.get_or_init(compile).as_deref()
    }

    /// The schema as a tree; null if it were none, which compiling has ruled out.
    pub(super) fn schema(&self) -> &Value {
        self.full().map_or(&Value::Null, |full| &full.schema)
    }

    /// Whether `text` is valid for certain, found out without a tree.
    pub(super) fn surely_accepts(&self, text: &str) -> bool {
        self.check.as_ref().is_some_and(|check| check.accepts(text))
    }

    /// Validates a JSON text.
    pub(super) fn validate_text(&self, text: &str) -> Result<(), Vec<Violation>> {
        if self.surely_accepts(text) {
            return Ok(());
        }
        self.validate_value(&violations::tree(text)?)
    }

    /// Validates a value; every violation is reported, up to a bound.
    pub(super) fn validate_value(&self, value: &Value) -> Result<(), Vec<Violation>> {
        let Some(Full { schema, validator }) = self.full() else {
            return Err(vec![Violation::new(String::new(), "cannot be validated")]);
        };
        if validator.is_valid(value) {
            return Ok(());
        }
        Err(violations::report(validator.iter_errors(value), schema))
    }
}

impl fmt::Debug for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rules")
            .field("schema", &self.text)
            .finish_non_exhaustive()
    }
}

impl Full {
    fn compile(schema: Value, draft: Draft) -> Result<Self, jsonschema::ValidationError<'static>> {
        let patterns = PatternOptions::fancy_regex().backtrack_limit(MAX_BACKTRACKS);
        let validator = jsonschema::options()
            .with_draft(draft)
            .offline()
            .with_pattern_options(patterns)
            .build(&schema)?;
        Ok(Self { schema, validator })
    }
}

/// The dialect `$schema` names.
fn draft(schema: &Value) -> Result<Draft, SchemaError> {
    let Some(dialect) = schema.get("$schema") else {
        return Ok(Draft::Draft202012);
    };
    let name = dialect.as_str().unwrap_or_default().trim_end_matches('#');
    let name = name
        .strip_prefix("https://")
        .or_else(|| name.strip_prefix("http://"));
    match name {
        Some("json-schema.org/draft/2020-12/schema") => Ok(Draft::Draft202012),
        Some("json-schema.org/draft/2019-09/schema") => Ok(Draft::Draft201909),
        Some("json-schema.org/draft-07/schema") => Ok(Draft::Draft7),
        Some("json-schema.org/draft-06/schema") => Ok(Draft::Draft6),
        Some("json-schema.org/draft-04/schema") => Ok(Draft::Draft4),
        _ => {
            let name = dialect.to_string();
            Err(SchemaError::UnsupportedDialect(
                reference::bounded(&name, 100).into_owned(),
            ))
        }
    }
}

/// Counts the values of a schema, and how deep they nest.
fn measure(value: &Value, depth: usize, values: &mut usize) -> Result<(), SchemaError> {
    *values += 1;
    if depth > MAX_DEPTH || *values > MAX_VALUES {
        return Err(SchemaError::TooLarge);
    }
    match value {
        Value::Array(items) => items
            .iter()
            .try_for_each(|it| measure(it, depth + 1, values)),
        Value::Object(members) => members
            .values()
            .try_for_each(|it| measure(it, depth + 1, values)),
        _ => Ok(()),
    }
}

fn not_compiled(error: &jsonschema::ValidationError<'_>) -> SchemaError {
    match error.kind() {
        ValidationErrorKind::Referencing(error) => {
            SchemaError::UnresolvedReference(error.to_string())
        }
        _ => {
            let place = error.instance_path().as_str();
            let place = if place.is_empty() { "the root" } else { place };
            let text = error.to_string();
            SchemaError::Invalid(format!("{} (at {place})", reference::bounded(&text, 200)))
        }
    }
}

/// See [`Rules`].
const MAX_VALUES: usize = 20_000;

/// See [`Rules`].
const MAX_DEPTH: usize = 64;

/// See [`Rules`].
const MAX_BACKTRACKS: usize = 100_000;
