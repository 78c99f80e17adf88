//! Heads of requests: slow, large, many, and such as two parsers read differently.

use std::{
    thread,
    time::{Duration, Instant},
};

use crate::{
    raw::{self, Socket},
    siege::Siege,
    words,
};

/// Sends one byte to each, every now and then, until `limit` or until all have ended.
fn trickle(sockets: &mut [Socket], text: &str, limit: Duration) {
    let begun = Instant::now();
    for byte in text.bytes().cycle() {
        if begun.elapsed() > limit {
            return;
        }
        let mut open = 0;
        for socket in &mut *sockets {
            open += usize::from(socket.send([byte]).is_ok());
        }
        if open == 0 {
            return;
        }
        thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn heads_that_never_end_get_408() {
    let siege = Siege::begin();
    let head = format!("{}X-Slow: ", words::POST);
    let mut sockets: Vec<_> = (0..500).map(|_| siege.saying(&head)).collect();
    trickle(&mut sockets, "slow", Duration::from_secs(8));
    let answered = raw::ended(&mut sockets);
    assert_eq!(answered, 500, "connections that are closed");
    siege.lift();
}

/// A connection that was served once has no more rights than a new one.
#[test]
fn second_heads_that_never_end_end_the_connection() {
    let siege = Siege::begin();
    let ping = words::call("", "echo", r#"{"text":""}"#);
    let mut sockets: Vec<_> = (0..200)
        .map(|_| {
            let mut socket = siege.saying(&ping);
            assert_eq!(socket.answer().unwrap().status, 200);
            socket.send("POST /mcp HTTP/1.1\r\nX-Slow: ").unwrap();
            socket
        })
        .collect();
    trickle(&mut sockets, "slow", Duration::from_secs(10));
    let ended = raw::ended(&mut sockets);
    assert_eq!(ended, 200, "connections that are closed");
    siege.lift();
}

#[test]
fn heads_that_are_too_large_get_431() {
    let siege = Siege::begin();
    let many = (0..3000).fold(String::new(), |all, at| all + &format!("X-{at}: y\r\n"));
    for (headers, wanted) in [
        // Within what the parser takes, beyond `Limits::max_headers`.
        (format!("X-Large: {}\r\n", "x".repeat(40_000)), &[431][..]),
        (format!("X-Large: {}\r\n", "x".repeat(200_000)), &[431]),
        // More headers than the parser counts.
        (many[..2000].to_owned() + "\r\n", &[400, 431]),
        (many, &[400, 431]),
    ] {
        for _ in 0..10 {
            let mut socket = siege.saying(words::POST);
            // The server may have heard enough before all is said.
            let _ = socket.send(format!("{headers}Content-Length: 2\r\n\r\n{{}}"));
            let status = socket.last_status();
            assert!(status == 0 || wanted.contains(&status), "{status}");
        }
    }
    let mut socket = siege.saying(words::post(
        &format!("X-Large: {}\r\n", "x".repeat(40_000)),
        "{}",
    ));
    assert_eq!(socket.last_status(), 431);
    // An address has its limit, too.
    let long = "x".repeat(100_000);
    let mut socket = siege.saying(format!(
        "GET /mcp?{long} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    ));
    assert!(matches!(socket.last_status(), 0 | 400 | 404 | 414 | 431));
    siege.lift();
}

/// Where two parsers could see two requests, there is none.
#[test]
fn ambiguous_framing_reaches_no_handler() {
    let siege = Siege::begin();
    let inner = words::call("", "echo", r#"{"text":"smuggled"}"#);
    let inner = String::from_utf8(inner).unwrap();
    let chunk = format!("0\r\n\r\n{inner}");
    let length = chunk.len();
    for framing in [
        format!("Content-Length: {length}\r\nContent-Length: 2"),
        format!("Content-Length: {length}, {length}"),
        format!("Content-Length: +{length}"),
        format!("Content-Length: -{length}"),
        "Content-Length: 0x10".to_owned(),
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity".to_owned(),
        "Transfer-Encoding: chunked, identity".to_owned(),
        "Transfer-Encoding: xchunked".to_owned(),
        "Transfer-Encoding: \x0bchunked".to_owned(),
        "Transfer-Encoding : chunked".to_owned(),
    ] {
        let mut socket = siege.saying(format!("{}{framing}\r\n\r\n{chunk}", words::POST));
        let answer = socket
            .answer()
            .unwrap_or_else(|| panic!("{framing}: no answer"));
        assert_eq!(answer.status, 400, "{framing}: {answer:?}");
        assert!(socket.answer().is_none(), "{framing}: a second answer");
    }
    // Both: chunked counts (RFC 9112 section 6.3), so what follows its end is a request of its
    // own; it is answered as one, or the connection has ended.
    let both = format!("Content-Length: {length}\r\nTransfer-Encoding: chunked");
    let mut socket = siege.saying(format!("{}{both}\r\n\r\n{chunk}", words::POST));
    let answer = socket.answer().unwrap();
    assert_eq!(answer.status, 400, "{answer:?}");
    assert!(socket.answer().is_none(), "what was smuggled was answered");
    siege.lift();
}
