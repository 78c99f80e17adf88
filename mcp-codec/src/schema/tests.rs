//! Tests of the whole module; what schemas mean, a small evaluator says.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{is_object_root, without_boolean_properties};

fn object(value: Value) -> Map<String, Value> {
    serde_json::from_value(value).unwrap()
}

/// Whether `schema` accepts `value`, for the keywords used below.
fn accepts(schema: &Value, value: &Value) -> bool {
    Meaning {
        root: schema,
        open: Vec::new(),
    }
    .accepts(schema, value)
}

struct Meaning<'s> {
    root: &'s Value,
    /// What is being found out already; a circle adds nothing to it.
    open: Vec<(*const Value, *const Value)>,
}

impl<'s> Meaning<'s> {
    fn accepts(&mut self, schema: &'s Value, value: &Value) -> bool {
        let question = (std::ptr::from_ref(schema), std::ptr::from_ref(value));
        if self.open.contains(&question) {
            return true;
        }
        self.open.push(question);
        let found = match schema {
            Value::Bool(any) => *any,
            _ => schema
                .as_object()
                .unwrap()
                .iter()
                .all(|(keyword, rule)| self.satisfies(schema, keyword, rule, value)),
        };
        self.open.pop();
        found
    }

    fn satisfies(
        &mut self,
        schema: &'s Value,
        keyword: &str,
        rule: &'s Value,
        value: &Value,
    ) -> bool {
        let mut rules = rule.as_array().into_iter().flatten();
        match (keyword, value) {
            ("$ref", _) => {
                let target = self
                    .root
                    .pointer(rule.as_str().unwrap().strip_prefix('#').unwrap())
                    .unwrap();
                self.accepts(target, value)
            }
            ("allOf", _) => rules.all(|it| self.accepts(it, value)),
            ("anyOf", _) => rules.any(|it| self.accepts(it, value)),
            ("not", _) => !self.accepts(rule, value),
            ("const", _) => rule == value,
            ("minimum", Value::Number(number)) => number.as_i64() >= rule.as_i64(),
            ("required", Value::Object(members)) => {
                rules.all(|name| members.contains_key(name.as_str().unwrap()))
            }
            ("type", _) if rule.is_string() => is_of(rule, value),
            ("type", _) => rules.any(|it| is_of(it, value)),
            ("items", Value::Array(items)) => items.iter().all(|it| self.accepts(rule, it)),
            ("properties", Value::Object(members)) => members
                .iter()
                .all(|(name, it)| rule.get(name).is_none_or(|rule| self.accepts(rule, it))),
            ("additionalProperties", Value::Object(members)) => members.iter().all(|(name, it)| {
                schema["properties"].get(name).is_some() || self.accepts(rule, it)
            }),
            _ => true,
        }
    }
}

fn is_of(name: &Value, value: &Value) -> bool {
    let found = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    name == found
}

#[track_caller]
fn check_booleans(schema: Value, expected: &Value) {
    let mut schema = object(schema);
    without_boolean_properties(&mut schema);
    assert_eq!(Value::Object(schema), *expected);
}

#[test]
fn boolean_properties_become_objects() {
    check_booleans(
        json!({"type": "object", "properties": {"a": true, "b": false, "c": {"type": "string"}}}),
        &json!({"type": "object", "properties": {"a": {}, "b": {"not": {}}, "c": {"type": "string"}}}),
    );
    let before = json!({"properties": {"a": true}});
    let after = json!({"properties": {"a": {}}});
    for keyword in ["items", "not", "additionalProperties", "if", "contains"] {
        check_booleans(json!({keyword: before}), &json!({keyword: after}));
    }
    for keyword in ["allOf", "oneOf", "anyOf", "prefixItems", "items"] {
        check_booleans(
            json!({keyword: [before, true]}),
            &json!({keyword: [after, true]}),
        );
    }
    for keyword in ["$defs", "definitions", "properties", "patternProperties"] {
        check_booleans(
            json!({keyword: {"x": before}}),
            &json!({keyword: {"x": after}}),
        );
    }
}

#[test]
fn other_booleans_stay() {
    for schema in [
        json!({"additionalProperties": false, "unevaluatedProperties": true}),
        json!({"default": {"properties": {"a": true}}, "const": {"properties": {"a": true}}}),
        json!({"enum": [{"properties": {"a": true}}], "examples": [{"properties": {"a": true}}]}),
        json!({"properties": {"properties": {"type": "string"}}, "required": ["properties"]}),
        json!({"properties": 5, "items": "x", "allOf": true}),
    ] {
        check_booleans(schema.clone(), &schema);
    }
    // A property that is called `properties`.
    check_booleans(
        json!({"properties": {"properties": true}}),
        &json!({"properties": {"properties": {}}}),
    );
}

#[test]
fn object_roots() {
    assert!(is_object_root(&json!({"type": "object"})));
    for schema in [
        json!({}),
        json!(true),
        json!({"type": ["object"]}),
        json!({"type": "array"}),
    ] {
        assert!(!is_object_root(&schema), "{schema}");
    }
}

