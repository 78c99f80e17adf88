use mcp_types::{
    Annotations, AudioContent, BooleanSchema, CreateMessageRequestParams, ElicitRequestFormParams,
    ElicitRequestUrlParams, ElicitSchema, EnumOption, Implementation, InputRequests,
    InputRequiredResult, JsonObject, ListRootsRequestParams, MultiSelectEnumSchema, NumberSchema,
    RequestId, Role, SamplingMessage, StringSchema, TaskSupport, TextContent, Tool, ToolChoice,
    ToolExecution, ToolResultContent, ToolUseContent,
};

use super::*;
use crate::{
    InputStyle, Manifest, ServerResult,
    adapter_set::{ALL, ask, project_question, render},
};

const NEWEST: &str = "2026-07-28";

fn revision(version: &str) -> Revision {
    *ALL.iter().find(|it| it.version() == *version).unwrap()
}

fn object(value: Value) -> JsonObject {
    serde_json::from_value(value).unwrap()
}

/// The params that a client of each version is asked with, oldest first; `None` where it cannot
/// be asked by a request.
fn asked(question: &InputRequest) -> Vec<Option<Value>> {
    let id = RequestId::from(7);
    let mut asked = Vec::new();
    for revision in ALL.iter().rev() {
        asked.push(ask(*revision, &id, question.clone()).map(|bytes| {
            let mut request: JsonObject = serde_json::from_slice(&bytes).unwrap();
            assert_eq!(request.remove("jsonrpc"), Some(json!("2.0")));
            assert_eq!(request.remove("id"), Some(json!(7)));
            assert_eq!(request.remove("method"), Some(json!(question.method())));
            let params = request.remove("params").unwrap_or(Value::Null);
            assert!(request.is_empty(), "{request:?}");
            params
        }));
    }
    asked
}

/// The question as it stands in a result of the newest version.
fn in_result(question: &InputRequest) -> Value {
    let asks = InputRequests::from([("q".to_owned(), question.clone())]);
    let result = InputRequiredResult::new()
        .input_requests(asks)
        .request_state("s");
    let mut result = written(NEWEST, result);
    result["result"]["inputRequests"]["q"].take()
}

fn written(version: &str, result: InputRequiredResult) -> Value {
    let manifest = Manifest::new(Implementation::new("demo", "1"));
    let id = RequestId::from("a");
    let outcome = ServerResult::InputRequired(result).into();
    let reply = render(revision(version), Some(&id), outcome, &manifest);
    assert_eq!(reply.status, 200);
    serde_json::from_slice(&reply.body.unwrap()).unwrap()
}

fn form(schema: ElicitSchema) -> InputRequest {
    ElicitRequestFormParams::new("m", schema).into()
}

fn url() -> ElicitRequestUrlParams {
    ElicitRequestUrlParams::new("m", "https://example.com/")
}

fn sampling(messages: impl Into<Vec<SamplingMessage>>) -> CreateMessageRequestParams {
    CreateMessageRequestParams::new(messages, 9)
}

fn colours() -> [EnumOption; 2] {
    [EnumOption::new("r", "Red"), EnumOption::new("g", "Green")]
}

