//! Any text: accepted exactly where it is JSON, canonical only once, and the same value as before.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_state::canonical_json;
use serde_json::{Value, value::RawValue};

fuzz_target!(|text: &str| {
    let canonical = canonical_json(text);
    // Python's three words are no JSON; everything else is decided as serde_json decides.
    let has_words = text.contains("NaN") || text.contains("Infinity");
    let is_json = serde_json::from_str::<&RawValue>(text).is_ok();
    if !has_words {
        assert_eq!(canonical.is_ok(), is_json);
    }
    let Ok(canonical) = canonical else { return };
    assert!(canonical.bytes().all(|byte| matches!(byte, 0x20..=0x7e)));
    assert_eq!(
        canonical_json(&canonical).as_ref(),
        Ok(&canonical),
        "not its own"
    );

    // serde_json reads a negative zero as a float and Python does not; it refuses lone surrogates,
    // deep texts and doubles that are too large.
    if !text.contains("-0")
        && let Ok(value) = serde_json::from_str::<Value>(text)
    {
        assert_eq!(
            serde_json::from_str::<Value>(&canonical).expect("still JSON"),
            value
        );
    }
});
