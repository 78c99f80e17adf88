//! Any message, with any three headers, for every revision: nothing panics, and whatever is
//! refused is answered with one JSON object under the id that was sent.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_codec::{
    AdapterSet, Envelope, HeaderValue, Headers, Hints, Manifest, adapter_set, envelope,
    headers::{METHOD, NAME, PROTOCOL_VERSION, decode, encode},
};
use mcp_types::{Implementation, JsonRpcError, RequestId};

/// The three lines before the message are the three headers.
struct Sent<'a>(Vec<&'a [u8]>);

impl Headers for Sent<'_> {
    fn value(&self, name: &str) -> HeaderValue<'_> {
        let line = [PROTOCOL_VERSION, METHOD, NAME]
            .iter()
            .position(|it| *it == name);
        match line.and_then(|line| self.0.get(line)) {
            Some(value) if !value.is_empty() => HeaderValue::Once(value),
            _ => HeaderValue::Absent,
        }
    }
}

fuzz_target!(|input: &[u8]| {
    let mut lines: Vec<&[u8]> = input.splitn(4, |byte| *byte == b'\n').collect();
    let Some(body) = lines.pop() else { return };
    let headers = Sent(lines);
    if let Ok(text) = std::str::from_utf8(body) {
        assert_eq!(decode(&encode(text)).as_deref(), Ok(text));
        let _ = decode(text);
    }
    let _ = envelope::batch(body);
    let parsed = match Envelope::parse(body) {
        Ok(parsed) => parsed,
        Err(unreadable) => return refused(unreadable.id.as_ref(), unreadable.failure),
    };
    let revisions = AdapterSet::default();
    for headers in [None, Some(&headers as &dyn Headers)] {
        let manifest = Manifest::new(Implementation::new("fuzz", "1"));
        for revision in adapter_set::ALL {
            if let Err(failure) = revision.decode(&parsed, headers, &manifest) {
                refused(parsed.id(), failure);
            }
        }
        let hints = Hints::new(headers, Default::default(), None);
        if let Err(failure) = revisions.select(&parsed, hints) {
            refused(parsed.id(), failure);
        }
    }
});

/// An id may be a number that no `Value` holds.
#[derive(serde::Deserialize)]
struct Refusal {
    id: Option<RequestId>,
    error: JsonRpcError,
}

fn refused(id: Option<&RequestId>, failure: mcp_codec::Failure) {
    let manifest = Manifest::new(Implementation::new("fuzz", "1"));
    for revision in adapter_set::ALL {
        let reply = revision.encode(id, failure.clone().into(), &manifest);
        let body = reply.body.expect("a refusal has a body");
        let answer: Refusal = serde_json::from_slice(&body).expect("JSON");
        assert_ne!(answer.error.code, -32603, "never the server's fault");
        assert_eq!(answer.id.as_ref(), id, "digit for digit");
    }
}
