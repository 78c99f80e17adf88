//! The members of `params` that any revision gives a meaning to, as raw slices.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor, value::MapAccessDeserializer},
};
use serde_json::value::RawValue;

use crate::{Failure, FailureKind};

/// What any method of any revision may carry in `params`, each as a raw slice.
///
/// Which of them a method needs, and of which type, is the adapter's business.
#[derive(Debug, Default, Deserialize)]
#[non_exhaustive]
#[serde(rename_all = "camelCase")]
pub struct Params<'a> {
    /// `_meta`.
    #[serde(borrow, rename = "_meta", default, deserialize_with = "object")]
    pub meta: Option<Meta<'a>>,
    /// Name of a tool or prompt.
    #[serde(borrow)]
    pub name: Option<&'a RawValue>,
    /// URI of a resource.
    #[serde(borrow)]
    pub uri: Option<&'a RawValue>,
    /// Arguments of a tool or prompt.
    #[serde(borrow)]
    pub arguments: Option<&'a RawValue>,
    /// Position in a listing.
    #[serde(borrow)]
    pub cursor: Option<&'a RawValue>,
    /// What is completed.
    #[serde(borrow, rename = "ref")]
    pub reference: Option<&'a RawValue>,
    /// The argument that is completed.
    #[serde(borrow)]
    pub argument: Option<&'a RawValue>,
    /// What is known already when completing.
    #[serde(borrow)]
    pub context: Option<&'a RawValue>,
    /// The level of `logging/setLevel`.
    #[serde(borrow)]
    pub level: Option<&'a RawValue>,
    /// The version that `initialize` asks for.
    #[serde(borrow)]
    pub protocol_version: Option<&'a RawValue>,
    /// The client's capabilities in `initialize`.
    #[serde(borrow)]
    pub capabilities: Option<&'a RawValue>,
    /// The client's identity in `initialize`.
    #[serde(borrow)]
    pub client_info: Option<&'a RawValue>,
    /// The request that `notifications/cancelled` names.
    #[serde(borrow)]
    pub request_id: Option<&'a RawValue>,
    /// Why it was cancelled.
    #[serde(borrow)]
    pub reason: Option<&'a RawValue>,
    /// What `subscriptions/listen` wants to hear.
    #[serde(borrow)]
    pub notifications: Option<&'a RawValue>,
    /// Sealed state of an earlier round.
    #[serde(borrow)]
    pub request_state: Option<&'a RawValue>,
    /// Answers to the questions of an earlier round.
    #[serde(borrow)]
    pub input_responses: Option<&'a RawValue>,
}

impl<'a> Params<'a> {
    /// Reads `params`; an empty array counts as absent, as some PHP clients send it.
    pub(crate) fn read(raw: &'a RawValue) -> Result<Self, Failure> {
        let text = raw.get();
        if text.starts_with('{') {
            return serde_json::from_str(text).map_err(|error| {
                let message = format!("`params` is malformed: {}", without_position(&error));
                Failure::new(FailureKind::InvalidParams, message)
            });
        }
        let inner = text
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'));
        if inner.is_some_and(|inner| inner.trim().is_empty()) {
            return Ok(Self::default());
        }
        Err(Failure::new(
            FailureKind::InvalidParams,
            "`params` is an object",
        ))
    }
}

/// The reserved members of a request's `_meta`, each as a raw slice.
#[derive(Debug, Default, Deserialize)]
#[non_exhaustive]
pub struct Meta<'a> {
    /// The protocol version this request speaks.
    #[serde(borrow, rename = "io.modelcontextprotocol/protocolVersion")]
    pub protocol_version: Option<&'a RawValue>,
    /// Who the client is.
    #[serde(borrow, rename = "io.modelcontextprotocol/clientInfo")]
    pub client_info: Option<&'a RawValue>,
    /// What the client can do.
    #[serde(borrow, rename = "io.modelcontextprotocol/clientCapabilities")]
    pub client_capabilities: Option<&'a RawValue>,
    /// From which level on this request wants log messages.
    #[serde(borrow, rename = "io.modelcontextprotocol/logLevel")]
    pub log_level: Option<&'a RawValue>,
    /// Where progress is to be reported.
    #[serde(borrow, rename = "progressToken")]
    pub progress_token: Option<&'a RawValue>,
}

/// A struct that is read from a JSON object alone, never from an array of its fields.
pub(crate) struct Object<T>(pub(crate) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        struct Members<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Members<T> {
            type Value = Object<T>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Object)
            }
        }

        source.deserialize_map(Members(PhantomData))
    }
}

fn object<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    source: D,
) -> Result<Option<T>, D::Error> {
    Option::<Object<T>>::deserialize(source).map(|object| object.map(|it| it.0))
}

/// The error without serde's position, without names of our own types, and without most of a long
/// value that it quotes: what was sent is not said back.
pub(crate) fn without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.split(" at line ").next().unwrap_or_default();
    let text = text.split(", expected struct").next().unwrap_or_default();
    let Some((cut, _)) = text.char_indices().nth(MAX_SAID) else {
        return text.to_owned();
    };
    let expected = text.rsplit_once(", expected").map(|(_, expected)| expected);
    let expected = expected.filter(|it| it.len() < MAX_SAID);
    let expected = expected.map_or_else(String::new, |it| format!(", expected{it}"));
    format!("{}…{expected}", text.get(..cut).unwrap_or_default())
}

/// How many characters are said of what was wrong with a value, and of what was expected.
const MAX_SAID: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> String {
        let error = serde_json::from_str::<Object<Params<'_>>>(text);
        without_position(&error.err().expect("an error"))
    }

    #[test]
    fn a_long_value_is_not_said_back() {
        let short = said(r#""x""#);
        assert_eq!(short, r#"invalid type: string "x", expected an object"#);
        let long = said(&format!("\"{}\"", "\u{7f}".repeat(10_000)));
        assert!(
            long.starts_with("invalid type: string") && long.len() < 200,
            "{long}"
        );
        assert!(long.ends_with("…, expected an object"), "{long}");
        let tricky = said(&format!(
            "\"{}, expected {}\"",
            "é".repeat(99),
            "y".repeat(500)
        ));
        assert!(
            tricky.len() < 300 && tricky.ends_with("expected an object"),
            "{tricky}"
        );
    }
}
