//! Whether reading into a type already proves that the type's schema is satisfied.

use serde_json::{Map, Value, json};

use super::reference::{is_annotation, types};

/// Whether whatever a derived `Deserialize` reads satisfies `schema`, as `schemars` derived it.
///
/// A list of what is known to be so: an object of scalars, options, lists and maps of these. Not
/// on it are rules serde knows nothing of (`minimum`, `pattern`, `uniqueItems`, …), and the places
/// where serde reads more than the schema says: nested structs (also read from arrays), enums
/// (unit variants also read from `{"A":null}`), and a flattened `Option`, which is absent where
/// its members do not fit. Those cost a streaming check.
///
/// An attribute that makes schema and type disagree (`schemars(with)`, `schemars(required)`) is
/// its author's promise.
pub(super) fn type_enforces(schema: &Map<String, Value>) -> bool {
    let empty = Map::new();
    let properties = schema
        .get("properties")
        .and_then(Value::as_object)
        .unwrap_or(&empty);
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.into_iter().flatten().any(|it| it == name);
    let known = |key: &String| ROOT.contains(&key.as_str()) || is_annotation(key);
    schema.get("type") == Some(&json!("object"))
        && schema.keys().all(known)
        && match schema.get("additionalProperties") {
            // `deny_unknown_fields`; without any field it is ours, and serde ignores members.
            Some(Value::Bool(false)) => !properties.is_empty(),
            // Next to fields it is a flattened map, which may be optional too.
            Some(more) => *more == json!(true) || properties.is_empty() && is_exact(more),
            None => true,
        }
        && properties.iter().all(|(name, property)| {
            is_exact(property) && (is_required(name) || may_be_absent(property))
        })
}

/// Whether serde reads just what `schema` says at this place.
fn is_exact(whole: &Value) -> bool {
    let Value::Object(schema) = whole else {
        return *whole == json!(true);
    };
    let mut keywords = schema
        .keys()
        .filter(|key| !is_annotation(key))
        .map(String::as_str);
    if !schema.contains_key("type") {
        return keywords.next().is_none();
    }
    let mut names = types(whole);
    let ((Some(name), None, _) | (Some(name), Some("null"), None)) =
        (names.next(), names.next(), names.next())
    else {
        return false;
    };
    match name {
        "string" | "boolean" | "number" | "null" => keywords.all(|key| key == "type"),
        "integer" => is_rust_integer(schema),
        "array" => {
            keywords.all(|key| key == "type" || key == "items")
                && schema.get("items").is_none_or(is_exact)
        }
        "object" => {
            let more = schema.get("additionalProperties");
            keywords.all(|key| key == "type" || key == "additionalProperties")
                && more.is_some_and(is_exact)
        }
        _ => false,
    }
}

/// Whether the limits are those `schemars` writes for the Rust type that `format` names.
fn is_rust_integer(schema: &Map<String, Value>) -> bool {
    let limits = match schema.get("format").and_then(Value::as_str) {
        Some("int8") => (Some(json!(i8::MIN)), Some(json!(i8::MAX))),
        Some("int16") => (Some(json!(i16::MIN)), Some(json!(i16::MAX))),
        Some("uint8") => (Some(json!(0)), Some(json!(u8::MAX))),
        Some("uint16") => (Some(json!(0)), Some(json!(u16::MAX))),
        Some("int32" | "int64" | "int128" | "int") => (None, None),
        Some("uint32" | "uint64" | "uint128" | "uint") => (Some(json!(0)), None),
        _ => return false,
    };
    let known = |key: &String| INTEGER.contains(&key.as_str()) || is_annotation(key);
    schema.keys().all(known)
        && (
            schema.get("minimum").cloned(),
            schema.get("maximum").cloned(),
        ) == limits
}

/// Whether a missing member is what it seems: an `Option`, or a field with a default.
fn may_be_absent(property: &Value) -> bool {
    let is_any = || property.get("type").is_none();
    types(property).any(|name| name == "null") || property.get("default").is_some() || is_any()
}

const ROOT: &[&str] = &["type", "properties", "required", "additionalProperties"];

const INTEGER: &[&str] = &["type", "minimum", "maximum"];
