//! Which form a type is.

#![expect(dead_code, reason = "these types are described, not made")]

use std::collections::HashSet;
use std::num::NonZeroU8;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{field, form_of, written};

#[derive(Serialize, Deserialize, JsonSchema, PartialEq, Eq, Hash)]
#[serde(rename_all = "lowercase")]
enum Color {
    Red,
    Green,
}

/// How to pay.
#[derive(Deserialize, JsonSchema)]
enum Payment {
    /// By card
    ///
    /// Any of them.
    Card,
    Cash,
}

#[test]
fn texts() {
    #[derive(Deserialize, JsonSchema)]
    struct Form {
        /// # Name
        ///
        /// As in the passport.
        #[schemars(length(min = 1, max = 80))]
        name: Option<String>,
    }
    let expected = json!({
        "type": "string", "title": "Name", "description": "As in the passport.",
        "minLength": 1, "maxLength": 80,
    });
    assert_eq!(field::<Form>(), expected);
    assert_eq!(form_of::<Form>().unwrap().required, None);
}

#[test]
fn formats() {
    #[derive(Deserialize, JsonSchema)]
    struct Form {
        #[schemars(email)]
        mail: String,
        #[schemars(url)]
        home: Option<String>,
        #[schemars(extend("format" = "date"))]
        born: String,
        #[schemars(extend("format" = "date-time"))]
        seen: String,
        #[schemars(extend("format" = "uuid"))]
        id: String,
        initial: char,
    }
    let expected = concat!(
        r#"{"type":"object","properties":{"mail":{"type":"string","format":"email"},"#,
        r#""home":{"type":"string","format":"uri"},"born":{"type":"string","format":"date"},"#,
        r#""seen":{"type":"string","format":"date-time"},"id":{"type":"string"},"#,
        r#""initial":{"type":"string","minLength":1,"maxLength":1}},"#,
        r#""required":["mail","born","seen","id","initial"]}"#,
    );
    assert_eq!(written::<Form>(), expected);
}

#[test]
fn numbers() {
    #[derive(Deserialize, JsonSchema)]
    struct Form {
        #[schemars(range(min = 18, max = 120))]
        age: u32,
        count: i32,
        small: NonZeroU8,
        large: u64,
        #[schemars(range(min = 0.5))]
        share: Option<f32>,
        #[serde(default)]
        sure: bool,
    }
    let expected = concat!(
        r#"{"type":"object","properties":{"age":{"type":"integer","minimum":18,"maximum":120},"#,
        r#""count":{"type":"integer","minimum":-2147483648,"maximum":2147483647},"#,
        r#""small":{"type":"integer","minimum":1,"maximum":255},"#,
        r#""large":{"type":"integer","minimum":0},"share":{"type":"number","minimum":0.5},"#,
        r#""sure":{"type":"boolean","default":false}},"#,
        r#""required":["age","count","small","large"]}"#,
    );
    assert_eq!(written::<Form>(), expected);
}

#[test]
fn choices() {
    #[derive(Deserialize, JsonSchema)]
    struct Form {
        /// Best liked.
        color: Option<Color>,
        payment: Option<Payment>,
        #[schemars(extend("enumNames" = ["Rot", "Grün"]))]
        legacy: Option<Color>,
        #[schemars(length(min = 1, max = 2))]
        #[serde(default = "red")]
        colors: HashSet<Color>,
        #[schemars(title = "Ways")]
        payments: Option<Vec<Payment>>,
    }
    fn red() -> HashSet<Color> {
        [Color::Red].into()
    }
    let payment = r#"[{"const":"Cash","title":"Cash"},{"const":"Card","title":"By card"}]"#;
    let expected = [
        r#"{"type":"object","properties":{"color":{"type":"string","#,
        r#""description":"Best liked.","enum":["red","green"]},"#,
        r#""payment":{"type":"string","description":"How to pay.","oneOf":"#,
        payment,
        r#"},"legacy":{"type":"string","enum":["red","green"],"enumNames":["Rot","Grün"]},"#,
        r#""colors":{"type":"array","minItems":1,"maxItems":2,"#,
        r#""items":{"type":"string","enum":["red","green"]},"default":["red"]},"#,
        r#""payments":{"type":"array","title":"Ways","items":{"anyOf":"#,
        payment,
        "}}}}",
    ];
    assert_eq!(written::<Form>(), expected.concat());
}

