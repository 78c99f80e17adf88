//! Writing JSON-RPC messages: one buffer, no tree.

use bytes::Bytes;
use mcp_types::RequestId;
use serde::Serialize;

use crate::{Failure, ServerResult, outcome::Page};

/// What a result without an id begins and ends with.
pub(crate) const RESULT_OPEN: &[u8] = b"{\"jsonrpc\":\"2.0\",\"result\":{";
pub(crate) const RESULT_CLOSE: &[u8] = b"}}";

/// Writes a result: `body` writes the members between the braces.
pub(crate) fn result(
    id: Option<&RequestId>,
    size: usize,
    body: impl FnOnce(&mut Vec<u8>),
) -> Bytes {
    let mut out = Vec::with_capacity(size + 192);
    open(&mut out, id);
    out.extend_from_slice(b",\"result\":{");
    body(&mut out);
    out.extend_from_slice(b"}}");
    Bytes::from(out)
}

/// Writes an error; an id that could not be read is left out, never null.
pub(crate) fn error(id: Option<&RequestId>, code: i64, failure: &Failure) -> Bytes {
    #[derive(Serialize)]
    struct Body<'a> {
        code: i64,
        message: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        data: Option<&'a serde_json::Value>,
    }
    let mut out = Vec::with_capacity(192);
    open(&mut out, id);
    out.extend_from_slice(b",\"error\":");
    let body = Body {
        code,
        message: &failure.message,
        data: failure.data.as_deref(),
    };
    value(&mut out, &body);
    out.push(b'}');
    Bytes::from(out)
}

/// Writes a request of the server.
pub(crate) fn request(id: &RequestId, method: &str, params: Option<&impl Serialize>) -> Bytes {
    message(Some(id), method, params)
}

/// Writes a notification.
pub(crate) fn notification(method: &str, params: Option<&impl Serialize>) -> Bytes {
    message(None, method, params)
}

fn message(id: Option<&RequestId>, method: &str, params: Option<&impl Serialize>) -> Bytes {
    let mut out = Vec::with_capacity(192);
    open(&mut out, id);
    out.extend_from_slice(b",\"method\":\"");
    out.extend_from_slice(method.as_bytes());
    out.push(b'"');
    if let Some(params) = params {
        out.extend_from_slice(b",\"params\":");
        value(&mut out, params);
    }
    out.push(b'}');
    Bytes::from(out)
}

/// Writes a notification without parameters.
pub(crate) fn bare_notification(method: &str) -> Bytes {
    notification(method, None::<&()>)
}

/// Writes one member, without a comma.
pub(crate) fn member(out: &mut Vec<u8>, key: &str, content: &impl Serialize) {
    out.push(b'"');
    out.extend_from_slice(key.as_bytes());
    out.extend_from_slice(b"\":");
    value(out, content);
}

/// Writes a page of a listing.
pub(crate) fn page(out: &mut Vec<u8>, page: &Page) {
    out.extend_from_slice(&page.member);
    if let Some(cursor) = &page.next_cursor {
        out.push(b',');
        member(out, "nextCursor", cursor);
    }
}

/// Writes a listing that was not rendered before.
pub(crate) fn listing(out: &mut Vec<u8>, listing: &ServerResult) {
    match listing {
        ServerResult::Tools(tools) => member(out, "tools", tools),
        ServerResult::Prompts(prompts) => member(out, "prompts", prompts),
        ServerResult::Resources(resources) => member(out, "resources", resources),
        ServerResult::ResourceTemplates(templates) => member(out, "resourceTemplates", templates),
        _ => {}
    }
}

/// Writes the members of an object without its braces.
///
/// The caller has just written the opening brace, which the object brings itself.
pub(crate) fn members(out: &mut Vec<u8>, object: &impl Serialize) {
    debug_assert_eq!(out.last(), Some(&b'{'), "members follow an opening brace");
    out.pop();
    value(out, object);
    out.pop();
}

/// Writes a text; a long one without anything to escape, such as a token, as fast as it is copied.
pub(crate) fn text(out: &mut Vec<u8>, text: &str) {
    // Looks at all of it, which compilers make vectors of.
    let is_special = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\';
    let special = text
        .bytes()
        .fold(false, |found, byte| found | is_special(byte));
    if special {
        return value(out, &text);
    }
    out.push(b'"');
    out.extend_from_slice(text.as_bytes());
    out.push(b'"');
}

/// Writes one value.
pub(crate) fn value(out: &mut Vec<u8>, value: &impl Serialize) {
    let start = out.len();
    // Our own types have text keys and no failing `Serialize`; should one fail, an empty object
    // keeps the message whole.
    if serde_json::to_writer(&mut *out, value).is_err() {
        out.truncate(start);
        out.extend_from_slice(b"{}");
    }
}

fn open(out: &mut Vec<u8>, id: Option<&RequestId>) {
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\"");
    if let Some(id) = id {
        out.extend_from_slice(b",\"id\":");
        id.write_json(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_written_as_any_other_value() {
        let controls: String = (0..=0x80_u8).map(char::from).collect();
        for example in ["", "v1.abc-_", "a\"b", "a\\b", "é😀\u{7f}", &controls] {
            let mut out = Vec::new();
            text(&mut out, example);
            assert_eq!(out, serde_json::to_vec(example).unwrap(), "{example:?}");
        }
    }
}
