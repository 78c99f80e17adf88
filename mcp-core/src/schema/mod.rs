//! JSON Schema of handler types, and reading what clients send against it.
//!
//! The published schema is the contract: what it refuses never reaches a handler, what it accepts
//! does. See [`ArgumentSchema::read`] for how that goes without a tree for an ordinary call.

mod check;
mod coerce;
mod enforce;
mod generate;
mod reference;
mod rules;
#[cfg(test)]
mod tests;
mod violations;
mod whole_numbers;

use std::fmt;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

pub(crate) use self::coerce::coerce_strings;
pub(crate) use self::generate::{InputSchema, input_schema_of, output_schema_of};
use self::rules::Rules;
use self::violations::Path;
pub(crate) use self::violations::Violation;

/// The schema of a tool's arguments, compiled once.
#[derive(Debug)]
pub(crate) struct ArgumentSchema {
    published: Map<String, Value>,
    description: Option<String>,
    rules: Rules,
    /// The type is read from `null`.
    unit: bool,
    /// Reading into the type is proof enough.
    type_enforces: bool,
}

impl ArgumentSchema {
    /// The schema of the argument type `T`.
    ///
    /// # Errors
    ///
    /// `T` can be something else than an object, or its schema does not compile: a bad pattern,
    /// a reference to another document.
    pub(crate) fn of<T: JsonSchema + ?Sized>() -> Result<Self, SchemaError> {
        let InputSchema {
            schema,
            description,
            unit,
        } = input_schema_of::<T>()?;
        let type_enforces = !unit && enforce::type_enforces(&schema);
        let mut checked = Value::Object(schema.clone());
        bound_integers(&mut checked);
        let rules = Rules::compile(checked)?;
        Ok(Self {
            published: generate::published(schema),
            description,
            rules,
            unit,
            type_enforces,
        })
    }

    /// A schema written by hand, or made at run time.
    ///
    /// A missing `properties` is added, see [`input_schema_of`]; all else is published unchanged.
    ///
    /// # Errors
    ///
    /// The root is not `type: object`, or the schema does not compile, see [`Rules::compile`].
    pub(crate) fn by_hand(mut schema: Map<String, Value>) -> Result<Self, SchemaError> {
        if schema.get("type").and_then(Value::as_str) != Some("object") {
            return Err(SchemaError::NotAnObject(
                "`type` is not `object` at the root".to_owned(),
            ));
        }
        schema.entry("properties").or_insert_with(|| json!({}));
        let rules = Rules::compile(Value::Object(schema.clone()))?;
        Ok(Self {
            published: schema,
            description: None,
            rules,
            unit: false,
            type_enforces: false,
        })
    }

    /// What `tools/list` shows, in the newest revision's shape.
    ///
    /// It is moved out, since only whoever lists it needs it from then on.
    pub(crate) fn take_published(&mut self) -> Map<String, Value> {
        std::mem::take(&mut self.published)
    }

    /// The argument type's documentation.
    pub(crate) fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }

    /// Reads arguments into the handler's type; left out and null are `{}`.
    ///
    /// 1. The text is read straight into `T`.
    /// 2. Where the schema says more than `T` enforces, decided when it was compiled, a streaming
    ///    check without a tree says whether the text satisfies the schema for certain. Only what
    ///    that check does not cover is read into a tree and validated.
    /// 3. Where step 1 fails, a tree is read, whole numbers such as `30.0` and `1e2` become
    ///    integers where the schema says integer (JSON Schema 2020-12 validation 6.1.1), and the
    ///    tree is validated and read again.
    ///
    /// # Errors
    ///
    /// [`ArgumentsError::NotAnObject`] for JSON that is no object; otherwise every violation.
    ///
    /// # Security
    ///
    /// `raw` is attacker controlled. Nesting is bounded by `serde_json`, reports are bounded.
    pub(crate) fn read<T: DeserializeOwned>(
        &self,
        raw: Option<&RawValue>,
    ) -> Result<T, ArgumentsError> {
        let text = object_text(raw)?;
        let read = serde_json::from_str(if self.unit { "null" } else { text });
        match read {
            Ok(value) if self.type_enforces => Ok(value),
            Ok(value) => {
                self.rules.validate_text(text)?;
                Ok(value)
            }
            Err(error) => self.read_again(text, &error),
        }
    }

    /// Checks the arguments of a tool without a type; left out and null are `{}`.
    ///
    /// # Errors
    ///
    /// As for [`Self::read`].
    pub(crate) fn validate(&self, raw: Option<&RawValue>) -> Result<(), ArgumentsError> {
        Ok(self.rules.validate_text(object_text(raw)?)?)
    }

    #[cold]
    fn read_again<T: DeserializeOwned>(
        &self,
        text: &str,
        error: &serde_json::Error,
    ) -> Result<T, ArgumentsError> {
        if error.to_string().starts_with("duplicate field") {
            // A tree would silently keep the last one.
            let mut reader = serde_json::Deserializer::from_str(text);
            let read = serde_path_to_error::deserialize::<_, T>(&mut reader);
            return Err(read
                .map_or_else(|it| refused(&it, &Value::Null), |_| Vec::new())
                .into());
        }
        let tree = self.valid_tree(text)?;
        let read = serde_path_to_error::deserialize(&tree);
        Ok(read.map_err(|error| refused(&error, &tree))?)
    }

    fn valid_tree(&self, text: &str) -> Result<Value, Vec<Violation>> {
        let mut tree = violations::tree(text)?;
        whole_numbers::take(&mut tree, text, self.rules.schema());
        self.rules.validate_value(&tree)?;
        Ok(tree)
    }
}

/// The schema of a tool's structured results, compiled once.
#[derive(Debug)]
pub(crate) struct OutputSchema {
    rules: Rules,
}

