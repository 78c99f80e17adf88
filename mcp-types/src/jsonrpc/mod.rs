//! JSON-RPC: ids, the error object and its codes, from the [Overview] page of the specification.
//!
//! [Overview]: https://modelcontextprotocol.io/specification/2026-07-28/basic

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

#[cfg(test)]
mod tests;

/// The `jsonrpc` member of every message.
pub const JSONRPC_VERSION: &str = "2.0";

/// The id of a request: a string, or an integer of any size that comes back digit for digit.
///
/// It is never `null`, and never a fraction.
/// `1` and `"1"` are different ids; `"\u0041"` and `"A"` are the same.
///
/// ```
/// use mcp_types::RequestId;
///
/// let id = RequestId::parse("9007199254740993").unwrap();
/// assert_eq!(serde_json::to_string(&id).unwrap(), "9007199254740993");
/// assert_eq!(RequestId::parse(r#""\u0041""#), Some(RequestId::from("A")));
/// assert_eq!(RequestId::parse("1.5"), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RequestId(Repr);

/// `Big` holds the digits of an integer that `i64` would not give back as they were.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Repr {
    Small(i64),
    Big(Box<str>),
    Text(Box<str>),
}

impl RequestId {
    /// Reads the JSON text of an id; `None` for anything but a string or an integer.
    ///
    /// An integer is one by its spelling: `1.0` and `1e3` are refused.
    #[must_use]
    pub fn parse(raw_json: &str) -> Option<Self> {
        let token = raw_json.trim_matches([' ', '\t', '\n', '\r']);
        if token.starts_with('"') {
            let text: Cow<'_, str> = serde_json::from_str(token).ok()?;
            return Some(Self(Repr::Text(text.into())));
        }
        if !is_integer(token) {
            return None;
        }
        Some(Self(match token.parse() {
            Ok(number) if token != "-0" => Repr::Small(number),
            _ => Repr::Big(token.into()),
        }))
    }

    /// Appends the id as JSON.
    pub fn write_json(&self, out: &mut Vec<u8>) {
        match &self.0 {
            Repr::Small(number) => append(out, number),
            Repr::Big(digits) => out.extend_from_slice(digits.as_bytes()),
            Repr::Text(text) => append(out, text),
        }
    }

    /// The text of a string id.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match &self.0 {
            Repr::Text(text) => Some(text),
            Repr::Small(_) | Repr::Big(_) => None,
        }
    }
}

#[expect(
    clippy::expect_used,
    reason = "numbers and strings serialize, and a `Vec` takes every write"
)]
fn append(out: &mut Vec<u8>, value: &impl Serialize) {
    serde_json::to_writer(out, value).expect("writing to memory cannot fail");
}

/// Whether `token` is `int` of RFC 8259, section 6: no fraction, no exponent, no leading zero.
fn is_integer(token: &str) -> bool {
    let digits = token.strip_prefix('-').unwrap_or(token);
    let leading_zero = digits.starts_with('0') && digits.len() > 1;
    !digits.is_empty() && !leading_zero && digits.bytes().all(|byte| byte.is_ascii_digit())
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Small(number) => write!(f, "{number}"),
            Repr::Big(text) | Repr::Text(text) => f.write_str(text),
        }
    }
}

impl Serialize for RequestId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Repr::Small(number) => serializer.serialize_i64(*number),
            Repr::Big(digits) => RawValue::from_string(digits.to_string())
                .map_err(serde::ser::Error::custom)?
                .serialize(serializer),
            Repr::Text(text) => serializer.serialize_str(text),
        }
    }
}

impl<'de> Deserialize<'de> for RequestId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Self::parse(raw.get()).ok_or_else(|| D::Error::custom("expected a string or an integer"))
    }
}

impl From<i64> for RequestId {
    fn from(number: i64) -> Self {
        Self(Repr::Small(number))
    }
}

impl From<&str> for RequestId {
    fn from(text: &str) -> Self {
        Self(Repr::Text(text.into()))
    }
}

impl From<String> for RequestId {
    fn from(text: String) -> Self {
        Self(Repr::Text(text.into()))
    }
}

/// The error object of a response.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct JsonRpcError {
    /// What kind of error; see [`error_codes`].
    pub code: i64,
    /// One sentence about it.
    pub message: Cow<'static, str>,
    /// Whatever else the code defines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Box<Value>>,
}

impl JsonRpcError {
    /// An error without `data`.
    #[must_use]
    pub fn new(code: i64, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }

    /// Sets `data`.
    #[must_use]
    pub fn data(mut self, data: impl Into<Value>) -> Self {
        self.data = Some(Box::new(data.into()));
        self
    }
}

impl fmt::Display for JsonRpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (code {})", self.message, self.code)
    }
}

/// The `data` of an [`UNSUPPORTED_PROTOCOL_VERSION`](error_codes::UNSUPPORTED_PROTOCOL_VERSION)
/// error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UnsupportedProtocolVersionData {
    /// The versions the server speaks.
    pub supported: Vec<String>,
    /// The version the client asked for.
    pub requested: String,
}

impl UnsupportedProtocolVersionData {
    /// What is spoken, and what was asked for.
    #[must_use]
    pub fn new(
        supported: impl IntoIterator<Item = impl Into<String>>,
        requested: impl Into<String>,
    ) -> Self {
        Self {
            supported: supported.into_iter().map(Into::into).collect(),
            requested: requested.into(),
        }
    }
}

/// Error codes of JSON-RPC and of the specification's revisions.
pub mod error_codes {
    /// The message is not JSON.
    pub const PARSE_ERROR: i64 = -32700;
    /// The JSON is not a valid request.
    pub const INVALID_REQUEST: i64 = -32600;
    /// The method does not exist or is not available.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The parameters do not fit the method.
    pub const INVALID_PARAMS: i64 = -32602;
    /// The server failed.
    pub const INTERNAL_ERROR: i64 = -32603;
    /// There is no such resource; used by revisions up to 2025-11-25.
    pub const RESOURCE_NOT_FOUND: i64 = -32002;
    /// The user has to visit a URL first; used by revision 2025-11-25.
    pub const URL_ELICITATION_REQUIRED: i64 = -32042;
    /// An HTTP header contradicts the body; since revision 2026-07-28.
    pub const HEADER_MISMATCH: i64 = -32020;
    /// The request needs a client capability that was not declared; since revision 2026-07-28.
    pub const MISSING_CLIENT_CAPABILITY: i64 = -32021;
    /// The protocol version is not spoken here; since revision 2026-07-28.
    pub const UNSUPPORTED_PROTOCOL_VERSION: i64 = -32022;
}
