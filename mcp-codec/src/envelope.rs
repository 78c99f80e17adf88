//! One JSON-RPC message as it arrived: id and method typed, everything else a raw slice.
//!
//! Source: JSON-RPC 2.0 sections 4 and 5; `basic/index` of each revision ("Requests",
//! "Notifications", "Responses").

use std::borrow::Cow;

use mcp_types::RequestId;
use serde::{Deserialize, Deserializer};
use serde_json::{error::Category, value::RawValue};

use crate::{
    Failure, FailureKind,
    params::{Object, Params, without_position},
};

/// What one message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "JSON-RPC has three kinds of message"
)]
pub enum MessageKind {
    /// Has an id and a method, and gets exactly one answer.
    Request,
    /// Has a method and no id, and gets none.
    Notification,
    /// Has a result or an error: the client answers a question of the server.
    Response,
}

/// One JSON-RPC message, borrowed from the body it was read from.
///
/// Attacker controlled: nothing here has been compared with anything yet.
#[derive(Debug)]
pub struct Envelope<'a> {
    kind: MessageKind,
    id: Option<RequestId>,
    method: Cow<'a, str>,
    params: Result<Params<'a>, Failure>,
    answer: ResponseBody<'a>,
}

/// The raw `result` or `error` of a client's response.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct ResponseBody<'a> {
    /// The `result` member as it arrived.
    pub result: Option<&'a RawValue>,
    /// The `error` member as it arrived.
    pub error: Option<&'a RawValue>,
}

/// A message that is no message, with the id where it could be read.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Unreadable {
    /// The id to answer, if the message had a usable one.
    pub id: Option<RequestId>,
    /// What is wrong.
    pub failure: Failure,
}

impl Unreadable {
    fn new(id: Option<RequestId>, message: &'static str) -> Self {
        let failure = Failure::new(FailureKind::InvalidRequest, message);
        Self { id, failure }
    }
}

impl<'a> Envelope<'a> {
    /// Reads one message.
    ///
    /// # Errors
    ///
    /// [`FailureKind::Parse`] for what is not JSON, [`FailureKind::InvalidRequest`] for JSON that
    /// is no message.
    pub fn parse(body: &'a [u8]) -> Result<Self, Unreadable> {
        let Ok(text) = std::str::from_utf8(body) else {
            return Err(not_json("the body is not UTF-8"));
        };
        Self::read(text.strip_prefix('\u{feff}').unwrap_or(text))
    }

    /// Reads one member of a batch.
    ///
    /// # Errors
    ///
    /// As [`Envelope::parse`].
    pub fn of_member(member: &'a RawValue) -> Result<Self, Unreadable> {
        Self::read(member.get())
    }

    /// Reads everything in one pass; only what does not fit is read again, to say why.
    fn read(text: &'a str) -> Result<Self, Unreadable> {
        if let Ok(wire) = serde_json::from_str::<Wire<'a, Object<Params<'a>>>>(text) {
            let (wire, params) = wire.without_params();
            return Self::of_wire(&wire, Ok(params.map(|it| it.0).unwrap_or_default()));
        }
        let wire: Wire<'a, &'a RawValue> =
            serde_json::from_str(text).map_err(|error| refusal(&error))?;
        let (wire, params) = wire.without_params();
        let params = params.map_or_else(|| Ok(Params::default()), Params::read);
        Self::of_wire(&wire, params)
    }

    fn of_wire(
        wire: &Wire<'a, ()>,
        params: Result<Params<'a>, Failure>,
    ) -> Result<Self, Unreadable> {
        let id = match wire.id.map(|raw| RequestId::parse(raw.get())) {
            Some(None) => {
                let message = "`id` is a string or an integer";
                return Err(Unreadable::new(None, message));
            }
            id => id.flatten(),
        };
        match wire.judge() {
            Ok((kind, method)) => {
                let answer = ResponseBody {
                    result: wire.result,
                    error: wire.error,
                };
                Ok(Self {
                    kind,
                    id,
                    method,
                    params,
                    answer,
                })
            }
            Err(message) => Err(Unreadable::new(id, message)),
        }
    }