impl OutputSchema {
    /// The schema of a type, see [`output_schema_of`], or one written by hand; any root.
    ///
    /// # Errors
    ///
    /// The schema does not compile, see [`Rules::compile`].
    pub(crate) fn by_hand(schema: Value) -> Result<Self, SchemaError> {
        Rules::compile(schema).map(|rules| Self { rules })
    }

    /// Validates the text of a result before it is sent, mostly without a tree
    /// (`26-07/server/tools` § Output Schema: MUST conform).
    pub(crate) fn validate_text(&self, text: &str) -> Result<(), Vec<Violation>> {
        self.rules.validate_text(text)
    }
}

/// Why a schema cannot be used; a mistake of the server's author.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SchemaError {
    /// Not a valid schema of its dialect.
    #[error("the schema is not valid: {0}")]
    Invalid(String),
    /// Arguments are always a JSON object (`schema.ts` § Tool `inputSchema`).
    #[error("arguments must be a JSON object, but {0}")]
    NotAnObject(String),
    /// Too many values, or nested too deep.
    #[error("the schema is too large or nested too deep")]
    TooLarge,
    /// A `$ref` to nowhere or to another document, which is never fetched.
    #[error("a `$ref` cannot be resolved within the schema: {0}")]
    UnresolvedReference(String),
    /// `$schema` names a dialect that is not supported.
    #[error("the JSON Schema dialect {0} is not supported")]
    UnsupportedDialect(String),
}

/// Why arguments did not reach a handler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ArgumentsError {
    /// Not a JSON object: the request itself is malformed (`-32602` in every revision).
    NotAnObject,
    /// An object that breaks the tool's schema: a tool result with `isError`.
    Violations(Vec<Violation>),
}

impl fmt::Display for ArgumentsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Violations(violations) = self else {
            return f.write_str("`arguments` must be a JSON object");
        };
        f.write_str("invalid arguments: ")?;
        for (at, violation) in violations.iter().enumerate() {
            let separator = if at == 0 { "" } else { "; " };
            write!(f, "{separator}{violation}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ArgumentsError {}

impl From<Vec<Violation>> for ArgumentsError {
    fn from(violations: Vec<Violation>) -> Self {
        Self::Violations(violations)
    }
}

/// The text of an arguments object.
fn object_text(raw: Option<&RawValue>) -> Result<&str, ArgumentsError> {
    match raw.map_or("null", RawValue::get).trim() {
        "null" => Ok("{}"),
        text if text.starts_with('{') => Ok(text),
        _ => Err(ArgumentsError::NotAnObject),
    }
}

/// What a type refused although the schema accepts it: a `Deserialize` with rules of its own.
fn refused(error: &serde_path_to_error::Error<serde_json::Error>, tree: &Value) -> Vec<Violation> {
    let mut path = Path::default();
    let mut place = Some(tree);
    for segment in error.path() {
        match segment {
            serde_path_to_error::Segment::Map { key } => {
                path.member(key);
                place = place.and_then(|it| it.get(key));
            }
            serde_path_to_error::Segment::Seq { index } => {
                path.index(*index);
                place = place.and_then(|it| it.get(index));
            }
            _ => {}
        }
    }
    let message = error.inner().to_string();
    let message = message.split(" at line ").next().unwrap_or_default();
    let quoted = |prefix| {
        message
            .strip_prefix(prefix)
            .and_then(|it| it.split('`').next())
    };
    let expected = if let Some(name) = quoted("missing field `") {
        path.member(name);
        "required"
    } else if let Some(name) = quoted("duplicate field `") {
        path.member(name);
        "given twice"
    } else if let Some(name) = quoted("unknown field `") {
        path.member(name);
        "not a known member"
    } else if STANDARD.iter().any(|prefix| message.starts_with(prefix)) || repeats(message, place) {
        "not accepted"
    } else {
        message
    };
    vec![Violation::new(path.finish(), expected)]
}

/// Whether a message repeats a long text of the client's.
fn repeats(message: &str, place: Option<&Value>) -> bool {
    let long = |text: &str| text.char_indices().nth(MAX_REPEATED).map(|(end, _)| end);
    let start = place
        .and_then(Value::as_str)
        .and_then(|text| text.get(..long(text)?));
    start.is_some_and(|start| message.contains(start))
}

/// Gives `type: integer` the limits of its Rust type, so that a violation can name them.
///
/// `schemars` says `"format":"uint32"` and no `maximum`. Only for schemas of types.
fn bound_integers(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            let format = members.get("format").and_then(Value::as_str);
            let limits = match format {
                Some("int32") => Some((json!(i32::MIN), json!(i32::MAX))),
                Some("uint32") => Some((json!(u32::MIN), json!(u32::MAX))),
                Some("int64" | "int") => Some((json!(i64::MIN), json!(i64::MAX))),
                Some("uint64" | "uint") => Some((json!(u64::MIN), json!(u64::MAX))),
                _ => None,
            };
            if let Some((minimum, maximum)) = limits {
                members.entry("minimum").or_insert(minimum);
                members.entry("maximum").or_insert(maximum);
            }
            for (keyword, member) in members {
                if !matches!(keyword.as_str(), "default" | "const" | "enum" | "examples") {
                    bound_integers(member);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(bound_integers),
        _ => {}
    }
}

/// How serde's own messages start. They name Rust types.
const STANDARD: &[&str] = &[
    "invalid type",
    "invalid value",
    "invalid length",
    "unknown variant",
    "data did not match any variant",
    "no variant of enum",
    "can only flatten",
    "trailing",
    "expected",
    "key must be",
];

/// Characters of a client's text that may be repeated.
const MAX_REPEATED: usize = 40;
