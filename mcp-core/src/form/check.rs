//! Whether a form makes sense: a schema made at run time is only as good as what made it.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use mcp_types::{
    ElicitSchema, MultiSelectEnumSchema, NumberSchema, PrimitiveSchemaDefinition, StringSchema,
};
use serde_json::Value;

use super::accept::{accept, choices, compare, items};
use super::{FormError, Reason};

/// Checks that there is an answer which satisfies `form`.
///
/// # Errors
///
/// The first field that contradicts itself.
pub(super) fn check(form: &ElicitSchema) -> Result<(), FormError> {
    let mut names = BTreeSet::new();
    for (name, field) in &form.properties {
        if !names.insert(name) {
            return Err(FormError::field(name, "it is there twice"));
        }
        self::field(field).map_err(|reason| FormError::field(name, reason))?;
    }
    let mut required = form.required.iter().flatten();
    match required.find(|name| !names.contains(name)) {
        Some(name) => Err(FormError::field(name, "it is required and not in the form")),
        None => Ok(()),
    }
}

/// Leaves out a default that the field itself does not allow, such as the `""` of
/// `serde(default)` for an address.
pub(super) fn drop_bad_default(field: &mut PrimitiveSchemaDefinition) {
    if fitting_default(field).is_ok() {
        return;
    }
    match field {
        PrimitiveSchemaDefinition::String(field) => field.default_value = None,
        PrimitiveSchemaDefinition::Number(field) | PrimitiveSchemaDefinition::Integer(field) => {
            field.default_value = None;
        }
        PrimitiveSchemaDefinition::Array(field) => field.default_value = None,
        _ => {}
    }
}

fn field(field: &PrimitiveSchemaDefinition) -> Result<(), Reason> {
    match field {
        PrimitiveSchemaDefinition::String(field) => text(field)?,
        PrimitiveSchemaDefinition::Number(field) | PrimitiveSchemaDefinition::Integer(field) => {
            number(field)?;
        }
        PrimitiveSchemaDefinition::Array(field) => several(field)?,
        _ => {}
    }
    fitting_default(field)
}

fn text(field: &StringSchema) -> Result<(), Reason> {
    if field.enum_values.is_some() && field.one_of.is_some() {
        return Err(TWO_LISTS.into());
    }
    let choices = choices(field);
    if let Some(choices) = &choices {
        distinct(choices)?;
    }
    if let Some(names) = &field.enum_names
        && (field.enum_values.is_none() || choices.is_none_or(|it| it.len() != names.len()))
    {
        return Err("`enumNames` must have one name for each value of `enum`".into());
    }
    ordered(field.min_length, field.max_length)
}

fn number(field: &NumberSchema) -> Result<(), Reason> {
    match (&field.minimum, &field.maximum) {
        (Some(least), Some(most)) if compare(least, most) == Some(Ordering::Greater) => {
            Err(LEAST_ABOVE_MOST.into())
        }
        _ => Ok(()),
    }
}

fn several(field: &MultiSelectEnumSchema) -> Result<(), Reason> {
    if field.items.enum_values.is_some() && field.items.any_of.is_some() {
        return Err(TWO_LISTS.into());
    }
    let choices = items(field);
    distinct(&choices)?;
    if field.min_items.is_some_and(|it| it > choices.len() as u64) {
        return Err("it asks for more choices than there are".into());
    }
    ordered(field.min_items, field.max_items)
}

fn distinct(choices: &[&str]) -> Result<(), Reason> {
    if choices.is_empty() {
        return Err("there is nothing to choose".into());
    }
    let mut seen = BTreeSet::new();
    match choices.iter().find(|it| !seen.insert(**it)) {
        Some(twice) => Err(format!("the choice {twice:?} is there twice").into()),
        None => Ok(()),
    }
}

fn ordered(least: Option<u64>, most: Option<u64>) -> Result<(), Reason> {
    match (least, most) {
        (Some(least), Some(most)) if least > most => Err(LEAST_ABOVE_MOST.into()),
        _ => Ok(()),
    }
}

fn fitting_default(field: &PrimitiveSchemaDefinition) -> Result<(), Reason> {
    let default = match field {
        PrimitiveSchemaDefinition::String(field) => field.default_value.clone().map(Value::from),
        PrimitiveSchemaDefinition::Number(field) | PrimitiveSchemaDefinition::Integer(field) => {
            field.default_value.clone().map(Value::Number)
        }
        PrimitiveSchemaDefinition::Array(field) => field.default_value.clone().map(Value::from),
        _ => None,
    };
    match default.map(|it| accept(field, it)) {
        Some(Err(expected)) => Err(format!("its default is not allowed: {expected}").into()),
        _ => Ok(()),
    }
}

const TWO_LISTS: &str = "its choices are listed twice, with titles and without";

const LEAST_ABOVE_MOST: &str = "its least is above its most";
