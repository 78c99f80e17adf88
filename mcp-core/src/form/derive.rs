//! From the JSON Schema of a type to a form.

use mcp_types::{ElicitSchema, MultiSelectEnumSchema, NumberSchema, PrimitiveSchemaDefinition};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Map, Value, json};

use super::choices::Choices;
use super::shape::{ANY, known, plain};
use super::{FormError, Reason, check, order};

/// The form that `T` describes.
///
/// # Errors
///
/// A field, or `T` itself, is nothing a form can show.
pub(super) fn schema_of<T: JsonSchema + DeserializeOwned>() -> Result<ElicitSchema, FormError> {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let root = settings.into_generator().into_root_schema_for::<T>();
    form(&root.to_value(), order::declared::<T>())
}

/// The form that `root` describes, its fields in the order of `declared`.
pub(super) fn form(root: &Value, declared: &[&str]) -> Result<ElicitSchema, FormError> {
    let mut members = plain(root, root.clone()).map_err(FormError::Root)?;
    let mut properties = named_fields(&mut members)?;
    properties.sort_by_key(|(name, _)| {
        let place = declared.iter().position(|it| it == name);
        place.unwrap_or(usize::MAX)
    });
    let required = members.get("required").and_then(Value::as_array);
    let required = |name: &str| required.into_iter().flatten().any(|it| it == name);
    let mut form = ElicitSchema::new();
    for (name, property) in properties {
        let mut field = field(root, property).map_err(|reason| FormError::field(&name, reason))?;
        check::drop_bad_default(&mut field);
        form = if required(&name) {
            form.required_property(name, field)
        } else {
            form.property(name, field)
        };
    }
    check::check(&form)?;
    Ok(form)
}

/// Takes the properties out of an object schema without other rules.
fn named_fields(root: &mut Map<String, Value>) -> Result<Vec<(String, Value)>, FormError> {
    match root.get("type").and_then(Value::as_str) {
        Some("object") => {}
        Some(other) => return Err(FormError::Root(format!("it is of type `{other}`").into())),
        None => return Err(FormError::Root(NOT_A_STRUCT.into())),
    }
    for keyword in ["additionalProperties", "unevaluatedProperties"] {
        if root.get(keyword).is_some_and(|it| *it != json!(false)) {
            return Err(FormError::Root(FURTHER.into()));
        }
    }
    if let Some(keyword) = root.keys().find(|key| RULES.contains(&key.as_str())) {
        let reason = format!("it has the rule `{keyword}` over several fields");
        return Err(FormError::Root(reason.into()));
    }
    match root.remove("properties") {
        Some(Value::Object(properties)) => Ok(properties.into_iter().collect()),
        _ => Ok(Vec::new()),
    }
}

fn field(root: &Value, property: Value) -> Result<PrimitiveSchemaDefinition, Reason> {
    let mut members = plain(root, property)?;
    let choices = Choices::take(&mut members)?;
    match (
        choices,
        members.get("type").and_then(Value::as_str).unwrap_or(""),
    ) {
        (Some(choices), "" | "string") => choices.one(members).map(Into::into),
        (Some(_), _) => Err(ANY.into()),
        (None, "string") => text(members),
        (None, "integer") => number(members).map(PrimitiveSchemaDefinition::Integer),
        (None, "number") => number(members).map(PrimitiveSchemaDefinition::Number),
        (None, "boolean") => known(members, &["title", "description", "default"])
            .map(PrimitiveSchemaDefinition::Boolean),
        (None, "array") => several(root, members).map(Into::into),
        (None, "object") if !members.contains_key("properties") => Err(MAP.into()),
        (None, "object") => Err(OBJECT.into()),
        (None, _) => Err(ANY.into()),
    }
}

fn text(mut members: Map<String, Value>) -> Result<PrimitiveSchemaDefinition, Reason> {
    members.retain(|key, value| {
        key != "format" || value.as_str().is_some_and(|it| FORMATS.contains(&it))
    });
    let allowed = [
        "title",
        "description",
        "minLength",
        "maxLength",
        "format",
        "default",
    ];
    known(members, &allowed).map(PrimitiveSchemaDefinition::String)
}

/// `schemars` says `"format":"int32"` and no limits; a form says what reaches the handler.
fn number(mut members: Map<String, Value>) -> Result<NumberSchema, Reason> {
    let format = members.remove("format");
    let limits = match format.as_ref().and_then(Value::as_str) {
        Some("int32") => Some((json!(i32::MIN), json!(i32::MAX))),
        Some("uint32") => Some((json!(u32::MIN), json!(u32::MAX))),
        _ => None,
    };
    if let Some((minimum, maximum)) = limits {
        members.entry("minimum").or_insert(minimum);
        members.entry("maximum").or_insert(maximum);
    }
    known(
        members,
        &["title", "description", "minimum", "maximum", "default"],
    )
}

fn several(root: &Value, mut members: Map<String, Value>) -> Result<MultiSelectEnumSchema, Reason> {
    if members.contains_key("prefixItems") {
        return Err(TUPLE.into());
    }
    // A set's: a form cannot say it, and reading into the set sees to it.
    members.remove("uniqueItems");
    let items = members.insert("items".to_owned(), json!({}));
    let mut items = plain(root, items.unwrap_or_default()).map_err(|_| LIST)?;
    let Some(choices) = Choices::take(&mut items)? else {
        return Err(LIST.into());
    };
    known::<IgnoredAny>(items, &["title", "description", "default"])?;
    let allowed = [
        "title",
        "description",
        "items",
        "minItems",
        "maxItems",
        "default",
    ];
    let field: MultiSelectEnumSchema = known(members, &allowed)?;
    Ok(choices.several(field))
}

/// What a form calls a text's format (`schema.ts` § `StringSchema`).
const FORMATS: &[&str] = &["email", "uri", "date", "date-time"];

/// What schemas of objects may say besides.
const RULES: &[&str] = &[
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "patternProperties",
    "propertyNames",
    "dependentRequired",
    "dependentSchemas",
    "minProperties",
    "maxProperties",
];

const NOT_A_STRUCT: &str = "it is an enum, or may be of several types";

const FURTHER: &str = "it takes fields beyond those it names, as a map does";

const OBJECT: &str = "a form has no objects; flatten it";

const MAP: &str = "a form has no maps; make each entry a field";

const TUPLE: &str = "a form has no tuples; make each part a field";

const LIST: &str = "a form has no lists but of choices; make the items an enum of unit variants";
