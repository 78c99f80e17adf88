//! JSON Schema for peers that understand less of it.
//!
//! Pure functions on a schema as a value. They know where a schema has schemas inside (JSON
//! Schema 2020-12 core sections 10 and 11, and the names of older drafts), so that a `const`, a
//! `default` or a property that happens to be called `$ref` is left alone. They recurse as deep
//! as the schema nests, which is the server's own.

#[cfg(test)]
mod tests;

use serde_json::{Map, Value, json};

/// Whether the root says `type: object`, as `outputSchema` had to until 2026-07-28
/// (`2025-11-25/schema.ts` § Tool).
pub(crate) fn is_object_root(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("object")
}

/// Turns boolean property schemas into objects, `true` into `{}` and `false` into `{"not":{}}`.
///
/// Until 2025-11-25 the values of `inputSchema.properties` are objects (`schema.ts` § Tool), while
/// JSON Schema allows booleans there (core section 4.3.2) and generators write `true` for an
/// arbitrary value. Nested `properties` are treated alike, as clients walk them the same way.
pub(crate) fn without_boolean_properties(schema: &mut Map<String, Value>) {
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for property in properties.values_mut() {
            match property {
                Value::Bool(true) => *property = json!({}),
                Value::Bool(false) => *property = json!({"not": {}}),
                _ => {}
            }
        }
    }
    for_each_subschema(schema, &mut |inner| {
        if let Value::Object(inner) = inner {
            without_boolean_properties(inner);
        }
    });
}

/// The schema of `{"result": value}` for a value that satisfies `schema`.
///
/// Until 2026-07-28 structured content is an object, so other values travel wrapped
/// (`spec/revision-diff.md` section 6, as the TypeScript SDK does). `$defs`, `definitions` and
/// `$schema` move to the new root, and local references are rewritten to where things are now.
/// `None` if that cannot be done, because the schema identifies itself or its parts in another
/// way (`$id`, `$anchor`, dynamic references) or refers to places by escaped names; then the peer
/// gets text alone.
pub(crate) fn wrap_non_object_output(schema: Value) -> Option<Value> {
    let mut inner = match schema {
        Value::Bool(true) => Map::new(),
        Value::Object(inner) => inner,
        _ => return None,
    };
    if !rebase(&mut inner) {
        return None;
    }
    let mut root = Map::new();
    for keyword in ["$schema", "$defs", "definitions"] {
        root.extend(
            inner
                .remove(keyword)
                .map(|value| (keyword.to_owned(), value)),
        );
    }
    root.insert("type".to_owned(), "object".into());
    root.insert("properties".to_owned(), json!({"result": inner}));
    root.insert("required".to_owned(), json!(["result"]));
    Some(Value::Object(root))
}

/// Rewrites local references for a schema that moves to `#/properties/result`; whether that is
/// possible.
fn rebase(schema: &mut Map<String, Value>) -> bool {
    if IDENTITIES
        .iter()
        .any(|keyword| schema.contains_key(*keyword))
    {
        return false;
    }
    if let Some(Value::String(reference)) = schema.get_mut("$ref") {
        let Some(moved) = moved(reference) else {
            return false;
        };
        *reference = moved;
    }
    let mut possible = true;
    for_each_subschema(schema, &mut |inner| {
        if let Value::Object(inner) = inner {
            possible &= rebase(inner);
        }
    });
    possible
}

/// A reference after the move.
fn moved(reference: &str) -> Option<String> {
    let Some(pointer) = reference.strip_prefix('#') else {
        // Another document stays where it is.
        return Some(reference.to_owned());
    };
    let hoisted = pointer.starts_with("/$defs/") || pointer.starts_with("/definitions/");
    match pointer {
        _ if pointer.contains('%') => None,
        _ if hoisted => Some(reference.to_owned()),
        _ if pointer.is_empty() || pointer.starts_with('/') => {
            Some(format!("#/properties/result{pointer}"))
        }
        // An anchor's name.
        _ => None,
    }
}

/// Shows `visit` every schema directly inside `schema`.
fn for_each_subschema(schema: &mut Map<String, Value>, visit: &mut dyn FnMut(&mut Value)) {
    for (keyword, value) in schema {
        match (keyword.as_str(), value) {
            (keyword, Value::Object(schemas)) if NAMED.contains(&keyword) => {
                schemas.values_mut().for_each(&mut *visit);
            }
            (keyword, Value::Array(schemas)) if LISTED.contains(&keyword) => {
                schemas.iter_mut().for_each(&mut *visit);
            }
            (keyword, value @ (Value::Object(_) | Value::Bool(_))) if SINGLE.contains(&keyword) => {
                visit(value);
            }
            _ => {}
        }
    }
}

/// Keywords whose value is an object of schemas.
const NAMED: &[&str] = &[
    "$defs",
    "definitions",
    "dependencies",
    "dependentSchemas",
    "patternProperties",
    "properties",
];

/// Keywords whose value is a list of schemas.
const LISTED: &[&str] = &["allOf", "anyOf", "items", "oneOf", "prefixItems"];

/// Keywords whose value is a schema.
const SINGLE: &[&str] = &[
    "additionalItems",
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// Keywords by which a schema can be referred to other than by its place.
const IDENTITIES: &[&str] = &[
    "$anchor",
    "$dynamicAnchor",
    "$dynamicRef",
    "$id",
    "$recursiveAnchor",
    "$recursiveRef",
    "id",
];
