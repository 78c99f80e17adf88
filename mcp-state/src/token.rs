//! The wire layout of a token: prefix, then base64url of key id, nonce, body and tag.
//!
//! A token is built inside the one buffer that becomes its text, and opened inside the one buffer
//! that becomes its payload: nothing else is allocated.

use base64::{DecodeError, Engine, engine::general_purpose::NO_PAD};

use crate::error::{BoxError, Reason, SealError};

/// The longest token that is looked at, unless a codec is told otherwise: 64 KiB.
pub const DEFAULT_MAX_TOKEN_LEN: usize = 64 * 1024;

/// The public name of a key inside a token.
pub(crate) type KeyId = [u8; KEY_ID_LEN];

/// The random part of a token.
pub(crate) type Nonce = [u8; NONCE_LEN];

pub(crate) const KEY_ID_LEN: usize = 4;
pub(crate) const NONCE_LEN: usize = 12;
const HEAD_LEN: usize = KEY_ID_LEN + NONCE_LEN;

/// A token being made: room for its text, with the raw bytes waiting at the end of it.
pub(crate) struct Draft {
    text: Vec<u8>,
    raw_at: usize,
    tag_len: usize,
}

impl Draft {
    /// Lays out everything but the tag, unless the text would be longer than `max`.
    pub(crate) fn new(
        prefix: &str,
        (id, nonce): (&KeyId, &Nonce),
        payload: &[u8],
        (tag_len, max): (usize, usize),
    ) -> Result<Self, SealError> {
        let too_long = |len| SealError::TooLong { len, max };
        let raw_len = payload
            .len()
            .checked_add(HEAD_LEN + tag_len)
            .ok_or_else(|| too_long(usize::MAX))?;
        let len = base64::encoded_len(raw_len, false)
            .and_then(|len| len.checked_add(prefix.len()))
            .ok_or_else(|| too_long(usize::MAX))?;
        if len > max {
            return Err(too_long(len));
        }
        let raw_at = len - raw_len;
        let mut text = Vec::with_capacity(len);
        text.extend_from_slice(prefix.as_bytes());
        text.resize(raw_at, 0);
        text.extend_from_slice(id);
        text.extend_from_slice(nonce);
        text.extend_from_slice(payload);
        Ok(Self {
            text,
            raw_at,
            tag_len,
        })
    }

    /// The payload, to be encrypted in place.
    pub(crate) fn body(&mut self) -> &mut [u8] {
        self.text
            .get_mut(self.raw_at + HEAD_LEN..)
            .unwrap_or_default()
    }

    /// Adds the tag and turns the raw bytes into the text in front of them.
    pub(crate) fn finish(mut self, prefix: &str, tag: &[u8]) -> Result<String, SealError> {
        debug_assert_eq!(tag.len(), self.tag_len);
        self.text.extend_from_slice(tag);
        let fail = |error: BoxError| SealError::Codec(error);
        encode_forward(&mut self.text, self.raw_at, prefix.len()).map_err(fail)?;
        String::from_utf8(self.text).map_err(|error| fail(error.into()))
    }
}

/// Writes base64 of `buffer[read..]` to `buffer[write..]`, where it fits exactly.
///
/// With `n` bytes unread there is a gap of `n / 3` in front of them, since `4n / 3` characters have
/// to fit. As long as the gap is large, the bytes whose characters fill it are encoded straight
/// into it; the last few go by way of the stack.
fn encode_forward(buffer: &mut [u8], mut read: usize, mut write: usize) -> Result<(), BoxError> {
    let engine = engine();
    loop {
        let len = read.saturating_sub(write) / 32 * 24;
        if len < BLOCK {
            break;
        }
        let (front, unread) = buffer.split_at_mut_checked(read).unwrap_or_default();
        let from = unread.get(..len).unwrap_or_default();
        let gap = front.get_mut(write..).unwrap_or_default();
        write += engine.encode_slice(from, gap)?;
        read += from.len();
    }
    let mut block = [0; BLOCK];
    while let Some(rest) = buffer.get(read..).filter(|rest| !rest.is_empty()) {
        let len = rest.len().min(BLOCK);
        let (Some(from), Some(block)) = (rest.get(..len), block.get_mut(..len)) else {
            break;
        };
        block.copy_from_slice(from);
        let to = buffer.get_mut(write..).unwrap_or_default();
        write += engine.encode_slice(block, to)?;
        read += len;
    }
    Ok(())
}

