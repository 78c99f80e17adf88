//! Messages that cost more to read than to send.

use std::thread;

use crate::{
    raw::{Answer, Socket},
    siege::Siege,
    words,
};

/// The answer to a body, over a connection of its own.
fn ask(siege: &Siege, body: impl AsRef<[u8]>) -> Answer {
    let mut socket = siege.saying(words::post("", body));
    socket.answer().expect("no answer")
}

fn call(siege: &Siege, tool: &str, arguments: &str) -> Answer {
    let mut socket = siege.saying(words::call("", tool, arguments));
    socket.answer().expect("no answer")
}

/// Whether the client is told that it is wrong.
fn is_blamed(answer: &Answer) -> bool {
    matches!(answer.status, 400 | 413) || answer.body.contains(r#""isError":true"#)
}

#[test]
fn ten_thousand_arrays_in_one_another_get_400() {
    let siege = Siege::begin();
    for (open, close) in [("[", "]"), (r#"{"a":"#, "}")] {
        let deep = format!("{}1{}", open.repeat(10_000), close.repeat(10_000));
        for _ in 0..20 {
            let answer = call(&siege, "any", &format!(r#"{{"value":{deep}}}"#));
            assert_eq!(answer.status, 400, "{answer:?}");
            assert!(answer.body.contains("-32600"), "{answer:?}");
            assert_eq!(ask(&siege, &deep).status, 400);
            assert_eq!(ask(&siege, open.repeat(10_000)).status, 400);
        }
    }
    siege.lift();
}

#[test]
fn a_hundred_thousand_members_get_413() {
    let siege = Siege::begin();
    let members: Vec<_> = (0..100_000).map(|at| format!(r#""{at}":0"#)).collect();
    let object = format!("{{{}}}", members.join(","));
    for _ in 0..5 {
        for answer in [
            call(&siege, "any", &format!(r#"{{"value":{object}}}"#)),
            call(&siege, "items", &object),
            call(&siege, "echo", &format!(r#"{{"text":{object}}}"#)),
            ask(&siege, &object),
        ] {
            assert_eq!(answer.status, 413, "{answer:?}");
        }
    }
    siege.lift();
}

/// What takes the most memory for each byte that is sent: as much of it as there may be, and as
/// much as fits.
#[test]
fn a_message_is_not_larger_in_memory_than_it_may_be() {
    let siege = Siege::begin();
    for piece in ["0", "[]", r#"{"":0}"#, r#"{"":{}}"#, r#""""#] {
        let siege = &siege;
        for count in [16_000, 3_900_000 / (piece.len() + 1)] {
            let pieces = format!("[{}{piece}]", format!("{piece},").repeat(count - 1));
            let value = format!(r#"{{"value":{pieces}}}"#);
            let items = format!(r#"{{"items":{pieces}}}"#);
            thread::scope(|scope| {
                for (tool, arguments) in [("any", &value), ("items", &items)].repeat(2) {
                    let may_fit = tool == "any" && count == 16_000;
                    // Several of those that are large find no room beside one another.
                    let is_refused = |answer: &Answer| answer.status == 503 && answer.retry_after();
                    scope.spawn(move || {
                        let answer = call(siege, tool, arguments);
                        let told = is_blamed(&answer) || is_refused(&answer);
                        assert!(may_fit || told, "{piece}: {answer:?}");
                    });
                }
            });
        }
    }
    siege.lift();
}

#[test]
fn batches_of_ten_thousand_get_400() {
    let siege = Siege::begin();
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    for (member, count) in [
        (ping, 10_000),
        ("1", 10_000),
        ("[]", 10_000),
        ("1", 1_900_000),
    ] {
        let batch = format!("[{}{member}]", format!("{member},").repeat(count - 1));
        for version in ["2025-03-26", "2026-07-28"] {
            let version = format!("MCP-Protocol-Version: {version}\r\n");
            let mut socket = siege.saying(words::post(&version, &batch));
            let answer = socket.answer().unwrap();
            assert!(matches!(answer.status, 400 | 413), "{answer:?}");
            assert!(answer.body.len() < 1000, "{}", answer.body.len());
        }
    }
    siege.lift();
}

#[test]
fn what_is_not_json_or_not_one_thing_gets_400() {
    let siege = Siege::begin();
    let valid = words::call("", "echo", r#"{"text":"x"}"#);
    let at = valid.windows(4).position(|it| it == b"\r\n\r\n").unwrap() + 4;
    let valid = &valid[at..];
    let twice = |name: &str, value: &str| {
        let text = String::from_utf8(valid.to_vec()).unwrap();
        text.replacen('{', &format!(r#"{{"{name}":{value},"#), 1)
            .into_bytes()
    };
    let cut = |at: usize| valid[..at].to_vec();
    let with = |bytes: &[u8]| [&valid[..20], bytes, &valid[20..]].concat();
    for body in [
        twice("method", r#""tools/list""#),
        twice("id", "2"),
        twice("params", "{}"),
        twice("jsonrpc", r#""2.0""#),
        with(&[0xff]),
        with(&[0xc0, 0x80]),
        with(&[0xed, 0xa0, 0x80]),
        with(&[0xf4, 0x90, 0x80, 0x80]),
        with(&[0]),
        cut(30),
        cut(valid.len() - 1),
        Vec::new(),
        b"\0".repeat(1000),
        [0xff, 0xfe].repeat(1000),
        b"\"".to_vec(),
        [b"\"".to_vec(), b"\\".repeat(100_001)].concat(),
    ] {
        let headers =
            "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: echo\r\n";
        let mut socket = siege.saying(words::post(headers, &body));
        let answer = socket.answer().unwrap();
        let said = String::from_utf8_lossy(&body[..body.len().min(60)]).into_owned();
        assert_eq!(answer.status, 400, "{said}: {answer:?}");
        assert!(answer.body.len() < 500, "{said}: {answer:?}");
    }
    // Arguments that are there twice.
    let answer = call(&siege, "echo", r#"{"text":"a","text":"b"}"#);
    assert!(is_blamed(&answer), "{answer:?}");
    siege.lift();
}

/// Names and methods that are long for no reason are not said back.
#[test]
fn what_is_long_is_not_said_back() {
    let siege = Siege::begin();
    let long = "x".repeat(1_000_000);
    for body in [
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{long}"}}"#),
        format!(r#"{{"jsonrpc":"{long}","id":1,"method":"ping"}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":"{long}"}}"#),
        format!("\"{long}\""),
    ] {
        let mut socket: Socket = siege.saying(words::post("", body));
        let answer = socket.answer().unwrap();
        assert!(
            matches!(answer.status, 400 | 404 | 413),
            "{}",
            answer.status
        );
        assert!(answer.body.len() < 1000, "{}", answer.body.len());
    }
    for (tool, arguments) in [
        (&*long, "{}"),
        ("items", &format!(r#"{{"items":"{long}"}}"#)),
    ] {
        let params = format!(r#""name":"{tool}","arguments":{arguments}"#);
        let headers = "MCP-Protocol-Version: 2025-11-25\r\n";
        let body =
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{{params}}}}}"#);
        let mut socket = siege.saying(words::post(headers, body));
        assert!(socket.answer().unwrap().body.len() < 1000);
    }
    let answer = call(&siege, "items", &format!(r#"{{"items":"{long}"}}"#));
    assert!(
        is_blamed(&answer) && answer.body.len() < 1000,
        "{}",
        answer.body.len()
    );
    siege.lift();
}
