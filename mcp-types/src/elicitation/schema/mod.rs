//! The schema of a form: a flat object of primitive fields, a subset of JSON Schema.

use super::choice::{EnumOption, MultiSelectEnumSchema};
use crate::wire::{ordered, setters};
use serde::{Deserialize, Serialize};
use serde_json::Number;

/// The fields of a form, in the order they are shown.
///
/// ```
/// use mcp_types::{ElicitSchema, NumberSchema, StringSchema};
///
/// let schema = ElicitSchema::new()
/// .required_property("name", StringSchema::new().max_length(80))
/// .property("age", NumberSchema::new().minimum(0));
/// assert_eq!(schema.required.as_deref(), Some(&["name".to_owned()][..]));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ElicitSchema {
    /// The dialect; since revision 2025-11-25.
    #[serde(rename = "$schema", skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// Always an object.
    #[serde(rename = "type")]
    pub schema_type: SchemaType,
    /// The fields.
    #[serde(with = "ordered")]
    pub properties: Vec<(String, PrimitiveSchemaDefinition)>,
    /// The fields that must be filled in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required: Option<Vec<String>>,
}

impl ElicitSchema {
    /// No fields yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a field that may be left empty.
    #[must_use]
    pub fn property(
        mut self,
        name: impl Into<String>,
        field: impl Into<PrimitiveSchemaDefinition>,
    ) -> Self {
        self.properties.push((name.into(), field.into()));
        self
    }

    /// Adds a field that must be filled in.
    #[must_use]
    pub fn required_property(
        mut self,
        name: impl Into<String>,
        field: impl Into<PrimitiveSchemaDefinition>,
    ) -> Self {
        let name = name.into();
        self.required.get_or_insert_default().push(name.clone());
        self.property(name, field)
    }

    setters! {
        into schema: String,
        into required: Vec<String>,
    }
}

/// The `type` of a schema whose type is fixed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum SchemaType {
    /// An object.
    #[default]
    Object,
}

/// One field of a form; `type` says which.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
#[non_exhaustive]
pub enum PrimitiveSchemaDefinition {
    /// Text, or one choice.
    String(StringSchema),
    /// A number.
    Number(NumberSchema),
    /// A whole number.
    Integer(NumberSchema),
    /// Yes or no.
    Boolean(BooleanSchema),
    /// Several choices.
    Array(MultiSelectEnumSchema),
}

impl From<StringSchema> for PrimitiveSchemaDefinition {
    fn from(schema: StringSchema) -> Self {
        Self::String(schema)
    }
}

impl From<NumberSchema> for PrimitiveSchemaDefinition {
    fn from(schema: NumberSchema) -> Self {
        Self::Number(schema)
    }
}

impl From<BooleanSchema> for PrimitiveSchemaDefinition {
    fn from(schema: BooleanSchema) -> Self {
        Self::Boolean(schema)
    }
}

impl From<MultiSelectEnumSchema> for PrimitiveSchemaDefinition {
    fn from(schema: MultiSelectEnumSchema) -> Self {
        Self::Array(schema)
    }
}

/// Text, or one choice of a list.
///
/// One type for the specification's `StringSchema`, `UntitledSingleSelectEnumSchema`,
/// `TitledSingleSelectEnumSchema` and `LegacyTitledEnumSchema`, which share their `type`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct StringSchema {
    /// Its name, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The least number of characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_length: Option<u64>,
    /// The greatest number of characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_length: Option<u64>,
    /// What the text is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<StringFormat>,
    /// The choices, with titles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub one_of: Option<Vec<EnumOption>>,
    /// The choices.
    #[serde(rename = "enum", skip_serializing_if = "Option::is_none")]
    pub enum_values: Option<Vec<String>>,
    /// The titles of `enum`, as revision 2025-06-18 has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enum_names: Option<Vec<String>>,
    /// What the form begins with.
    #[serde(rename = "default", skip_serializing_if = "Option::is_none")]
    pub default_value: Option<String>,
}

impl StringSchema {
    /// Any text.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// One of these values.
    #[must_use]
    pub fn untitled_enum(values: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            enum_values: Some(values.into_iter().map(Into::into).collect()),
            ..Self::default()
        }
    }

    /// One of these values, shown by their titles.
    #[must_use]
    pub fn titled_enum(options: impl IntoIterator<Item = EnumOption>) -> Self {
        Self {
            one_of: Some(options.into_iter().collect()),
            ..Self::default()
        }
    }

    setters! {
        into title: String,
        into description: String,
        value min_length: u64,
        value max_length: u64,
        value format: StringFormat,
        into one_of: Vec<EnumOption>,
        into enum_values: Vec<String>,
        into enum_names: Vec<String>,
        into default_value: String,
    }
}

/// What a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum StringFormat {
    /// An e-mail address.
    Email,
    /// A URI.
    Uri,
    /// A date.
    Date,
    /// A date and a time.
    DateTime,
}

/// A number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct NumberSchema {
    /// Its name, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The least.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum: Option<Number>,
    /// The greatest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maximum: Option<Number>,
    /// What the form begins with.
    #[serde(rename = "default", skip_serializing_if = "Option::is_none")]
    pub default_value: Option<Number>,
}

impl NumberSchema {
    /// Any number.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The field that takes whole numbers only.
    #[must_use]
    pub fn integer(self) -> PrimitiveSchemaDefinition {
        PrimitiveSchemaDefinition::Integer(self)
    }

    setters! {
        into title: String,
        into description: String,
        into minimum: Number,
        into maximum: Number,
        into default_value: Number,
    }
}

/// Yes or no.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct BooleanSchema {
    /// Its name, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What the form begins with.
    #[serde(rename = "default", skip_serializing_if = "Option::is_none")]
    pub default_value: Option<bool>,
}

impl BooleanSchema {
    /// Either.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        into title: String,
        into description: String,
        value default_value: bool,
    }
}

#[cfg(test)]
mod tests;
