//! Bodies of requests: slow, endless, or many large ones at once.

use std::{
    thread,
    time::{Duration, Instant},
};

use crate::{
    raw::{self, PATIENCE, Socket},
    siege::Siege,
    words,
};

fn framed(framing: &str) -> String {
    format!("{}{framing}\r\n\r\n", words::POST)
}

/// Sends on and on, until the server does not listen any more.
fn pour(socket: &mut Socket, piece: &[u8]) {
    let (begun, mut sent) = (Instant::now(), 0);
    while socket.send(piece).is_ok() {
        sent += piece.len();
        assert!(
            begun.elapsed() < PATIENCE,
            "it took {sent} bytes and takes more"
        );
    }
}

#[test]
fn bodies_that_arrive_too_slowly_get_408() {
    let siege = Siege::begin();
    let mut sockets = Vec::new();
    for framing in [
        "Content-Length: 1000",
        "Transfer-Encoding: chunked",
        "Expect: 100-continue\r\nContent-Length: 1000",
    ] {
        sockets.extend((0..100).map(|_| siege.saying(framed(framing))));
    }
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(4) {
        for (at, socket) in sockets.iter_mut().enumerate() {
            // A chunk may end, its next one begin, and nothing is won by it.
            let piece = if (100..200).contains(&at) {
                "1\r\nx\r\n"
            } else {
                "x"
            };
            let _ = socket.send(piece);
        }
        thread::sleep(Duration::from_millis(200));
    }
    for socket in &mut sockets {
        let mut answer = socket.answer();
        if answer.as_ref().is_some_and(|it| it.status == 100) {
            answer = socket.answer();
        }
        // Where the client was still sending, its own kernel may have thrown the answer away.
        assert!(answer.is_none_or(|it| it.status == 408));
    }
    assert_eq!(raw::ended(&mut sockets), 300, "connections that are closed");
    siege.lift();
}

#[test]
fn endless_bodies_get_413_and_the_connection_ends() {
    let siege = Siege::begin();
    let chunk = [b"10000\r\n", &[b' '; 0x10000][..], b"\r\n"].concat();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut socket = siege.saying(framed("Transfer-Encoding: chunked"));
                pour(&mut socket, &chunk);
            });
        }
        scope.spawn(|| {
            // Who stops there hears what was wrong.
            let mut socket = siege.saying(framed("Transfer-Encoding: chunked"));
            for _ in 0..65 {
                socket.send(&chunk).unwrap();
            }
            assert!(matches!(socket.last_status(), 413 | 503));
        });
        scope.spawn(|| {
            // No chunk ever: one size with an extension that goes on and on.
            let mut socket = siege.saying(framed("Transfer-Encoding: chunked"));
            socket.send("1;").unwrap();
            let _ = socket.send([b'x'; 64 << 10]);
            assert!(matches!(socket.last_status(), 400 | 408));
        });
    });
    for length in ["4194305", "9223372036854775807", "18446744073709551615"] {
        let mut socket = siege.saying(framed(&format!("Content-Length: {length}")));
        let answer = socket.answer().unwrap();
        assert_eq!(answer.status, 413, "{answer:?}");
        socket.ends();
    }
    siege.lift();
}

#[test]
fn many_large_bodies_at_once_find_no_room() {
    let siege = Siege::begin();
    let head = framed("Content-Length: 4000000");
    let mut sockets: Vec<_> = (0..100).map(|_| siege.saying(&head)).collect();
    let piece = vec![b' '; 200_000];
    let (begun, mut sent) = (Instant::now(), vec![0; sockets.len()]);
    // All grow side by side, none ever ends.
    while begun.elapsed() < Duration::from_secs(3) {
        for (socket, sent) in sockets.iter_mut().zip(&mut sent) {
            let wanted = piece.len().min(3_900_000 - *sent);
            *sent += socket.push(&piece[..wanted]).unwrap_or_default();
        }
        thread::sleep(Duration::from_millis(1));
    }
    for socket in &mut sockets {
        assert!(matches!(socket.last_status(), 0 | 408 | 503));
    }
    siege.lift();
}
