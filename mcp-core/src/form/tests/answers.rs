//! What users answer.

use mcp_types::{
    BooleanSchema, ElicitSchema, EnumOption, JsonObject, MultiSelectEnumSchema, NumberSchema,
    PrimitiveSchemaDefinition, StringFormat, StringSchema,
};
use proptest::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::{form_of, read};
use super::float;

fn one(field: impl Into<PrimitiveSchemaDefinition>) -> ElicitSchema {
    ElicitSchema::new().required_property("it", field)
}

/// What becomes of `value` in a form of one field: itself, or what was expected.
#[track_caller]
fn answered(field: impl Into<PrimitiveSchemaDefinition>, value: &Value) -> Result<Value, String> {
    let content = json!({ "it": value });
    let read = read::<JsonObject>(&one(field), content.as_object().cloned());
    let read = read.map(|it| it["it"].clone());
    read.map_err(|error| {
        let [violation] = error.0.as_slice() else {
            panic!("not one violation")
        };
        assert_eq!(violation.path, "it");
        violation.expected.clone()
    })
}

#[track_caller]
fn accepts(field: impl Into<PrimitiveSchemaDefinition>, value: impl Into<Value>) {
    let value = value.into();
    assert_eq!(answered(field, &value), Ok(value));
}

#[track_caller]
fn refuses(field: impl Into<PrimitiveSchemaDefinition>, value: impl Into<Value>, expected: &str) {
    assert_eq!(answered(field, &value.into()), Err(expected.to_owned()));
}

#[test]
fn texts() {
    let field = StringSchema::new().min_length(2).max_length(3);
    // Characters, not bytes.
    accepts(field.clone(), "äöü");
    refuses(field.clone(), "ä", "expected at least 2 characters");
    refuses(field.clone(), "abcd", "expected at most 3 characters");
    refuses(field.clone(), 1, "expected a string");
    refuses(field, Value::Null, "required");
    refuses(
        StringSchema::new().min_length(1),
        "",
        "expected at least 1 character",
    );
}

#[test]
fn formats() {
    let field = |format| StringSchema::new().format(format);
    for (format, good) in [
        (StringFormat::Email, "jane.smith+form@example.co.uk"),
        (StringFormat::Uri, "https://example.org/a?b=c#d"),
        (StringFormat::Uri, "mailto:jane@example.org"),
        (StringFormat::Date, "2024-02-29"),
        (StringFormat::DateTime, "2024-02-29T23:59:00Z"),
        (StringFormat::DateTime, "2024-02-29T23:59:00.5+02:00"),
    ] {
        accepts(field(format), good);
    }
    let email = "expected an email address";
    let uri = "expected a URI such as `https://example.org/`";
    let date = "expected a date such as `2001-12-31`";
    let date_time = "expected a date and time such as `2001-12-31T23:59:00Z`";
    for (format, bad, expected) in [
        (StringFormat::Email, "", email),
        (StringFormat::Email, "jane", email),
        (StringFormat::Email, "jane@", email),
        (StringFormat::Email, "@example.org", email),
        (StringFormat::Email, "a@b@c", email),
        (StringFormat::Email, " jane@example.org", email),
        (
            StringFormat::Email,
            "jane@example.org\r\nBcc: all@example.org",
            email,
        ),
        (StringFormat::Email, "Jane <jane@example.org>", email),
        (StringFormat::Uri, "example.org", uri),
        (StringFormat::Uri, "/path", uri),
        (StringFormat::Uri, "https://a b", uri),
        (StringFormat::Date, "2023-02-29", date),
        (StringFormat::Date, "29.2.2024", date),
        (StringFormat::Date, "2024-02-29T00:00:00Z", date),
        (StringFormat::DateTime, "2024-02-29", date_time),
        (StringFormat::DateTime, "2024-02-29T25:00:00Z", date_time),
        (StringFormat::DateTime, "2024-02-29T23:59", date_time),
    ] {
        refuses(field(format), bad, expected);
    }
}

