//! Connections used in ways that no client means.

use std::{
    thread,
    time::{Duration, Instant},
};

use crate::{
    raw::{self, Socket},
    siege::Siege,
    words,
};

#[test]
fn hundreds_of_requests_in_one_write_are_answered_in_order() {
    let siege = Siege::begin();
    let requests: Vec<u8> = (0..500)
        .flat_map(|at| words::call("", "echo", &format!(r#"{{"text":"number {at}!"}}"#)))
        .collect();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut socket = siege.socket();
                // While nobody reads, the server takes only so much; then the answers come.
                let mut sent = socket.push(&requests).unwrap();
                for at in 0..500 {
                    sent += socket.push(&requests[sent..]).unwrap();
                    let answer = socket.answer().unwrap();
                    // Those above the rate are told so, in their turn.
                    let told = format!("number {at}!");
                    let in_turn = answer.status == 429 || answer.body.contains(&told);
                    assert!(in_turn, "{at}: {answer:?}");
                }
            });
        }
    });
    siege.lift();
}

#[test]
fn sockets_that_are_half_closed_leave_nothing() {
    let mut siege = Siege::begin();
    let slow = words::call("", "sleep", r#"{"millis":30000}"#);
    let quick = words::call("", "echo", r#"{"text":"x"}"#);
    let listen = words::listen("");
    let mut sockets = Vec::new();
    for said in [&slow, &quick, &listen, &slow[..40].to_vec(), &Vec::new()] {
        for at in 0..40 {
            let socket = siege.saying(said);
            if at % 2 == 0 {
                thread::sleep(Duration::from_millis(2));
            }
            socket.half_close();
            sockets.push(socket);
        }
    }
    let deadline = Instant::now() + Duration::from_secs(5);
    while raw::ended(&mut sockets) < sockets.len() {
        assert!(Instant::now() < deadline, "half-closed sockets are held");
        thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(siege.usage().streams, 0);
    siege.lift();
}

/// Clients that go away in the middle of anything.
#[test]
fn sockets_that_are_reset_leave_nothing() {
    let siege = Siege::begin();
    let slow = words::call("", "sleep", r#"{"millis":30000}"#);
    let talk = words::call("", "talk", r#"{"millis":30000}"#);
    let large = words::modern("", "tools/list", None, "");
    for round in 0..50 {
        for said in [
            &slow,
            &talk,
            &large,
            &words::listen(""),
            &slow[..slow.len() - 9].to_vec(),
        ] {
            let socket = siege.saying(said);
            if round % 5 == 0 {
                thread::sleep(Duration::from_millis(3));
            }
            socket.reset();
        }
    }
    siege.lift();
}

/// Clients that ask and never read: what is ready for them is bounded, and then they are cut off.
#[test]
fn answers_that_nobody_reads_are_held_for_a_while_only() {
    let siege = Siege::begin();
    let large = words::modern("", "tools/list", None, "").repeat(50);
    let params = r#""name":"talk","arguments":{"millis":60000},"_meta":{"progressToken":1,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let talk = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{{params}}}}}"#);
    let headers =
        "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: talk\r\n";
    let talk = words::post(headers, talk);
    let mut sockets: Vec<_> = (0..40)
        .map(|at| {
            let mut socket = Socket::narrow(siege.address);
            let said = if at < 38 { &large } else { &talk };
            socket.push(said).unwrap();
            socket
        })
        .collect();
    // Not a byte is read until they are cut off, which the kernel tells.
    let deadline = Instant::now() + Duration::from_secs(9);
    while sockets.iter_mut().any(|it| !it.is_cut_off()) {
        let held: Vec<_> = sockets
            .iter_mut()
            .map(|it| u8::from(!it.is_cut_off()))
            .collect();
        assert!(Instant::now() < deadline, "they are held: {held:?}");
        thread::sleep(Duration::from_millis(50));
    }
    siege.lift();
}
