//! Asking the client in the middle of a request, from the specification's page on
//! [multi round-trip requests].
//!
//! [multi round-trip requests]: https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr

use crate::elicitation::{ElicitRequestParams, ElicitResult};
use crate::meta::MetaObject;
use crate::roots::{ListRootsRequestParams, ListRootsResult};
use crate::sampling::{CreateMessageRequestParams, CreateMessageResult};
use crate::wire::{RawJson, setters};
use serde::de::Error as _;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::collections::BTreeMap;

/// What a server asks, by keys it chooses.
pub type InputRequests = BTreeMap<String, InputRequest>;

/// What the client answers, by the same keys.
pub type InputResponses = BTreeMap<String, InputResponse>;

/// The server needs answers before it can go on; the client sends the request again with them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct InputRequiredResult {
    /// What it asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_requests: Option<InputRequests>,
    /// What the client sends back as it came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_state: Option<String>,
    /// Whatever else, by reserved or prefixed key.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl InputRequiredResult {
    /// Nothing asked, nothing to remember.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        value input_requests: InputRequests,
        into request_state: String,
        value meta: MetaObject,
    }
}

/// One question to the client.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a new question must be put, or refused, by every revision"
)]
pub enum InputRequest {
    /// Ask the model.
    CreateMessage(Box<CreateMessageRequestParams>),
    /// Say what the roots are.
    ListRoots(ListRootsRequestParams),
    /// Ask the user.
    Elicit(ElicitRequestParams),
}

impl InputRequest {
    /// The method as it stands on the wire.
    #[must_use]
    pub const fn method(&self) -> &'static str {
        match self {
            Self::CreateMessage(_) => CREATE_MESSAGE,
            Self::ListRoots(_) => LIST_ROOTS,
            Self::Elicit(_) => ELICIT,
        }
    }
}

impl Serialize for InputRequest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("InputRequest", 2)?;
        object.serialize_field("method", self.method())?;
        match self {
            Self::CreateMessage(params) => object.serialize_field("params", params)?,
            Self::ListRoots(params) if params.meta.is_none() => object.skip_field("params")?,
            Self::ListRoots(params) => object.serialize_field("params", params)?,
            Self::Elicit(params) => object.serialize_field("params", params)?,
        }
        object.end()
    }
}

impl<'de> Deserialize<'de> for InputRequest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Wire {
            method: String,
            params: Option<Value>,
        }

        let Wire { method, params } = Wire::deserialize(deserializer)?;
        let params = params.unwrap_or_else(|| Value::Object(MetaObject::new()));
        match method.as_str() {
            CREATE_MESSAGE => serde_json::from_value(params).map(Self::CreateMessage),
            LIST_ROOTS => serde_json::from_value(params).map(Self::ListRoots),
            ELICIT => serde_json::from_value(params).map(Self::Elicit),
            _ => return Err(D::Error::unknown_variant(&method, METHODS)),
        }
        .map_err(D::Error::custom)
    }
}

impl From<CreateMessageRequestParams> for InputRequest {
    fn from(params: CreateMessageRequestParams) -> Self {
        Self::CreateMessage(Box::new(params))
    }
}

impl From<ListRootsRequestParams> for InputRequest {
    fn from(params: ListRootsRequestParams) -> Self {
        Self::ListRoots(params)
    }
}

impl<T: Into<ElicitRequestParams>> From<T> for InputRequest {
    fn from(params: T) -> Self {
        Self::Elicit(params.into())
    }
}

/// One answer of the client, as it came.
///
/// An answer does not say what it answers: the question does, so whoever asked picks the reading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct InputResponse(RawJson);

impl InputResponse {
    /// The JSON of the answer.
    #[must_use]
    pub fn raw(&self) -> &RawJson {
        &self.0
    }

    /// The answer to [`InputRequest::CreateMessage`].
    ///
    /// # Errors
    ///
    /// When the answer has another shape.
    pub fn create_message(&self) -> serde_json::Result<CreateMessageResult> {
        self.0.to()
    }

    /// The answer to [`InputRequest::ListRoots`].
    ///
    /// # Errors
    ///
    /// When the answer has another shape.
    pub fn list_roots(&self) -> serde_json::Result<ListRootsResult> {
        self.0.to()
    }

    /// The answer to [`InputRequest::Elicit`].
    ///
    /// # Errors
    ///
    /// When the answer has another shape.
    pub fn elicit(&self) -> serde_json::Result<ElicitResult> {
        self.0.to()
    }
}

impl From<RawJson> for InputResponse {
    fn from(raw: RawJson) -> Self {
        Self(raw)
    }
}

const CREATE_MESSAGE: &str = "sampling/createMessage";
const LIST_ROOTS: &str = "roots/list";
const ELICIT: &str = "elicitation/create";
const METHODS: &[&str] = &[CREATE_MESSAGE, LIST_ROOTS, ELICIT];

#[cfg(test)]
mod tests {
    use super::{InputRequest, InputRequiredResult, InputResponse};
    use crate::roots::ListRootsRequestParams;
    use crate::wire::RawJson;
    use crate::wire::testing::{check, refuse};

    #[test]
    fn questions_come_back() {
        let result = check::<InputRequiredResult>(concat!(
            r#"{"inputRequests":{"#,
            r#""a":{"method":"elicitation/create","params":{"mode":"url","message":"m","url":"u"}},"#,
            r#""b":{"method":"roots/list"},"#,
            r#""c":{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}"#,
            r#"},"requestState":"s"}"#,
        ));
        let requests = result.input_requests.unwrap();
        assert!(matches!(requests["a"], InputRequest::Elicit(_)));
        assert_eq!(requests["b"], ListRootsRequestParams::new().into());
        assert!(matches!(requests["c"], InputRequest::CreateMessage(_)));
        check::<InputRequiredResult>("{}");
    }

    #[test]
    fn a_question_is_read_by_its_method() {
        refuse::<InputRequest>(r#"{"method":"ping","params":{}}"#);
        refuse::<InputRequest>(r#"{"params":{"mode":"url","message":"m","url":"u"}}"#);
        refuse::<InputRequest>(r#"{"method":"elicitation/create"}"#);
        let params_first = r#"{"params":{"_meta":{"k":1}},"method":"roots/list"}"#;
        let request: InputRequest = serde_json::from_str(params_first).unwrap();
        assert_eq!(request.method(), "roots/list");
    }

    #[test]
    fn an_answer_is_read_by_who_asked() {
        let answer = InputResponse::from(RawJson::from_text(r#"{"roots":[]}"#).unwrap());
        assert!(answer.list_roots().unwrap().roots.is_empty());
        assert!(answer.elicit().is_err() && answer.create_message().is_err());
    }
}
