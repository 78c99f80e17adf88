use super::{JsonRpcError, RequestId, UnsupportedProtocolVersionData, error_codes};
use crate::meta::ProgressToken;
use crate::wire::testing::check;
use serde_json::{Value, json};
use std::collections::HashSet;

const DIGITS: &str = "123456789012345678901234567890";

/// `raw` is an id that every way of writing gives back as `written`.
fn comes_back(raw: &str, written: &str) {
    let id = RequestId::parse(raw).unwrap_or_else(|| panic!("{raw} is an id"));
    let mut out = b"id:".to_vec();
    id.write_json(&mut out);
    assert_eq!(String::from_utf8(out).unwrap(), format!("id:{written}"));
    assert_eq!(serde_json::to_string(&id).unwrap(), written);
    assert_eq!(serde_json::from_str::<RequestId>(raw).unwrap(), id);
    assert_eq!(RequestId::parse(written), Some(id));

    let token = ProgressToken::parse(raw).unwrap();
    assert_eq!(serde_json::to_string(&token).unwrap(), written);
    assert_eq!(serde_json::from_str::<ProgressToken>(raw).unwrap(), token);
}

fn refused(raw: &str) {
    assert_eq!(RequestId::parse(raw), None, "{raw}");
    assert!(serde_json::from_str::<RequestId>(raw).is_err(), "{raw}");
}

#[test]
fn ids_come_back_digit_for_digit() {
    for raw in [
        "0",
        "7",
        "-7",
        "-0",
        "9007199254740993",
        "9223372036854775807",
        "-9223372036854775808",
        "9223372036854775808",
        "18446744073709551616",
        DIGITS,
        r#""""#,
        r#""1""#,
        r#""ключ-雪-🦀""#,
        r#""say \"hi\"\n""#,
    ] {
        comes_back(raw, raw);
    }
    comes_back(r#""\u0041""#, r#""A""#);
    comes_back(r#""\ud83e\udd80""#, r#""🦀""#);
    comes_back(" 7\n", "7");
}

#[test]
fn what_is_no_id_is_refused() {
    for raw in [
        "null",
        "true",
        "false",
        "1.5",
        "1.0",
        "1e3",
        "1E3",
        "-",
        "01",
        "-01",
        "+1",
        "[]",
        "[1]",
        "{}",
        "",
        " ",
        "1 2",
        "\"",
        "\"a\" \"b\"",
        r#""\ud800""#,
        "٣",
    ] {
        refused(raw);
    }
}

#[test]
fn an_id_is_equal_by_what_it_says_and_not_across_kinds() {
    let ids =
        HashSet::from(["1", r#""1""#, r#""\u0041""#, r#""A""#, "0", "-0"].map(RequestId::parse));
    assert_eq!(ids.len(), 5);
    assert_eq!(RequestId::parse("1"), Some(1.into()));
    assert_eq!(RequestId::parse(r#""1""#), Some("1".to_owned().into()));
    assert_eq!(RequestId::from("1").as_str(), Some("1"));
    assert_eq!(RequestId::from(1).as_str(), None);
    assert_eq!(RequestId::from(-7).to_string(), "-7");
}

#[test]
fn ids_pass_through_a_json_value() {
    for value in [json!(0), json!(-7), json!(u64::MAX), json!("1"), json!("")] {
        let id: RequestId = serde_json::from_value(value.clone()).unwrap();
        assert_eq!(serde_json::to_value(&id).unwrap(), value);
    }
    for value in [Value::Null, json!(true), json!(1.5), json!([1])] {
        assert!(serde_json::from_value::<RequestId>(value).is_err());
    }
}

#[test]
fn an_error_is_written_without_what_it_lacks() {
    check::<JsonRpcError>(r#"{"code":-32601,"message":"no such method"}"#);
    check::<JsonRpcError>(
        r#"{"code":-32022,"message":"no","data":{"requested":"x","supported":[]}}"#,
    );
    check::<UnsupportedProtocolVersionData>(r#"{"supported":["a","b"],"requested":"c"}"#);
    let error = JsonRpcError::new(error_codes::INTERNAL_ERROR, "internal error").data(1);
    assert_eq!(error.to_string(), "internal error (code -32603)");
}
