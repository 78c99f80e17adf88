//! What the schema of one field comes down to.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::Reason;

/// The members of `schema` with `$ref` resolved within `root`, and without null: a field that may
/// be null may be left empty.
///
/// # Errors
///
/// `true`, `false` or no schema at all.
pub(super) fn plain(root: &Value, mut schema: Value) -> Result<Map<String, Value>, Reason> {
    let mut plain = Map::new();
    for _ in 0..MAX_HOPS {
        let Value::Object(mut members) = schema else {
            return Err(ANY.into());
        };
        let inner = inner(root, &mut members);
        // What a field says of itself comes before what its type says.
        for (keyword, value) in members {
            plain.entry(keyword).or_insert(value);
        }
        let Some(inner) = inner else {
            strip_null(&mut plain);
            return Ok(plain);
        };
        schema = inner;
    }
    Err(ANY.into())
}

/// Takes out a reference, or a choice of one schema or null, and gives what it stands for.
fn inner(root: &Value, members: &mut Map<String, Value>) -> Option<Value> {
    if let Some(Value::String(reference)) = members.get("$ref") {
        let target = root.pointer(reference.strip_prefix('#')?)?.clone();
        members.remove("$ref");
        return Some(target);
    }
    let is_null = |it: &Value| it.get("type").is_some_and(|it| it == "null");
    for keyword in ["anyOf", "oneOf"] {
        let branches = members.get(keyword).and_then(Value::as_array);
        let inner = match branches.map_or(&[][..], Vec::as_slice) {
            [inner, null] | [null, inner] if is_null(null) && !is_null(inner) => inner.clone(),
            _ => continue,
        };
        members.remove(keyword);
        return Some(inner);
    }
    None
}

fn strip_null(members: &mut Map<String, Value>) {
    if let Some(types) = members.get_mut("type")
        && let Some(names) = types.as_array_mut()
    {
        names.retain(|it| it != "null");
        if let [one] = names.as_slice() {
            *types = one.clone();
        }
    }
    if let Some(Value::Array(values)) = members.get_mut("enum") {
        values.retain(|it| !it.is_null());
    }
    if members.get("default").is_some_and(Value::is_null) {
        members.remove("default");
    }
}

/// Reads `members`, of which a form shows the `allowed` ones.
///
/// # Errors
///
/// Another keyword that is more than an annotation, or an allowed one with a senseless value.
pub(super) fn known<S: DeserializeOwned>(
    mut members: Map<String, Value>,
    allowed: &[&str],
) -> Result<S, Reason> {
    members.retain(|key, _| !ANNOTATIONS.contains(&key.as_str()) && !key.starts_with("x-"));
    if let Some(key) = members.keys().find(|key| !allowed.contains(&key.as_str())) {
        let allowed = allowed.join(", ");
        return Err(format!("a form has no `{key}` here; it has {allowed}").into());
    }
    serde_path_to_error::deserialize(Value::Object(members))
        .map_err(|error| format!("`{}` is not valid: {}", error.path(), error.inner()).into())
}

pub(super) const ANY: &str = "a form takes a text, a number, a whole number, a yes or no, a choice \
    or a list of choices; this is none of them, or several";

/// What a form leaves out. `type` is read before.
const ANNOTATIONS: &[&str] = &[
    "$comment",
    "$defs",
    "deprecated",
    "examples",
    "readOnly",
    "type",
    "writeOnly",
];

/// A field's type nests this many options and references at most.
const MAX_HOPS: usize = 16;
