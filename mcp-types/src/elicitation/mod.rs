//! Asking the user, from the [Elicitation] page of the specification.
//!
//! [Elicitation]: https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation

use crate::meta::MetaObject;
use crate::wire::{JsonObject, setters};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use std::sync::Arc;

mod choice;
mod schema;

pub use choice::{EnumItems, EnumOption, MultiSelectEnumSchema};
pub use schema::{
    BooleanSchema, ElicitSchema, NumberSchema, PrimitiveSchemaDefinition, SchemaType, StringFormat,
    StringSchema,
};

/// What `elicitation/create` carries, in either mode.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "mode", rename_all = "lowercase")]
#[non_exhaustive]
pub enum ElicitRequestParams {
    /// A form to fill in.
    Form(Box<ElicitRequestFormParams>),
    /// A URL to visit.
    Url(Box<ElicitRequestUrlParams>),
}

impl<'de> Deserialize<'de> for ElicitRequestParams {
    /// Without `mode` it is a form.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let params = Value::deserialize(deserializer)?;
        match params.get("mode").map_or(Some("form"), Value::as_str) {
            Some("form") => serde_json::from_value(params).map(Self::Form),
            Some("url") => serde_json::from_value(params).map(Self::Url),
            _ => return Err(D::Error::custom("`mode` is neither form nor url")),
        }
        .map_err(D::Error::custom)
    }
}

impl From<ElicitRequestFormParams> for ElicitRequestParams {
    fn from(params: ElicitRequestFormParams) -> Self {
        Self::Form(Box::new(params))
    }
}

impl From<ElicitRequestUrlParams> for ElicitRequestParams {
    fn from(params: ElicitRequestUrlParams) -> Self {
        Self::Url(Box::new(params))
    }
}

/// A form to fill in; without the `mode` that [`ElicitRequestParams`] writes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ElicitRequestFormParams {
    /// What is asked, and why.
    pub message: String,
    /// The fields of the form, which is often one of many questions that show it.
    pub requested_schema: Arc<ElicitSchema>,
    /// Whatever else, by reserved or prefixed key.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl ElicitRequestFormParams {
    /// The required members.
    #[must_use]
    pub fn new(message: impl Into<String>, requested_schema: impl Into<Arc<ElicitSchema>>) -> Self {
        Self {
            message: message.into(),
            requested_schema: requested_schema.into(),
            ..Self::default()
        }
    }

    setters! {
        value meta: MetaObject,
    }
}

/// A URL to visit; without the `mode` that [`ElicitRequestParams`] writes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ElicitRequestUrlParams {
    /// What is asked, and why.
    pub message: String,
    /// The URL.
    pub url: String,
    /// What [`ElicitationComplete`](crate::ServerNotification::ElicitationComplete) will name;
    /// only in revision 2025-11-25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elicitation_id: Option<String>,
    /// Whatever else, by reserved or prefixed key.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl ElicitRequestUrlParams {
    /// The required members.
    #[must_use]
    pub fn new(message: impl Into<String>, url: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            url: url.into(),
            ..Self::default()
        }
    }

    setters! {
        into elicitation_id: String,
        value meta: MetaObject,
    }
}

/// What the user did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(clippy::exhaustive_enums, reason = "a user does one of three things")]
pub enum ElicitAction {
    /// Agreed, and sent the form.
    Accept,
    /// Said no.
    Decline,
    /// Went away without a choice.
    Cancel,
}

/// The answer of the user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ElicitResult {
    /// What the user did.
    pub action: ElicitAction,
    /// The form as filled in; only when accepted, and only of a form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<JsonObject>,
    /// Whatever else, by reserved or prefixed key.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl ElicitResult {
    /// The required members.
    #[must_use]
    pub fn new(action: ElicitAction) -> Self {
        Self {
            action,
            content: None,
            meta: None,
        }
    }

    setters! {
        value content: JsonObject,
        value meta: MetaObject,
    }
}

#[cfg(test)]
mod tests {
    use super::{ElicitAction, ElicitRequestParams, ElicitResult};
    use crate::wire::testing::{check, refuse};

    #[test]
    fn the_mode_says_which_and_a_form_may_leave_it_out() {
        let form = check::<ElicitRequestParams>(concat!(
            r#"{"mode":"form","message":"m","#,
            r#""requestedSchema":{"type":"object","properties":{}}}"#,
        ));
        let without = r#"{"message":"m","requestedSchema":{"type":"object","properties":{}}}"#;
        assert_eq!(
            serde_json::from_str::<ElicitRequestParams>(without).unwrap(),
            form
        );
        check::<ElicitRequestParams>(
            r#"{"mode":"url","message":"m","url":"https://a","elicitationId":"e"}"#,
        );
        for json in [
            r#"{"mode":"voice","message":"m"}"#,
            r#"{"mode":1,"message":"m","url":"u"}"#,
            r#"{"mode":"url","message":"m"}"#,
            r#"{"message":"m","url":"u"}"#,
        ] {
            refuse::<ElicitRequestParams>(json);
        }
    }

    #[test]
    fn answers_come_back() {
        check::<ElicitResult>(r#"{"action":"accept","content":{"a":1,"b":["c"],"d":true}}"#);
        check::<ElicitResult>(r#"{"action":"decline"}"#);
        let cancel = ElicitResult::new(ElicitAction::Cancel);
        assert_eq!(check::<ElicitResult>(r#"{"action":"cancel"}"#), cancel);
        refuse::<ElicitResult>(r#"{"action":"later"}"#);
    }
}
