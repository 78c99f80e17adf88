//! Key rings, purposes and the signed format: sealing without the boundary.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use std::collections::HashSet;

use mcp_state::{
    AesGcmCodec, HmacCodec, KeyError, KeyRing, Purpose, Reason, SealError, Sealer, TokenId,
};

const OLD: &str = "the old secret, thirty-two bytes or more";
const NEW: &str = "the new secret, thirty-two bytes or more";

fn ring(secrets: &[&str]) -> KeyRing {
    KeyRing::new(secrets).unwrap()
}

#[test]
fn the_client_cannot_read_a_sealed_state_and_can_read_a_signed_one() {
    use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
    let payload = b"the account is 42";
    let shows = |token: &str| {
        let raw = URL_SAFE_NO_PAD.decode(&token[3..]).unwrap();
        raw.windows(payload.len()).any(|window| window == payload)
    };
    let ring = KeyRing::ephemeral();
    assert!(!shows(&AesGcmCodec::new(&ring).seal(payload).unwrap()));
    assert!(shows(&HmacCodec::new(&ring).seal(payload).unwrap()));
}

#[test]
fn a_signed_token_is_hmac_of_what_the_documentation_says() {
    use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
    use hkdf::Hkdf;
    use hmac::{Hmac, KeyInit, Mac};
    use sha2::{Digest, Sha256};

    let mut key = [0; 32];
    let info = b"mcp/request-state/v1/hmac-sha256";
    Hkdf::<Sha256>::new(None, OLD.as_bytes())
        .expand(info, &mut key)
        .unwrap();
    let kid = Sha256::new()
        .chain_update("mcp/request-state/v1/kid:")
        .chain_update(key)
        .finalize();
    let signed = [&kid[..4], &[9; 12], b"payload"].concat();
    let mac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
    let tag = mac
        .chain_update("s1.")
        .chain_update(&signed)
        .finalize()
        .into_bytes();
    let token = format!(
        "s1.{}",
        URL_SAFE_NO_PAD.encode([&signed[..], &tag[..]].concat())
    );
    let codec = HmacCodec::new(&ring(&[OLD]));
    assert_eq!(codec.seal_with_random(b"payload", [9; 12]).unwrap(), token);
}

#[test]
fn a_token_of_one_purpose_never_opens_as_another() {
    let ring = ring(&[OLD]);
    let purposes = [
        Purpose::State,
        Purpose::Cursor,
        Purpose::EventId,
        Purpose::Session,
        Purpose::Application("form"),
        Purpose::Application("form2"),
        Purpose::Application(""),
    ];
    for one in purposes {
        let token = Sealer::new(&ring, one).seal(b"x", b"list").unwrap();
        for other in purposes {
            let sealer = Sealer::new(&ring, other);
            assert_eq!(sealer.open(&token, b"list").is_ok(), one == other);
            // Nor with the other purpose's prefix in front of it.
            let renamed = format!("{}{}", other.prefix(), &token[3..]);
            assert_eq!(sealer.open(&renamed, b"list").is_ok(), one == other);
        }
        for elsewhere in [&b""[..], b"lis", b"listx", b"List"] {
            let refused = Sealer::new(&ring, one).open(&token, elsewhere).unwrap_err();
            assert_eq!(*refused.reason(), Reason::Seal);
        }
    }
}

#[test]
fn a_refused_ring_says_which_key_how_long_and_how_to_make_one() {
    let refused = KeyRing::new([OLD, "short"]).unwrap_err();
    assert_eq!(refused, KeyError::TooShort { index: 1, len: 5 });
    assert_eq!(
        refused.to_string(),
        "keys[1] is 5 bytes long but must be at least 32 bytes of secret randomness; make one \
         with `openssl rand -hex 32`"
    );
    let refused = KeyRing::new([NEW, OLD, NEW]).unwrap_err();
    assert_eq!(
        refused,
        KeyError::Duplicate {
            index: 2,
            earlier: 0
        }
    );
    assert!(
        refused
            .to_string()
            .contains("keys[2] has the key id of keys[0]")
    );
    let none: [&str; 0] = [];
    assert!(
        KeyRing::new(none)
            .unwrap_err()
            .to_string()
            .contains("at least one secret of 32")
    );
    assert_eq!(KeyRing::new([OLD, NEW]).unwrap().len(), 2);
}

#[test]
fn length_is_checked_before_anything_is_decoded() {
    let codec = AesGcmCodec::new(&ring(&[OLD]));
    // Not even base64, but that is not found out.
    let refused = codec.unseal(&"!".repeat(65_537)).unwrap_err();
    assert_eq!(*refused.reason(), Reason::TooLong);
    assert_eq!(
        *codec.unseal(&"!".repeat(65_536)).unwrap_err().reason(),
        Reason::Malformed
    );

    let longest = codec.seal(&vec![0; 49_117]).unwrap();
    assert_eq!(longest.len(), 65_535);
    assert_eq!(codec.unseal(&longest).unwrap().len(), 49_117);
    assert!(matches!(
        codec.seal(&vec![0; 49_119]),
        Err(SealError::TooLong { max: 65_536, .. })
    ));
}

#[test]
fn every_token_has_its_own_id() {
    let (sealed, signed) = (
        AesGcmCodec::new(&ring(&[OLD])),
        HmacCodec::new(&ring(&[OLD])),
    );
    let mut ids = HashSet::new();
    for _ in 0..100 {
        for token in [sealed.seal(b"x").unwrap(), signed.seal(b"x").unwrap()] {
            let id = TokenId::of(&token);
            assert_eq!(id, TokenId::of(&token));
            assert_eq!(id.as_str().len(), 22);
            assert!(ids.insert(id));
        }
    }
}
