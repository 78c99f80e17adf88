//! Any header values, line by line: nothing panics, one line with commas says what two lines say,
//! and nobody gets in by credentials that are not his.

#![no_main]

use std::{
    pin::pin,
    sync::LazyLock,
    task::{Context, Poll, Waker},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use libfuzzer_sys::fuzz_target;
use mcp_codec::headers::{decode, encode, mirrored, plain};
use mcp_core::{
    HeaderValue, Headers, Principal,
    auth::{AuthError, AuthPolicy, Basic, Bearer, StaticPasswords, StaticTokens},
};
use mcp_http_actix::fuzzing;

/// One value under every name.
struct Sent<'a>(&'a [u8]);

impl Headers for Sent<'_> {
    fn value(&self, _: &str) -> HeaderValue<'_> {
        HeaderValue::Once(self.0)
    }
}

static POLICIES: LazyLock<[Box<dyn AuthPolicy>; 2]> = LazyLock::new(|| {
    let principal = || Principal::new("fuzz", "alice");
    let tokens = StaticTokens::new().token("t0ken", principal());
    let passwords = StaticPasswords::new().password("alice", "pass:word", principal());
    [
        Box::new(Bearer::new(tokens)),
        Box::new(Basic::new("fuzz", passwords)),
    ]
});

fuzz_target!(|input: &[u8]| {
    let lines: Vec<&[u8]> = input.split(|byte| *byte == b'\n').collect();
    accepts(&lines);
    for line in lines {
        let headers = Sent(line);
        if let Ok(text) = plain(&headers, "mcp-method") {
            assert_eq!(text.as_bytes(), line.trim_ascii());
        }
        if let Ok(text) = mirrored(&headers, "mcp-name") {
            assert_eq!(decode(&encode(&text)).as_deref(), Ok(&*text));
        }
        authenticates(line);
    }
});

fn accepts(lines: &[&[u8]]) {
    let in_one = lines.join(&b","[..]);
    // A value that is no text says nothing, and takes its line with it.
    if in_one
        .iter()
        .all(|byte| matches!(byte, b'\t' | b' '..=b'~'))
    {
        assert_eq!(fuzzing::accepts(lines), fuzzing::accepts(&[&in_one]));
    } else {
        let _ = fuzzing::accepts(lines);
    }
    for line in lines {
        if fuzzing::is_json(&[line]) {
            assert!(
                line.to_ascii_lowercase()
                    .windows(16)
                    .any(|it| it == b"application/json")
            );
            // Of two declarations nobody can tell which one counts.
            assert!(!fuzzing::is_json(&[line, line]));
        }
    }
}

fn authenticates(line: &[u8]) {
    let [tokens, passwords] = &*POLICIES;
    let word = |text: &[u8]| String::from_utf8_lossy(text).trim().to_owned();
    let text = word(line);
    let (scheme, shown) = text.split_once(' ').unwrap_or((&text, ""));
    let shown = shown.trim_start();
    if let Some(entered) = entered(&**tokens, line) {
        let right = scheme.eq_ignore_ascii_case("bearer") && shown == "t0ken";
        assert_eq!(entered, right, "{text:?}");
    }
    if let Some(entered) = entered(&**passwords, line) {
        let decoded = STANDARD.decode(shown).unwrap_or_default();
        let right = scheme.eq_ignore_ascii_case("basic") && decoded == b"alice:pass:word";
        assert_eq!(entered, right, "{text:?}");
    }
}

/// Whether somebody gets in; nothing where the header is of another scheme.
fn entered(policy: &dyn AuthPolicy, line: &[u8]) -> Option<bool> {
    let headers = Sent(line);
    let mut context = Context::from_waker(Waker::noop());
    match pin!(policy.authenticate(&headers))
        .as_mut()
        .poll(&mut context)
    {
        Poll::Ready(Ok(found)) => found.map(|_| true),
        Poll::Ready(Err(AuthError::Malformed(_) | AuthError::Invalid(_))) => Some(false),
        other => panic!("{other:?}"),
    }
}
