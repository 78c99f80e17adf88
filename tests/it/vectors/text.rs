//! JSON as text: laid out for reading, or without white space, never re-ordered or re-numbered.

/// The same JSON without white space between its tokens.
pub(crate) fn compact(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    walk(json, |token| {
        if !token.trim().is_empty() {
            out.push_str(token);
        }
    });
    out
}

/// The same JSON, a member to a line, as the value of a member at `depth`.
pub(crate) fn pretty(json: &str, depth: usize) -> String {
    let json = compact(json);
    let (mut out, mut depth, mut last) = (String::with_capacity(json.len() * 2), depth, "");
    walk(&json, |token| {
        let empty = matches!((last, token), ("{", "}") | ("[", "]"));
        if matches!(token, "}" | "]") {
            depth -= 1;
        }
        let breaks = matches!(last, "{" | "[" | ",") || matches!(token, "}" | "]");
        if breaks && !empty && !out.is_empty() {
            out.push('\n');
            out.push_str(&"  ".repeat(depth));
        }
        out.push_str(token);
        if token == ":" {
            out.push(' ');
        }
        if matches!(token, "{" | "[") {
            depth += 1;
        }
        last = if matches!(token, "{" | "}" | "[" | "]" | "," | ":") {
            token_of(token)
        } else {
            ""
        };
    });
    out
}

/// Replaces what differs from run to run: incident ids, ids of questions, and what is sealed.
pub(crate) fn normalised(json: &str) -> String {
    let json = replace_after(
        json,
        "incident ",
        |it| it.is_ascii_hexdigit(),
        "0000000000000000",
    );
    let cursor = |it: char| it != '"';
    let json = replace_after(&json, "\"nextCursor\":\"", cursor, "{{cursor}}");
    let hex = |it: char| it.is_ascii_hexdigit();
    let json = replace_after(&json, "\"ask-", hex, "0000000000000000");
    let json = replace_after(&json, "\"url-", hex, "0000000000000000");
    let sealed = |it: char| it.is_ascii_alphanumeric() || it == '-' || it == '_';
    replace_after(&json, "\"v1.", sealed, "{{state}}")
}

fn replace_after(text: &str, mark: &str, is_part: impl Fn(char) -> bool, with: &str) -> String {
    let mut parts = text.split(mark);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(mark);
        out.push_str(with);
        out.push_str(part.trim_start_matches(&is_part));
    }
    out
}

fn token_of(token: &str) -> &'static str {
    ["{", "}", "[", "]", ",", ":"]
        .into_iter()
        .find(|it| *it == token)
        .unwrap_or_default()
}

/// Shows `visit` each token: a string, a punctuation mark, white space, or anything else.
fn walk(json: &str, mut visit: impl FnMut(&str)) {
    let mut rest = json;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => string(rest),
            '{' | '}' | '[' | ']' | ',' | ':' => 1,
            it if it.is_ascii_whitespace() => 1,
            _ => rest
                .find(|it: char| "{}[],:\"".contains(it) || it.is_ascii_whitespace())
                .unwrap_or(rest.len()),
        };
        let (token, after) = rest.split_at(length);
        visit(token);
        rest = after;
    }
}

fn string(json: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in json.bytes().enumerate().skip(1) {
        match byte {
            b'"' if !escaped => return at + 1,
            b'\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    json.len()
}

#[test]
fn layout_keeps_every_token() {
    let json = r#"{"b":[1.10,{"a":"x \" { y"},[],{}],"a":18446744073709551615}"#;
    assert_eq!(compact(&pretty(json, 0)), json);
    assert_eq!(
        pretty(r#"{"a":[],"b":[1]}"#, 1),
        "{\n    \"a\": [],\n    \"b\": [\n      1\n    ]\n  }"
    );
    let incident = r#"{"t":"internal error (incident 00ab)","nextCursor":"x.y"}"#;
    let expected =
        r#"{"t":"internal error (incident 0000000000000000)","nextCursor":"{{cursor}}"}"#;
    assert_eq!(normalised(incident), expected);
}
