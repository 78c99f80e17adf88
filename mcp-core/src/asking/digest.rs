//! Telling one question from another.

use std::io;

use serde::Serialize;

/// Tells one question from another: FNV-1a over its JSON. It protects from a slip of the
/// programmer, not from an attacker, who cannot open the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Digest(u64);

impl Digest {
    /// The digest of something as it is written.
    pub(crate) fn of(value: &impl Serialize) -> Self {
        let mut digest = Self(0xcbf2_9ce4_8422_2325);
        // Our own types do not fail to serialize, and a hash does not fail to take bytes.
        let _ = serde_json::to_writer(&mut digest, value);
        digest
    }

    /// The digest of this and a text after it.
    pub(crate) fn then(mut self, text: &str) -> Self {
        self.take(text.as_bytes());
        self
    }

    /// As it is kept in a state.
    pub(crate) const fn number(self) -> u64 {
        self.0
    }

    fn take(&mut self, bytes: &[u8]) {
        let next = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        self.0 = bytes.iter().fold(self.0, next);
    }
}

impl io::Write for Digest {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.take(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_text_is_another_digest_and_the_same_one_is_the_same_everywhere() {
        let form = Digest::of(&["a", "b"]);
        assert_eq!(form.number(), 0xaec5_47ab_721f_a7a8);
        assert_ne!(form.then("one").number(), form.then("two").number());
        assert_ne!(form.then("").number(), Digest::of(&["a", "c"]).number());
    }
}
