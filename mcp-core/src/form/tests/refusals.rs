//! What no form can show.

#![expect(dead_code, reason = "these types are described, not made")]

use std::collections::{BTreeMap, HashMap};

use proptest::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::check::check;
use super::super::derive::form;
use super::refused;

/// A form with one field of this type is refused for this reason.
macro_rules! check {
    ($(#[$meta:meta])* $type:ty, $expected:expr) => {{
        #[derive(Deserialize, JsonSchema)]
        struct Form {
            $(#[$meta])*
            it: $type,
        }
        assert_eq!(refused::<Form>(), format!("field \"it\": {}", $expected));
    }};
}

#[derive(Deserialize, JsonSchema)]
enum Color {
    Red,
    Green,
}

#[derive(Deserialize, JsonSchema)]
struct Address {
    city: String,
}

#[derive(Deserialize, JsonSchema)]
struct Node {
    next: Option<Box<Self>>,
}

#[derive(Deserialize, JsonSchema)]
enum Data {
    Plain,
    Full(String),
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum Union {
    Text(String),
    Number(i64),
}

#[derive(Deserialize, JsonSchema)]
enum Nothing {}
#[test]
fn types_of_fields() {
    let object = "a form has no objects; flatten it";
    let map = "a form has no maps; make each entry a field";
    let list = "a form has no lists but of choices; make the items an enum of unit variants";
    let data = "a form has no enums with data, and no unions; make it an enum of unit variants";
    let any = "a form takes a text, a number, a whole number, a yes or no, a choice or a list \
        of choices; this is none of them, or several";
    check!(Address, object);
    check!(Option<Address>, object);
    check!(HashMap<String, String>, map);
    check!(Vec<String>, list);
    check!(Vec<Address>, list);
    check!(Vec<Vec<Color>>, list);
    check!(
        (i64, String),
        "a form has no tuples; make each part a field"
    );
    check!(Data, data);
    check!(Union, data);
    check!(Vec<Data>, data);
    check!(Nothing, any);
    check!(Value, any);
    check!((), any);
    assert_eq!(refused::<Node>(), format!("field \"next\": {object}"));
}

#[test]
fn rules_of_fields() {
    check!(
        #[schemars(regex(pattern = "^a"))]
        String,
        "a form has no `pattern` here; it has title, description, minLength, maxLength, format, \
         default"
    );
    check!(
        #[schemars(length(min = 3, max = 2))]
        String,
        "its least is above its most"
    );
    check!(
        #[schemars(extend("enum" = [1, 2]))]
        i64,
        "the choices of a form are texts; make it an enum of unit variants without values of \
         another type"
    );
    check!(
        #[schemars(extend("enumNames" = ["One"]))]
        Color,
        "`enumNames` must have one name for each value of `enum`"
    );
    check!(
        #[schemars(extend("default" = 3))]
        String,
        "`default` is not valid: invalid type: integer `3`, expected a string"
    );
}

#[test]
fn roots() {
    #[derive(Deserialize, JsonSchema)]
    enum Either {
        A { a: String },
        B { b: String },
    }
    #[derive(Deserialize, JsonSchema)]
    struct Flattened {
        #[serde(flatten)]
        more: HashMap<String, String>,
    }
    #[derive(Deserialize, JsonSchema)]
    struct Tagged {
        #[serde(flatten)]
        either: Either,
    }
    let root = "a form is a struct with named fields, but ";
    let enumeration = format!("{root}it is an enum, or may be of several types");
    let map = format!("{root}it takes fields beyond those it names, as a map does");
    assert_eq!(refused::<Color>(), format!("{root}it is of type `string`"));
    assert_eq!(refused::<Either>(), enumeration);
    assert_eq!(
        refused::<(String, String)>(),
        format!("{root}it is of type `array`")
    );
    assert_eq!(refused::<()>(), format!("{root}it is of type `null`"));
    assert_eq!(refused::<String>(), format!("{root}it is of type `string`"));
    assert_eq!(refused::<Flattened>(), map);
    assert_eq!(refused::<BTreeMap<String, bool>>(), map);
    assert_eq!(
        refused::<Tagged>(),
        format!("{root}it has the rule `oneOf` over several fields")
    );
    assert!(refused::<Value>().starts_with(root));
}

/// Schemas made of the keywords that are looked at.
fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-c]{0,2}".prop_map(Value::from),
        prop::sample::select(vec![
            "string", "integer", "number", "boolean", "array", "object", "null", "#", "#/a",
            "email", "int32",
        ])
        .prop_map(Value::from),
    ];
    let keyword = prop::sample::select(vec![
        "type",
        "properties",
        "required",
        "enum",
        "const",
        "oneOf",
        "anyOf",
        "items",
        "title",
        "$ref",
        "default",
        "format",
        "minimum",
        "maxLength",
        "minItems",
        "enumNames",
        "a",
    ]);
    leaf.prop_recursive(5, 40, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map(keyword.clone().prop_map(str::to_owned), inner, 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_schema_is_a_form_or_refused(first in schema(), second in schema()) {
        let properties = json!({"a": first, "b": second});
        let root = json!({"type": "object", "properties": properties, "required": ["b"]});
        if let Ok(form) = form(&root, &["b"]) {
            prop_assert_eq!(check(&form), Ok(()));
            prop_assert_eq!(&form.properties[0].0, "b");
        }
    }
}
