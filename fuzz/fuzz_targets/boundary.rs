//! The whole boundary: any parameters, any claims, any state; what is opened was sealed.
//!
//! An input is a list of texts, separated by a byte that no UTF-8 has.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_state::{AesGcmCodec, Boundary, Caller, KeyRing, Request, RequestStateSecurity, TokenId};

const NOW: f64 = 1_790_000_000.25;
const METHODS: [&str; 4] = ["tools/call", "prompts/get", "resources/read", "tools/list"];

fuzz_target!(|data: &[u8]| {
    let (selector, data) = data.split_first().unwrap_or((&0, &[]));
    let mut texts = data.split(|byte| *byte == 0xff).map(std::str::from_utf8);
    let mut next = || texts.next().and_then(Result::ok).unwrap_or("");
    let (params, other, state, claims, audience, subject) =
        (next(), next(), next(), next(), next(), next());
    let method = METHODS[usize::from(selector & 3)];
    let ring = KeyRing::new(["k1-0123456789abcdef0123456789abcdef"]).expect("long enough");
    let security = RequestStateSecurity::with_keys(&ring).max_token_len(1 << 20);
    let boundary = Boundary::new(security, (selector & 4 != 0).then_some(audience));
    let caller = Caller::new("client").with_subject(subject);
    let request = |params| {
        let request = Request::new(method, Some(params));
        if selector & 8 != 0 {
            request.with_caller(caller)
        } else {
            request
        }
    };

    // State that a client made up. Nothing opens.
    for params in [params, other] {
        if let Ok(opened) = boundary.verify_at(&request(params), NOW) {
            assert_eq!(opened, None);
        }
    }

    // Claims that another key holder made up. Whatever opens is bound to this request.
    let codec = AesGcmCodec::new(&ring).with_max_token_len(1 << 20);
    let forged = codec.seal(claims.as_bytes()).expect("short enough");
    if let Ok(opened) = boundary.open_at(&request(params), &forged, NOW) {
        assert_eq!(
            opened.binding(),
            &boundary.bind(&request(params)).expect("bound")
        );
    }

    // State of our own. It opens for the same request alone.
    let Ok(binding) = boundary.bind(&request(params)) else {
        return;
    };
    let token = boundary
        .seal_at(&binding, state, NOW, [*selector; 8])
        .expect("short enough");
    let opened = boundary
        .open_at(&request(params), &token, NOW + 599.0)
        .expect("our own");
    assert_eq!((opened.state(), opened.binding()), (state, &binding));
    assert!(
        boundary
            .open_at(&request(params), &token, NOW + 600.0)
            .is_err()
    );
    let same = boundary
        .bind(&request(other))
        .is_ok_and(|other| other == binding);
    assert_eq!(boundary.open_at(&request(other), &token, NOW).is_ok(), same);
    assert_ne!(TokenId::of(&token), TokenId::of(&forged));

    // The way a client sends it back: as one more member.
    if let Some(open) = params.trim_end().strip_suffix('}') {
        let comma = if open.trim_end().ends_with('{') {
            ""
        } else {
            ","
        };
        let params = format!(r#"{open}{comma}"requestState":"{token}"}}"#);
        let opened = boundary
            .verify_at(&request(&params), NOW)
            .expect("our own")
            .expect("state");
        assert_eq!(opened.state(), state);
    }
});
