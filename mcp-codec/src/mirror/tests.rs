//! Tests: one for each requirement.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn mirrored(schema: Value) -> Result<Vec<MirroredParameter>, String> {
    let schema: Map<String, Value> = serde_json::from_value(schema).unwrap();
    mirrored_parameters(&schema)
}

/// `expected` is `suffix path kind` for each parameter.
#[track_caller]
fn check(schema: Value, expected: &[&str]) {
    let found = mirrored(schema).unwrap();
    let found: Vec<_> = found
        .iter()
        .map(|it| format!("{} {} {:?}", it.header_suffix, it.path.join("/"), it.kind))
        .collect();
    assert_eq!(found, expected);
}

/// `expected` is part of the error.
#[track_caller]
fn check_error(schema: Value, expected: &str) {
    let error = mirrored(schema).unwrap_err();
    assert!(error.contains(expected), "{error}");
}

fn property(property: impl Into<Value>) -> Value {
    let property = property.into();
    json!({"type": "object", "properties": {"p": property}})
}

#[test]
fn annotated_properties_are_found() {
    check(json!({"type": "object", "properties": {}}), &[]);
    check(
        json!({"type": "object", "properties": {
            "a": {"type": "string", "x-mcp-header": "Region"},
            "b": {"type": "boolean", "x-mcp-header": "B"},
            "c": {"type": "object", "properties": {
                "d": {"type": "integer", "x-mcp-header": "Limit"},
            }},
            "e": {"type": "number"},
        }}),
        &["Region a String", "B b Boolean", "Limit c/d Integer"],
    );
}

#[test]
fn members_named_like_the_keyword_are_members() {
    check(
        json!({"type": "object", "properties": {
            "x-mcp-header": {"type": "string", "x-mcp-header": "H"},
            "o": {"type": "object", "default": {"x-mcp-header": 1}, "enum": [{"x-mcp-header": 1}]},
        }, "required": ["x-mcp-header"]}),
        &["H x-mcp-header String"],
    );
    check(json!({"$defs": {"x-mcp-header": {"type": "string"}}}), &[]);
}

/// `tools-x-mcp-header-name`.
#[test]
fn names_are_tokens() {
    for name in [
        "", "a b", "a:b", "ä", "a\r\n", "a\t", "(a)", "a/b", "\u{7f}",
    ] {
        check_error(
            property(json!({"type": "string", "x-mcp-header": name})),
            "property `p`: `x-mcp-header` is not a header name",
        );
    }
    check_error(
        property(json!({"type": "string", "x-mcp-header": 5})),
        "is not a header name",
    );
    check_error(
        property(json!({"type": "string", "x-mcp-header": null})),
        "is not a header name",
    );
    check(
        property(json!({"type": "string", "x-mcp-header": "!#$%&'*+-.^_`|~aZ9"})),
        &["!#$%&'*+-.^_`|~aZ9 p String"],
    );
}

/// `tools-x-mcp-header-unique`.
#[test]
fn names_differ_without_regard_to_case() {
    check_error(
        json!({"properties": {
            "a": {"type": "string", "x-mcp-header": "Region"},
            "b": {"properties": {"c": {"type": "string", "x-mcp-header": "REGION"}}},
        }}),
        "property `b.c`: `x-mcp-header` is `REGION`, which another property has too",
    );
}

/// `tools-x-mcp-header-types`.
#[test]
fn types_are_primitive() {
    for of in [
        json!("number"),
        json!("array"),
        json!("object"),
        json!("null"),
        json!(["string", "null"]),
        json!(["string"]),
        json!(null),
    ] {
        check_error(
            property(json!({"type": of, "x-mcp-header": "H"})),
            "needs `type` to be",
        );
    }
    check_error(
        property(json!({"$ref": "#/$defs/x", "x-mcp-header": "H"})),
        "needs `type` to be",
    );
    let integer = |key: &str, value: Value| {
        property(json!({"type": "integer", "x-mcp-header": "H", key: value}))
    };
    check(
        integer("maximum", json!(9_007_199_254_740_991_i64)),
        &["H p Integer"],
    );
    check(integer("minimum", json!(0)), &["H p Integer"]);
    for (key, value) in [
        ("maximum", json!(9_007_199_254_740_992_i64)),
        ("minimum", json!(i64::MIN)),
        ("const", json!(u64::MAX)),
        ("enum", json!([1, u64::MAX])),
    ] {
        check_error(integer(key, value), "beyond ±(2^53 − 1)");
    }
}

/// `tools-x-mcp-header-reachable`.
#[test]
fn only_properties_lead_to_a_mirrored_one() {
    let annotated = json!({"type": "string", "x-mcp-header": "H"});
    let nested = json!({"properties": {"q": annotated}});
    for keyword in [
        "items",
        "not",
        "if",
        "then",
        "else",
        "additionalProperties",
        "contains",
        "custom",
    ] {
        check_error(
            property(json!({keyword: annotated})),
            &format!("property `p`: `x-mcp-header` is below `{keyword}`"),
        );
        check_error(json!({keyword: nested}), &format!("is below `{keyword}`"));
    }
    for keyword in ["oneOf", "anyOf", "allOf", "prefixItems", "items"] {
        check_error(
            json!({keyword: [{}, annotated]}),
            &format!("is below `{keyword}`"),
        );
    }
    for keyword in [
        "$defs",
        "definitions",
        "patternProperties",
        "dependentSchemas",
    ] {
        check_error(
            json!({keyword: {"x": annotated}}),
            &format!("is below `{keyword}`"),
        );
    }
    check_error(
        json!({"type": "object", "x-mcp-header": "H"}),
        "is at the root",
    );
}

proptest! {
    #[test]
    fn what_is_found_is_a_token(name in "\\PC{0,8}") {
        let found = mirrored(property(json!({"type": "string", "x-mcp-header": name})));
        let expected = !name.is_empty() && name.chars().all(|it| it.is_ascii_graphic() && !"\"(),/:;<=>?@[\\]{}".contains(it));
        prop_assert_eq!(found.is_ok(), expected);
    }
}
