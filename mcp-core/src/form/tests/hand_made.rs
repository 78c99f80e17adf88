//! Forms made at run time.

use mcp_types::{
    BooleanSchema, ElicitSchema, EnumItems, EnumOption, JsonObject, MultiSelectEnumSchema,
    NumberSchema, StringSchema,
};
use serde_json::json;

use super::super::Form;
use super::float;

#[track_caller]
fn check(form: ElicitSchema, expected: &str) {
    let error = Form::<JsonObject>::of_schema(form).unwrap_err();
    assert_eq!(error.to_string(), expected);
}

fn one(field: impl Into<mcp_types::PrimitiveSchemaDefinition>) -> ElicitSchema {
    ElicitSchema::new().property("it", field)
}

#[test]
fn answers_are_read_as_objects() {
    let schema = ElicitSchema::new()
        .required_property("age", NumberSchema::new().minimum(0).integer())
        .property("sure", BooleanSchema::new().default_value(true));
    let form = Form::<JsonObject>::of_schema(schema.clone()).unwrap();
    assert_eq!(form.schema(), &schema);
    let content = json!({"age": 30.0, "sure": null, "else": {}});
    let read = form.read(content.as_object().cloned()).unwrap();
    assert_eq!(json!(read), json!({"age": 30}));
}

#[test]
fn contradictions_are_refused() {
    check(
        ElicitSchema::new().required(["a".to_owned()]),
        r#"field "a": it is required and not in the form"#,
    );
    check(
        one(StringSchema::new()).property("it", StringSchema::new()),
        r#"field "it": it is there twice"#,
    );
    check(
        one(NumberSchema::new().minimum(2).maximum(float(1.5))),
        r#"field "it": its least is above its most"#,
    );
    check(
        one(StringSchema::untitled_enum(["a", "a"])),
        r#"field "it": the choice "a" is there twice"#,
    );
    check(
        one(StringSchema::untitled_enum(["a"]).one_of([EnumOption::new("a", "A")])),
        r#"field "it": its choices are listed twice, with titles and without"#,
    );
    check(
        one(StringSchema::new().enum_names(["A".to_owned()])),
        r#"field "it": `enumNames` must have one name for each value of `enum`"#,
    );
    check(
        one(MultiSelectEnumSchema::new(EnumItems::new())),
        r#"field "it": there is nothing to choose"#,
    );
    check(
        one(MultiSelectEnumSchema::untitled(["a"]).min_items(2)),
        r#"field "it": it asks for more choices than there are"#,
    );
    check(
        one(StringSchema::untitled_enum(["a"]).default_value("b")),
        r#"field "it": its default is not allowed: expected one of "a""#,
    );
    check(
        one(NumberSchema::new().default_value(float(0.5)).integer()),
        r#"field "it": its default is not allowed: expected an integer of at most 64 bits"#,
    );
}
