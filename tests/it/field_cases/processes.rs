//! A05 to A07: real processes on stdio.

use std::{path::Path, process::Command, time::Instant};

use serde_json::{Value, json};

use crate::support::{
    INITIALIZED, calling,
    fixture::SECRET,
    init, legacy, parse,
    process::{Process, everything},
};

const A05: [&str; 5] = [
    "starting up...",
    r#"{"jsonrpc":"2.0","id":1,"#,
    "null",
    "42",
    "{}",
];

fn stdio() -> Process {
    Process::start(everything(), &["--stdio"], &[])
}

// req: errors-parse-32700, errors-invalid-request-32600, jsonrpc-error-without-id
#[tokio::test]
async fn a05_one_bad_line_does_not_end_the_server() {
    let mut server = stdio();
    for line in A05 {
        server.send(line).await;
    }
    server.send(&init("2025-11-25")).await;
    let mut bad = Vec::new();
    let answer = loop {
        let message = parse(&server.line().await);
        if message["id"] == "i" {
            break message;
        }
        bad.push(message);
    };
    assert_eq!(answer["result"]["protocolVersion"], "2025-11-25");
    let codes: Vec<&Value> = bad.iter().map(|it| &it["error"]["code"]).collect();
    assert_eq!(codes, [-32700, -32700, -32600, -32600, -32600]);
    assert!(bad.iter().all(|it| it.get("id").is_none()), "{bad:?}");
    // Errors and responses are never answered.
    for line in [
        r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"not JSON"}}"#,
        r#"{"jsonrpc":"2.0","id":9,"error":{"code":-32600,"message":"what?"}}"#,
        r#"{"jsonrpc":"2.0","id":9,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":10,"method":"ping"}"#,
    ] {
        server.send(line).await;
    }
    assert_eq!(parse(&server.line().await)["id"], 10);
    server.end_input();
    let ended = server.ended().await;
    assert!(ended.status.success());
    assert_eq!(ended.output.len(), 5 + 1 + 1);
    assert!(
        ended.errors.lines().count() >= A05.len(),
        "{}",
        ended.errors
    );
}

// req: stdio-stdout-protocol-only, stdio-one-message-per-line
#[tokio::test]
async fn a06_stdout_carries_protocol_and_nothing_else() {
    let variables = [("RUST_LOG", "trace"), ("NO_COLOR", "")];
    let mut server = Process::start(everything(), &["--stdio"], &variables);
    for line in [
        init("2025-11-25"),
        INITIALIZED.to_owned(),
        legacy(
            1,
            "tools/call",
            calling("echo", json!({"text": "line\nbreak"})),
        ),
        legacy(2, "tools/call", calling("boom", json!({}))),
        "one bad line".to_owned(),
    ] {
        server.send(&line).await;
    }
    server.end_input();
    let ended = server.ended().await;
    assert!(ended.status.success());
    let messages: Vec<Value> = ended.output.iter().map(|line| parse(line)).collect();
    assert_eq!(messages.len(), 4, "{messages:?}");
    assert!(!ended.output.concat().contains(SECRET));
    assert!(
        ended.errors.contains(SECRET),
        "panics are logged: {}",
        ended.errors
    );
}

// req: stdio-stdout-protocol-only
#[tokio::test]
async fn a06_what_a_handler_prints_goes_to_stderr() {
    let mut server = Process::start(lodger(), &[], &[]);
    server.send(&init("2025-11-25")).await;
    server
        .send(&legacy(1, "tools/call", calling("chatter", json!({}))))
        .await;
    server.end_input();
    let ended = server.ended().await;
    assert_eq!(ended.output.len(), 2);
    ended.output.iter().map(|line| parse(line)).for_each(drop);
    assert!(ended.errors.contains("a stray line"));
}

fn lodger() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_lodger"))
}

// req: stdio-exit-on-eof
#[test]
fn a07_end_of_input_ends_the_process_that_was_told_nothing() {
    for (program, arguments) in [(everything(), &["--stdio"][..]), (lodger(), &[])] {
        let began = Instant::now();
        let output = Command::new(program)
            .args(arguments)
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap();
        assert!(output.status.success());
        assert!(output.stdout.is_empty());
        assert!(began.elapsed().as_secs() < 2);
    }
}

// req: stdio-exit-on-eof
#[tokio::test]
async fn a07_end_of_input_ends_a_process_with_a_ticker_and_a_store() {
    let mut server = Process::start(lodger(), &[], &[]);
    server.send(&init("2025-11-25")).await;
    let began = Instant::now();
    server.end_input();
    let ended = server.ended().await;
    assert!(ended.status.success());
    assert!(began.elapsed().as_secs() < 2);
    assert_eq!(ended.output.len(), 1);
    assert!(
        ended.errors.contains("the store was closed"),
        "{}",
        ended.errors
    );
}

// req: stdio-exit-on-eof
#[tokio::test]
async fn a07_calls_in_flight_are_answered_first() {
    let mut server = stdio();
    server.send(&init("2025-11-25")).await;
    server
        .send(&legacy(
            1,
            "tools/call",
            calling("slow", json!({"ms": 100})),
        ))
        .await;
    server.end_input();
    let ended = server.ended().await;
    assert!(ended.status.success());
    assert_eq!(parse(&ended.output[1])["id"], 1);
}

#[cfg(unix)]
#[tokio::test]
async fn a07_so_does_sigterm() {
    for (program, arguments) in [(everything(), &["--stdio"][..]), (lodger(), &[])] {
        let mut server = Process::start(program, arguments, &[]);
        server.send(&init("2025-11-25")).await;
        server.line().await;
        let began = Instant::now();
        server.terminate();
        let ended = server.ended().await;
        assert_eq!(ended.status.code(), Some(0), "{:?}", ended.status);
        assert!(began.elapsed().as_secs() < 2);
        if program == lodger() {
            assert!(ended.errors.contains("the store was closed"));
        }
    }
}
