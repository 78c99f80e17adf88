//! What sealing, opening, the whole boundary and canonical JSON cost.
//!
//! ```text
//! cargo bench -p mcp-state --bench seal
//! ```

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on panics")]

use std::fmt::Write;

use divan::{Bencher, counter::BytesCount};
use mcp_state::{
    AesGcmCodec, Boundary, Caller, HmacCodec, KeyRing, Request, RequestStateSecurity,
    canonical_json,
};

const SIZES: [usize; 4] = [64, 1 << 10, 16 << 10, 256 << 10];

fn main() {
    divan::main();
}

fn codec() -> AesGcmCodec {
    let ring = KeyRing::new(["0123456789abcdef0123456789abcdef"]).unwrap();
    AesGcmCodec::new(&ring).with_max_token_len(1 << 20)
}

fn payload(len: usize) -> Vec<u8> {
    (0..len)
        .map(|at| u8::try_from(at * 7 % 251).unwrap())
        .collect()
}

#[divan::bench(args = SIZES)]
fn seal(bencher: Bencher<'_, '_>, len: usize) {
    let (codec, payload) = (codec(), payload(len));
    bencher
        .counter(BytesCount::new(len))
        .bench_local(|| codec.seal(&payload).unwrap());
}

#[divan::bench(args = SIZES)]
fn unseal(bencher: Bencher<'_, '_>, len: usize) {
    let codec = codec();
    let token = codec.seal(&payload(len)).unwrap();
    bencher
        .counter(BytesCount::new(len))
        .bench_local(|| codec.unseal(&token).unwrap());
}

#[divan::bench(args = SIZES)]
fn refuse_forged(bencher: Bencher<'_, '_>, len: usize) {
    let codec = codec();
    let mut token = codec.seal(&payload(len)).unwrap();
    let last = if token.pop() == Some('A') { 'Q' } else { 'A' };
    token.push(last);
    bencher
        .counter(BytesCount::new(len))
        .bench_local(|| codec.unseal(&token).unwrap_err());
}

#[divan::bench(args = SIZES)]
fn sign(bencher: Bencher<'_, '_>, len: usize) {
    let codec = HmacCodec::new(&KeyRing::ephemeral()).with_max_token_len(1 << 20);
    let payload = payload(len);
    bencher
        .counter(BytesCount::new(len))
        .bench_local(|| codec.seal(&payload).unwrap());
}

#[divan::bench]
fn expand_keys(bencher: Bencher<'_, '_>) {
    let ring = KeyRing::ephemeral();
    bencher.bench_local(|| AesGcmCodec::new(&ring));
}

/// A call with 200 bytes of arguments, and 100 bytes of state for it.
fn call() -> (Boundary, String, String) {
    let arguments = r#"{"service":"web","region":"eu-central-1","replicas":3,"limits":{"memory":512,"cpu":0.5},"labels":["blue","canary"],"note":"roll out after the café closes","dry_run":false,"tags":{"b":"2","a":"1"},"at":1}"#;
    assert!(
        (198..=206).contains(&arguments.len()),
        "{}",
        arguments.len()
    );
    let params = format!(r#"{{"name":"deploy","arguments":{arguments},"_meta":{{"a":1}}}}"#);
    (
        Boundary::new(RequestStateSecurity::ephemeral(), Some("demo")),
        params,
        "s".repeat(100),
    )
}

fn alice() -> Caller<'static> {
    Caller::new("client")
        .with_issuer("https://issuer.example")
        .with_subject("alice")
}

#[divan::bench]
fn boundary_seal(bencher: Bencher<'_, '_>) {
    let (boundary, params, state) = call();
    bencher.bench_local(|| {
        let request = Request::new("tools/call", Some(&params)).with_caller(alice());
        let binding = boundary.bind(&request).unwrap();
        boundary.seal_at(&binding, &state, 1.79e9, [7; 8]).unwrap()
    });
}

#[divan::bench]
fn boundary_open(bencher: Bencher<'_, '_>) {
    let (boundary, params, state) = call();
    let request = Request::new("tools/call", Some(&params)).with_caller(alice());
    let binding = boundary.bind(&request).unwrap();
    let token = boundary.seal_at(&binding, &state, 1.79e9, [7; 8]).unwrap();
    bencher.bench_local(|| boundary.open_at(&request, &token, 1.79e9).unwrap());
}

/// JSON of about 64 KiB.
fn document(kind: &str) -> String {
    let mut text = String::from("[");
    for at in 0_u32.. {
        match kind {
            "call" => write!(text, r#"{{"name":"item {at}","price":{}.5,"stock":{at},"tags":["blue","on sale"],"sold":false}}"#, at % 97),
            "sorted" => write!(text, r#"{{"a":"item {at}","b":{at},"c":[true,null],"d":{{"e":"some longer text than that"}}}}"#),
            "pretty" => write!(text, "\n    {{\n      \"id\": {at},\n      \"body\": \"plain\"\n    }}"),
            "text" => write!(text, r#""{}""#, "forty-two bytes of text with nothing to do ".repeat(20)),
            "escaped" => write!(text, r#""line one\nline two\t\"quoted\" caf\u00e9 \ud83d\ude00 {at}""#),
            "unicode" => write!(text, r#""Größe, naïveté, 世界 😀 {at}""#),
            "integers" => write!(text, "{}", at.wrapping_mul(2_654_435_761)),
            "decimals" => write!(text, "{}.{:03}", at % 1000, at % 999),
            "doubles" => write!(text, "{:?}", f64::from(at).sqrt() * 1.1 + 0.7),
            "brackets" => write!(text, r#"[[[{{}}],[]],{{"a":{{"b":[0]}}}}]"#),
            other => write!(text, "{other:?}"),
        }
        .unwrap();
        if text.len() > 1 << 16 {
            break;
        }
        text.push(',');
    }
    text.push(']');
    text
}

#[divan::bench(args = ["call", "sorted", "pretty", "text", "escaped", "unicode", "integers", "decimals", "doubles", "brackets"])]
fn canonical(bencher: Bencher<'_, '_>, kind: &str) {
    let text = document(kind);
    let counter = BytesCount::new(text.len());
    bencher
        .counter(counter)
        .bench_local(|| canonical_json(&text).unwrap());
}
