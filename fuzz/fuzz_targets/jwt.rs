//! Any token at a verifier, whole and in parts; none of them counts, for nobody here can sign one.

#![no_main]

use std::{
    pin::pin,
    sync::LazyLock,
    task::{Context, Poll, Waker},
    time::{Duration, SystemTime},
};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use libfuzzer_sys::fuzz_target;
use mcp_auth::{JwtVerifier, KeySource};
use mcp_core::auth::{AuthError, TokenVerifier};

static VERIFIER: LazyLock<JwtVerifier> = LazyLock::new(|| {
    let keys = include_str!("../../mcp-auth/tests/keys/jwks.json");
    JwtVerifier::builder()
        .issuer("https://login.example.com")
        .audience("https://mcp.example.com/mcp")
        .keys(KeySource::text(keys))
        .clock(|| SystemTime::UNIX_EPOCH + Duration::from_secs(2_000_000_000))
        .build()
        .expect("it is all there")
});

/// The input as a key set.
fn keys(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data) {
        let verifier = JwtVerifier::builder()
            .issuer("i")
            .audience("a")
            .keys(KeySource::text(text));
        if let Ok(verifier) = verifier.build() {
            check(&verifier, "eyJhbGciOiJSUzI1NiJ9.e30.AAAA");
        }
    }
}

fn check(verifier: &JwtVerifier, token: &str) {
    let mut verified = pin!(verifier.verify(token));
    let Poll::Ready(verified) = verified.as_mut().poll(&mut Context::from_waker(Waker::noop()))
    else {
        panic!("there is nothing to wait for");
    };
    assert!(
        matches!(verified, Err(AuthError::Invalid(_))),
        "{token}: {verified:?}"
    );
}

fuzz_target!(|data: &[u8]| {
    if let Ok(token) = std::str::from_utf8(data) {
        check(&VERIFIER, token);
    }
    keys(data);
    // A header, claims and a signature: what is between lines, encoded as a token has it.
    let mut parts = data.splitn(3, |byte| *byte == b'\n');
    let mut part = || URL_SAFE_NO_PAD.encode(parts.next().unwrap_or_default());
    let token = [part(), part(), part()].join(".");
    check(&VERIFIER, &token);
});
