use super::{
    BooleanSchema, ElicitSchema, NumberSchema, PrimitiveSchemaDefinition, StringFormat,
    StringSchema,
};
use crate::elicitation::{EnumOption, MultiSelectEnumSchema};
use crate::wire::testing::{check, refuse};

fn written(field: impl Into<PrimitiveSchemaDefinition>, json: &str) {
    let field = field.into();
    assert_eq!(serde_json::to_string(&field).unwrap(), json);
    assert_eq!(check::<PrimitiveSchemaDefinition>(json), field);
}

fn options() -> [EnumOption; 2] {
    [EnumOption::new("r", "Red"), EnumOption::new("g", "Green")]
}

#[test]
fn plain_fields() {
    written(
        StringSchema::new()
            .title("T")
            .description("d")
            .min_length(1)
            .max_length(9)
            .format(StringFormat::DateTime)
            .default_value("x"),
        concat!(
            r#"{"type":"string","title":"T","description":"d","minLength":1,"maxLength":9,"#,
            r#""format":"date-time","default":"x"}"#,
        ),
    );
    written(
        NumberSchema::new()
            .minimum(0)
            .maximum(9)
            .default_value(3)
            .integer(),
        r#"{"type":"integer","minimum":0,"maximum":9,"default":3}"#,
    );
    written(NumberSchema::new(), r#"{"type":"number"}"#);
    written(
        BooleanSchema::new().default_value(true),
        r#"{"type":"boolean","default":true}"#,
    );
}

#[test]
fn choices() {
    written(
        StringSchema::untitled_enum(["r", "g"]),
        r#"{"type":"string","enum":["r","g"]}"#,
    );
    written(
        StringSchema::titled_enum(options()),
        r#"{"type":"string","oneOf":[{"const":"r","title":"Red"},{"const":"g","title":"Green"}]}"#,
    );
    written(
        StringSchema::untitled_enum(["r"]).enum_names(["Red".to_owned()]),
        r#"{"type":"string","enum":["r"],"enumNames":["Red"]}"#,
    );
    written(
        MultiSelectEnumSchema::untitled(["r", "g"])
            .min_items(1)
            .max_items(2),
        concat!(
            r#"{"type":"array","minItems":1,"maxItems":2,"#,
            r#""items":{"type":"string","enum":["r","g"]}}"#,
        ),
    );
    written(
        MultiSelectEnumSchema::titled(options()).default_value(["r".to_owned()]),
        concat!(
            r#"{"type":"array","items":{"anyOf":[{"const":"r","title":"Red"},"#,
            r#"{"const":"g","title":"Green"}]},"default":["r"]}"#,
        ),
    );
}

#[test]
fn a_form_keeps_the_order_of_its_fields() {
    let schema = ElicitSchema::new()
        .schema("https://json-schema.org/draft/2020-12/schema")
        .required_property("z", StringSchema::new())
        .property("a", BooleanSchema::new());
    let json = concat!(
        r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","#,
        r#""properties":{"z":{"type":"string"},"a":{"type":"boolean"}},"required":["z"]}"#,
    );
    assert_eq!(serde_json::to_string(&schema).unwrap(), json);
    assert_eq!(serde_json::from_str::<ElicitSchema>(json).unwrap(), schema);
}

#[test]
fn what_a_form_cannot_show_is_refused() {
    refuse::<PrimitiveSchemaDefinition>(r#"{"type":"object","properties":{}}"#);
    refuse::<PrimitiveSchemaDefinition>(r#"{"title":"no type"}"#);
    refuse::<ElicitSchema>(r#"{"type":"array","properties":{}}"#);
    refuse::<ElicitSchema>(
        r#"{"type":"object","properties":{"a":{"type":"boolean"},"a":{"type":"string"}}}"#,
    );
}
