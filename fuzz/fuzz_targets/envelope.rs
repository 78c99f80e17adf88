//! Any text as a message and as a batch: what is read is what the text says, what is refused is
//! refused in one short line, and nobody counts less than there is.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_codec::{
    Envelope, MessageKind,
    depth::{has_more_values, is_deeper_than},
    envelope,
    envelope::Unreadable,
};
use serde_json::Value;

fuzz_target!(|body: &[u8]| {
    match Envelope::parse(body) {
        Ok(message) => agrees(&message, body),
        Err(unreadable) => refused(&unreadable),
    }
    let Some(Ok(members)) = envelope::batch(body) else {
        return;
    };
    for member in members {
        match Envelope::of_member(member) {
            Ok(message) => agrees(&message, member.get().as_bytes()),
            Err(unreadable) => refused(&unreadable),
        }
    }
});

/// A message says what another reader of JSON finds in it.
fn agrees(message: &Envelope<'_>, body: &[u8]) {
    let body = body.strip_prefix("\u{feff}".as_bytes()).unwrap_or(body);
    // Numbers without bounds, lone surrogates and depth are read as they are needed.
    let Ok(value) = serde_json::from_slice::<Value>(body) else {
        return;
    };
    let is_request = value.get("method").is_some();
    match message.kind() {
        MessageKind::Request => assert!(is_request && message.id().is_some()),
        MessageKind::Notification => assert!(is_request && message.id().is_none()),
        MessageKind::Response => assert!(!is_request),
    }
    if is_request {
        assert_eq!(value["method"], message.method());
    }
    let (depth, values) = measure(&value);
    assert!(is_deeper_than(body, depth - 1), "deeper than {depth}");
    assert!(has_more_values(body, values - 1), "more than {values}");
}

/// How deep a value is, and how many there are in it.
fn measure(value: &Value) -> (usize, usize) {
    let of = |values: &mut dyn Iterator<Item = &Value>| {
        values
            .map(measure)
            .fold((1, 1), |(depth, count), (inner, more)| {
                (depth.max(inner + 1), count + more)
            })
    };
    match value {
        Value::Array(items) => of(&mut items.iter()),
        Value::Object(members) => of(&mut members.values()),
        _ => (0, 1),
    }
}

fn refused(unreadable: &Unreadable) {
    let message = &unreadable.failure.message;
    assert!(
        message.len() < 300 && message.lines().count() == 1,
        "{message}"
    );
}
