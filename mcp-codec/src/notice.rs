//! A change that many hear of: written once, copied to each who listens.

use bytes::{BufMut, Bytes, BytesMut};
use mcp_types::ResourceUpdatedNotificationParams;

use crate::write;

/// What has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "each has a notification and a filter of its own"
)]
pub enum Change<'a> {
    /// The list of tools.
    Tools,
    /// The list of prompts.
    Prompts,
    /// The list of resources or of templates.
    Resources,
    /// The content of the resource at a URI.
    Resource(&'a str),
}

/// A change as it travels between workers: its subject, and its notification already written.
///
/// Every revision writes these notifications in the same way; one that has subscriptions puts the
/// subscription's tag into them ([`RevisionAdapter::subscription_tag`](crate::RevisionAdapter::subscription_tag)).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    bytes: Bytes,
    text: usize,
}

const HEAD: usize = 5;

impl Notice {
    /// Writes the notification of a change.
    #[must_use]
    pub fn new(change: Change<'_>) -> Self {
        let (kind, uri) = match change {
            Change::Tools => (b't', ""),
            Change::Prompts => (b'p', ""),
            Change::Resources => (b'r', ""),
            Change::Resource(uri) => (b'u', uri),
        };
        let message = match change {
            Change::Tools => write::bare_notification("notifications/tools/list_changed"),
            Change::Prompts => write::bare_notification("notifications/prompts/list_changed"),
            Change::Resources => write::bare_notification("notifications/resources/list_changed"),
            Change::Resource(uri) => write::notification(
                "notifications/resources/updated",
                Some(&ResourceUpdatedNotificationParams::new(uri)),
            ),
        };
        let text = HEAD + uri.len();
        let mut bytes = BytesMut::with_capacity(text + message.len());
        bytes.put_u8(kind);
        bytes.put_u32(u32::try_from(uri.len()).unwrap_or(u32::MAX));
        bytes.put_slice(uri.as_bytes());
        bytes.put(message);
        Self {
            bytes: bytes.freeze(),
            text,
        }
    }

    /// Reads what [`Notice::as_bytes`] gave; `None` where it is nothing of the kind.
    #[must_use]
    pub fn read(bytes: Bytes) -> Option<Self> {
        let (head, rest) = bytes.split_first_chunk::<HEAD>()?;
        let [kind, length @ ..] = *head;
        let length = usize::try_from(u32::from_be_bytes(length)).ok()?;
        let uri = rest.get(..length)?;
        let known = match kind {
            b't' | b'p' | b'r' => uri.is_empty(),
            b'u' => std::str::from_utf8(uri).is_ok(),
            _ => false,
        };
        known.then_some(Self {
            bytes,
            text: HEAD + length,
        })
    }

    /// The whole, to be published.
    #[must_use]
    pub fn as_bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// What has changed.
    #[must_use]
    pub fn change(&self) -> Change<'_> {
        match self.bytes.first() {
            Some(b't') => Change::Tools,
            Some(b'p') => Change::Prompts,
            Some(b'r') => Change::Resources,
            _ => {
                let uri = self.bytes.get(HEAD..self.text).unwrap_or_default();
                Change::Resource(std::str::from_utf8(uri).unwrap_or_default())
            }
        }
    }

    /// The notification without a tag, shared and not copied.
    #[must_use]
    pub fn message(&self) -> Bytes {
        self.bytes.slice(self.text..)
    }

    /// The notification with a subscription's tag.
    #[must_use]
    pub fn tagged(&self, tag: &[u8]) -> Bytes {
        let message = self.bytes.get(self.text..).unwrap_or_default();
        let (end, open): (usize, &[u8]) = match self.change() {
            Change::Resource(_) => (2, b","),
            Change::Tools | Change::Prompts | Change::Resources => (1, b",\"params\":{"),
        };
        let kept = message
            .get(..message.len().saturating_sub(end))
            .unwrap_or_default();
        let mut out = BytesMut::with_capacity(kept.len() + open.len() + tag.len() + 2);
        out.put_slice(kept);
        out.put_slice(open);
        out.put_slice(tag);
        out.put_slice(b"}}");
        out.freeze()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn value(bytes: &[u8]) -> Value {
        serde_json::from_slice(bytes).unwrap()
    }

    #[test]
    fn a_notice_is_written_once_and_tagged_for_each() {
        let uri = "file:///a \"quoted\" path";
        for (change, method, params) in [
            (Change::Tools, "tools/list_changed", None),
            (Change::Prompts, "prompts/list_changed", None),
            (Change::Resources, "resources/list_changed", None),
            (Change::Resource(uri), "resources/updated", Some(uri)),
        ] {
            let written = Notice::new(change);
            let notice = Notice::read(written.as_bytes().clone()).unwrap();
            assert_eq!((&notice, notice.change()), (&written, change));
            let method = format!("notifications/{method}");
            let plain = params.map_or_else(
                || json!({"jsonrpc": "2.0", "method": method}),
                |uri| json!({"jsonrpc": "2.0", "method": method, "params": {"uri": uri}}),
            );
            assert_eq!(value(&notice.message()), plain);
            let mut tagged = plain;
            tagged["params"]["_meta"] = json!({"id": 7});
            assert_eq!(value(&notice.tagged(br#""_meta":{"id":7}"#)), tagged);
        }
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..80)) {
            if let Some(notice) = Notice::read(Bytes::from(bytes)) {
                let _ = (notice.change(), notice.message(), notice.tagged(b"x"));
            }
        }
    }
}
