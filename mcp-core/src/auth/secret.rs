//! Secrets that are recognised without being kept.

use hmac::{Hmac, KeyInit, Mac};
use rand::Rng;
use sha2::Sha256;

/// What is kept of a secret.
pub(super) type Fingerprint = [u8; 32];

/// Makes fingerprints with a key of this process: HMAC-SHA256, over each part with its length.
///
/// Whoever guesses cannot know the fingerprint of a guess, so that looking it up in a table tells
/// nothing by the time it takes.
#[derive(Clone)]
pub(super) struct Fingerprints(Hmac<Sha256>);

impl Default for Fingerprints {
    fn default() -> Self {
        let mut key = [0; 64];
        rand::rng().fill_bytes(&mut key);
        Self(Hmac::new(&key.into()))
    }
}

impl Fingerprints {
    pub(super) fn of(&self, parts: &[&str]) -> Fingerprint {
        let mut mac = self.0.clone();
        for part in parts {
            mac.update(&part.len().to_le_bytes());
            mac.update(part.as_bytes());
        }
        mac.finalize().into_bytes().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_run_together() {
        let fingerprints = Fingerprints::default();
        assert_eq!(fingerprints.of(&["a", "b"]), fingerprints.of(&["a", "b"]));
        assert_ne!(fingerprints.of(&["a", "b"]), fingerprints.of(&["ab", ""]));
        assert_ne!(
            fingerprints.of(&["a"]),
            Fingerprints::default().of(&["a"]),
            "each has a key of its own"
        );
    }
}
