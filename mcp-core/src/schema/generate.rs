//! JSON Schema for handler types, in the shape every client takes.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use schemars::generate::{Contract, SchemaSettings};
use serde_json::{Map, Value, json};

use super::SchemaError;
use super::reference;

/// What the argument type of a handler says about its arguments.
#[derive(Debug)]
pub(crate) struct InputSchema {
    /// An object schema with `properties`, without `$schema`, title and description.
    pub(crate) schema: Map<String, Value>,
    /// The type's documentation, which describes the tool.
    pub(crate) description: Option<String>,
    /// The type is read from `null`: `()` or a unit struct.
    pub(crate) unit: bool,
}

/// The schema of `T` as arguments.
///
/// The root is `type: object` in every revision (`schema.ts` § Tool `inputSchema`) and always has
/// `properties`, without which several model back ends refuse the tool. A type without fields
/// gives `{"type":"object","properties":{},"additionalProperties":false}`, the form recommended
/// by `26-07/server/tools` § Tool. `$schema` is left out: the dialect is the default one, 2020-12
/// (`26-07/basic` § Schema Dialect).
///
/// # Errors
///
/// [`SchemaError::NotAnObject`] if no object, or not only objects, satisfy the schema of `T`.
pub(crate) fn input_schema_of<T: JsonSchema + ?Sized>() -> Result<InputSchema, SchemaError> {
    let mut root = generate::<T>(Contract::Deserialize);
    let mut description = None;
    for _ in 0..MAX_INLINED {
        description = description.or_else(|| text(root.remove("description")));
        root.remove("title");
        if !inline_root(&mut root) {
            break;
        }
    }
    let unit = root.get("type").and_then(Value::as_str) == Some("null");
    if unit || is_fieldless(&root) {
        let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
        return Ok(InputSchema {
            schema: object(schema),
            description,
            unit,
        });
    }
    let whole = Value::Object(root);
    if !whole.as_object().is_some_and(accepts_anything) {
        only_objects(&whole, &whole, 0).map_err(SchemaError::NotAnObject)?;
    }
    let mut schema = object(whole);
    schema.insert("type".to_owned(), "object".into());
    schema.entry("properties").or_insert_with(|| json!({}));
    drop_unused_definitions(&mut schema);
    Ok(InputSchema {
        schema,
        description,
        unit,
    })
}

/// The schema of `T` as a result, any root (`26-07/server/tools` § Output Schema); older revisions
/// get it wrapped by their adapters.
pub(crate) fn output_schema_of<T: JsonSchema + ?Sized>() -> Value {
    let mut root = generate::<T>(Contract::Serialize);
    root.remove("title");
    if root.get("description").is_none() && inline_root(&mut root) {
        root.remove("title");
    }
    drop_unused_definitions(&mut root);
    Value::Object(root)
}

/// What clients are shown: a mirrored `Option` as its inner type.
///
/// `x-mcp-header` must be on a property of type string, integer or boolean, and clients drop a
/// tool that breaks this (`26-07/server/tools` § x-mcp-header). Left out and null are the same to
/// them, so `["string","null"]` is published as `"string"`, and null goes on being accepted.
pub(super) fn published(mut schema: Map<String, Value>) -> Map<String, Value> {
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for property in properties.values_mut().filter_map(Value::as_object_mut) {
            if property.contains_key("x-mcp-header")
                && let Some(inner) = property.get("type").and_then(only_nullable)
            {
                property.insert("type".to_owned(), inner);
                property.retain(|key, value| key != "default" || !value.is_null());
            }
            *property = published(std::mem::take(property));
        }
    }
    schema
}

/// The type beside null in a `type` of two.
fn only_nullable(types: &Value) -> Option<Value> {
    match types.as_array()?.as_slice() {
        [inner, null] | [null, inner] if null.as_str() == Some("null") => Some(inner.clone()),
        _ => None,
    }
}

fn generate<T: JsonSchema + ?Sized>(contract: Contract) -> Map<String, Value> {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.contract = contract;
    });
    object(
        settings
            .into_generator()
            .into_root_schema_for::<T>()
            .to_value(),
    )
}