/// Wraps `schema`; `expected` is the result, or null for none.
#[track_caller]
fn check_wrapped(schema: Value, expected: &Value) {
    let found = super::wrap_non_object_output(schema).unwrap_or_default();
    assert_eq!(found, *expected);
}

fn wrapped(inner: &Value) -> Value {
    json!({"type": "object", "properties": {"result": inner}, "required": ["result"]})
}

#[test]
fn other_roots_are_wrapped() {
    for schema in [
        json!({"type": "integer"}),
        json!({"$ref": "https://example.com/x.json"}),
        json!({"enum": [{"$ref": "#"}], "const": {"$id": "x"}, "default": {"$anchor": "y"}}),
        json!({"properties": {"$ref": {"type": "string"}, "$id": {}, "id": {}}}),
    ] {
        check_wrapped(schema.clone(), &wrapped(&schema));
    }
    check_wrapped(json!(true), &wrapped(&json!({})));
    check_wrapped(json!(5), &json!(null));
}

#[test]
fn definitions_and_references_move() {
    check_wrapped(
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "array",
            "items": {"anyOf": [{"$ref": "#"}, {"$ref": "#/$defs/a~1b"}, {"$ref": "#/items/anyOf/0"}]},
            "$defs": {"a/b": {"properties": {"next": {"$ref": "#/$defs/a~1b"}, "all": {"$ref": "#"}}}},
        }),
        &json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {"result": {
                "type": "array",
                "items": {"anyOf": [
                    {"$ref": "#/properties/result"},
                    {"$ref": "#/$defs/a~1b"},
                    {"$ref": "#/properties/result/items/anyOf/0"},
                ]},
            }},
            "required": ["result"],
            "$defs": {"a/b": {"properties": {
                "next": {"$ref": "#/$defs/a~1b"}, "all": {"$ref": "#/properties/result"},
            }}},
        }),
    );
}

#[test]
fn schemas_that_cannot_move_are_dropped() {
    for schema in [
        json!({"$id": "https://example.com/x", "type": "array"}),
        json!({"type": "array", "items": {"$anchor": "a"}}),
        json!({"$defs": {"x": {"$dynamicAnchor": "a"}}}),
        json!({"items": {"$dynamicRef": "#a"}}),
        json!({"items": {"$ref": "#a"}}),
        json!({"items": {"$ref": "#/%24defs/x"}, "$defs": {"x": {}}}),
    ] {
        check_wrapped(schema, &json!(null));
    }
}

/// Schemas with definitions `a` and `b` that refer to anything.
fn schemas() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(true)),
        Just(json!(false)),
        Just(json!({"type": "integer", "minimum": 1})),
        Just(json!({"type": ["string", "null"]})),
        Just(json!({"$ref": "#"})),
        Just(json!({"$ref": "#/$defs/a"})),
        Just(json!({"$ref": "#/$defs/b", "type": "object"})),
        Just(json!({"$ref": "#/$defs/b", "description": "b"})),
    ];
    let schema = leaf.prop_recursive(3, 10, 3, |inner| {
        prop_oneof![
            inner
                .clone()
                .prop_map(|it| json!({"type": "array", "items": it})),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| json!({
                "type": "object", "properties": {"a": a, "b": b}, "required": ["a"],
            })),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| json!({"anyOf": [a, b]})),
            (inner.clone(), inner).prop_map(|(a, b)| json!({
                "properties": {"a": a}, "additionalProperties": b, "$ref": "#/$defs/a",
            })),
        ]
    });
    (schema.clone(), schema.clone(), schema)
        .prop_map(|(root, a, b)| json!({"$defs": {"a": a, "b": b}, "allOf": [root]}))
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        (0..3).prop_map(Value::from),
        Just(json!("x"))
    ];
    leaf.prop_recursive(3, 10, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::hash_map("[abc]", inner, 0..3)
                .prop_map(|it| Value::Object(it.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn booleans_as_objects_mean_the_same(schema in schemas(), value in values()) {
        let mut rewritten = object(schema.clone());
        without_boolean_properties(&mut rewritten);
        let rewritten = Value::Object(rewritten);
        prop_assert_eq!(accepts(&rewritten, &value), accepts(&schema, &value));
    }

    #[test]
    fn a_wrapped_schema_means_the_same(schema in schemas(), value in values()) {
        let wrapped = super::wrap_non_object_output(schema.clone()).unwrap();
        let result = json!({"result": value});
        prop_assert_eq!(accepts(&wrapped, &result), accepts(&schema, &value));
        let empty = json!({});
        prop_assert!(!accepts(&wrapped, &empty));
    }

    #[test]
    fn nothing_panics(value in values()) {
        let mut schema = Map::new();
        for keyword in ["properties", "items", "$defs", "$ref", "allOf"] {
            schema.insert(keyword.to_owned(), value.clone());
        }
        without_boolean_properties(&mut schema.clone());
        let _ = super::wrap_non_object_output(Value::Object(schema));
    }
}
