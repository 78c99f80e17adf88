//! What a store keeps of one session, as bytes.
//!
//! A version byte, then fields: a tag, a length of four bytes, the content. Reading takes slices
//! and copies nothing, since it happens with every request of a session.

use std::collections::BTreeMap;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use mcp_codec::{AdapterSet, Revision};
use mcp_types::LoggingLevel;

use crate::exchange::Client;

/// What earlier messages of a session settled, and what handlers keep in it.
#[derive(Clone, Default)]
pub(crate) struct Record {
    /// The negotiated revision; none before the handshake, and for handles.
    pub(crate) revision: Option<Revision>,
    /// Whether the client has said that it is ready for what it did not ask for.
    pub(crate) initialized: bool,
    /// The identity of the principal that it belongs to; empty where nobody was verified.
    pub(crate) owner: Bytes,
    pub(crate) client: Client,
    pub(crate) log_level: Option<LoggingLevel>,
    /// The URIs that the client watches.
    pub(crate) watched: Vec<Bytes>,
    /// What handlers keep, as JSON texts.
    pub(crate) values: BTreeMap<Bytes, Bytes>,
}

const VERSION: u8 = 1;
const REVISION: u8 = b'r';
const INITIALIZED: u8 = b'd';
const OWNER: u8 = b'o';
const CLIENT_INFO: u8 = b'i';
const CAPABILITIES: u8 = b'c';
const LOG_LEVEL: u8 = b'l';
const WATCHED: u8 = b'w';
const NAME: u8 = b'n';
const VALUE: u8 = b'v';

impl Record {
    pub(crate) fn write(&self) -> Bytes {
        let mut out = BytesMut::with_capacity(self.size());
        out.put_u8(VERSION);
        if let Some(revision) = self.revision {
            field(&mut out, REVISION, revision.version().as_str().as_bytes());
        }
        if self.initialized {
            field(&mut out, INITIALIZED, b"");
        }
        field(&mut out, OWNER, &self.owner);
        if let Some(info) = &self.client.info {
            field(&mut out, CLIENT_INFO, info);
        }
        if let Some(capabilities) = &self.client.capabilities {
            field(&mut out, CAPABILITIES, capabilities);
        }
        if let Some(level) = self.log_level {
            field(&mut out, LOG_LEVEL, level.as_str().as_bytes());
        }
        for uri in &self.watched {
            field(&mut out, WATCHED, uri);
        }
        for (name, value) in &self.values {
            field(&mut out, NAME, name);
            field(&mut out, VALUE, value);
        }
        out.freeze()
    }

    /// How many bytes it takes in a store, roughly.
    pub(crate) fn size(&self) -> usize {
        let client = [&self.client.info, &self.client.capabilities];
        let client: usize = client.into_iter().flatten().map(|it| it.len() + 5).sum();
        let watched: usize = self.watched.iter().map(|it| it.len() + 5).sum();
        let values = self.values.iter();
        let values: usize = values.map(|(name, it)| name.len() + it.len() + 10).sum();
        48 + self.owner.len() + client + watched + values
    }

    /// Reads what [`Record::write`] wrote; `None` where it is nothing of the kind, or of a
    /// revision that is not served.
    pub(crate) fn read(mut bytes: Bytes, revisions: &AdapterSet) -> Option<Self> {
        if bytes.try_get_u8().ok()? != VERSION {
            return None;
        }
        let mut record = Self::default();
        let mut name = None;
        while bytes.has_remaining() {
            let tag = bytes.try_get_u8().ok()?;
            let length = usize::try_from(bytes.try_get_u32().ok()?).ok()?;
            if length > bytes.len() {
                return None;
            }
            let content = bytes.split_to(length);
            match tag {
                REVISION => record.revision = Some(revisions.find(text(&content)?)?),
                INITIALIZED => record.initialized = true,
                OWNER => record.owner = content,
                CLIENT_INFO => record.client.info = Some(content),
                CAPABILITIES => record.client.capabilities = Some(content),
                LOG_LEVEL => record.log_level = Some(LoggingLevel::parse(text(&content)?)?),
                WATCHED => record.watched.push(content),
                NAME => name = Some(content),
                VALUE => {
                    record.values.insert(name.take()?, content);
                }
                // A newer worker may keep more.
                _ => {}
            }
        }
        Some(record)
    }
}

fn field(out: &mut BytesMut, tag: u8, content: &[u8]) {
    out.put_u8(tag);
    out.put_u32(u32::try_from(content.len()).unwrap_or(u32::MAX));
    out.put_slice(content);
}

fn text(bytes: &Bytes) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Record {
        let revisions = AdapterSet::default();
        let mut record = Record {
            revision: revisions.find("2025-06-18"),
            owner: Bytes::from_static(b"1:a0:b"),
            initialized: true,
            log_level: Some(LoggingLevel::Warning),
            watched: vec![Bytes::from_static(b"file:///a"), Bytes::from_static(b"")],
            ..Record::default()
        };
        record.client.info = Some(Bytes::from_static(b"{}"));
        let value = (Bytes::from_static(b"cart"), Bytes::from_static(b"[1,2]"));
        record.values.extend([value]);
        record
    }

    #[test]
    fn a_record_comes_back() {
        let record = example();
        let read = Record::read(record.write(), &AdapterSet::default()).unwrap();
        assert_eq!(read.write(), record.write());
        assert_eq!(read.revision.unwrap().version().as_str(), "2025-06-18");
        assert_eq!(read.log_level, Some(LoggingLevel::Warning));
        assert!(read.initialized);
        assert_eq!(read.watched, record.watched);
        assert!(read.client.capabilities.is_none());
    }

    #[test]
    fn a_record_of_a_revision_that_is_not_served_is_none() {
        let others = AdapterSet::only(["2025-11-25"]).unwrap();
        assert!(Record::read(example().write(), &others).is_none());
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..80)) {
            let _ = Record::read(Bytes::from(bytes.clone()), &AdapterSet::default());
            let mut versioned = vec![VERSION];
            versioned.extend(bytes);
            let _ = Record::read(Bytes::from(versioned), &AdapterSet::default());
        }
    }
}