#[test]
fn numbers() {
    let field = NumberSchema::new().minimum(-1).maximum(float(2.5));
    accepts(field.clone(), 2.5);
    accepts(field.clone(), -1);
    refuses(field.clone(), 3, "expected a number of at most 2.5");
    refuses(field.clone(), -1.5, "expected a number of at least -1");
    refuses(field, "2", "expected a number");
}

#[test]
fn whole_numbers() {
    let field = || NumberSchema::new().minimum(0).maximum(120).integer();
    accepts(field(), 30);
    let text = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    assert_eq!(answered(field(), &text("30.0")), Ok(json!(30)));
    assert_eq!(answered(field(), &text("1.2e2")), Ok(json!(120)));
    assert_eq!(answered(field(), &text("-0.0")), Ok(json!(0)));
    refuses(field(), 121, "expected an integer of at most 120");
    refuses(field(), -1.0, "expected an integer of at least 0");
    let any = || NumberSchema::new().integer();
    let expected = "expected an integer of at most 64 bits";
    for bad in [
        json!(30.5),
        json!(1e300),
        json!(-1e300),
        json!("30"),
        json!(true),
    ] {
        refuses(any(), bad, expected);
    }
    accepts(any(), u64::MAX);
    accepts(any(), i64::MIN);
    // 2^64, and the double nearest to 2^64 - 1.
    refuses(any(), text("18446744073709551616"), expected);
    let large = NumberSchema::new().maximum(u64::MAX - 1).integer();
    refuses(
        large,
        u64::MAX,
        "expected an integer of at most 18446744073709551614",
    );
}

