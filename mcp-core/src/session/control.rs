//! What the workers that serve one session tell one another.

use bytes::{BufMut, Bytes, BytesMut};
use mcp_types::RequestId;

use crate::stream::StreamId;

/// A message on a session's control topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Control {
    /// The session has ended, and all that belongs to it.
    Ended,
    /// The client no longer wants an answer.
    Cancelled(RequestId),
    /// The client has answered a question: the whole message, as it arrived.
    Answered(RequestId, Bytes),
    /// Somebody else now writes this stream; the number tells one writer from another.
    Taken(StreamId, u64),
    /// What the client watches has changed.
    Watched,
}

impl Control {
    pub(crate) fn write(&self) -> Bytes {
        let mut out = BytesMut::new();
        match self {
            Self::Ended => out.put_u8(b'e'),
            Self::Cancelled(id) => {
                out.put_u8(b'c');
                out.put(&*id_text(id));
            }
            Self::Answered(id, body) => {
                let id = id_text(id);
                out.put_u8(b'a');
                out.put_u32(u32::try_from(id.len()).unwrap_or(u32::MAX));
                out.put(&*id);
                out.put_slice(body);
            }
            Self::Taken(stream, writer) => {
                out.put_u8(b't');
                out.put_slice(stream.as_bytes());
                out.put_u64(*writer);
            }
            Self::Watched => out.put_u8(b'w'),
        }
        out.freeze()
    }

    /// Reads what [`Control::write`] wrote; `None` where it is nothing of the kind.
    pub(crate) fn read(bytes: &Bytes) -> Option<Self> {
        let (tag, rest) = bytes.split_first()?;
        match tag {
            b'e' => Some(Self::Ended),
            b'c' => Some(Self::Cancelled(id_of(rest)?)),
            b'a' => {
                let (length, rest) = rest.split_first_chunk::<4>()?;
                let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
                let (id, body) = rest.split_at_checked(length)?;
                Some(Self::Answered(id_of(id)?, bytes.slice_ref(body)))
            }
            b't' => {
                let (stream, writer) = rest.split_first_chunk::<{ StreamId::SIZE }>()?;
                let writer = u64::from_be_bytes(writer.try_into().ok()?);
                Some(Self::Taken(StreamId::from_bytes(*stream), writer))
            }
            b'w' => Some(Self::Watched),
            _ => None,
        }
    }
}

fn id_text(id: &RequestId) -> Vec<u8> {
    let mut text = Vec::new();
    id.write_json(&mut text);
    text
}

fn id_of(text: &[u8]) -> Option<RequestId> {
    RequestId::parse(std::str::from_utf8(text).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_messages_come_back() {
        let number = RequestId::parse("7").unwrap();
        let text = RequestId::parse("\"7\"").unwrap();
        for message in [
            Control::Ended,
            Control::Cancelled(number),
            Control::Cancelled(text.clone()),
            Control::Answered(text, Bytes::from_static(b"{\"result\":{}}")),
            Control::Taken(StreamId::random(), 7),
            Control::Taken(StreamId::STANDALONE, u64::MAX),
            Control::Watched,
        ] {
            assert_eq!(Control::read(&message.write()), Some(message));
        }
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..60)) {
            let _ = Control::read(&Bytes::from(bytes));
        }
    }
}