    /// What the message is.
    #[must_use]
    pub fn kind(&self) -> MessageKind {
        self.kind
    }

    /// The id, which a request always has.
    #[must_use]
    pub fn id(&self) -> Option<&RequestId> {
        self.id.as_ref()
    }

    /// Takes the id out, to answer with.
    pub fn take_id(&mut self) -> Option<RequestId> {
        self.id.take()
    }

    /// The method; empty for a response.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.method
    }

    /// The members of `params` that any revision gives a meaning to.
    ///
    /// # Errors
    ///
    /// [`FailureKind::InvalidParams`] where `params` or `_meta` is no object.
    pub fn params(&self) -> Result<&Params<'a>, Failure> {
        self.params.as_ref().map_err(Clone::clone)
    }

    /// The result or error of a response.
    #[must_use]
    pub fn answer(&self) -> ResponseBody<'a> {
        self.answer
    }

    /// The protocol version in `_meta`, where the message names one as a string.
    #[must_use]
    pub fn meta_version(&self) -> Option<Cow<'a, str>> {
        let params = self.params.as_ref().ok()?;
        text_of(params.meta.as_ref()?.protocol_version?)
    }
}

/// The members of a batch, or `None` where the body is no array.
///
/// # Errors
///
/// [`FailureKind::Parse`] for what is not JSON.
#[must_use]
pub fn batch(body: &[u8]) -> Option<Result<Vec<&RawValue>, Unreadable>> {
    let text = std::str::from_utf8(body).ok()?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if !text.trim_start().starts_with('[') {
        return None;
    }
    Some(serde_json::from_str(text).map_err(|error| refusal(&error)))
}

/// The JSON string in `raw`, without a copy where it has no escapes.
#[must_use]
pub fn text_of(raw: &RawValue) -> Option<Cow<'_, str>> {
    let inner = raw.get().strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') {
        return serde_json::from_str(raw.get()).ok().map(Cow::Owned);
    }
    Some(Cow::Borrowed(inner))
}

#[derive(Deserialize)]
struct Wire<'a, P> {
    #[serde(borrow, default, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    params: Option<P>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

impl<'a, P> Wire<'a, P> {
    fn without_params(self) -> (Wire<'a, ()>, Option<P>) {
        let Self {
            jsonrpc,
            id,
            method,
            params,
            result,
            error,
        } = self;
        (
            Wire {
                jsonrpc,
                id,
                method,
                params: None,
                result,
                error,
            },
            params,
        )
    }
}