/// `schema.ts` of 2026-07-28 § `InputRequiredResult`: no caching hints.
// req: mrtr-result-shape
// req: mrtr-input-request-entries
#[test]
fn a_result_asks_in_the_newest_version_alone() {
    let questions = InputRequests::from([
        ("a".to_owned(), ListRootsRequestParams::new().into()),
        ("b".to_owned(), url().elicitation_id("e").into()),
    ]);
    let meta = object(json!({"k": 1, "io.modelcontextprotocol/serverInfo": "forged"}));
    let result = InputRequiredResult::new()
        .input_requests(questions)
        .request_state("s")
        .meta(meta);
    assert_eq!(
        written(NEWEST, result.clone()),
        json!({"jsonrpc": "2.0", "id": "a", "result": {
            "inputRequests": {
                "a": {"method": "roots/list"},
                "b": {"method": "elicitation/create", "params": {
                    "mode": "url", "message": "m", "url": "https://example.com/",
                }},
            },
            "requestState": "s",
            "resultType": "input_required",
            "_meta": {
                "io.modelcontextprotocol/serverInfo": {"name": "demo", "version": "1"},
                "k": 1,
            },
        }})
    );
    let bare = written(NEWEST, InputRequiredResult::new());
    assert_eq!(bare["result"]["resultType"], "input_required");
    assert_eq!(bare["result"].as_object().unwrap().len(), 2);
    for older in ALL.iter().filter(|it| it.version() != *NEWEST) {
        let empty = json!({"jsonrpc": "2.0", "id": "a", "result": {}});
        assert_eq!(written(older.version().as_str(), result.clone()), empty);
    }
}

#[test]
fn a_request_is_one_json_rpc_message() {
    let bytes = ask(
        revision("2025-06-18"),
        &RequestId::from("q-1"),
        form(ElicitSchema::new()),
    );
    let expected = concat!(
        r#"{"jsonrpc":"2.0","id":"q-1","method":"elicitation/create","params":{"message":"m","#,
        r#""requestedSchema":{"type":"object","properties":{}}}}"#,
    );
    assert_eq!(bytes.unwrap(), expected.as_bytes());
}

/// `schema.ts` § `ElicitRequest` of 2025-06-18, § `ElicitRequestFormParams` since.
// req: elicit-form-params-2025-06
// req: elicit-form-params
// req: elicit-schema-defaults
// req: elicit-enum-2025-06
// req: elicit-enum-standard
#[test]
fn a_form_loses_what_is_newer() {
    let mut schema = ElicitSchema::new()
        .schema("https://json-schema.org/draft/2020-12/schema")
        .required_property("text", StringSchema::new().min_length(1).default_value("x"))
        .property(
            "age",
            NumberSchema::new().minimum(0).default_value(3).integer(),
        )
        .property("share", NumberSchema::new().default_value(3))
        .property(
            "sure",
            BooleanSchema::new().title("Sure?").default_value(true),
        )
        .property(
            "plain",
            StringSchema::untitled_enum(["r", "g"]).default_value("r"),
        )
        .property(
            "titled",
            StringSchema::titled_enum(colours()).default_value("r"),
        );
    let legacy = StringSchema::untitled_enum(["r"]).enum_names(["Red".to_owned()]);
    schema = schema.property("legacy", legacy);
    let newer = json!({
        "mode": "form",
        "message": "m",
        "requestedSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "text": {"type": "string", "minLength": 1, "default": "x"},
                "age": {"type": "integer", "minimum": 0, "default": 3},
                "share": {"type": "number", "default": 3},
                "sure": {"type": "boolean", "title": "Sure?", "default": true},
                "plain": {"type": "string", "enum": ["r", "g"], "default": "r"},
                "titled": {"type": "string", "default": "r", "oneOf": [
                    {"const": "r", "title": "Red"}, {"const": "g", "title": "Green"},
                ]},
                "legacy": {"type": "string", "enum": ["r"], "enumNames": ["Red"]},
            },
            "required": ["text"],
        },
    });
    let older = json!({
        "message": "m",
        "requestedSchema": {
            "type": "object",
            "properties": {
                "text": {"type": "string", "minLength": 1},
                "age": {"type": "integer", "minimum": 0},
                "share": {"type": "number"},
                "sure": {"type": "boolean", "title": "Sure?", "default": true},
                "plain": {"type": "string", "enum": ["r", "g"]},
                "titled": {"type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"]},
                "legacy": {"type": "string", "enum": ["r"], "enumNames": ["Red"]},
            },
            "required": ["text"],
        },
    });
    let question = form(schema);
    let expected = [None, None, Some(older), Some(newer.clone()), None];
    assert_eq!(asked(&question), expected);
    assert_eq!(
        in_result(&question),
        json!({"method": "elicitation/create", "params": newer})
    );
}

