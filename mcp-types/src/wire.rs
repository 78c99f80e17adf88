//! What the wire types share: by-value setters, raw JSON, and lenient reading.

use serde::de::{DeserializeOwned, Error as _, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;
use std::fmt;
use std::marker::PhantomData;

/// Any JSON object.
pub type JsonObject = serde_json::Map<String, Value>;

/// One JSON value kept as its text, so that it is written back byte for byte.
///
/// Two are equal when their texts are: `1.0` is not `1`, and member order counts. A line break
/// between tokens becomes a space, since messages are lines.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct RawJson(Box<RawValue>);

impl RawJson {
    /// Checks that `text` is one JSON value and keeps it.
    ///
    /// # Errors
    ///
    /// When `text` is not exactly one JSON value.
    pub fn from_text(text: impl Into<String>) -> serde_json::Result<Self> {
        RawValue::from_string(text.into()).map(Self::of)
    }

    /// The value on one line: within a string JSON allows no line break.
    fn of(raw: Box<RawValue>) -> Self {
        // A char is looked for ten times as slowly as a byte.
        let breaks = |byte| matches!(byte, b'\n' | b'\r');
        if !raw.get().bytes().any(breaks) {
            return Self(raw);
        }
        let line = raw.get().replace(['\n', '\r'], " ");
        Self(RawValue::from_string(line).unwrap_or(raw))
    }

    /// Serializes `value`.
    ///
    /// # Errors
    ///
    /// When `value` refuses to serialize, or a map in it has keys that are not strings.
    pub fn from_value(value: &(impl Serialize + ?Sized)) -> serde_json::Result<Self> {
        serde_json::value::to_raw_value(value).map(Self::of)
    }

    /// The JSON text.
    #[must_use]
    pub fn get(&self) -> &str {
        self.0.get()
    }

    /// Reads the value as a `T`.
    ///
    /// # Errors
    ///
    /// When the value does not have the shape of a `T`.
    pub fn to<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        serde_json::from_str(self.get())
    }
}

impl<'de> Deserialize<'de> for RawJson {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(source).map(Self::of)
    }
}

impl PartialEq for RawJson {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl Eq for RawJson {}

impl fmt::Display for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.get())
    }
}

impl From<Box<RawValue>> for RawJson {
    fn from(raw: Box<RawValue>) -> Self {
        Self::of(raw)
    }
}

impl From<&RawValue> for RawJson {
    fn from(raw: &RawValue) -> Self {
        Self::of(raw.to_owned())
    }
}

impl From<Value> for RawJson {
    fn from(value: Value) -> Self {
        Self::from(&value)
    }
}

impl From<&Value> for RawJson {
    #[expect(
        clippy::expect_used,
        reason = "a `Value` has string keys and no failing parts"
    )]
    fn from(value: &Value) -> Self {
        Self::from_value(value).expect("a JSON value serializes")
    }
}

impl From<RawJson> for Box<RawValue> {
    fn from(raw: RawJson) -> Self {
        raw.0
    }
}

/// Writes the by-value setters of optional fields: `into` converts, `value` takes as is.
macro_rules! setters {
    (@into $field:ident: $type:ty) => {
        #[doc = concat!("Sets `", stringify!($field), "`.")]
        #[must_use]
        pub fn $field(mut self, $field: impl Into<$type>) -> Self {
            self.$field = Some($field.into());
            self
        }
    };
    (@value $field:ident: $type:ty) => {
        #[doc = concat!("Sets `", stringify!($field), "`.")]
        #[must_use]
        pub fn $field(mut self, $field: $type) -> Self {
            self.$field = Some($field);
            self
        }
    };
    ($($kind:ident $field:ident: $type:ty),* $(,)?) => {
        $( $crate::wire::setters! { @$kind $field: $type } )*
    };
}

pub(crate) use setters;

/// Reads a member that is there as `Some`, even when it is `null`.
pub(crate) fn present<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    T::deserialize(deserializer).map(Some)
}

/// Reads a capability: `null` and `false` are absent, and anything of a wrong shape is present.
pub(crate) fn lenient<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned + Default,
{
    Ok(match Value::deserialize(deserializer)? {
        Value::Null | Value::Bool(false) => None,
        value => Some(serde_json::from_value(value).unwrap_or_default()),
    })
}

/// Reads a flag, taking whatever is not a boolean as absent.
pub(crate) fn lenient_flag<'de, D>(deserializer: D) -> Result<Option<bool>, D::Error>
where
    D: Deserializer<'de>,
{
    Value::deserialize(deserializer).map(|value| value.as_bool())
}

