//! What the README promises of `quickstart`: a call by hand under each revision, and stdio.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of a test are no test functions"
)]

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Command, Stdio},
};

const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":2,"b":3}}}"#;
const MODERN: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":2,"b":3},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;

fn quickstart(arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_quickstart"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// POSTs a body with some headers, and gives the whole response.
fn post(authority: &str, headers: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(authority).unwrap();
    let length = body.len();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

#[test]
fn a_tool_is_called_by_hand_under_each_revision() {
    let mut server = quickstart(&["--bind", "127.0.0.1:0"]);
    let mut line = String::new();
    let mut errors = BufReader::new(server.stderr.take().unwrap());
    errors.read_line(&mut line).unwrap();
    let (_, rest) = line.split_once("http://").expect("it says where it is");
    let authority = rest.split('/').next().unwrap();

    let plain = post(authority, "", CALL);
    assert!(plain.contains(r#""text":"5""#), "{plain}");
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let headers = format!("MCP-Protocol-Version: {version}\r\n");
        let response = post(authority, &headers, CALL);
        assert!(
            response.starts_with("HTTP/1.1 200"),
            "{version}: {response}"
        );
        assert!(response.contains(r#""text":"5""#), "{version}: {response}");
    }
    let headers = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: add\r\n";
    let response = post(authority, headers, MODERN);
    assert!(response.contains(r#""text":"5""#), "{response}");
    assert!(
        response.contains(r#""resultType":"complete""#),
        "{response}"
    );
    server.kill().unwrap();
    server.wait().unwrap();
}

#[test]
fn the_same_over_stdio() {
    let mut server = quickstart(&["--stdio"]);
    let mut input = server.stdin.take().unwrap();
    let hello = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}"#;
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    write!(input, "{MODERN}\n{hello}\n{ready}\n{CALL}\n").unwrap();
    drop(input);
    let output = server.wait_with_output().unwrap();
    let output = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = output.lines().collect();
    assert_eq!(lines.len(), 3, "{output}");
    assert!(lines[0].contains(r#""resultType":"complete""#), "{output}");
    assert!(
        lines[1].contains(r#""protocolVersion":"2025-06-18""#),
        "{output}"
    );
    assert!(lines[2].contains(r#""text":"5""#), "{output}");
}