/// Replaces a root that is only a reference, or such a reference or null (`Option`), by what it
/// refers to; whether it did.
fn inline_root(root: &mut Map<String, Value>) -> bool {
    let is_only = |schema: &Map<String, Value>, keyword: &str| {
        schema
            .keys()
            .all(|key| key == keyword || key == "$defs" || key == "default")
    };
    let inner = if let Some(branches) = root.get("anyOf").filter(|_| is_only(root, "anyOf")) {
        let branches = branches.as_array().map_or(&[][..], |it| it);
        match branches {
            [inner, null] if *null == json!({"type": "null"}) => inner.as_object().cloned(),
            _ => None,
        }
    } else if let Some(Value::String(name)) = root.get("$ref").filter(|_| is_only(root, "$ref")) {
        let whole = Value::Object(root.clone());
        let target = reference::local(&whole, name).filter(|_| name != "#");
        target.and_then(Value::as_object).cloned()
    } else {
        None
    };
    let Some(mut inner) = inner else { return false };
    if let Some(definitions) = root.remove("$defs") {
        inner.insert("$defs".to_owned(), definitions);
    }
    *root = inner;
    true
}

/// A struct without fields, which `schemars` shows as `{"type":"object"}`.
fn is_fieldless(root: &Map<String, Value>) -> bool {
    let closed = |key: &str, value: &Value| key == "additionalProperties" && *value == json!(false);
    root.get("type").and_then(Value::as_str) == Some("object")
        && root
            .iter()
            .all(|(key, value)| key == "type" || key == "$defs" || closed(key, value))
}

fn accepts_anything(root: &Map<String, Value>) -> bool {
    root.keys().all(|key| key == "$defs" || key == "default")
}

/// Whether only objects satisfy `schema`; if not, what does.
fn only_objects(root: &Value, schema: &Value, depth: usize) -> Result<(), String> {
    let mut types = reference::types(schema)
        .filter(|name| *name != "null")
        .peekable();
    if types.peek().is_some() {
        return match types.find(|name| *name != "object") {
            Some(other) => Err(format!("a value of type `{other}` is accepted")),
            None => Ok(()),
        };
    }
    if depth < MAX_INLINED {
        if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
            let target = reference::local(root, name).filter(|_| name != "#");
            return match target {
                Some(target) => only_objects(root, target, depth + 1),
                None => Err(format!("`{name}` is not known to be an object")),
            };
        }
        if let Some(branches) = schema.get("oneOf").or_else(|| schema.get("anyOf")) {
            let mut branches = branches.as_array().map_or(&[][..], |it| it).iter();
            return branches.try_for_each(|branch| only_objects(root, branch, depth + 1));
        }
    }
    Err("other values than objects are accepted".to_owned())
}

/// Drops the definitions nothing refers to any more, directly or through another one.
fn drop_unused_definitions(root: &mut Map<String, Value>) {
    let Some(Value::Object(mut definitions)) = root.remove("$defs") else {
        return;
    };
    let mut used = BTreeSet::new();
    let mut pending = Vec::new();
    root.values()
        .for_each(|value| references(value, &mut pending));
    while let Some(reference) = pending.pop() {
        let Some(path) = reference.strip_prefix("#/$defs/") else {
            continue;
        };
        let name = path.split('/').next().unwrap_or(path);
        let name = name.replace("~1", "/").replace("~0", "~");
        if used.insert(name.clone())
            && let Some(definition) = definitions.get(&name)
        {
            references(definition, &mut pending);
        }
    }
    definitions.retain(|name, _| used.contains(name));
    if !definitions.is_empty() {
        root.insert("$defs".to_owned(), Value::Object(definitions));
    }
}

/// Collects every `$ref`. One inside a `default` or `const` is taken for one too, to no harm.
fn references(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            found.extend(text(members.get("$ref").cloned()));
            members
                .values()
                .for_each(|member| references(member, found));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

fn text(value: Option<Value>) -> Option<String> {
    match value {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

/// A type nests this many newtypes and options at its root at most.
const MAX_INLINED: usize = 8;