/// A list written as its only element when it has one, and read from either form.
pub(crate) mod one_or_many {
    use super::{Deserialize, DeserializeOwned, Deserializer, Serialize, Serializer, Value};
    use serde::de::Error as _;

    pub(crate) fn serialize<S, T>(items: &[T], serializer: S) -> Result<S::Ok, S::Error>
    where
        S: Serializer,
        T: Serialize,
    {
        match items {
            [item] => item.serialize(serializer),
            items => items.serialize(serializer),
        }
    }

    pub(crate) fn deserialize<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
    where
        D: Deserializer<'de>,
        T: DeserializeOwned,
    {
        match Value::deserialize(deserializer)? {
            Value::Array(items) => items.into_iter().map(serde_json::from_value).collect(),
            item => serde_json::from_value(item).map(|item| vec![item]),
        }
        .map_err(D::Error::custom)
    }
}

/// A list of pairs written as an object, in the order of the list.
pub(crate) mod ordered {
    use super::{
        Deserialize, Deserializer, Pairs, PhantomData, Serialize, SerializeMap, Serializer,
    };

    pub(crate) fn serialize<S, T>(pairs: &[(String, T)], serializer: S) -> Result<S::Ok, S::Error>
    where
        S: Serializer,
        T: Serialize,
    {
        let mut map = serializer.serialize_map(Some(pairs.len()))?;
        for (name, value) in pairs {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }

    pub(crate) fn deserialize<'de, D, T>(deserializer: D) -> Result<Vec<(String, T)>, D::Error>
    where
        D: Deserializer<'de>,
        T: Deserialize<'de>,
    {
        deserializer.deserialize_map(Pairs(PhantomData))
    }
}

struct Pairs<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Pairs<T> {
    type Value = Vec<(String, T)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut pairs = Vec::new();
        while let Some((name, value)) = map.next_entry::<String, T>()? {
            if pairs.iter().any(|(known, _)| *known == name) {
                return Err(A::Error::custom(format_args!("duplicate member {name:?}")));
            }
            pairs.push((name, value));
        }
        Ok(pairs)
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use super::{DeserializeOwned, Serialize};
    use std::fmt::Debug;

    /// `json` reads as a `T` that writes `json` again, whatever unknown members come along.
    #[track_caller]
    pub(crate) fn check<T: DeserializeOwned + Serialize + PartialEq + Debug>(json: &str) -> T {
        let read: T = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), json);

        let members = json.strip_prefix('{').unwrap();
        let comma = if members == "}" { "" } else { "," };
        let unknown_first = format!(r#"{{"x-unknown":[1]{comma}{members}"#);
        assert_eq!(serde_json::from_str::<T>(&unknown_first).unwrap(), read);
        read
    }

    /// `json` does not read as a `T`.
    #[track_caller]
    pub(crate) fn refuse<T: DeserializeOwned + Debug>(json: &str) {
        serde_json::from_str::<T>(json).unwrap_err();
    }
}

#[cfg(test)]
mod tests {
    use super::{RawJson, Value};

    #[test]
    fn raw_json_is_kept_as_it_came() {
        let text = r#"{"b":123456789012345678901234567890, "a":1.0}"#;
        let raw: RawJson = serde_json::from_str(text).unwrap();
        assert_eq!(raw.get(), text);
        assert_eq!(serde_json::to_string(&raw).unwrap(), text);
        assert_eq!(raw, RawJson::from_text(text).unwrap());
        assert_ne!(raw, RawJson::from(Value::Null));
    }

    #[test]
    fn raw_json_never_breaks_a_line() {
        let pretty = "{\n  \"a\": [1,\r\n 2],\n  \"b\": \"x\\ny\"\n}";
        let line = "{   \"a\": [1,   2],   \"b\": \"x\\ny\" }";
        let read: RawJson = serde_json::from_str(pretty).unwrap();
        assert_eq!(read.get(), line);
        assert_eq!(RawJson::from_text(pretty).unwrap().get(), line);
        let nested = serde_json::value::RawValue::from_string(pretty.to_owned()).unwrap();
        assert_eq!(RawJson::from_value(&nested).unwrap().get(), line);
    }

    #[test]
    fn raw_json_is_one_value() {
        for text in ["", "1 2", "{", "nul"] {
            RawJson::from_text(text).unwrap_err();
        }
        assert_eq!(
            RawJson::from_value("a").unwrap().to::<String>().unwrap(),
            "a"
        );
    }
}
