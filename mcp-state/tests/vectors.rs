//! Every case of the vectors made with the Python SDK, byte for byte.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

#[path = "support/cases.rs"]
mod cases;

use mcp_state::{
    AesGcmCodec, Boundary, Caller, InvalidRequestState, KeyRing, PrincipalBinding, Purpose,
    Request, RequestStateSecurity, Sealer, canonical_json,
};

use crate::cases::{boundaries, bytes, identities, number, ring, tokens};

fn boundary(ring: &KeyRing, ttl: f64, audience: Option<&str>, principal: Option<&str>) -> Boundary {
    let principal = principal.map(str::to_owned);
    let security = RequestStateSecurity::with_keys(ring)
        .ttl_seconds(ttl)
        .unwrap()
        .principal(PrincipalBinding::custom(move |_| Ok(principal.clone())));
    Boundary::new(security, audience)
}

/// The parameters with a `requestState` of the given raw value.
fn with_state(params: &str, state: &str) -> String {
    let open = params.trim_end().strip_suffix('}').unwrap();
    let comma = if open.trim_end().ends_with('{') {
        ""
    } else {
        ","
    };
    format!(r#"{open}{comma}"requestState":{state}}}"#)
}

#[test]
fn tokens_come_out_byte_for_byte_and_open() {
    let tokens = tokens();
    assert!(tokens.seal.len() >= 18);
    for case in tokens.seal {
        let codec = AesGcmCodec::new(&ring(std::slice::from_ref(&case.key_hex)));
        let payload = bytes(&case.payload_hex);
        let nonce = bytes(&case.nonce_hex).try_into().unwrap();
        assert_eq!(codec.seal_with_nonce(&payload, nonce).unwrap(), case.token);
        assert_eq!(codec.unseal(&case.token).unwrap(), payload);

        let sealer = Sealer::new(&ring(&[case.key_hex]), Purpose::State);
        assert_eq!(
            sealer.open(&case.token, b"").unwrap(),
            payload,
            "the purpose is the codec"
        );
    }
}

#[test]
fn keys_are_derived_as_python_derives_them() {
    // Neither key nor key id is public, but a token shows the id and only the right key opens it.
    use aes_gcm::{Aes256Gcm, KeyInit, aead::Aead};
    use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

    for case in tokens().keys {
        let codec = AesGcmCodec::new(&ring(std::slice::from_ref(&case.secret_hex)));
        let token = codec.seal(b"payload").unwrap();
        let raw = URL_SAFE_NO_PAD
            .decode(token.strip_prefix("v1.").unwrap())
            .unwrap();
        let kid = bytes(&case.kid_hex);
        assert_eq!(raw[..4], kid);
        let cipher = Aes256Gcm::new_from_slice(&bytes(&case.aes256_key_hex)).unwrap();
        let nonce: [u8; 12] = raw[4..16].try_into().unwrap();
        let bound = [b"v1.", &kid[..]].concat();
        let sealed = aes_gcm::aead::Payload {
            msg: &raw[16..],
            aad: &bound,
        };
        assert_eq!(cipher.decrypt(&nonce.into(), sealed).unwrap(), b"payload");
    }
}

#[test]
fn tokens_are_refused_for_the_reason_python_logs() {
    let tokens = tokens();
    let codec = AesGcmCodec::new(&ring(&tokens.ring_hex));
    for case in tokens.reject {
        let refused = codec.unseal(&case.token).unwrap_err();
        assert_eq!(refused.reason().as_str(), case.reason, "{}", case.name);
        assert_eq!(
            refused.to_string(),
            "Invalid or expired requestState",
            "{}",
            case.name
        );
    }
}

#[test]
fn rings_are_refused_as_python_refuses_them() {
    for case in tokens().construct {
        let made = KeyRing::new(case.keys_hex.iter().map(|secret| bytes(secret)));
        assert_eq!(made.is_ok(), case.ok, "{}", case.name);
    }
}

#[test]
fn arguments_have_pythons_canonical_form_and_digest() {
    let vectors = identities();
    for case in vectors.arguments {
        let text = &case.arguments_json;
        assert_eq!(canonical_json(text).as_ref(), Ok(&case.canonical), "{text}");
        let request = Request::from_parts("tools/call", "x", Some(text));
        assert_eq!(
            request.identity().unwrap().args_digest(),
            case.args_digest,
            "{text}"
        );
        assert_eq!(
            request.canonical_arguments().as_ref(),
            Ok(&case.canonical),
            "{text}"
        );
    }
    for case in vectors.requests {
        let identity = Request::new(&case.method, Some(&case.params_json))
            .identity()
            .unwrap();
        assert_eq!(identity.method(), case.method);
        assert_eq!(identity.target(), case.target, "{}", case.params_json);
        assert_eq!(
            identity.args_digest(),
            case.args_digest,
            "{}",
            case.params_json
        );
    }
}

#[test]
fn envelopes_come_out_byte_for_byte() {
    let vectors = boundaries();
    let ring = ring(&vectors.ring_hex);
    for case in vectors.envelopes {
        let (audience, principal) = (case.audience.as_deref(), case.principal.as_deref());
        let boundary = boundary(&ring, number(&case.ttl), audience, principal);
        let (salt, nonce) = match &case.random_hex[..] {
            [nonce] => ([0; 8], nonce),
            [salt, nonce] => (bytes(salt).try_into().unwrap(), nonce),
            other => panic!("{} random draws", other.len()),
        };
        let request = Request::new(&case.method, Some(&case.params_json));
        let binding = boundary.bind(&request).unwrap();
        let now = number(&case.now);
        let envelope = boundary
            .envelope_at(&binding, &case.state, now, salt)
            .unwrap();
        assert_eq!(
            String::from_utf8_lossy(&envelope),
            case.envelope,
            "{}",
            case.name
        );
        let codec = AesGcmCodec::new(&ring);
        let nonce = bytes(nonce).try_into().unwrap();
        assert_eq!(
            codec.seal_with_nonce(&envelope, nonce).unwrap(),
            case.token,
            "{}",
            case.name
        );

        let token = boundary.seal_at(&binding, &case.state, now, salt).unwrap();
        let opened = boundary.open_at(&request, &token, now).unwrap();
        assert_eq!((opened.state(), opened.binding()), (&*case.state, &binding));
    }
}

#[test]
fn every_check_of_the_envelopes_ends_as_in_python() {
    for envelope in boundaries().envelopes {
        for case in envelope.checks {
            let name = format!("{}: {}", envelope.name, case.name);
            let (audience, principal) = (case.audience.as_deref(), case.principal.as_deref());
            let boundary = boundary(&ring(&case.ring_hex), 600.0, audience, principal);
            let at = number(&case.at);

            // Once with the token aside, once with it where a client puts it.
            let bare = Request::new(&case.method, Some(&case.params_json));
            let aside = boundary.open_at(&bare, &case.token, at);
            let params = with_state(&case.params_json, &format!("\"{}\"", case.token));
            let full = Request::new(&case.method, Some(&params));
            assert_eq!(
                boundary.verify_at(&full, at).map(Option::unwrap),
                aside,
                "{name}"
            );

            match aside {
                Ok(opened) => {
                    assert!(case.ok, "{name} was accepted");
                    assert_eq!(Some(opened.state()), case.state.as_deref(), "{name}");
                }
                Err(refused) => {
                    assert!(!case.ok, "{name} was refused: {refused:?}");
                    assert_eq!(
                        Some(refused.reason().as_str()),
                        case.reason.as_deref(),
                        "{name}"
                    );
                    assert_eq!(Some(InvalidRequestState::CODE), case.code);
                    assert_eq!(Some(&refused.to_string()), case.message.as_ref());
                    assert_eq!(InvalidRequestState::DATA_REASON, case.data.unwrap().reason);
                }
            }
        }
    }
}

#[test]
fn forged_claims_end_as_in_python() {
    let vectors = boundaries();
    let ring = ring(&vectors.ring_hex);
    for case in vectors.forged_claims {
        let name = &case.name;
        assert_eq!(
            AesGcmCodec::new(&ring).unseal(&case.token).unwrap(),
            case.payload.as_bytes(),
            "{name}"
        );
        let boundary = boundary(&ring, 600.0, None, None);
        let request = Request::new("tools/call", Some(r#"{"name":"deploy"}"#));
        match boundary.open_at(&request, &case.token, number(&case.now)) {
            Ok(opened) => {
                assert!(case.ok || case.lenient, "{name} was accepted");
                assert_eq!(Some(opened.state()), case.state.as_deref(), "{name}");
            }
            Err(refused) => {
                assert!(!case.ok || case.lenient, "{name} was refused: {refused:?}");
                if !case.lenient {
                    assert_eq!(
                        Some(refused.reason().as_str()),
                        case.reason.as_deref(),
                        "{name}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_state_that_is_no_string_ends_as_in_python() {
    let vectors = boundaries();
    let boundary = boundary(&ring(&vectors.ring_hex), 600.0, None, None);
    for case in vectors.non_string_state {
        let params = with_state(r#"{"name":"deploy"}"#, case.value.get());
        let request = Request::new("tools/call", Some(&params));
        match boundary.verify_at(&request, 0.0) {
            Ok(opened) => {
                assert!(case.passes_through, "{}", case.name);
                assert_eq!(opened, None, "{}", case.name);
            }
            Err(refused) => {
                assert_eq!(Some(refused.reason().as_str()), case.reason.as_deref());
            }
        }
    }
}

#[test]
fn the_default_principal_is_pythons() {
    let alice = Caller::new("client")
        .with_issuer("https://issuer.example")
        .with_subject("alice");
    assert_eq!(
        alice.principal(),
        r#"["client","https://issuer.example","alice"]"#
    );
    assert_eq!(Caller::new("client").principal(), r#"["client",null,null]"#);
    assert_eq!(Caller::default().principal(), "[null,null,null]");
    assert_eq!(Caller::new("é\"").principal(), r#"["\u00e9\"",null,null]"#);
}
