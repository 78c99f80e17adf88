//! The boundary's promises, one test each: field case A31, policy, single use, what `Debug` shows.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use std::time::{Duration, SystemTime};

use mcp_state::{
    Boundary, BoxError, Caller, HmacCodec, IdentityError, InvalidRequestState, KeyRing,
    PrincipalBinding, Reason, Request, RequestStateCodec, RequestStateSecurity, SealError,
    UnsealError,
};

const OLD: &str = "the old secret, thirty-two bytes or more";
const NEW: &str = "the new secret, thirty-two bytes or more";
const NOW: f64 = 1_790_000_000.0;

fn alice() -> Caller<'static> {
    Caller::new("app")
        .with_issuer("https://issuer.example")
        .with_subject("alice")
}

fn transfer(arguments: &str) -> Request<'_> {
    Request::from_parts("tools/call", "transfer", Some(arguments)).with_caller(alice())
}

fn ring(secrets: &[&str]) -> KeyRing {
    KeyRing::new(secrets).unwrap()
}

fn bank() -> Boundary {
    Boundary::new(RequestStateSecurity::with_keys(&ring(&[OLD])), Some("bank"))
}

fn seal(boundary: &Boundary, request: &Request<'_>, state: &str) -> String {
    let binding = boundary.bind(request).unwrap();
    boundary.seal_at(&binding, state, NOW, [7; 8]).unwrap()
}

/// Why a boundary refuses, or `None` where it opens.
fn refusal(boundary: &Boundary, request: &Request<'_>, token: &str, now: f64) -> Option<Reason> {
    let refused = boundary.open_at(request, token, now).err()?;
    assert_eq!(refused.to_string(), InvalidRequestState::MESSAGE);
    Some(refused.reason().clone())
}