#[test]
fn choices() {
    let plain = StringSchema::untitled_enum(["r", "g"]);
    accepts(plain.clone(), "g");
    refuses(plain.clone(), "b", r#"expected one of "r", "g""#);
    refuses(
        plain.enum_names(["Red".to_owned(), "Green".to_owned()]),
        "Red",
        r#"expected one of "r", "g""#,
    );
    let options = [EnumOption::new("r", "Red"), EnumOption::new("g", "Green")];
    let titled = StringSchema::titled_enum(options.clone());
    accepts(titled.clone(), "r");
    refuses(titled, "Red", r#"expected one of "r", "g""#);

    let several = MultiSelectEnumSchema::titled(options)
        .min_items(2)
        .max_items(2);
    accepts(several.clone(), json!(["g", "r"]));
    refuses(several.clone(), json!(["g"]), "expected at least 2 items");
    refuses(
        several.clone(),
        json!(["g", "g"]),
        "expected at least 2 items",
    );
    refuses(
        several.clone(),
        json!(["g", "r", "g"]),
        "expected at most 2 items",
    );
    refuses(
        several.clone(),
        json!(["g", "Red"]),
        r#"expected items of one of "r", "g""#,
    );
    refuses(
        several.clone(),
        json!(["g", 1]),
        r#"expected items of one of "r", "g""#,
    );
    refuses(several, "g", "expected an array");

    refuses(BooleanSchema::new(), "true", "expected a boolean");
    accepts(BooleanSchema::new(), false);
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Person {
    name: String,
    age: Option<u32>,
    #[serde(default = "de")]
    #[schemars(extend("default" = "at"))]
    country: String,
}

fn de() -> String {
    "de".to_owned()
}

#[track_caller]
fn person(content: &Value) -> Result<Person, String> {
    let form = form_of::<Person>().unwrap();
    read::<Person>(&form, content.as_object().cloned()).map_err(|error| error.to_string())
}

#[test]
fn fields_left_empty() {
    let expected = Person {
        name: "Jane".to_owned(),
        age: None,
        country: de(),
    };
    // Unknown members are ignored, though the type would refuse them; a default of the schema is
    // the user's to take.
    let content = json!({"name": "Jane", "age": null, "further": [{}]});
    assert_eq!(person(&content), Ok(expected));
    let required = Err("invalid answer: `name`: required".to_owned());
    assert_eq!(person(&json!({})), required);
    assert_eq!(person(&Value::Null), required);
}

#[test]
fn all_violations_are_told() {
    let expected = "invalid answer: `name`: expected a string; \
        `age`: expected an integer of at most 4294967295";
    let content = json!({"name": true, "age": 4_294_967_296_u64});
    assert_eq!(person(&content), Err(expected.to_owned()));
    let form = (0..30).fold(ElicitSchema::new(), |form, at| {
        form.required_property(format!("f{at}"), BooleanSchema::new())
    });
    let error = read::<JsonObject>(&form, None).unwrap_err();
    assert_eq!(error.0.len(), 11);
    assert!(error.to_string().ends_with("`f9`: required; and more"));
}

#[test]
fn what_the_type_alone_refuses() {
    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(try_from = "i64")]
    struct Even(#[expect(dead_code, reason = "only read")] i64);
    impl TryFrom<i64> for Even {
        type Error = &'static str;
        fn try_from(value: i64) -> Result<Self, Self::Error> {
            (value % 2 == 0)
                .then_some(Self(value))
                .ok_or("expected an even number")
        }
    }
    #[derive(Debug, Deserialize, JsonSchema)]
    struct Form {
        #[expect(dead_code, reason = "only read")]
        it: Option<Even>,
    }
    let form = form_of::<Form>().unwrap();
    let content = json!({"it": 3});
    let error = read::<Form>(&form, content.as_object().cloned()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "invalid answer: `it`: expected an even number"
    );

    // A hand-made form for a type it does not fit: nothing of the type is told.
    let content = json!({"name": "Jane", "age": "old"});
    let error = |form| read::<Person>(&form, content.as_object().cloned()).unwrap_err();
    let name = ElicitSchema::new().property("name", StringSchema::new());
    let age = name.property("age", StringSchema::new());
    assert_eq!(
        error(age).to_string(),
        "invalid answer: `age`: not accepted"
    );
    let empty = ElicitSchema::new();
    assert_eq!(error(empty).to_string(), "invalid answer: `name`: required");
}

/// One field of each kind.
fn every_kind() -> ElicitSchema {
    let text = |format| StringSchema::new().format(format);
    ElicitSchema::new()
        .property("a", StringSchema::new().min_length(1).max_length(3))
        .property("b", text(StringFormat::Email))
        .property("c", text(StringFormat::Uri))
        .property("d", text(StringFormat::Date))
        .property("e", text(StringFormat::DateTime))
        .property("f", NumberSchema::new().minimum(float(0.5)))
        .property("g", NumberSchema::new().maximum(9).integer())
        .property("h", BooleanSchema::new())
        .property("i", StringSchema::untitled_enum(["x", "y"]))
        .required_property(
            "j",
            MultiSelectEnumSchema::untitled(["x", "y"]).max_items(2),
        )
}

fn content() -> impl Strategy<Value = JsonObject> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[-xy0-9@.:/TZ+]{0,12}".prop_map(Value::from),
    ];
    let value = leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map(".*", inner, 0..3)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    });
    prop::collection::hash_map("[a-k]", value, 0..10)
        .prop_map(|members| members.into_iter().collect())
}

proptest! {
    #[test]
    fn any_content_is_survived(content in content()) {
        let form = every_kind();
        if let Err(error) = read::<Person>(&form, Some(content.clone())) {
            prop_assert!((1..=11).contains(&error.0.len()));
        }
        // What was accepted is accepted again, as it is.
        if let Ok(once) = read::<JsonObject>(&form, Some(content)) {
            prop_assert_eq!(read::<JsonObject>(&form, Some(once.clone())), Ok(once));
        }
    }

    #[test]
    fn what_a_form_allows_is_read(name in ".*", age in prop::option::of(any::<u32>())) {
        let content = json!({"name": name, "age": age, "country": name});
        let expected = Person { name: name.clone(), age, country: name };
        prop_assert_eq!(person(&content), Ok(expected));
    }
}
