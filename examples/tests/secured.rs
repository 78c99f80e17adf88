//! What `secured` promises: without a token 401, with one that may read alone 403, and notes that
//! are their owners' own.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of a test are no test functions"
)]

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Command, Stdio},
};

fn call(authority: &str, token: Option<&str>, tool: &str, arguments: &str) -> String {
    let token = token.map(|it| format!("Authorization: Bearer {it}\r\n"));
    let token = token.unwrap_or_default();
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
    );
    let length = body.len();
    let mut stream = TcpStream::connect(authority).unwrap();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n{token}\
         Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

#[test]
fn everybody_logs_in_and_writes_with_a_scope() {
    let mut server = Command::new(env!("CARGO_BIN_EXE_secured"))
        .args(["--bind", "127.0.0.1:0"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut tokens, mut authority) = (Vec::new(), String::new());
    for line in BufReader::new(server.stderr.take().unwrap()).lines() {
        let line = line.unwrap();
        if let Some((_, rest)) = line.split_once("http://") {
            rest.split('/').next().unwrap().clone_into(&mut authority);
        }
        if let Some((_, token)) = line.split_once("Bearer ") {
            tokens.push(token.trim_end_matches('\'').to_owned());
        }
        if tokens.len() == 2 {
            break;
        }
    }
    let [reader, writer] = &*tokens else {
        unreachable!("the loop ends with two");
    };
    let write = |token| call(&authority, token, "write", r#"{"text":"hello"}"#);
    let read = |token: &str| call(&authority, Some(token), "read", "{}");

    let stranger = write(None);
    assert!(stranger.starts_with("HTTP/1.1 401"), "{stranger}");
    assert!(
        stranger.contains(r#"Bearer scope="notes:read""#),
        "{stranger}"
    );
    let poor = write(Some(reader));
    assert!(poor.starts_with("HTTP/1.1 403"), "{poor}");
    assert!(poor.contains(r#"scope="notes:read notes:write""#), "{poor}");
    let rich = write(Some(writer));
    assert!(rich.contains("Kept for writer."), "{rich}");
    assert!(read(writer).contains("hello"));
    assert!(read(reader).contains("there is no note yet"));
    server.kill().unwrap();
    server.wait().unwrap();
}

#[test]
fn what_is_missing_is_said() {
    let run = |words: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_secured"))
            .args(words)
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        (output.status.code(), said)
    };
    let (code, said) = run(&["--issuer", "https://login.example.com"]);
    assert_eq!(code, Some(2));
    assert!(said.starts_with("usage:"), "{said}");
    let url = "https://mcp.example.com/mcp";
    let (code, said) = run(&["--public-url", url, "--issuer", "login.example.com"]);
    assert_eq!(code, Some(1));
    assert!(
        said.starts_with("error: ") && said.contains("login.example.com"),
        "{said}"
    );
}
