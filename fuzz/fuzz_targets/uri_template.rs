//! Any template and any URI, on two lines: nothing panics, and what is taken out of a URI expands
//! to one from which the same is taken.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_core::fuzzing::uri_template;

fuzz_target!(|input: &str| {
    let (template, uri) = input.split_once('\n').unwrap_or((input, input));
    let Some([found, again]) = uri_template(template, uri) else {
        return;
    };
    for (name, value) in &found {
        assert!(
            !value.contains(['\0', '\\']),
            "{name} of {template}: {value:?}"
        );
    }
    assert_eq!(found, again, "{template}");
});
