//! Log messages, from the [Logging] page of the specification.
//!
//! [Logging]: https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging

use crate::meta::MetaObject;
use crate::wire::setters;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// How severe a message is, in the words of RFC 5424; least severe first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(clippy::exhaustive_enums, reason = "RFC 5424 has eight severities")]
pub enum LoggingLevel {
    /// For who hunts a fault.
    Debug,
    /// For who wants to know.
    Info,
    /// Normal but worth a look.
    Notice,
    /// Something may be wrong.
    Warning,
    /// Something is wrong.
    Error,
    /// Something important is wrong.
    Critical,
    /// Someone must act now.
    Alert,
    /// Nothing works.
    Emergency,
}

impl LoggingLevel {
    /// Every level, least severe first.
    pub const ALL: [Self; 8] = [
        Self::Debug,
        Self::Info,
        Self::Notice,
        Self::Warning,
        Self::Error,
        Self::Critical,
        Self::Alert,
        Self::Emergency,
    ];

    /// The level of that name; names are in lower case.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == name)
    }

    /// The name as it stands on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
            Self::Alert => "alert",
            Self::Emergency => "emergency",
        }
    }
}

impl fmt::Display for LoggingLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What `logging/setLevel` carries; revisions up to 2025-11-25.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SetLevelRequestParams {
    /// The least severe level to send.
    pub level: LoggingLevel,
    /// Whatever else, by reserved or prefixed key.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl SetLevelRequestParams {
    /// The required members.
    #[must_use]
    pub fn new(level: LoggingLevel) -> Self {
        Self { level, meta: None }
    }

    setters! {
        value meta: MetaObject,
    }
}

/// A log message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LoggingMessageNotificationParams {
    /// How severe it is.
    pub level: LoggingLevel,
    /// Where it comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logger: Option<String>,
    /// What it says, any JSON value.
    pub data: Value,
    /// Whatever else, by reserved or prefixed key.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl LoggingMessageNotificationParams {
    /// The required members.
    #[must_use]
    pub fn new(level: LoggingLevel, data: impl Into<Value>) -> Self {
        Self {
            level,
            data: data.into(),
            logger: None,
            meta: None,
        }
    }

    setters! {
        into logger: String,
        value meta: MetaObject,
    }
}

#[cfg(test)]
mod tests {
    use super::{LoggingLevel, LoggingMessageNotificationParams, SetLevelRequestParams};
    use crate::wire::testing::{check, refuse};

    #[test]
    fn levels_are_ordered_and_named() {
        assert!(LoggingLevel::ALL.is_sorted());
        for level in LoggingLevel::ALL {
            assert_eq!(LoggingLevel::parse(level.as_str()), Some(level));
            assert_eq!(serde_json::to_value(level).unwrap(), level.as_str());
        }
        assert_eq!(LoggingLevel::parse("Debug"), None);
        refuse::<LoggingLevel>(r#""trace""#);
    }

    #[test]
    fn messages_come_back() {
        check::<SetLevelRequestParams>(r#"{"level":"emergency"}"#);
        let json = r#"{"level":"info","logger":"l","data":"d"}"#;
        let params = LoggingMessageNotificationParams::new(LoggingLevel::Info, "d").logger("l");
        assert_eq!(check::<LoggingMessageNotificationParams>(json), params);
        check::<LoggingMessageNotificationParams>(r#"{"level":"info","data":null}"#);
    }
}
