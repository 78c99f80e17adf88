//! Protocol versions: the [Versioning] page of the specification.
//!
//! [Versioning]: https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning

use serde::{Serialize, Serializer};
use std::fmt;

/// A protocol version: the date that names one revision of the specification on the wire.
///
/// Versions are equal or not, and that is all: deliberately there is no order, because what a
/// revision can do is a question for its adapter and never a comparison of dates.
/// This crate names no particular version; whoever speaks one makes its constant.
///
/// ```
/// use mcp_types::ProtocolVersion;
///
/// const VERSION: ProtocolVersion = ProtocolVersion::new("2026-07-28");
/// assert_eq!(VERSION, *"2026-07-28");
/// assert_eq!(VERSION.to_string(), "2026-07-28");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProtocolVersion(&'static str);

impl ProtocolVersion {
    /// The version that `date` names, `YYYY-MM-DD`.
    #[must_use]
    pub const fn new(date: &'static str) -> Self {
        Self(date)
    }

    /// The date as it stands on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for ProtocolVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0)
    }
}

impl Serialize for ProtocolVersion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0)
    }
}

impl PartialEq<str> for ProtocolVersion {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for ProtocolVersion {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

impl From<ProtocolVersion> for &'static str {
    fn from(version: ProtocolVersion) -> Self {
        version.0
    }
}

impl From<ProtocolVersion> for String {
    fn from(version: ProtocolVersion) -> Self {
        version.0.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::ProtocolVersion;

    #[test]
    fn a_version_is_its_date() {
        let version = ProtocolVersion::new("some-date");
        assert_eq!(version, "some-date");
        assert_ne!(version, *"another-date");
        assert_eq!(format!("{version:>10}"), " some-date");
        assert_eq!(serde_json::to_string(&version).unwrap(), r#""some-date""#);
        assert_eq!(String::from(version), "some-date");
    }
}