#[test]
fn several_choices_are_asked_for_since_there_are_modes() {
    for choice in [
        MultiSelectEnumSchema::untitled(["r", "g"]),
        MultiSelectEnumSchema::titled(colours()),
    ] {
        let question = form(ElicitSchema::new().property("c", choice));
        let [first, second, third, fourth, _] = asked(&question).try_into().unwrap();
        assert_eq!((first, second, third), (None, None, None));
        assert!(fourth.is_some());
    }
}

/// `schema.ts` of 2025-11-25 § `ElicitRequestURLParams` requires `elicitationId`; its successor
/// has none.
// req: elicit-url-params-2025-11
// req: elicit-url-params-2026
#[test]
fn a_url_has_an_id_in_one_version() {
    let meta = object(json!({"k": 1}));
    let question = InputRequest::from(url().elicitation_id("e").meta(meta));
    let params = json!({
        "mode": "url", "message": "m", "url": "https://example.com/", "elicitationId": "e",
        "_meta": {"k": 1},
    });
    assert_eq!(asked(&question), [None, None, None, Some(params), None]);
    assert_eq!(
        in_result(&question)["params"],
        json!({"mode": "url", "message": "m", "url": "https://example.com/"})
    );
    let without = InputRequest::from(url());
    assert_eq!(asked(&without), [None, None, None, None, None]);
}

/// `schema.ts` § `ListRootsRequest`.
#[test]
fn roots_are_asked_for_without_params() {
    let bare = InputRequest::from(ListRootsRequestParams::new());
    let null = Some(Value::Null);
    assert_eq!(
        asked(&bare),
        [null.clone(), null.clone(), null.clone(), null.clone(), None]
    );
    let empty = ListRootsRequestParams::new().meta(JsonObject::new());
    assert_eq!(
        asked(&empty.into()),
        [null.clone(), null.clone(), null.clone(), null, None]
    );
    let meta = ListRootsRequestParams::new().meta(object(json!({"k": 1})));
    let params = Some(json!({"_meta": {"k": 1}}));
    let expected = [params.clone(), params.clone(), params.clone(), params, None];
    assert_eq!(asked(&meta.clone().into()), expected);
    assert_eq!(
        in_result(&meta.into())["params"],
        json!({"_meta": {"k": 1}})
    );
}

/// `schema.ts` § `SamplingMessage`: one block until 2025-11-25; § `Annotations`: `lastModified`
/// since 2025-06-18.
// req: sampling-content-by-revision
// req: sampling-request-shape
#[test]
fn a_conversation_is_split_into_single_blocks() {
    let annotations = Annotations::new()
        .priority(1.0)
        .last_modified("2025-01-01T00:00:00Z");
    let first = TextContent::new("a")
        .annotations(annotations)
        .meta(object(json!({"k": 1})));
    let blocks: [SamplingContentBlock; 2] = [first.into(), SamplingContentBlock::text("b")];
    let both = SamplingMessage::new(Role::User, blocks).meta(object(json!({"k": 2})));
    let nothing = SamplingMessage::new(Role::User, []);
    let messages = [both, nothing, SamplingMessage::assistant("c")];
    let question = sampling(messages)
        .system_prompt("p")
        .include_context(IncludeContext::None);
    let question = InputRequest::from(question.meta(object(json!({"k": 3}))));

    let dated = json!({"priority": 1.0, "lastModified": "2025-01-01T00:00:00Z"});
    let full = json!({"type": "text", "text": "a", "annotations": dated, "_meta": {"k": 1}});
    let plain = json!({"type": "text", "text": "a", "annotations": {"priority": 1.0}});
    let (b, c) = (
        json!({"type": "text", "text": "b"}),
        json!({"type": "text", "text": "c"}),
    );
    let around = |messages: Value| {
        json!({
            "messages": messages, "systemPrompt": "p", "includeContext": "none",
            "maxTokens": 9, "_meta": {"k": 3},
        })
    };
    let split = |a: &Value| {
        around(json!([
            {"role": "user", "content": a},
            {"role": "user", "content": b},
            {"role": "assistant", "content": c},
        ]))
    };
    let mut whole = around(json!([
        {"role": "user", "content": [full, b], "_meta": {"k": 2}},
        {"role": "user", "content": []},
        {"role": "assistant", "content": c},
    ]));
    let expected = [split(&plain), split(&plain), split(&full), whole.clone()].map(Some);
    assert_eq!(asked(&question)[..4], expected);
    assert_eq!(asked(&question)[4], None);
    whole.as_object_mut().unwrap().remove("_meta");
    assert_eq!(in_result(&question)["params"], whole);
}

