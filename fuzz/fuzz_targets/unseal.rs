//! Any token at three readers; and a real token, changed in one place.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use mcp_state::{AesGcmCodec, HmacCodec, InvalidRequestState, KeyRing, Purpose, Sealer};

struct Readers {
    sealed: AesGcmCodec,
    signed: HmacCodec,
    cursors: Sealer,
}

impl Readers {
    fn seal(&self, kind: u8, payload: &[u8]) -> String {
        match kind {
            0 => self.sealed.seal(payload),
            1 => self.signed.seal(payload),
            _ => self.cursors.seal(payload, b"list"),
        }
        .expect("short enough")
    }

    fn unseal(&self, kind: u8, token: &str) -> Result<Vec<u8>, InvalidRequestState> {
        match kind {
            0 => self.sealed.unseal(token),
            1 => self.signed.unseal(token),
            _ => self.cursors.open(token, b"list"),
        }
    }
}

static READERS: LazyLock<Readers> = LazyLock::new(|| {
    // The ring of the vectors, whose tokens are the seeds.
    let secrets = [
        "k1-0123456789abcdef0123456789abcdef",
        "k2-fedcba9876543210fedcba9876543210",
    ];
    let ring = KeyRing::new(secrets).expect("long enough");
    Readers {
        sealed: AesGcmCodec::new(&ring),
        signed: HmacCodec::new(&ring),
        cursors: Sealer::new(&ring, Purpose::Cursor),
    }
});

fuzz_target!(|data: &[u8]| {
    if let Ok(token) = std::str::from_utf8(data) {
        for kind in 0..3 {
            let opened = READERS.unseal(kind, token);
            assert_eq!(
                opened,
                READERS.unseal(kind, token),
                "opening is a function of the token"
            );
        }
    }
    let [kind, at, xor, payload @ ..] = data else {
        return;
    };
    let kind = kind % 3;
    let token = READERS.seal(kind, payload);
    assert_eq!(READERS.unseal(kind, &token).as_deref(), Ok(payload));
    assert!(
        READERS.unseal((kind + 1) % 3, &token).is_err(),
        "one purpose opened as another"
    );

    let mut changed = token.clone().into_bytes();
    let at = usize::from(*at) * changed.len() / 256;
    changed[at] ^= xor & 0x7f;
    let changed = String::from_utf8(changed).expect("ASCII");
    assert_eq!(READERS.unseal(kind, &changed).is_ok(), changed == token);
    assert!(READERS.unseal(kind, &token[..at]).is_err());
});