impl<'a> Wire<'a, ()> {
    /// What kind of message it is, and its method.
    fn judge(&self) -> Result<(MessageKind, Cow<'a, str>), &'static str> {
        if self.jsonrpc.map(RawValue::get) != Some("\"2.0\"") {
            return Err("`jsonrpc` is \"2.0\"");
        }
        let responds = self.result.is_some() || self.error.is_some();
        match self.method.map(text_of) {
            None if responds => Ok((MessageKind::Response, Cow::Borrowed(""))),
            None => Err("`method` is missing"),
            Some(None) => Err("`method` is a string"),
            Some(Some(_)) if responds => Err("a message is a request or a response, not both"),
            Some(Some(method)) if self.id.is_some() => Ok((MessageKind::Request, method)),
            Some(Some(method)) => Ok((MessageKind::Notification, method)),
        }
    }
}

/// Keeps an explicit `null` apart from an absent member.
fn present<'de, D: Deserializer<'de>>(source: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(source).map(Some)
}

fn refusal(error: &serde_json::Error) -> Unreadable {
    match error.classify() {
        Category::Data => {
            let message = format!("not a JSON-RPC message: {}", without_position(error));
            Unreadable {
                id: None,
                failure: Failure::new(FailureKind::InvalidRequest, message),
            }
        }
        Category::Io | Category::Syntax | Category::Eof => not_json(&error.to_string()),
    }
}

fn not_json(detail: &str) -> Unreadable {
    let message = format!("not valid JSON: {detail}");
    Unreadable {
        id: None,
        failure: Failure::new(FailureKind::Parse, message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(body: &str) -> Result<(MessageKind, Option<String>), (FailureKind, Option<String>)> {
        match Envelope::parse(body.as_bytes()) {
            Ok(envelope) => Ok((
                envelope.kind(),
                envelope.id().map(|id| serde_json::to_string(id).unwrap()),
            )),
            Err(unreadable) => {
                let id = unreadable.id.map(|id| serde_json::to_string(&id).unwrap());
                Err((unreadable.failure.kind, id))
            }
        }
    }

    #[test]
    fn kinds_are_told_apart() {
        let request = kind(r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#);
        assert_eq!(request, Ok((MessageKind::Request, Some("7".into()))));
        let note = kind(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        assert_eq!(note, Ok((MessageKind::Notification, None)));
        let response = kind(r#"{"jsonrpc":"2.0","id":"a","result":null}"#);
        assert_eq!(response, Ok((MessageKind::Response, Some("\"a\"".into()))));
    }

    // req: jsonrpc-id-not-null
    // req: jsonrpc-id-string-or-integer
    #[test]
    fn an_id_is_a_string_or_an_integer() {
        for id in ["null", "1.5", "true", "[]", "{}", "1e3"] {
            let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
            assert_eq!(
                kind(&body),
                Err((FailureKind::InvalidRequest, None)),
                "{id}"
            );
        }
        for id in [
            "0",
            "\"\"",
            "-7",
            "9007199254740993",
            "123456789012345678901234567890",
        ] {
            let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
            assert_eq!(kind(&body), Ok((MessageKind::Request, Some(id.into()))));
        }
    }

    #[test]
    fn what_is_no_message_says_so() {
        use FailureKind::{InvalidRequest, Parse};
        let id = || Some("1".to_owned());
        for (body, expected) in [
            ("starting up...", (Parse, None)),
            (r#"{"jsonrpc":"2.0","id":1,"#, (Parse, None)),
            ("null", (InvalidRequest, None)),
            ("42", (InvalidRequest, None)),
            ("{}", (InvalidRequest, None)),
            (r#"{"id":1,"method":"ping"}"#, (InvalidRequest, id())),
            (
                r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
                (InvalidRequest, id()),
            ),
            (r#"{"jsonrpc":"2.0","id":1}"#, (InvalidRequest, id())),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":5}"#,
                (InvalidRequest, id()),
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#,
                (InvalidRequest, None),
            ),
        ] {
            assert_eq!(kind(body), Err(expected), "{body}");
        }
    }

    #[test]
    fn null_and_empty_array_count_as_no_params() {
        for (params, readable) in [
            ("null", true),
            ("[]", true),
            ("[ ]", true),
            ("{}", true),
            ("[1]", false),
            ("5", false),
        ] {
            let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{params}}}"#);
            let envelope = Envelope::parse(body.as_bytes()).unwrap();
            assert_eq!(envelope.params().is_ok(), readable, "{params}");
        }
    }

    #[test]
    fn an_array_of_fields_is_no_object() {
        let nulls = vec!["null"; 40].join(",");
        for params in [format!("[{nulls}]"), format!(r#"{{"_meta":[{nulls}]}}"#)] {
            let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{params}}}"#);
            assert!(
                Envelope::parse(body.as_bytes()).unwrap().params().is_err(),
                "{params}"
            );
        }
        for fields in [5, 17] {
            let nulls = vec!["null"; fields].join(",");
            let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":[{nulls}]}}"#);
            assert!(Envelope::parse(body.as_bytes()).unwrap().params().is_err());
        }
    }

    #[test]
    fn a_repeated_member_of_params_is_refused() {
        let body =
            br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","name":"b"}}"#;
        let failure = Envelope::parse(body).unwrap().params().unwrap_err();
        assert_eq!(
            failure.message,
            "`params` is malformed: duplicate field `name`"
        );
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_survived(body in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
            let _ = Envelope::parse(&body);
            let _ = batch(&body);
        }
    }
}