/// `schema.ts` of 2024-11-05 § `SamplingMessage`: text and images.
#[test]
fn audio_is_asked_about_since_the_second_version() {
    let audio = AudioContent::new("AA==", "audio/wav");
    let question = sampling([SamplingMessage::new(Role::User, [audio.into()])]).into();
    let [oldest, rest @ ..] = &asked(&question)[..4] else {
        panic!("four versions have requests of the server");
    };
    assert_eq!(*oldest, None);
    for params in rest {
        let audio = json!({"type": "audio", "data": "AA==", "mimeType": "audio/wav"});
        let message = json!({"role": "user", "content": audio});
        assert_eq!(
            *params,
            Some(json!({"messages": [message], "maxTokens": 9}))
        );
    }
}

/// `schema.ts` of 2025-11-25 § `CreateMessageRequestParams`, § `ToolResultContent`, § `Tool`.
// req: sampling-tools-gate
#[test]
fn tools_are_lent_since_there_is_a_capability_for_them() {
    let schema = object(json!({"type": "object", "properties": {"any": true}}));
    let execution = ToolExecution::new().task_support(TaskSupport::Optional);
    let tool = Tool::new("t", schema)
        .output_schema(json!({"type": "integer"}))
        .execution(execution);
    let used = ToolUseContent::new("1", "t", JsonObject::new());
    let said = ToolResultContent::new("1", []).structured_content(5);
    let plain = sampling([SamplingMessage::user("a")]);
    let conversation = sampling([
        SamplingMessage::new(Role::Assistant, [used.clone().into()]),
        SamplingMessage::new(Role::User, [said.into()]),
    ]);
    for question in [
        plain.clone().tools([]),
        plain.tool_choice(ToolChoice::new()),
        sampling([SamplingMessage::new(Role::Assistant, [used.into()])]),
    ] {
        let asked = asked(&question.into());
        assert_eq!(asked[..3], [None, None, None]);
        assert!(asked[3].is_some());
    }
    let question = InputRequest::from(conversation.tools([tool]));
    let older = json!({
        "messages": [
            {"role": "assistant", "content":
                {"type": "tool_use", "id": "1", "name": "t", "input": {}}},
            {"role": "user", "content":
                {"type": "tool_result", "toolUseId": "1", "content": [],
                 "structuredContent": {"result": 5}}},
        ],
        "maxTokens": 9,
        "tools": [{
            "name": "t",
            "inputSchema": {"type": "object", "properties": {"any": {}}},
            "outputSchema": {
                "type": "object",
                "properties": {"result": {"type": "integer"}},
                "required": ["result"],
            },
            "execution": {"taskSupport": "optional"},
        }],
    });
    assert_eq!(asked(&question)[3], Some(older));
    let newest = &in_result(&question)["params"];
    let tool = json!({
        "name": "t",
        "inputSchema": {"type": "object", "properties": {"any": true}},
        "outputSchema": {"type": "integer"},
    });
    assert_eq!(newest["tools"], json!([tool]));
    assert_eq!(newest["messages"][1]["content"]["structuredContent"], 5);
}

