//! Fields of a form that take several choices, and the choices themselves.

use crate::wire::setters;
use serde::{Deserialize, Serialize};

/// Several choices of a list; since revision 2025-11-25.
///
/// One type for `UntitledMultiSelectEnumSchema` and `TitledMultiSelectEnumSchema`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct MultiSelectEnumSchema {
    /// Its name, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The least number of choices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_items: Option<u64>,
    /// The greatest number of choices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_items: Option<u64>,
    /// What there is to choose.
    pub items: EnumItems,
    /// What the form begins with.
    #[serde(rename = "default", skip_serializing_if = "Option::is_none")]
    pub default_value: Option<Vec<String>>,
}

impl MultiSelectEnumSchema {
    /// The required members.
    #[must_use]
    pub fn new(items: EnumItems) -> Self {
        Self {
            items,
            ..Self::default()
        }
    }

    /// Several of these values.
    #[must_use]
    pub fn untitled(values: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self::new(EnumItems {
            items_type: Some("string".to_owned()),
            enum_values: Some(values.into_iter().map(Into::into).collect()),
            any_of: None,
        })
    }

    /// Several of these values, shown by their titles.
    #[must_use]
    pub fn titled(options: impl IntoIterator<Item = EnumOption>) -> Self {
        Self::new(EnumItems {
            any_of: Some(options.into_iter().collect()),
            ..EnumItems::default()
        })
    }

    setters! {
        into title: String,
        into description: String,
        value min_items: u64,
        value max_items: u64,
        into default_value: Vec<String>,
    }
}

/// What there is to choose: `enum`, or `anyOf` with titles.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct EnumItems {
    /// `string`, beside `enum`.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub items_type: Option<String>,
    /// The choices.
    #[serde(rename = "enum", skip_serializing_if = "Option::is_none")]
    pub enum_values: Option<Vec<String>>,
    /// The choices, with titles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub any_of: Option<Vec<EnumOption>>,
}

impl EnumItems {
    /// Nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        into items_type: String,
        into enum_values: Vec<String>,
        into any_of: Vec<EnumOption>,
    }
}

/// A choice with a title.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct EnumOption {
    /// What is sent.
    #[serde(rename = "const")]
    pub value: String,
    /// What is shown.
    pub title: String,
}

impl EnumOption {
    /// The required members.
    #[must_use]
    pub fn new(value: impl Into<String>, title: impl Into<String>) -> Self {
        Self {
            value: value.into(),
            title: title.into(),
        }
    }
}
