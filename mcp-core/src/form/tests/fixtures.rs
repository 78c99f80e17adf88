//! The forms that the conformance suite asks for, each from plain Rust types.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::super::{Form, read};
use super::written;
use crate::form::form_of;

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Status {
    Active,
    Inactive,
    Pending,
}

/// `test_elicitation_sep1034_defaults`.
#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
struct Defaults {
    name: String,
    age: i64,
    score: f64,
    status: Status,
    verified: bool,
}

impl Default for Defaults {
    fn default() -> Self {
        Self {
            name: "John Doe".to_owned(),
            age: 30,
            score: 95.5,
            status: Status::Active,
            verified: true,
        }
    }
}

#[test]
fn sep_1034_defaults() {
    let expected = concat!(
        r#"{"type":"object","properties":{"#,
        r#""name":{"type":"string","default":"John Doe"},"#,
        r#""age":{"type":"integer","default":30},"#,
        r#""score":{"type":"number","default":95.5},"#,
        r#""status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},"#,
        r#""verified":{"type":"boolean","default":true}}}"#,
    );
    assert_eq!(written::<Defaults>(), expected);
}

#[test]
fn sep_1034_answer() {
    let content = json!({
        "name": "Jane Smith", "age": 25, "score": 88, "status": "inactive", "verified": false,
    });
    let form = Form::<Defaults>::of().unwrap();
    assert_eq!(form.schema(), &*form_of::<Defaults>().unwrap());
    let read = form.read(content.as_object().cloned()).unwrap();
    let expected = Defaults {
        name: "Jane Smith".to_owned(),
        age: 25,
        score: 88.0,
        status: Status::Inactive,
        verified: false,
    };
    assert_eq!(read, expected);
}

#[test]
fn sep_1034_required_fields_may_have_defaults() {
    #[derive(Deserialize, JsonSchema)]
    struct Defaults {
        #[schemars(extend("default" = "John Doe"))]
        _name: String,
        #[schemars(extend("default" = "active"))]
        _status: Status,
    }
    let expected = concat!(
        r#"{"type":"object","properties":{"#,
        r#""_name":{"type":"string","default":"John Doe"},"#,
        r#""_status":{"type":"string","enum":["active","inactive","pending"],"default":"active"}},"#,
        r#""required":["_name","_status"]}"#,
    );
    assert_eq!(written::<Defaults>(), expected);
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Untitled {
    Option1,
    Option2,
    Option3,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Titled {
    #[schemars(title = "First Option")]
    Value1,
    #[schemars(title = "Second Option")]
    Value2,
    /// Third Option
    Value3,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(extend("enumNames" = ["Option One", "Option Two", "Option Three"]))]
enum Legacy {
    Opt1,
    Opt2,
    Opt3,
}

/// `test_elicitation_sep1330_enums`.
#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Enums {
    untitled_single: Untitled,
    titled_single: Titled,
    legacy_enum: Legacy,
    untitled_multi: Vec<Untitled>,
    titled_multi: BTreeSet<Titled>,
}

#[test]
fn sep_1330_enums() {
    let expected = concat!(
        r#"{"type":"object","properties":{"#,
        r#""untitledSingle":{"type":"string","enum":["option1","option2","option3"]},"#,
        r#""titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First Option"},"#,
        r#"{"const":"value2","title":"Second Option"},"#,
        r#"{"const":"value3","title":"Third Option"}]},"#,
        r#""legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"#,
        r#""enumNames":["Option One","Option Two","Option Three"]},"#,
        r#""untitledMulti":{"type":"array","items":{"type":"string","#,
        r#""enum":["option1","option2","option3"]}},"#,
        r#""titledMulti":{"type":"array","items":{"anyOf":["#,
        r#"{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},"#,
        r#"{"const":"value3","title":"Third Option"}]}}},"#,
        r#""required":["untitledSingle","titledSingle","legacyEnum","untitledMulti","titledMulti"]}"#,
    );
    assert_eq!(written::<Enums>(), expected);
}

#[test]
fn sep_1330_answer() {
    let content = json!({
        "untitledSingle": "option1", "titledSingle": "value1", "legacyEnum": "opt1",
        "untitledMulti": ["option1", "option2"], "titledMulti": ["value1", "value2"],
    });
    let form = form_of::<Enums>().unwrap();
    let expected = Enums {
        untitled_single: Untitled::Option1,
        titled_single: Titled::Value1,
        legacy_enum: Legacy::Opt1,
        untitled_multi: vec![Untitled::Option1, Untitled::Option2],
        titled_multi: [Titled::Value1, Titled::Value2].into(),
    };
    assert_eq!(
        read::<Enums>(&form, content.as_object().cloned()).unwrap(),
        expected
    );
    let untyped = read::<Value>(&form, content.as_object().cloned()).unwrap();
    assert_eq!(untyped, content);
}
