//! Whether a value fits a field of a form.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use jsonschema::Validator;
use mcp_types::{
    MultiSelectEnumSchema, NumberSchema, PrimitiveSchemaDefinition, StringFormat, StringSchema,
};
use serde_json::{Number, Value, json};

/// What of `value` goes to the handler: the value, a whole number as an integer.
///
/// # Errors
///
/// What was expected instead. The value itself is not repeated.
///
/// # Security
///
/// `value` is attacker controlled; the time this takes is linear in its size.
pub(super) fn accept(field: &PrimitiveSchemaDefinition, value: Value) -> Result<Value, String> {
    match field {
        PrimitiveSchemaDefinition::String(field) => text(field, &value)?,
        PrimitiveSchemaDefinition::Integer(field) => {
            let number = value.as_number().ok_or(INTEGER)?;
            let whole = whole(number).ok_or(INTEGER)?;
            in_range(field, &whole, "an integer")?;
            return Ok(Value::Number(whole));
        }
        PrimitiveSchemaDefinition::Number(field) => {
            let number = value.as_number().ok_or("expected a number")?;
            in_range(field, number, "a number")?;
        }
        PrimitiveSchemaDefinition::Boolean(_) => {
            value.as_bool().ok_or("expected a boolean")?;
        }
        PrimitiveSchemaDefinition::Array(field) => several(field, &value)?,
        _ => return Err("not accepted".to_owned()),
    }
    Ok(value)
}

/// The values a field offers, if it is a choice.
pub(super) fn choices(field: &StringSchema) -> Option<Vec<&str>> {
    let values = field.enum_values.as_ref();
    let values = values.map(|it| it.iter().map(String::as_str).collect());
    let titled = || Some(field.one_of.as_ref()?.iter().map(|it| it.value.as_str()));
    values.or_else(|| titled().map(Iterator::collect))
}

/// The values a list offers.
pub(super) fn items(field: &MultiSelectEnumSchema) -> Vec<&str> {
    let values = field.items.enum_values.iter().flatten();
    let titled = field.items.any_of.iter().flatten();
    let values = values.map(String::as_str);
    values.chain(titled.map(|it| it.value.as_str())).collect()
}

fn text(field: &StringSchema, value: &Value) -> Result<(), String> {
    let text = value.as_str().ok_or("expected a string")?;
    if let Some(choices) = choices(field)
        && !choices.contains(&text)
    {
        return Err(format!("expected {}", one_of(&choices)));
    }
    let length = text.chars().count() as u64;
    within(length, field.min_length, field.max_length, "character")?;
    let valid =
        |format: &LazyLock<Option<Validator>>| format.as_ref().is_none_or(|it| it.is_valid(value));
    match field.format {
        // The rules for addresses allow `Name <address>`; a form asks for the address.
        Some(StringFormat::Email) if text.ends_with('>') || !valid(&EMAIL) => {
            Err("expected an email address".to_owned())
        }
        Some(StringFormat::Uri) if !valid(&URI) => {
            Err("expected a URI such as `https://example.org/`".to_owned())
        }
        Some(StringFormat::Date) if !valid(&DATE) => {
            Err("expected a date such as `2001-12-31`".to_owned())
        }
        Some(StringFormat::DateTime) if !valid(&DATE_TIME) => {
            Err("expected a date and time such as `2001-12-31T23:59:00Z`".to_owned())
        }
        _ => Ok(()),
    }
}

fn several(field: &MultiSelectEnumSchema, value: &Value) -> Result<(), String> {
    let chosen = value.as_array().ok_or("expected an array")?;
    let choices = items(field);
    let known: BTreeSet<_> = choices.iter().copied().collect();
    let mut distinct = BTreeSet::new();
    for item in chosen {
        let item = item.as_str().filter(|it| known.contains(it));
        let item = item.ok_or_else(|| format!("expected items of {}", one_of(&choices)))?;
        distinct.insert(item);
    }
    // A choice made twice is one choice.
    within(distinct.len() as u64, field.min_items, None, "item")?;
    within(chosen.len() as u64, None, field.max_items, "item")
}

fn within(count: u64, least: Option<u64>, most: Option<u64>, of: &str) -> Result<(), String> {
    let plural = |limit| if limit == 1 { "" } else { "s" };
    if let Some(least) = least.filter(|least| count < *least) {
        return Err(format!("expected at least {least} {of}{}", plural(least)));
    }
    if let Some(most) = most.filter(|most| count > *most) {
        return Err(format!("expected at most {most} {of}{}", plural(most)));
    }
    Ok(())
}

fn in_range(field: &NumberSchema, number: &Number, noun: &str) -> Result<(), String> {
    let compared = |limit: &&Number| compare(number, limit);
    if let Some(least) = field.minimum.as_ref()
        && compared(&least) == Some(Ordering::Less)
    {
        return Err(format!("expected {noun} of at least {least}"));
    }
    if let Some(most) = field.maximum.as_ref()
        && compared(&most) == Some(Ordering::Greater)
    {
        return Err(format!("expected {noun} of at most {most}"));
    }
    Ok(())
}

/// Integers are compared as such: a double of more than 2^53 has lost digits.
pub(super) fn compare(one: &Number, other: &Number) -> Option<Ordering> {
    match (one.as_i128(), other.as_i128()) {
        (Some(one), Some(other)) => Some(one.cmp(&other)),
        _ => one.as_f64()?.partial_cmp(&other.as_f64()?),
    }
}

/// The integer that `number` is (JSON Schema 2020-12 validation 6.1.1: `30.0` is one), of 64 bits.
fn whole(number: &Number) -> Option<Number> {
    if !number.is_f64() {
        return Some(number.clone());
    }
    let float = number.as_f64().filter(|it| it.fract() == 0.0)?;
    // Saturates, and then fits no more.
    let whole = float as i128;
    let signed = i64::try_from(whole).map(Number::from);
    signed
        .or_else(|_| u64::try_from(whole).map(Number::from))
        .ok()
}

fn one_of(choices: &[&str]) -> String {
    let shown = choices.iter().take(MAX_CHOICES);
    let shown: Vec<_> = shown.map(|it| Value::from(*it).to_string()).collect();
    let more = if choices.len() > MAX_CHOICES {
        ", …"
    } else {
        ""
    };
    format!("one of {}{more}", shown.join(", "))
}

/// What checks the texts of a format; JSON Schema itself only notes it.
fn format(name: &str) -> Option<Validator> {
    let options = jsonschema::options().should_validate_formats(true);
    options.build(&json!({"format": name})).ok()
}

static EMAIL: LazyLock<Option<Validator>> = LazyLock::new(|| format("email"));

static URI: LazyLock<Option<Validator>> = LazyLock::new(|| format("uri"));

static DATE: LazyLock<Option<Validator>> = LazyLock::new(|| format("date"));

static DATE_TIME: LazyLock<Option<Validator>> = LazyLock::new(|| format("date-time"));

const INTEGER: &str = "expected an integer of at most 64 bits";

/// Choices listed in a violation.
const MAX_CHOICES: usize = 20;