#[test]
fn legacy_choices_in_a_list_keep_their_names() {
    #[derive(Deserialize, JsonSchema)]
    #[schemars(extend("enumNames" = ["Ja", "Nein"]))]
    enum Answer {
        Yes,
        No,
    }
    #[derive(Deserialize, JsonSchema)]
    struct Form {
        answers: Vec<Answer>,
    }
    let options = json!([{"const": "Yes", "title": "Ja"}, {"const": "No", "title": "Nein"}]);
    let expected = json!({"type": "array", "items": {"anyOf": options}});
    assert_eq!(field::<Form>(), expected);
}

#[test]
fn defaults_that_break_their_field_are_none() {
    #[derive(Deserialize, JsonSchema)]
    #[serde(default)]
    #[derive(Default)]
    struct Form {
        #[schemars(email)]
        mail: String,
        #[schemars(range(min = 1))]
        count: u64,
        #[schemars(length(min = 1))]
        colors: Vec<Color>,
        note: Option<String>,
    }
    let expected = concat!(
        r#"{"type":"object","properties":{"mail":{"type":"string","format":"email"},"#,
        r#""count":{"type":"integer","minimum":1},"#,
        r#""colors":{"type":"array","minItems":1,"items":{"type":"string","#,
        r#""enum":["red","green"]}},"note":{"type":"string"}}}"#,
    );
    assert_eq!(written::<Form>(), expected);
}

#[test]
fn references_are_resolved() {
    struct Referred;
    impl JsonSchema for Referred {
        fn schema_name() -> std::borrow::Cow<'static, str> {
            "Referred".into()
        }
        fn json_schema(generator: &mut SchemaGenerator) -> Schema {
            let text = json!({"type": "string", "maxLength": 3, "title": "T"});
            generator.definitions_mut().insert("Text".to_owned(), text);
            json_schema!({"$ref": "#/$defs/Text"})
        }
    }
    impl<'de> Deserialize<'de> for Referred {
        fn deserialize<D: serde::Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
            String::deserialize(source).map(|_| Self)
        }
    }
    #[derive(Deserialize, JsonSchema)]
    struct Form {
        /// Of the field.
        #[schemars(title = "Mine")]
        text: Option<Referred>,
    }
    let expected = json!({
        "type": "string", "maxLength": 3, "title": "Mine", "description": "Of the field.",
    });
    assert_eq!(field::<Form>(), expected);
}

#[test]
fn flat_roots() {
    #[derive(Deserialize, JsonSchema)]
    struct Confirm {}
    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Inner {
        zip: String,
        city: Option<String>,
    }
    #[derive(Deserialize, JsonSchema)]
    struct Newtype(Inner);
    #[derive(Deserialize, JsonSchema)]
    struct Outer {
        #[serde(flatten)]
        inner: Inner,
        area: bool,
    }
    assert_eq!(written::<Confirm>(), r#"{"type":"object","properties":{}}"#);
    let inner = concat!(
        r#"{"type":"object","properties":{"zip":{"type":"string"},"city":{"type":"string"}},"#,
        r#""required":["zip"]}"#,
    );
    assert_eq!(written::<Inner>(), inner);
    assert_eq!(written::<Newtype>(), inner);
    assert_eq!(written::<Option<Box<Newtype>>>(), inner);
    // Flattened fields are sorted by name.
    let outer = concat!(
        r#"{"type":"object","properties":{"area":{"type":"boolean"},"city":{"type":"string"},"#,
        r#""zip":{"type":"string"}},"required":["area","zip"]}"#,
    );
    assert_eq!(written::<Outer>(), outer);
}

#[test]
fn a_form_is_made_once() {
    #[derive(Deserialize, JsonSchema)]
    struct Form {
        a: bool,
    }
    let first = form_of::<Form>().unwrap();
    assert!(Arc::ptr_eq(&first, &form_of::<Form>().unwrap()));
}