/// A token taken apart. Nothing of it is authentic yet.
pub(crate) struct Parts {
    pub(crate) id: KeyId,
    pub(crate) nonce: Nonce,
    /// Body and tag.
    pub(crate) body: Vec<u8>,
}

impl Parts {
    /// Takes a token apart, accepting only the one spelling that sealing produces.
    ///
    /// The length is checked before anything is decoded or allocated.
    pub(crate) fn read(
        token: &str,
        prefix: &str,
        (tag_len, max): (usize, usize),
    ) -> Result<Self, Reason> {
        if token.len() > max {
            return Err(Reason::TooLong);
        }
        let text = token.strip_prefix(prefix).ok_or(Reason::Malformed)?;
        let (head, rest) = text
            .as_bytes()
            .split_first_chunk::<24>()
            .ok_or(Reason::Malformed)?;
        let engine = engine();
        let mut start = [0; 18];
        let written = engine
            .decode_slice(head, &mut start)
            .map_err(|_| Reason::Malformed)?;
        let (Some((id, tail)), 18) = (start.split_first_chunk(), written) else {
            return Err(Reason::Malformed);
        };
        let (nonce, tail) = tail.split_first_chunk().ok_or(Reason::Malformed)?;
        let mut body = Vec::with_capacity(tail.len() + base64::decoded_len_estimate(rest.len()));
        body.extend_from_slice(tail);
        engine
            .decode_vec(rest, &mut body)
            .map_err(|_: DecodeError| Reason::Malformed)?;
        if body.len() < tag_len {
            return Err(Reason::Malformed);
        }
        Ok(Self {
            id: *id,
            nonce: *nonce,
            body,
        })
    }
}

/// base64url without padding, of something short.
pub(crate) fn base64url(bytes: &[u8]) -> String {
    engine().encode(bytes)
}

/// The strict inverse of [`base64url`] for exactly `N` bytes.
pub(crate) fn base64url_exact<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    if text.len() != base64::encoded_len(N, false)? {
        return None;
    }
    let written = engine().decode_slice(text, &mut bytes).ok()?;
    (written == N).then_some(bytes)
}

/// The strict engine: no padding, no stray trailing bits, the URL-safe alphabet alone.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn engine() -> &'static impl Engine {
    static ENGINE: std::sync::LazyLock<base64::engine::Simd> =
        std::sync::LazyLock::new(|| base64::engine::Simd::url_safe(NO_PAD));
    &*ENGINE
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn engine() -> &'static impl Engine {
    &base64::engine::general_purpose::URL_SAFE_NO_PAD
}

/// Bytes that are encoded by way of the stack at a time; a multiple of 24, as vector code likes it.
const BLOCK: usize = 768;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoding_in_place_never_overtakes_itself() {
        for len in (0..2000)
            .chain(BLOCK * 4 - 60..BLOCK * 4 + 4)
            .chain([16_384, 100_001])
        {
            let payload: Vec<u8> = (0..len).map(|at| (at % 251) as u8).collect();
            let limits = (4, usize::MAX);
            let draft = Draft::new("x1.", (&[1; 4], &[2; 12]), &payload, limits).unwrap();
            let token = draft.finish("x1.", b"tags").unwrap();
            let raw = [&[1; 4][..], &[2; 12], &payload, b"tags"].concat();
            assert_eq!(token, format!("x1.{}", base64url(&raw)), "{len}");

            let parts = Parts::read(&token, "x1.", limits).unwrap();
            assert_eq!((parts.id, parts.nonce), ([1; 4], [2; 12]));
            assert_eq!(parts.body, raw[16..]);
        }
    }

    #[test]
    fn a_token_is_built_and_opened_in_buffers_of_their_final_size() {
        let draft = Draft::new("x1.", (&[1; 4], &[2; 12]), &[3; 1000], (16, 9999)).unwrap();
        let (at, capacity) = (draft.text.as_ptr(), draft.text.capacity());
        let token = draft.finish("x1.", &[4; 16]).unwrap();
        assert_eq!((token.as_ptr(), token.len()), (at, capacity));
        let parts = Parts::read(&token, "x1.", (16, 9999)).unwrap();
        assert!(parts.body.capacity() <= parts.body.len() + 3);
    }
}
