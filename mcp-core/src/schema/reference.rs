//! Looking up what a local `$ref` means, and what a schema says about types.

use std::borrow::Cow;

use serde_json::Value;

/// The schema that `reference` (`#` or `#/…`, RFC 6901 section 6) names within `root`.
///
/// Anchors and other documents are not looked up: nothing that needs them is decided here.
pub(super) fn local<'s>(root: &'s Value, reference: &str) -> Option<&'s Value> {
    let fragment = reference.strip_prefix('#')?;
    if fragment.contains('%') {
        // Percent-encoded names are `jsonschema`'s to resolve.
        return None;
    }
    root.pointer(fragment)
}

/// Follows `$ref` until a schema without one, at most [`MAX_HOPS`] times.
pub(super) fn follow<'s>(root: &'s Value, mut schema: &'s Value) -> Option<&'s Value> {
    for _ in 0..MAX_HOPS {
        let Some(reference) = schema.get("$ref").and_then(Value::as_str) else {
            return Some(schema);
        };
        schema = local(root, reference)?;
    }
    None
}

/// The names in `type`, one or many (JSON Schema 2020-12 validation 6.1.1).
pub(super) fn types(schema: &Value) -> impl Iterator<Item = &str> {
    let (one, many) = match schema.get("type") {
        Some(Value::Array(types)) => (None, types.as_slice()),
        Some(Value::String(one)) => (Some(one.as_str()), [].as_slice()),
        _ => (None, [].as_slice()),
    };
    one.into_iter().chain(many.iter().filter_map(Value::as_str))
}

/// Whether a keyword asserts nothing in dialect 2020-12 (core 8.2.4, 8.3; validation 7 and 9).
pub(super) fn is_annotation(keyword: &str) -> bool {
    ANNOTATIONS.contains(&keyword) || keyword.starts_with("x-")
}

/// `text`, cut after `limit` characters.
pub(super) fn bounded(text: &str, limit: usize) -> Cow<'_, str> {
    match text.char_indices().nth(limit) {
        Some((end, _)) => Cow::Owned(format!("{}…", text.get(..end).unwrap_or_default())),
        None => Cow::Borrowed(text),
    }
}

/// Longer chains of references than this are not followed.
const MAX_HOPS: usize = 16;

/// See [`is_annotation`].
const ANNOTATIONS: &[&str] = &[
    "$comment",
    "$defs",
    "title",
    "description",
    "default",
    "examples",
    "format",
    "deprecated",
    "readOnly",
    "writeOnly",
    "$schema",
];
