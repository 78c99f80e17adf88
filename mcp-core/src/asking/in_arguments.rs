//! Forms for clients that know none (before 2025-06-18): an ordinary result says what is needed,
//! and two extra arguments bring the answers back.
//!
//! A model can follow the text, a program reads the same from `_meta`.

use std::{collections::BTreeMap, fmt::Write as _};

use bytes::Bytes;
use mcp_codec::ServerResult;
use mcp_types::{
    ContentBlock, ElicitRequestParams, InputRequest, InputRequests, InputRequiredResult,
    JsonObject, RawJson,
};
use serde::Serialize;
use serde_json::{Value, json, value::RawValue};

use super::Carried;

/// The argument that brings the answers back, by key.
pub(crate) const ANSWERS: &str = "_answers";
/// The argument that brings the state back.
pub(crate) const STATE: &str = "_state";

/// Whether a schema has a property of its own under one of the two names.
pub(crate) fn is_taken(schema: &JsonObject) -> bool {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.is_some_and(|it| it.contains_key(ANSWERS) || it.contains_key(STATE))
}

/// Publishes the two arguments.
pub(crate) fn publish(schema: &mut JsonObject) {
    let properties = schema
        .entry("properties")
        .or_insert_with(|| Value::Object(JsonObject::new()));
    let Some(properties) = properties.as_object_mut() else {
        return;
    };
    let answer = json!({
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": ["accept", "decline", "cancel"]},
            "content": {"type": "object"},
        },
        "required": ["action"],
    });
    properties.insert(
        ANSWERS.to_owned(),
        json!({
            "type": "object",
            "description": "The user's answers to what an earlier call of this tool asked, by key.",
            "additionalProperties": answer,
        }),
    );
    properties.insert(
        STATE.to_owned(),
        json!({
            "type": "string",
            "description": "What an earlier call of this tool said to send back, unchanged.",
        }),
    );
}

/// The tool's own arguments, and what the two extra ones bring back, if they are there.
pub(crate) fn split(arguments: &RawValue) -> Option<(Box<RawValue>, Carried)> {
    let text = arguments.get();
    // Most calls bring nothing back, and are not read twice.
    if !text.contains(ANSWERS) && !text.contains(STATE) {
        return None;
    }
    let mut members: BTreeMap<String, &RawValue> = serde_json::from_str(text).ok()?;
    let mut take = |name: &str| {
        let taken = members.remove(name)?;
        (taken.get() != "null").then(|| Bytes::copy_from_slice(taken.get().as_bytes()))
    };
    let carried = Carried {
        responses: take(ANSWERS),
        state: take(STATE),
    };
    let own = serde_json::value::to_raw_value(&members).ok()?;
    Some((own, carried))
}

/// What is asked, as an ordinary result.
pub(crate) fn result(asked: &InputRequiredResult) -> ServerResult {
    let state = asked.request_state.as_deref().unwrap_or_default();
    let mut text = String::from(
        "Nothing is done yet: the user has to answer first. Ask the user, then call this tool \
         again with the same arguments and two more:\n",
    );
    // Writing to a string does not fail.
    let _ = write!(
        text,
        "- \"{ANSWERS}\": an object with one member for each question below, by its key: \
         {{\"action\": \"accept\", \"content\": {{…}}}} with the fields as filled in, or \
         {{\"action\": \"decline\"}} or {{\"action\": \"cancel\"}}\n\
         - \"{STATE}\": {}\n\nQuestions:\n",
        Value::from(state),
    );
    for (key, question) in asked.input_requests.iter().flatten() {
        let _ = writeln!(text, "- {}", describe(key, question));
    }
    written(&text, asked)
}

/// The members of the result, with the fields of a form in their order, which a tree would lose.
fn written(text: &str, asked: &InputRequiredResult) -> ServerResult {
    #[derive(Serialize)]
    struct Written<'a> {
        content: [ContentBlock; 1],
        #[serde(rename = "_meta")]
        meta: Meta<'a>,
    }
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Meta<'a> {
        input_requests: &'a Option<InputRequests>,
        request_state: &'a Option<String>,
    }
    let written = Written {
        content: [ContentBlock::text(text)],
        meta: Meta {
            input_requests: &asked.input_requests,
            request_state: &asked.request_state,
        },
    };
    let members = serde_json::to_vec(&written).unwrap_or_default();
    let members = Bytes::from(members);
    let inner = 1..members.len().saturating_sub(1).max(1);
    ServerResult::Written(
        members
            .get(inner)
            .map_or_else(Bytes::new, |it| members.slice_ref(it)),
    )
}

fn describe(key: &str, question: &InputRequest) -> String {
    match question {
        InputRequest::Elicit(ElicitRequestParams::Form(form)) => {
            let fields = RawJson::from_value(&form.requested_schema);
            let fields = fields.map_or_else(|_| String::new(), |it| it.get().to_owned());
            format!("{}: {}\n  fields: {fields}", Value::from(key), form.message)
        }
        InputRequest::Elicit(ElicitRequestParams::Url(url)) => {
            format!("{}: {} {}", Value::from(key), url.message, url.url)
        }
        other => format!("{}: {}", Value::from(key), other.method()),
    }
}

#[cfg(test)]
mod tests {
    use mcp_types::ListRootsRequestParams;

    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    #[test]
    fn the_two_arguments_are_taken_out() {
        let given =
            raw(r#"{"b":1.50,"_state":"v1.x","a":[1],"_answers":{"k":{"action":"decline"}}}"#);
        let (own, carried) = split(&given).unwrap();
        assert_eq!(own.get(), r#"{"a":[1],"b":1.50}"#);
        assert_eq!(carried.state.as_deref(), Some(&br#""v1.x""#[..]));
        assert!(carried.responses.is_some());
        assert!(split(&raw(r#"{"a":1}"#)).is_none());
        let (_, nothing) = split(&raw(r#"{"_state":null}"#)).unwrap();
        assert!(nothing.is_empty());
    }

    #[test]
    fn they_are_published_beside_the_others() {
        let Value::Object(mut schema) =
            json!({"type": "object", "properties": {"a": {}}, "additionalProperties": false})
        else {
            unreachable!()
        };
        assert!(!is_taken(&schema));
        publish(&mut schema);
        assert!(is_taken(&schema));
        assert_eq!(schema["properties"].as_object().unwrap().len(), 3);
        assert_eq!(schema.get("required"), None);
    }

    #[test]
    fn a_program_reads_what_a_model_does() {
        let asked = InputRequiredResult::new()
            .request_state("v1.sealed")
            .input_requests([("roots".to_owned(), ListRootsRequestParams::new().into())].into());
        let ServerResult::Written(members) = result(&asked) else {
            panic!("it is written already")
        };
        let members = std::str::from_utf8(&members).unwrap();
        let result: Value = serde_json::from_str(&format!("{{{members}}}")).unwrap();
        assert_eq!(result["_meta"]["requestState"], "v1.sealed");
        assert!(result["_meta"]["inputRequests"]["roots"].is_object());
        assert_eq!(result["content"][0]["type"], "text");
    }

    proptest::proptest! {
        #[test]
        fn any_arguments_are_survived(text in ".*") {
            if let Ok(raw) = RawValue::from_string(text) {
                let _ = split(&raw);
            }
        }
    }
}
