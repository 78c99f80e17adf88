//! Tests of the whole module: generating, reading, reporting.

#![expect(
    dead_code,
    reason = "fields are read by `Debug`, or only their schema is looked at"
)]

use std::collections::{BTreeMap, HashSet};

use proptest::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::*;

/// Adds.
#[derive(Debug, Deserialize, JsonSchema)]
struct Rows {
    max: u32,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Echo {
    text: String,
    #[serde(default)]
    times: Option<u8>,
}

/// What time it is.
#[derive(Debug, Deserialize, JsonSchema)]
struct Unit;

#[derive(Debug, Deserialize, JsonSchema)]
struct Empty {}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Closed {}

#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
struct Filter {
    a: i64,
    #[serde(default)]
    mode: Mode,
}

#[derive(Debug, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Mode {
    #[default]
    Fast,
    Slow,
}

#[derive(Debug, Deserialize, JsonSchema)]
enum Documented {
    /// One.
    One,
    /// Two.
    Two,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Search {
    filter: Option<Filter>,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    ratio: f64,
    #[serde(default)]
    counts: BTreeMap<String, u64>,
    #[schemars(range(min = 1, max = 10))]
    limit: Option<i32>,
    documented: Option<Documented>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Node {
    value: i32,
    #[serde(default)]
    children: Vec<Self>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Wrapped(Rows);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Shape {
    Circle { radius: u32 },
    Square { side: u32, solid: bool },
}

#[derive(Debug, Deserialize, JsonSchema)]
enum Mixed {
    A { x: i32 },
    B,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Even {
    #[serde(deserialize_with = "even")]
    n: u32,
}

fn even<'de, D: Deserializer<'de>>(reader: D) -> Result<u32, D::Error> {
    match u32::deserialize(reader)? {
        n if n % 2 == 0 => Ok(n),
        _ => Err(serde::de::Error::custom("not an even number")),
    }
}

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}

fn read<T: JsonSchema + DeserializeOwned>(text: &str) -> Result<T, String> {
    let schema = ArgumentSchema::of::<T>().unwrap();
    schema
        .read(Some(&raw(text)))
        .map_err(|error| error.to_string())
}

/// Reads `text` as `T`; `expected` is what `Debug` makes of it, or the error.
#[track_caller]
fn check<T: JsonSchema + DeserializeOwned + fmt::Debug>(text: &str, expected: &str) {
    let found = match read::<T>(text) {
        Ok(value) => format!("{value:?}"),
        Err(error) => error,
    };
    assert_eq!(sorted(&found), sorted(expected), "{text}");
}

/// The parts of a report; their order is that of the schema's members.
fn sorted(report: &str) -> Vec<&str> {
    let report = report.trim_start_matches("invalid arguments: ");
    let mut parts: Vec<_> = report.split("; ").collect();
    parts.sort_unstable();
    parts
}

/// The violations of `value` under a schema written by hand.
#[track_caller]
fn check_by_hand(schema: Value, value: &Value, expected: &[&str]) {
    let schema = OutputSchema::by_hand(schema).unwrap();
    let found = schema.rules.validate_value(value).err().unwrap_or_default();
    let found: Vec<_> = found.iter().map(Violation::to_string).collect();
    assert_eq!(found, expected, "{value}");
    assert_eq!(
        schema.validate_text(&value.to_string()).is_ok(),
        expected.is_empty()
    );
}

#[track_caller]
fn input<T: JsonSchema>() -> Value {
    Value::Object(input_schema_of::<T>().unwrap().schema)
}

/// A23.
#[test]
fn types_without_fields_have_the_recommended_schema() {
    let expected = json!({"type": "object", "properties": {}, "additionalProperties": false});
    assert_eq!(input::<()>(), expected);
    assert_eq!(input::<Unit>(), expected);
    assert_eq!(input::<Empty>(), expected);
    assert_eq!(input::<Closed>(), expected);
    assert_eq!(
        input_schema_of::<Unit>().unwrap().description.unwrap(),
        "What time it is."
    );
}

/// A24.
#[test]
fn absent_and_null_arguments_are_an_empty_object() {
    for schema in [
        ArgumentSchema::of::<()>().unwrap(),
        ArgumentSchema::of::<Unit>().unwrap(),
    ] {
        schema.read::<()>(None).unwrap();
    }
    for text in ["null", "{}", " { } "] {
        check::<()>(text, "()");
        check::<Unit>(text, "Unit");
        check::<Empty>(text, "Empty");
        check::<Echo>(text, "invalid arguments: `text`: required");
    }
    let echo = ArgumentSchema::of::<Echo>().unwrap();
    assert_eq!(
        echo.read::<Echo>(None).unwrap_err().to_string(),
        "invalid arguments: `text`: required"
    );
    for text in ["[]", "\"{}\"", "5", "true"] {
        let error = echo.read::<Echo>(Some(&raw(text))).unwrap_err();
        assert_eq!(error, ArgumentsError::NotAnObject);
        check::<()>(text, "`arguments` must be a JSON object");
    }
    check::<Unit>(r#"{"x":1}"#, "invalid arguments: `x`: not a known member");
    check::<Empty>(r#"{"x":1}"#, "invalid arguments: `x`: not a known member");
}

/// A25.
#[test]
fn whole_numbers_are_integers() {
    check::<Rows>(r#"{"max":30}"#, "Rows { max: 30 }");
    check::<Rows>(r#"{"max":30.0}"#, "Rows { max: 30 }");
    check::<Rows>(r#"{"max":1e2}"#, "Rows { max: 100 }");
    check::<Rows>(r#"{"max":0.05E+2}"#, "Rows { max: 5 }");
    check::<Rows>(r#"{"max":-0.0}"#, "Rows { max: 0 }");
    check::<Rows>(
        r#"{"max":30.5}"#,
        "invalid arguments: `max`: expected an integer",
    );
    check::<Rows>(
        r#"{"max":-1}"#,
        "invalid arguments: `max`: expected an integer of at least 0",
    );
    let above = "invalid arguments: `max`: expected an integer of at most 4294967295";
    check::<Rows>(r#"{"max":4294967296}"#, above);
    check::<Rows>(r#"{"max":4294967296.0}"#, above);
    check::<Rows>(r#"{"max":1e300}"#, above);
    check::<Rows>(
        r#"{"max":1e999}"#,
        "invalid arguments: expected numbers within the range of a double",
    );
    // Beyond 2^53 the digits of the text count, not those of a double.
    check::<Filter>(
        r#"{"a":9007199254740993.0}"#,
        "Filter { a: 9007199254740993, mode: Fast }",
    );
    check::<Filter>(
        r#"{"a":9.223372036854775807e18}"#,
        &format!("Filter {{ a: {}, mode: Fast }}", i64::MAX),
    );
    // Strings and numbers elsewhere keep their spelling.
    let schema = ArgumentSchema::by_hand(object(json!({"type": "object", "properties": {
        "i": {"type": "integer"}, "n": {"type": "number"}, "s": {"type": "string"}, "a": true,
        "l": {"type": "array", "items": {"type": ["integer", "null"]}},
    }})));
    let text = r#"{"i":1.0,"n":2.0,"s":"3.0","a":{"i":4.0},"l":[5.0,null]}"#;
    let tree = schema.unwrap().valid_tree(text).unwrap();
    let expected = json!({"a": {"i": 4.0}, "i": 1, "l": [5, null], "n": 2.0, "s": "3.0"});
    assert_eq!(tree, expected);
}

fn object(value: Value) -> Map<String, Value> {
    serde_json::from_value(value).unwrap()
}

#[test]
fn every_violation_is_reported_where_it_is() {
    check::<Search>(
        r#"{"filter":{"a":"x","b":1},"tags":["a",2,"c",4],"ratio":"1","limit":0}"#,
        "invalid arguments: `filter.a`: expected an integer; `filter.b`: not a known member; \
         `limit`: expected an integer of at least 1; `ratio`: expected a number; \
         `tags[1]`: expected a string; `tags[3]`: expected a string",
    );
    check::<Search>(
        r#"{"counts":{"x":-1}}"#,
        "invalid arguments: `counts.x`: expected an integer of at least 0",
    );
    check::<Search>(
        r#"{"filter":5}"#,
        "invalid arguments: `filter`: expected an object or null",
    );
    check::<Search>(
        r#"{"filter":{"a":1,"mode":"no"}}"#,
        "invalid arguments: `filter.mode`: expected one of \"fast\", \"slow\"",
    );
    check::<Search>(
        r#"{"documented":"Three"}"#,
        "invalid arguments: `documented`: expected one of \"One\", \"Two\"",
    );
    check::<Shape>(
        r#"{"kind":"circle"}"#,
        "invalid arguments: `radius`: required",
    );
    check::<Shape>(
        r#"{"kind":"square","side":"x","solid":1}"#,
        "invalid arguments: `side`: expected an integer; `solid`: expected a boolean",
    );
    check::<Shape>(
        r#"{"kind":"cube"}"#,
        "invalid arguments: `kind`: expected one of \"circle\", \"square\"",
    );
    check::<Shape>(r#"{"kind":"circle","radius":2.0}"#, "Circle { radius: 2 }");
}

/// Serde reads structs from arrays and unit variants from objects; the schema does not say so.
#[test]
fn what_serde_reads_beyond_the_schema_is_refused() {
    assert!(serde_json::from_str::<Search>(r#"{"filter":[1]}"#).is_ok());
    check::<Search>(
        r#"{"filter":[1]}"#,
        "invalid arguments: `filter`: expected an object or null",
    );
    assert!(serde_json::from_str::<Filter>(r#"{"a":1,"mode":{"slow":null}}"#).is_ok());
    check::<Filter>(
        r#"{"a":1,"mode":{"slow":null}}"#,
        "invalid arguments: `mode`: expected one of \"fast\", \"slow\"",
    );
    #[derive(Debug, Deserialize, JsonSchema)]
    struct Flat {
        #[serde(flatten)]
        rows: Option<Rows>,
    }
    assert!(serde_json::from_str::<Flat>(r#"{"max":"x"}"#).is_ok());
    check::<Flat>(
        r#"{"max":"x"}"#,
        "invalid arguments: `max`: expected an integer",
    );
    check::<Flat>(r#"{"max":1}"#, "Flat { rows: Some(Rows { max: 1 }) }");
}

#[test]
fn members_given_twice_are_refused() {
    check::<Rows>(
        r#"{"max":1,"max":2}"#,
        "invalid arguments: `max`: given twice",
    );
    check::<Search>(
        r#"{"filter":{"a":1,"a":2}}"#,
        "invalid arguments: `filter.a`: given twice",
    );
}

#[test]
fn rules_of_a_type_of_its_own() {
    check::<Even>(r#"{"n":3}"#, "invalid arguments: `n`: not an even number");
    check::<Even>(r#"{"n":3.0}"#, "invalid arguments: `n`: not an even number");
    #[derive(Debug, Deserialize, JsonSchema)]
    struct Place {
        ip: std::net::IpAddr,
    }
    check::<Place>(
        r#"{"ip":"x"}"#,
        "invalid arguments: `ip`: invalid IP address syntax",
    );
    #[derive(Debug, Deserialize, JsonSchema)]
    struct Loose {
        #[schemars(with = "String")]
        n: u32,
    }
    check::<Loose>(r#"{"n":"a text"}"#, "invalid arguments: `n`: not accepted");
}

#[test]
fn reports_are_bounded() {
    #[derive(Debug, Deserialize, JsonSchema)]
    struct Names {
        names: BTreeMap<String, u32>,
    }
    let members: Vec<_> = (0..100)
        .map(|n| format!("\"{n}{}\":\"v\"", "k".repeat(500)))
        .collect();
    let error = read::<Names>(&format!("{{\"names\":{{{}}}}}", members.join(","))).unwrap_err();
    assert!(error.len() < 20 * 120, "{}", error.len());
    assert!(error.ends_with("; and more"), "{error}");
    let deep = format!(
        "{}1{}",
        "{\"value\":1,\"children\":[".repeat(200),
        "]}".repeat(200)
    );
    check::<Node>(
        &deep,
        "invalid arguments: expected at most 127 levels of nesting",
    );
    let deep = format!(
        "{}1{}",
        "{\"value\":1,\"children\":[".repeat(50),
        "]}".repeat(50)
    );
    let error = read::<Node>(&deep).unwrap_err();
    assert!(
        error.len() < 300 && error.ends_with("…`: expected an object"),
        "{error}"
    );
    check::<Rows>("{\"max\":1,\"s\":\"\\ud800\"}", "Rows { max: 1 }");
    check::<Echo>(
        "{\"text\":\"\\ud800\"}",
        "invalid arguments: expected JSON that decodes to Unicode text",
    );
}

#[test]
fn custom_messages_do_not_repeat_long_values() {
    #[derive(Debug)]
    struct Loud;
    impl<'de> Deserialize<'de> for Loud {
        fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
            let text = String::deserialize(reader)?;
            Err(serde::de::Error::custom(format!("no such thing: {text}")))
        }
    }
    #[derive(Debug, Deserialize, JsonSchema)]
    struct Args {
        #[schemars(with = "String")]
        loud: Loud,
    }
    check::<Args>(
        r#"{"loud":"x"}"#,
        "invalid arguments: `loud`: no such thing: x",
    );
    let long = json!({"loud": "x".repeat(50)}).to_string();
    check::<Args>(&long, "invalid arguments: `loud`: not accepted");
}

#[test]
fn roots_become_objects() {
    let rows = json!({"type": "object", "properties": {
        "max": {"type": "integer", "format": "uint32", "minimum": 0},
    }, "required": ["max"]});
    assert_eq!(input::<Rows>(), rows);
    assert_eq!(input::<Wrapped>(), rows);
    assert_eq!(input::<Box<Rows>>(), rows);
    assert_eq!(input::<Option<Rows>>(), rows);
    assert_eq!(
        input_schema_of::<Option<Rows>>()
            .unwrap()
            .description
            .unwrap(),
        "Adds."
    );
    let node = input::<Node>();
    assert_eq!(
        node["properties"]["children"]["items"],
        json!({"$ref": "#"})
    );
    let node = input::<Option<Node>>();
    assert_eq!(node["type"], "object");
    assert_eq!(
        node["properties"]["children"]["items"],
        json!({"$ref": "#/$defs/Node"})
    );
    assert!(node["$defs"]["Node"].is_object());
    let shape = input::<Shape>();
    assert_eq!(
        (&shape["type"], &shape["properties"]),
        (&json!("object"), &json!({}))
    );
    assert_eq!(shape["oneOf"].as_array().unwrap().len(), 2);
    let any = json!({"type": "object", "properties": {}});
    assert_eq!(input::<Value>(), any);
    assert_eq!(
        input::<BTreeMap<String, i32>>()["additionalProperties"],
        json!({"type": "integer", "format": "int32"})
    );
}

#[test]
fn roots_that_cannot_be_objects_are_errors() {
    let error = |found: Result<InputSchema, SchemaError>| found.unwrap_err().to_string();
    let expected = "arguments must be a JSON object, but a value of type `string` is accepted";
    assert_eq!(error(input_schema_of::<String>()), expected);
    assert_eq!(error(input_schema_of::<Mixed>()), expected);
    assert_eq!(error(input_schema_of::<Mode>()), expected);
    let expected = "arguments must be a JSON object, but a value of type `array` is accepted";
    assert_eq!(error(input_schema_of::<Vec<i32>>()), expected);
    assert_eq!(error(input_schema_of::<(i32, i32)>()), expected);
}

#[test]
fn results_may_have_any_root() {
    assert_eq!(
        output_schema_of::<i32>(),
        json!({"type": "integer", "format": "int32"})
    );
    let rows = output_schema_of::<Vec<Rows>>();
    assert_eq!(rows["items"], json!({"$ref": "#/$defs/Rows"}));
    assert!(rows.get("$schema").is_none() && rows.get("title").is_none());
    let schema = OutputSchema::by_hand(output_schema_of::<Vec<f64>>()).unwrap();
    schema.validate_text("[1,2.5]").unwrap();
    // What serde_json writes for NaN.
    let found = schema.validate_text("[1,null]").unwrap_err();
    assert_eq!(
        found,
        [Violation::new("[1]".to_owned(), "expected a number")]
    );
    #[derive(Serialize, JsonSchema)]
    struct Skips {
        #[serde(skip_serializing_if = "Option::is_none")]
        a: Option<i32>,
    }
    let schema = OutputSchema::by_hand(output_schema_of::<Skips>()).unwrap();
    schema
        .validate_text(&serde_json::to_string(&Skips { a: None }).unwrap())
        .unwrap();
}

#[test]
fn mirrored_options_are_published_as_their_inner_type() {
    #[derive(Debug, Deserialize, JsonSchema)]
    struct Query {
        #[schemars(extend("x-mcp-header" = "Region"))]
        region: Option<String>,
        other: Option<String>,
    }
    let schema = ArgumentSchema::of::<Query>().unwrap();
    let properties = &schema.published["properties"];
    assert_eq!(
        properties["region"],
        json!({"type": "string", "x-mcp-header": "Region"})
    );
    assert_eq!(properties["other"]["type"], json!(["string", "null"]));
    check::<Query>(r#"{"region":null}"#, "Query { region: None, other: None }");
}

#[test]
fn schemas_by_hand_are_validated() {
    let schema = ArgumentSchema::by_hand(object(json!({
        "type": "object",
        "properties": {"max": {"type": "integer", "multipleOf": 5}, "name": {"pattern": "^a"}},
        "dependentRequired": {"max": ["name"]},
    })));
    let schema = schema.unwrap();
    let read = |text| {
        schema
            .read::<Value>(Some(&raw(text)))
            .map_err(|it| it.to_string())
    };
    assert_eq!(
        read(r#"{"max":5,"name":"ab"}"#),
        Ok(json!({"max": 5, "name": "ab"}))
    );
    assert_eq!(
        read(r#"{"max":6,"name":"b"}"#).unwrap_err(),
        "invalid arguments: `max`: expected an integer that is a multiple of 5; \
         `name`: expected a match of the pattern ^a"
    );
    assert_eq!(
        read(r#"{"max":5}"#).unwrap_err(),
        "invalid arguments: `name`: required"
    );
    let by_hand = |schema| ArgumentSchema::by_hand(object(schema)).map(|it| it.published);
    let open = by_hand(json!({"type": "object"})).unwrap();
    assert_eq!(
        Value::Object(open),
        json!({"type": "object", "properties": {}})
    );
    let error = by_hand(json!({"properties": {}})).unwrap_err();
    assert!(matches!(error, SchemaError::NotAnObject(_)));
}

#[test]
fn schemas_that_cannot_be_used_are_errors() {
    let error = |schema| OutputSchema::by_hand(schema).unwrap_err().to_string();
    assert_eq!(
        error(json!({"$schema": "https://example.com/mine"})),
        "the JSON Schema dialect \"https://example.com/mine\" is not supported"
    );
    let found = error(json!({"$ref": "https://example.com/x.json"}));
    assert!(
        found.starts_with("a `$ref` cannot be resolved within the schema: "),
        "{found}"
    );
    let found = error(json!({"items": {"$ref": "#/$defs/nope"}}));
    assert!(
        found.starts_with("a `$ref` cannot be resolved within the schema: "),
        "{found}"
    );
    let found = error(json!({"type": "objekt"}));
    assert!(
        found.starts_with("the schema is not valid: \"objekt\""),
        "{found}"
    );
    let found = error(json!({"pattern": "("}));
    assert!(found.starts_with("the schema is not valid: "), "{found}");
    let deep = (0..100).fold(json!({}), |inner, _| json!({"items": inner}));
    assert_eq!(error(deep), "the schema is too large or nested too deep");
    let wide: Vec<_> = (0..30_000).collect();
    assert_eq!(
        error(json!({"enum": wide})),
        "the schema is too large or nested too deep"
    );
}

#[test]
fn named_dialects_are_honoured() {
    let draft7 = "http://json-schema.org/draft-07/schema#";
    check_by_hand(
        json!({"$schema": draft7, "items": [{"type": "string"}]}),
        &json!([1]),
        &["`[0]`: expected a string"],
    );
    let newest = "https://json-schema.org/draft/2020-12/schema";
    let schema = json!({"$schema": newest, "prefixItems": [{"type": "string"}]});
    check_by_hand(schema, &json!([1]), &["`[0]`: expected a string"]);
    check_by_hand(
        json!({"prefixItems": [{"type": "string"}]}),
        &json!([1]),
        &["`[0]`: expected a string"],
    );
}

#[test]
fn references_that_go_in_circles_end() {
    check_by_hand(json!({"allOf": [{"$ref": "#"}]}), &json!({}), &[]);
    let schema = json!({"type": "array", "anyOf": [{"$ref": "#"}, {"type": "null"}]});
    check_by_hand(
        schema,
        &json!(1),
        &["expected an array", "expected an array or null"],
    );
}

#[test]
fn keywords_have_words() {
    let check = |schema: Value, value: Value, expected: &str| {
        check_by_hand(schema, &value, &[expected]);
    };
    check(
        json!({"exclusiveMinimum": 1}),
        json!(1),
        "expected a number greater than 1",
    );
    check(
        json!({"exclusiveMaximum": 1.5}),
        json!(2),
        "expected a number less than 1.5",
    );
    check(
        json!({"maxLength": 1}),
        json!("ab"),
        "expected at most 1 character",
    );
    check(
        json!({"minLength": 3}),
        json!("ab"),
        "expected at least 3 characters",
    );
    check(
        json!({"maxItems": 1}),
        json!([1, 2]),
        "expected at most 1 item",
    );
    check(
        json!({"uniqueItems": true}),
        json!([1, 1]),
        "expected distinct items",
    );
    check(
        json!({"minProperties": 1}),
        json!({}),
        "expected at least 1 members",
    );
    check(
        json!({"not": {"type": "null"}}),
        json!(null),
        "matches what is excluded",
    );
    check(json!({"const": 5}), json!(6), "expected 5");
    check(
        json!({"properties": {"a": false}}),
        json!({"a": 1}),
        "`a`: not allowed",
    );
    check(
        json!({"propertyNames": {"maxLength": 1}}),
        json!({"ab": 1}),
        "`ab`: as a member's name: expected at most 1 character",
    );
    check(
        json!({"oneOf": [{"minimum": 1}, {"minimum": 2}]}),
        json!(3),
        "expected a match of one alternative only",
    );
    check(
        json!({"anyOf": [{"minimum": 1}, {"maximum": -1}]}),
        json!(0),
        "matches none of the accepted forms",
    );
    check(
        json!({"type": ["null", "integer"]}),
        json!("x"),
        "expected an integer or null",
    );
    check(
        json!({"properties": {"a`\n": {"type": "null"}}}),
        json!({"a`\n": 1}),
        "`a\u{FFFD}\u{FFFD}`: expected null",
    );
}

#[test]
fn ordinary_schemas_need_no_tree() {
    fn streams<T: JsonSchema>() -> bool {
        let schema = ArgumentSchema::of::<T>().unwrap();
        check::Check::compile(schema.rules.schema()).is_some()
    }
    assert!(streams::<()>());
    assert!(streams::<Rows>());
    assert!(streams::<Echo>());
    assert!(streams::<Search>());
    assert!(streams::<Node>());
    assert!(streams::<Option<Node>>());
    assert!(!streams::<Shape>());
}

#[test]
fn plain_types_enforce_their_schema() {
    fn enforces<T: JsonSchema>() -> bool {
        ArgumentSchema::of::<T>().unwrap().type_enforces
    }
    #[derive(JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Plain {
        a: i8,
        b: Option<u16>,
        c: Vec<Option<f32>>,
        d: BTreeMap<String, Vec<u64>>,
        e: bool,
        f: Value,
        #[serde(default)]
        g: String,
        h: Option<Value>,
        i: Option<std::net::IpAddr>,
        j: (),
    }
    assert!(enforces::<Plain>());
    assert!(enforces::<Rows>());
    assert!(enforces::<Echo>());
    assert!(enforces::<Value>());
    assert!(enforces::<BTreeMap<String, i32>>());
    #[derive(JsonSchema)]
    struct Limited {
        #[schemars(range(max = 10))]
        a: u8,
    }
    #[derive(JsonSchema)]
    struct Distinct {
        a: HashSet<String>,
    }
    #[derive(JsonSchema)]
    struct Flat {
        #[serde(flatten)]
        rows: Option<Rows>,
    }
    assert!(!enforces::<Limited>());
    assert!(!enforces::<Distinct>());
    assert!(!enforces::<Flat>());
    for fieldless in [enforces::<()>(), enforces::<Empty>(), enforces::<Unit>()] {
        assert!(!fieldless);
    }
    assert!(!enforces::<Search>() && !enforces::<Node>() && !enforces::<Shape>());
}

#[test]
fn strings_become_what_the_schema_asks_for() {
    #[derive(JsonSchema)]
    struct Args {
        i: Option<i32>,
        n: f64,
        b: bool,
        s: String,
        m: Mode,
        w: Option<Id>,
        v: Value,
    }
    #[derive(JsonSchema)]
    struct Id(u64);
    let schema = input::<Args>();
    let check = |name, text, expected: &str| {
        let found = coerce_strings([(name, text)], &schema);
        assert_eq!(found, format!("{{\"{name}\":{expected}}}"), "{text}");
    };
    check("i", "42", "42");
    check("i", "-7", "-7");
    check("i", "30.0", "30.0");
    check("i", "", "\"\"");
    for text in [
        "x", "007", "+1", " 1", "1 ", "0x1", "1e999", "null", "true", "1\n",
    ] {
        check("i", text, &Value::from(text).to_string());
    }
    check("n", "2.5e3", "2.5e3");
    check("b", "true", "true");
    check("b", "1", "\"1\"");
    check("s", "1", "\"1\"");
    check("s", "true", "\"true\"");
    check("m", "fast", "\"fast\"");
    check("w", "18446744073709551615", "18446744073709551615");
    check("v", "1", "\"1\"");
    check("unknown", "a\"b", "\"a\\\"b\"");
    assert_eq!(coerce_strings([], &schema), "{}");
    assert_eq!(
        coerce_strings([("a", "1"), ("a", "2")], &schema),
        "{\"a\":\"2\"}"
    );
    let recursive = json!({"properties": {"a": {"$ref": "#/properties/a"}, "b": {"anyOf": [{"$ref": "#/properties/b"}, {"$ref": "#/properties/b"}]}}});
    assert_eq!(
        coerce_strings([("a", "1"), ("b", "1")], &recursive),
        r#"{"a":"1","b":"1"}"#
    );
}

/// Schemas of the part the streaming check covers, and a little beyond.
fn schemas() -> impl Strategy<Value = Value> {
    let bound = prop_oneof![
        Just(json!(-1)),
        Just(json!(0)),
        Just(json!(2)),
        Just(json!(1.5)),
        Just(json!(u64::MAX))
    ];
    let leaf = prop_oneof![
        Just(json!(true)),
        Just(json!({})),
        Just(json!({"type": "null"})),
        Just(json!({"type": ["string", "null"]})),
        Just(json!({"type": "boolean"})),
        Just(json!({"type": "string", "enum": ["a", "b"]})),
        Just(json!({"type": ["string", "null"], "enum": ["a"]})),
        Just(json!({"type": ["string", "null"], "const": "a"})),
        Just(
            json!({"oneOf": [{"type": "string", "const": "a"}, {"type": "string", "const": "b"}]})
        ),
        Just(
            json!({"oneOf": [{"type": "string", "const": "a"}, {"type": "string", "const": "a"}]})
        ),
        Just(json!({"anyOf": [{"$ref": "#/$defs/d"}, {"type": "null"}]})),
        Just(json!({"$ref": "#/$defs/d"})),
        Just(json!({"$ref": "#"})),
        (0..3_u64, 0..3_u64)
            .prop_map(|(a, b)| json!({"type": "string", "minLength": a, "maxLength": b})),
        (bound.clone(), bound.clone())
            .prop_map(|(a, b)| json!({"type": "integer", "minimum": a, "maximum": b})),
        (bound.clone(), bound)
            .prop_map(|(a, b)| json!({"type": ["number", "null"], "minimum": a, "maximum": b})),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            (inner.clone(), 0..3_u64).prop_map(|(items, n)| json!({"type": "array", "items": items, "maxItems": n})),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| json!({"type": "object", "properties": {"a": a, "b": b}, "required": ["a"], "additionalProperties": false})),
            (inner.clone(), inner).prop_map(|(a, b)| json!({"type": "object", "properties": {"a": a}, "additionalProperties": b})),
        ]
    })
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        (-2..3_i64).prop_map(Value::from),
        Just(json!(u64::MAX)),
        Just(json!(1.0)),
        Just(json!(1.5)),
        Just(json!(-0.5)),
        Just(json!(1e300)),
        "[ab]{0,2}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[abc]", inner, 0..3)
                .prop_map(|it| Value::Object(it.into_iter().collect())),
        ]
    })
}

proptest! {
    /// The streaming check accepts nothing that the full validator refuses.
    #[test]
    fn the_streaming_check_is_sound(schema in schemas(), definition in schemas(), value in values()) {
        let mut schema = schema;
        if let Some(members) = schema.as_object_mut() {
            members.insert("$defs".to_owned(), json!({"d": definition}));
        }
        let Some(check) = check::Check::compile(&schema) else { return Ok(()) };
        let Ok(validator) = jsonschema::options().with_draft(jsonschema::Draft::Draft202012).build(&schema) else { return Ok(()) };
        let (fast, full) = (check.accepts(&value.to_string()), validator.is_valid(&value));
        prop_assert!(!fast || full, "{} {}", schema, value);
    }

    /// And for plain schemas it misses next to nothing.
    #[test]
    fn the_streaming_check_is_no_ornament(a in any::<u32>(), mode in "fast|slow", n in 1..10_i32) {
        let schema = ArgumentSchema::of::<Search>().unwrap();
        let text = json!({"filter": {"a": a, "mode": mode}, "tags": ["x"], "limit": n, "documented": null});
        prop_assert!(schema.rules.surely_accepts(&text.to_string()));
    }

    #[test]
    fn reading_never_panics(text in "\\PC{0,60}", value in values()) {
        let schema = ArgumentSchema::of::<Search>().unwrap();
        for text in [text, value.to_string(), json!({"filter": value, "tags": value}).to_string()] {
            if let Ok(raw) = RawValue::from_string(text) {
                let read = schema.read::<Search>(Some(&raw));
                if let Err(ArgumentsError::Violations(found)) = read {
                    prop_assert!(!found.is_empty());
                    prop_assert!(found.iter().all(|it| !it.expected.contains("struct") && !it.expected.contains("u64")));
                }
            }
        }
    }

    #[test]
    fn what_is_read_satisfies_the_schema(value in values(), other in values()) {
        let schema = ArgumentSchema::of::<Search>().unwrap();
        let value = json!({"filter": {"a": value, "mode": "slow"}, "limit": other});
        let read = schema.read::<Search>(Some(&raw(&value.to_string())));
        prop_assert_eq!(read.is_ok(), schema.rules.validate_value(&value).is_ok(), "{:?}", read);
    }

    #[test]
    fn what_a_plain_type_reads_satisfies_its_schema(
        a in values(), b in values(), c in values(), d in values(),
    ) {
        #[derive(Debug, Deserialize, JsonSchema)]
        struct Plain {
            a: i8,
            b: Option<u16>,
            #[serde(default)]
            c: Vec<Option<f64>>,
            d: BTreeMap<String, bool>,
        }
        let schema = ArgumentSchema::of::<Plain>().unwrap();
        prop_assert!(schema.type_enforces);
        for a in [a, json!(1)] {
            for d in [&d, &json!({"x": true})] {
                let value = json!({"a": a, "b": b, "c": c, "d": d});
                let read = schema.read::<Plain>(Some(&raw(&value.to_string())));
                prop_assert_eq!(read.is_ok(), schema.rules.validate_value(&value).is_ok(), "{}", value);
            }
        }
    }

    #[test]
    fn whole_numbers_are_exact(n in any::<i64>(), zeros in 0..4_usize) {
        let text = format!("{{\"a\":{n}.0{}}}", "0".repeat(zeros));
        let schema = ArgumentSchema::of::<Filter>().unwrap();
        prop_assert_eq!(schema.read::<Filter>(Some(&raw(&text))).unwrap().a, n);
    }

    #[test]
    fn coerced_strings_are_json(entries in prop::collection::vec(("\\PC{0,5}", "\\PC{0,8}"), 0..4)) {
        let schema = input::<Search>();
        let entries = entries.iter().map(|(n, v)| (n.as_str(), v.as_str()));
        let text = coerce_strings(entries.clone(), &schema);
        let tree: Value = serde_json::from_str(&text).unwrap();
        let names: HashSet<_> = entries.map(|(name, _)| name).collect();
        prop_assert_eq!(tree.as_object().unwrap().len(), names.len());
    }
}

/// The validator, which knows the meta-schema, is compiled late for what the check covers: so the
/// check has to decline whatever the meta-schema refuses.
#[test]
fn a_schema_that_is_none_is_refused_at_once_although_validators_are_made_late() {
    for schema in [
        json!({"type": "object", "title": 5}),
        json!({"type": "object", "description": ["text"]}),
        json!({"type": "object", "deprecated": "yes"}),
        json!({"type": "object", "examples": {}}),
        json!({"type": "object", "$defs": {"unused": {"type": "strin"}}}),
        json!({"type": "object", "$defs": []}),
        json!({"type": "object", "properties": {"a": {}}, "required": ["a", "a"]}),
        json!({"type": "object", "properties": {"a": {"type": []}}}),
        json!({"type": "object", "properties": {"a": {"type": ["string", "string"]}}}),
        json!({"type": "object", "properties": {"a": {"anyOf": []}}}),
    ] {
        let refused = ArgumentSchema::by_hand(object(schema.clone()));
        assert!(matches!(refused, Err(SchemaError::Invalid(_))), "{schema}");
    }
}

#[test]
fn a_branch_of_a_union_keeps_its_other_rules() {
    let branch = json!({"type": "string", "enum": ["a", "bb"], "pattern": "^b"});
    let schema = OutputSchema::by_hand(json!({"anyOf": [branch]})).unwrap();
    schema.validate_text(r#""bb""#).unwrap();
    schema.validate_text(r#""a""#).unwrap_err();
}