#[test]
fn field_case_a31_nothing_but_the_very_same_request_opens_a_state() {
    let (boundary, request) = (bank(), transfer(r#"{"amount":5}"#));
    let token = seal(&boundary, &request, "asked");
    let check = |request: &Request<'_>, token: &str, now| refusal(&boundary, request, token, now);

    assert_eq!(check(&request, &token, NOW), None);
    assert_eq!(
        check(&request, &token, NOW),
        None,
        "twice works: single use is another layer"
    );
    let mut flipped = token.clone().into_bytes();
    flipped[40] = if flipped[40] == b'A' { b'B' } else { b'A' };
    let flipped = String::from_utf8(flipped).unwrap();
    assert_eq!(check(&request, &flipped, NOW), Some(Reason::Seal));
    assert!(check(&request, &token[..token.len() - 1], NOW).is_some());
    assert_eq!(check(&request, "", NOW), Some(Reason::Malformed));
    assert_eq!(
        check(&request, "eyJjb25maXJtZWQiOnRydWV9", NOW),
        Some(Reason::Malformed)
    );
    let binding = Some(Reason::RequestBinding);
    assert_eq!(check(&transfer(r#"{"amount":5000}"#), &token, NOW), binding);
    let refund = Request::from_parts("tools/call", "refund", Some(r#"{"amount":5}"#));
    assert_eq!(check(&refund.with_caller(alice()), &token, NOW), binding);
    let bob = request.with_caller(alice().with_subject("bob"));
    assert_eq!(check(&bob, &token, NOW), Some(Reason::Principal));
    let anonymous = Request::from_parts("tools/call", "transfer", Some(r#"{"amount":5}"#));
    assert_eq!(check(&anonymous, &token, NOW), Some(Reason::PrincipalDrift));
    assert_eq!(check(&request, &token, NOW + 600.0), Some(Reason::Expired));
    assert_eq!(
        check(&request, &token, NOW - 61.0),
        Some(Reason::MintedInTheFuture)
    );
}

#[test]
fn order_and_spelling_of_the_retry_do_not_matter_and_neither_do_other_members() {
    let boundary = bank();
    let token = seal(&boundary, &transfer(r#"{"a":1.0,"b":"é"}"#), "x");
    let params = format!(
        r#" {{"inputResponses":{{"x":{{}}}},"_meta":{{}},"requestState":"\u0076{}",
           "arguments":{{ "b":"\u00e9" , "a":1.00}},"name":"\u0074ransfer"}} "#,
        &token[1..]
    );
    let retry = Request::new("tools/call", Some(&params)).with_caller(alice());
    assert_eq!(
        boundary.verify_at(&retry, NOW).unwrap().unwrap().state(),
        "x"
    );
}

#[test]
fn other_methods_are_not_touched_and_null_is_no_state() {
    let boundary = bank();
    let params = Some(r#"{"requestState":"forged"}"#);
    assert_eq!(
        boundary.verify_at(&Request::new("tools/list", params), NOW),
        Ok(None)
    );
    assert!(
        boundary
            .verify_at(&Request::new("tools/call", params), NOW)
            .is_err()
    );
    for none in [
        None,
        Some("{}"),
        Some("null"),
        Some(r#"{"requestState":null}"#),
    ] {
        assert_eq!(
            boundary.verify_at(&Request::new("tools/call", none), NOW),
            Ok(None)
        );
    }
    for unreadable in ["", "[]", "1", "{", r#"{"requestState":"#] {
        let request = Request::new("tools/call", Some(unreadable));
        assert_eq!(
            boundary.verify_at(&request, NOW),
            Err(Reason::Params.into())
        );
    }
    let listing = Request::new("tools/list", None);
    let refused = boundary.bind(&listing).unwrap_err();
    assert!(matches!(refused, SealError::Request(IdentityError::Method)));
}

#[test]
fn a_broken_clock_neither_seals_nor_opens() {
    let (boundary, request) = (bank(), transfer("{}"));
    let binding = boundary.bind(&request).unwrap();
    for now in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let refused = boundary.seal_at(&binding, "", now, [0; 8]).unwrap_err();
        assert!(matches!(refused, SealError::Clock));
    }
    let token = seal(&boundary, &request, "");
    let future = Some(Reason::MintedInTheFuture);
    assert_eq!(refusal(&boundary, &request, &token, f64::NAN), future);
    assert_eq!(
        refusal(&boundary, &request, &token, f64::INFINITY),
        Some(Reason::Expired)
    );
}

#[test]
fn the_outer_forms_take_the_clock_of_the_standard_library() {
    let (boundary, request) = (bank(), transfer("{}"));
    let now = SystemTime::UNIX_EPOCH + Duration::from_millis(1_790_000_000_250);
    let binding = boundary.bind(&request).unwrap();
    let token = boundary.seal(&binding, "state", now).unwrap();
    assert_eq!(
        boundary.open(&request, &token, now).unwrap().into_parts().0,
        "state"
    );
    assert!(
        boundary
            .open(&request, &token, now + Duration::from_secs(600))
            .is_err()
    );
    assert!(
        boundary
            .open(&request, &token, SystemTime::UNIX_EPOCH)
            .is_err()
    );
    let before = SystemTime::UNIX_EPOCH - Duration::from_secs(1);
    assert!(boundary.seal(&binding, "state", before).is_ok());
}

#[test]
fn a_ring_rotates_without_refusing_a_live_state() {
    let on = |secrets: &[&str]| {
        Boundary::new(
            RequestStateSecurity::with_keys(&ring(secrets)),
            Some("bank"),
        )
    };
    let steps = [on(&[OLD]), on(&[OLD, NEW]), on(&[NEW, OLD]), on(&[NEW])];
    let request = transfer("{}");
    // While a step rolls out, workers of two neighbouring steps serve together.
    for (before, after) in steps.iter().zip(&steps[1..3]) {
        for (one, other) in [(before, after), (after, before)] {
            let token = seal(one, &request, "x");
            assert_eq!(refusal(other, &request, &token, NOW), None);
        }
    }
    let late = seal(&steps[1], &request, "x");
    assert_eq!(
        refusal(&steps[3], &request, &late, NOW),
        Some(Reason::UnknownKey)
    );
}

#[test]
fn policies_decide_audience_lifetime_and_principal() {
    let request = transfer("{}");
    let security = || RequestStateSecurity::with_keys(&ring(&[OLD]));
    let token = seal(&bank(), &request, "x");
    let other = Boundary::new(security(), Some("shop"));
    assert_eq!(
        refusal(&other, &request, &token, NOW),
        Some(Reason::Audience)
    );
    let named = Boundary::new(security().audience("bank"), Some("shop"));
    assert_eq!(
        refusal(&named, &request, &token, NOW),
        None,
        "the policy's own comes first"
    );
    let free = Boundary::new(security(), None);
    assert_eq!(
        refusal(&free, &request, &token, NOW),
        Some(Reason::Audience)
    );

    let brief = Boundary::new(security().ttl(Duration::from_millis(500)).unwrap(), None);
    let token = seal(&brief, &request, "x");
    assert_eq!(refusal(&brief, &request, &token, NOW + 0.499), None);
    assert_eq!(
        refusal(&brief, &request, &token, NOW + 0.5),
        Some(Reason::Expired)
    );
    for ttl in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(security().ttl_seconds(ttl).is_err());
    }

    let unbound = Boundary::new(security().principal(PrincipalBinding::off()), None);
    let token = seal(&unbound, &request, "x");
    let bob = request.with_caller(alice().with_subject("bob"));
    assert_eq!(refusal(&unbound, &bob, &token, NOW), None);
}

#[test]
fn an_applications_own_principal_binds_and_its_failure_refuses() {
    struct Tenant(&'static str);
    let by_tenant = PrincipalBinding::custom(|request| {
        Ok(Some(
            request.context::<Tenant>().ok_or("no tenant")?.0.to_owned(),
        ))
    });
    let security = RequestStateSecurity::with_keys(&ring(&[OLD])).principal(by_tenant);
    let boundary = Boundary::new(security, None);
    let (red, blue) = (Tenant("red"), Tenant("blue"));
    let request = transfer("{}");
    let token = seal(&boundary, &request.with_context(&red), "x");
    assert_eq!(
        refusal(&boundary, &request.with_context(&red), &token, NOW),
        None
    );
    let refused = refusal(&boundary, &request.with_context(&blue), &token, NOW);
    assert_eq!(refused, Some(Reason::Principal));
    let refused = refusal(&boundary, &request, &token, NOW);
    assert_eq!(refused, Some(Reason::PrincipalBindingError));
    assert!(matches!(
        boundary.bind(&request),
        Err(SealError::Principal(_))
    ));
}

/// A codec that fails in the way it is told to.
#[derive(Debug)]
struct Broken(fn() -> UnsealError);

impl RequestStateCodec for Broken {
    fn seal(&self, _: &[u8]) -> Result<String, BoxError> {
        Err("the KMS is away".into())
    }

    fn unseal(&self, _: &str) -> Result<Vec<u8>, UnsealError> {
        Err((self.0)())
    }
}

#[test]
fn a_codec_that_fails_fails_closed() {
    let request = transfer("{}");
    let check = |fail: fn() -> UnsealError, expected: &str| {
        let boundary = Boundary::new(RequestStateSecurity::with_codec(Broken(fail)), None);
        let reason = refusal(&boundary, &request, "token", NOW).unwrap();
        assert_eq!(reason.as_str(), expected);
        let binding = boundary.bind(&request).unwrap();
        let refused = boundary.seal_at(&binding, "x", NOW, [0; 8]).unwrap_err();
        assert!(matches!(refused, SealError::Codec(_)));
    };
    check(|| UnsealError::Failed("timeout".into()), "codec error");
    let broken = RequestStateSecurity::with_codec(Broken(|| UnsealError::Failed("timeout".into())));
    let refused = Boundary::new(broken, None)
        .open_at(&request, "token", NOW)
        .unwrap_err();
    assert_eq!(
        refused.cause().unwrap().to_string(),
        "timeout",
        "for the log"
    );
    assert!(
        std::error::Error::source(&refused).is_none(),
        "not for an answer"
    );
    check(
        || InvalidRequestState::new(Reason::Codec("revoked".into())).into(),
        "revoked",
    );
}

#[test]
fn a_signed_state_keeps_every_promise_but_secrecy() {
    let codec = |secrets: &[&str]| HmacCodec::new(&ring(secrets));
    let boundary = Boundary::new(
        RequestStateSecurity::with_codec(codec(&[OLD])),
        Some("bank"),
    );
    let request = transfer("{}");
    let token = seal(&boundary, &request, "x");
    assert_eq!(refusal(&boundary, &request, &token, NOW), None);
    assert_eq!(
        refusal(&bank(), &request, &token, NOW),
        Some(Reason::Malformed)
    );
    let sealed = seal(&bank(), &request, "x");
    assert_eq!(
        refusal(&boundary, &request, &sealed, NOW),
        Some(Reason::Malformed)
    );

    let signed = codec(&[OLD]).seal_with_random(b"payload", [9; 12]).unwrap();
    assert_eq!(codec(&[NEW, OLD]).unseal(&signed).unwrap(), b"payload");
    let refused = codec(&[NEW]).unseal(&signed).unwrap_err();
    assert_eq!(*refused.reason(), Reason::UnknownKey);
    let short = codec(&[OLD]).with_max_token_len(signed.len() - 1);
    assert_eq!(
        *short.unseal(&signed).unwrap_err().reason(),
        Reason::TooLong
    );
    assert!(short.seal(b"payload").is_err());
}

#[test]
fn a_boundary_has_its_own_longest_token() {
    let boundary = bank();
    let request = transfer("{}");
    let binding = boundary.bind(&request).unwrap();
    let state = "x".repeat(50_000);
    let refused = boundary.seal_at(&binding, &state, NOW, [0; 8]).unwrap_err();
    assert!(matches!(refused, SealError::TooLong { max: 65_536, .. }));
    let security = RequestStateSecurity::with_keys(&ring(&[OLD])).max_token_len(1 << 20);
    let roomy = Boundary::new(security, Some("bank"));
    let token = seal(&roomy, &request, &state);
    assert_eq!(refusal(&roomy, &request, &token, NOW), None);
    assert_eq!(
        refusal(&boundary, &request, &token, NOW),
        Some(Reason::TooLong)
    );
}

#[test]
fn debug_shows_sizes_and_no_secret_argument_state_or_token() {
    let (boundary, request) = (bank(), transfer(r#"{"pin":"1234"}"#));
    let token = seal(&boundary, &request, "confidential");
    let opened = boundary.open_at(&request, &token, NOW).unwrap();
    let shown = format!(
        "{boundary:?} {request:?} {opened:?} {:?} {:?} {:?} {:?}",
        ring(&[OLD, NEW]),
        alice(),
        HmacCodec::new(&ring(&[OLD])),
        boundary.open_at(&request, "", NOW),
    );
    for secret in [
        "old secret",
        "1234",
        "confidential",
        "transfer",
        "alice",
        &token[3..],
    ] {
        assert!(!shown.contains(secret), "{secret} in {shown}");
    }
    assert!(shown.contains("Secret(40 bytes)"));
}
