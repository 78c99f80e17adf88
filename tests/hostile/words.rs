//! Requests, well-formed unless a test spoils them.

/// The head of a POST of a JSON body, without its framing and its end.
pub(crate) const POST: &str = "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n\
     Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";

/// What a request of 2026-07-28 says of itself in `params`.
pub(crate) const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}"#;

/// The end of the handshake.
pub(crate) const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// A POST with more headers, each with its line end.
pub(crate) fn post(headers: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let length = body.len();
    let mut request = format!("{POST}{headers}Content-Length: {length}\r\n\r\n").into_bytes();
    request.extend_from_slice(body);
    request
}

/// A request of 2026-07-28.
pub(crate) fn modern(headers: &str, method: &str, name: Option<&str>, params: &str) -> Vec<u8> {
    let comma = if params.is_empty() { "" } else { "," };
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params}{comma}{META}}}}}"#
    );
    let name = name.map_or_else(String::new, |name| format!("Mcp-Name: {name}\r\n"));
    let headers =
        format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n{name}{headers}");
    post(&headers, body)
}

/// A call of a tool.
pub(crate) fn call(headers: &str, tool: &str, arguments: &str) -> Vec<u8> {
    let params = format!(r#""name":"{tool}","arguments":{arguments}"#);
    modern(headers, "tools/call", Some(tool), &params)
}

/// A subscription of 2026-07-28.
pub(crate) fn listen(headers: &str) -> Vec<u8> {
    let wish = r#""notifications":{"toolsListChanged":true}"#;
    modern(headers, "subscriptions/listen", None, wish)
}

/// The introduction of a handshake client.
pub(crate) fn initialize(version: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":"{version}",
            "capabilities":{{"elicitation":{{}}}},"clientInfo":{{"name":"t","version":"0"}}}}}}"#
    )
}

/// The headers of a request in a session.
pub(crate) fn in_session(id: &str) -> String {
    format!("MCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: {id}\r\n")
}

/// A GET of a stream.
pub(crate) fn get(headers: &str) -> String {
    format!("GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n{headers}\r\n")
}

/// The credentials of somebody whose requests are counted.
pub(crate) const MALLORY: &str = "Authorization: Bearer the-token-of-mallory\r\n";
