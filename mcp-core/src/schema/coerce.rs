//! Reading values that arrive as text where the schema asks for more than text.

use std::collections::BTreeMap;

use serde_json::{Number, Value};

use super::reference;

/// A JSON object of `entries`, each value in the type `schema.properties.<name>` gives it.
///
/// Template variables (RFC 6570) and prompt arguments (`GetPromptRequest` of every revision) are
/// strings on the wire. One becomes a number or a boolean where the property's `type` allows
/// that, does not allow a string, and the text is exactly such a JSON value; anything else stays
/// a string, for the type or the schema to refuse. `$ref`, `anyOf` and `oneOf` are followed, so
/// that `Option` and newtypes work.
pub(crate) fn coerce_strings<'a>(
    entries: impl IntoIterator<Item = (&'a str, &'a str)>,
    schema: &Value,
) -> String {
    let mut members = BTreeMap::new();
    for (name, text) in entries {
        let property = schema.get("properties").and_then(|it| it.get(name));
        let value = property.and_then(|property| coerced(text, &wanted(schema, property)));
        let value = value.map_or_else(|| Value::from(text).to_string(), str::to_owned);
        members.insert(name, format!("{}:{value}", Value::from(name)));
    }
    let members: Vec<_> = members.into_values().collect();
    format!("{{{}}}", members.join(","))
}

/// `text` itself, if it is a JSON value of a wanted type.
fn coerced<'a>(text: &'a str, wanted: &[&str]) -> Option<&'a str> {
    if wanted.contains(&"string") {
        return None;
    }
    let is_number = || {
        let digits = |it: char| it.is_ascii_digit();
        text.starts_with(|it| it == '-' || digits(it))
            && text.ends_with(digits)
            && serde_json::from_str::<Number>(text).is_ok()
    };
    let fits = match text {
        "true" | "false" => wanted.contains(&"boolean"),
        _ => (wanted.contains(&"integer") || wanted.contains(&"number")) && is_number(),
    };
    fits.then_some(text)
}

/// Every `type` the schema allows at this place.
fn wanted<'s>(root: &'s Value, schema: &'s Value) -> Vec<&'s str> {
    let mut wanted = Vec::new();
    let mut pending = vec![schema];
    for _ in 0..MAX_SCHEMAS {
        let Some(schema) = pending.pop() else { break };
        let Some(schema) = reference::follow(root, schema) else {
            continue;
        };
        wanted.extend(reference::types(schema));
        let branches = ["anyOf", "oneOf", "allOf"]
            .iter()
            .filter_map(|key| schema.get(key));
        pending.extend(branches.filter_map(Value::as_array).flatten());
    }
    wanted
}

/// Larger unions are looked at no further; recursive ones would not end.
const MAX_SCHEMAS: usize = 64;