#[test]
fn each_question_has_its_carrier() {
    let styles = |question: InputRequest| -> Vec<InputStyle> {
        let revisions = ALL.iter().rev();
        revisions.map(|it| it.input_style_of(&question)).collect()
    };
    use InputStyle::{InArguments, InResult, OnStream};
    let pushed = [OnStream, OnStream, OnStream, OnStream, InResult];
    assert_eq!(styles(sampling([]).into()), pushed);
    assert_eq!(styles(ListRootsRequestParams::new().into()), pushed);
    let elicited = [InArguments, InArguments, OnStream, OnStream, InResult];
    assert_eq!(styles(form(ElicitSchema::new())), elicited);
    assert_eq!(styles(url().into()), elicited);
}

/// What is written is what is asked on the stream, and nothing else is.
#[test]
fn a_request_is_written_where_questions_go_on_the_stream() {
    let questions: [InputRequest; 4] = [
        sampling([SamplingMessage::user("a")]).into(),
        ListRootsRequestParams::new().into(),
        form(ElicitSchema::new()),
        url().elicitation_id("e").into(),
    ];
    for (revision, question) in ALL
        .iter()
        .flat_map(|it| questions.iter().map(move |q| (it, q)))
    {
        let on_stream = revision.input_style_of(question) == InputStyle::OnStream;
        let askable = project_question(*revision, &mut question.clone());
        let written = ask(*revision, &RequestId::from(1), question.clone());
        assert_eq!(
            written.is_some(),
            on_stream && askable,
            "{revision:?} {question:?}"
        );
    }
}

/// `schema.ts` of 2026-07-28 § `MissingRequiredClientCapabilityError`, § `ClientCapabilities`.
// req: meta-2026-missing-capability-32021
#[test]
fn what_is_required_is_what_has_to_be_declared() {
    let plain = sampling([SamplingMessage::user("a")]);
    let with_tools = plain.clone().tools([]);
    let used = ToolUseContent::new("1", "t", JsonObject::new());
    let history = sampling([SamplingMessage::new(Role::Assistant, [used.into()])]);
    for (question, required) in [
        (plain.into(), json!({"sampling": {}})),
        (with_tools.into(), json!({"sampling": {"tools": {}}})),
        (history.into(), json!({"sampling": {"tools": {}}})),
        (ListRootsRequestParams::new().into(), json!({"roots": {}})),
        (
            form(ElicitSchema::new()),
            json!({"elicitation": {"form": {}}}),
        ),
        (url().into(), json!({"elicitation": {"url": {}}})),
    ] {
        assert_eq!(required_capability(&question), required);
        let capabilities: ClientCapabilities = serde_json::from_value(required).unwrap();
        assert!(declares(&capabilities, &question), "{question:?}");
        assert!(
            !declares(&ClientCapabilities::new(), &question),
            "{question:?}"
        );
    }
}

// req: elicit-mode-gate
// req: elicit-capability-gate
// req: sampling-capability-gate
// req: roots-capability-gate
#[test]
fn a_declaration_covers_what_it_names() {
    let declared = |capabilities: Value| {
        let capabilities: ClientCapabilities = serde_json::from_value(capabilities).unwrap();
        let questions: [InputRequest; 5] = [
            sampling([]).into(),
            sampling([]).tool_choice(ToolChoice::new()).into(),
            ListRootsRequestParams::new().into(),
            form(ElicitSchema::new()),
            url().into(),
        ];
        questions.map(|question| declares(&capabilities, &question))
    };
    for (capabilities, expected) in [
        (json!({"sampling": {}}), [true, false, false, false, false]),
        (
            json!({"sampling": {"tools": {}}}),
            [true, true, false, false, false],
        ),
        (
            json!({"sampling": {"context": {}}}),
            [true, false, false, false, false],
        ),
        (
            json!({"roots": {"listChanged": true}}),
            [false, false, true, false, false],
        ),
        (
            json!({"elicitation": {}}),
            [false, false, false, true, false],
        ),
        (
            json!({"elicitation": {"form": {}}}),
            [false, false, false, true, false],
        ),
        (
            json!({"elicitation": {"url": {}}}),
            [false, false, false, false, true],
        ),
        (
            json!({"elicitation": {"form": {}, "url": {}}}),
            [false, false, false, true, true],
        ),
    ] {
        assert_eq!(declared(capabilities.clone()), expected, "{capabilities}");
    }
}

/// `client/sampling` § Capabilities of 2025-11-25 and 2026-07-28.
// req: sampling-include-context
#[test]
fn context_is_included_where_it_is_declared_or_could_not_be() {
    let included = |capabilities: &Value, asked: IncludeContext| -> Vec<Option<IncludeContext>> {
        let capabilities = serde_json::from_value(capabilities.clone()).unwrap();
        let mut included = Vec::new();
        for revision in ALL.iter().rev() {
            let mut question = sampling([]).include_context(asked).into();
            without_undeclared_context(*revision, &capabilities, &mut question);
            let InputRequest::CreateMessage(params) = question else {
                panic!("the same question");
            };
            included.push(params.include_context);
        }
        included
    };
    let all = Some(IncludeContext::AllServers);
    let none = Some(IncludeContext::None);
    let (undeclared, declared) = (
        json!({"sampling": {}}),
        json!({"sampling": {"context": {}}}),
    );
    let dropped = [all, all, all, None, None];
    assert_eq!(included(&undeclared, IncludeContext::AllServers), dropped);
    assert_eq!(included(&declared, IncludeContext::AllServers), [all; 5]);
    assert_eq!(included(&undeclared, IncludeContext::None), [none; 5]);
}

/// JSON-RPC 2.0 section 5.
// req: sampling-client-errors-handled
#[test]
fn an_answer_is_a_result_or_an_error() {
    let read = |rest: &str| {
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,{rest}}}"#);
        let answer = answer(body.as_bytes())?;
        Some(match answer {
            Ok(result) => Ok(result.get().to_owned()),
            Err(error) => Err((error.code, error.message)),
        })
    };
    let result = |text: &str| Some(Ok(text.to_owned()));
    let error = |code, message: &str| Some(Err((code, message.to_owned())));
    for (rest, expected) in [
        (r#""result":{"roots":[]}"#, result(r#"{"roots":[]}"#)),
        ("\"result\":{\n\"a\": 1.0}", result(r#"{ "a": 1.0}"#)),
        (r#""result":null"#, result("null")),
        (r#""result":{},"error":null"#, result("{}")),
        (
            r#""error":{"code":-1,"message":"no \"way\"","data":[1]}"#,
            error(-1, "no \"way\""),
        ),
        (
            r#""result":null,"error":{"code":-1,"message":"no"}"#,
            error(-1, "no"),
        ),
        (r#""error":null"#, error(-32603, "")),
        (r#""error":"no""#, error(-32603, "")),
        (r#""error":[-1,"no"]"#, error(-32603, "")),
        (
            r#""error":{"code":1.5,"message":"no"}"#,
            error(-32603, "no"),
        ),
        (r#""error":{"code":-1}"#, error(-1, "")),
        (r#""method":"ping""#, None),
        (r#""method":"ping","result":{}"#, None),
        (r#""other":1"#, None),
    ] {
        assert_eq!(read(rest), expected, "{rest}");
    }
    assert!(answer(br#"[{"jsonrpc":"2.0","id":1,"result":{}}]"#).is_none());
    assert!(answer(b"nothing").is_none());
}

#[test]
fn what_a_client_says_does_not_reach_the_log() {
    let body = br#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"secret"}}"#;
    let error = answer(body).unwrap().unwrap_err();
    assert_eq!(format!("{error:?}"), "ClientError { code: -1, message: 6 }");
    assert_eq!(error.to_string(), "the client answered with error -1");
}

proptest::proptest! {
    #[test]
    fn any_bytes_are_survived(body in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
        let _ = answer(&body);
    }
}
