//! Properties: no bytes and no JSON bring a decoder down, and every request gets one answer.

use mcp_codec::{Envelope, Manifest, adapter_set, envelope};
use mcp_core::{
    Connection, Dispatcher, HeaderValue, Headers, Incoming, Message, types::Implementation,
};
use proptest::{
    collection::{btree_map, vec},
    option,
    prelude::{Just, Strategy, any, prop_oneof},
    proptest,
    sample::select,
};
use serde_json::{Map, Value, json};

use super::{fixture::server, is_acknowledgement, messages, run};

/// The same bytes under every name.
struct Everywhere<'a>(&'a [u8]);

impl Headers for Everywhere<'_> {
    fn value(&self, _: &str) -> HeaderValue<'_> {
        HeaderValue::Once(self.0)
    }
}

fn decode_everywhere(body: &[u8], header: &[u8]) {
    let manifest = Manifest::new(Implementation::new("random", "1"));
    let headers = Everywhere(header);
    for revision in adapter_set::ALL {
        if let Ok(envelope) = Envelope::parse(body) {
            let _ = revision.decode(&envelope, None, &manifest);
            let _ = revision.decode(&envelope, Some(&headers), &manifest);
        }
        for member in envelope::batch(body)
            .and_then(Result::ok)
            .unwrap_or_default()
        {
            if let Ok(envelope) = Envelope::of_member(member) {
                let _ = revision.decode(&envelope, Some(&headers), &manifest);
            }
        }
    }
}

/// Any JSON, some of it made of the words of the protocol.
fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|it| json!(it)),
        ".{0,8}".prop_map(Value::from),
        select(WORDS).prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            members(inner).prop_map(Value::from),
        ]
    })
}

fn members(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Map<String, Value>> {
    let key = prop_oneof![4 => select(KEYS).prop_map(str::to_owned), 1 => ".{0,6}"];
    btree_map(key, value, 0..6).prop_map(Map::from_iter)
}

fn id() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => any::<i64>().prop_map(Value::from),
        2 => ".{0,6}".prop_map(Value::from),
        1 => json_value(),
    ]
}

/// Something that looks like a message.
fn message() -> impl Strategy<Value = Value> {
    let method = prop_oneof![6 => select(METHODS).prop_map(Value::from), 1 => json_value()];
    let modern = prop_oneof![Just(None), select(VERSIONS).prop_map(Some)];
    let params = option::of(
        prop_oneof![6 => members(json_value()).prop_map(Value::from), 1 => json_value()],
    );
    (option::of(id()), method, params, modern, any::<u8>()).prop_map(
        |(id, method, params, version, broken)| {
            let mut message = json!({"jsonrpc": "2.0", "method": method});
            let mut params = params;
            if let Some(version) = version {
                let params = params.get_or_insert_with(|| json!({}));
                if let Some(params) = params.as_object_mut() {
                    params.insert(
                        "_meta".to_owned(),
                        json!({
                            "io.modelcontextprotocol/protocolVersion": version,
                            "io.modelcontextprotocol/clientCapabilities": {},
                        }),
                    );
                }
            }
            let members = message.as_object_mut().unwrap();
            members.extend(id.map(|it| ("id".to_owned(), it)));
            members.extend(params.map(|it| ("params".to_owned(), it)));
            match broken {
                0..8 => drop(members.remove("method")),
                8..16 => drop(members.insert("result".to_owned(), json!({}))),
                16..24 => drop(members.insert("jsonrpc".to_owned(), json!("1.0"))),
                _ => {}
            }
            message
        },
    )
}

/// Whether the message is never answered: a notification, or an answer of the client's own.
fn is_silent(message: &Value) -> bool {
    let responds = message.get("result").is_some();
    let sound = match message.get("method") {
        Some(method) => method.is_string() && !responds,
        None => responds,
    };
    let unasked = message.get("id").is_none() || (responds && id_is_sound(message));
    message["jsonrpc"] == "2.0" && sound && unasked
}

fn id_is_sound(message: &Value) -> bool {
    message["id"].is_string() || message["id"].is_i64() || message["id"].is_u64()
}

fn check(dispatcher: &Dispatcher, message: &Value, incoming: &Incoming<'_>) {
    let said = run(messages(dispatcher, incoming));
    if said.iter().any(is_acknowledgement) {
        assert!(!is_silent(message), "{message} is answered {said:?}");
        return;
    }
    let replies: Vec<&mcp_core::Reply> = said
        .iter()
        .filter_map(|it| {
            if let Message::Reply(reply) = it {
                Some(reply)
            } else {
                None
            }
        })
        .collect();
    assert_eq!(replies.len(), 1, "{message} is answered {replies:?}");
    let Some(body) = &replies[0].body else {
        assert!(is_silent(message), "{message} gets no answer");
        return;
    };
    assert!(!is_silent(message), "{message} is answered {body:?}");
    let reply: Value = serde_json::from_slice(body).unwrap();
    assert_ne!(
        reply["error"]["code"], -32603,
        "{message} is answered {reply}"
    );
    if id_is_sound(message) {
        assert_eq!(reply["id"], message["id"], "{message} is answered {reply}");
    } else {
        assert_eq!(reply.get("id"), None, "{message} is answered {reply}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_decoded_or_refused(
        body in vec(any::<u8>(), 0..200),
        header in vec(any::<u8>(), 0..20),
    ) {
        decode_everywhere(&body, &header);
    }

    #[test]
    fn any_json_is_decoded_or_refused(value in json_value(), message in message(), header in ".{0,12}") {
        decode_everywhere(value.to_string().as_bytes(), header.as_bytes());
        decode_everywhere(message.to_string().as_bytes(), header.as_bytes());
        let batch = json!([message, value]);
        decode_everywhere(batch.to_string().as_bytes(), header.as_bytes());
    }

    // req: jsonrpc-notification-never-answered
    // req: jsonrpc-response-echoes-id
    // req: jsonrpc-id-string-or-integer
    #[test]
    fn a_request_gets_one_answer_and_a_notification_none(message in message()) {
        let dispatcher = server("everything");
        let body = || bytes::Bytes::from(message.to_string());
        check(dispatcher, &message, &Incoming::new(body()));
        let connection = Connection::new();
        check(dispatcher, &message, &Incoming::new(body()).connection(&connection));
        let headers = Everywhere(b"2025-11-25");
        check(dispatcher, &message, &Incoming::new(body()).headers(&headers));
    }
}

const METHODS: &[&str] = &[
    "initialize",
    "ping",
    "server/discover",
    "tools/list",
    "tools/call",
    "prompts/list",
    "prompts/get",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/subscribe",
    "completion/complete",
    "logging/setLevel",
    "subscriptions/listen",
    "notifications/initialized",
    "notifications/cancelled",
    "no/such",
];

const VERSIONS: &[&str] = &["2026-07-28", "2026-07-28", "2025-11-25", "2099-01-01"];

const KEYS: &[&str] = &[
    "name",
    "arguments",
    "uri",
    "cursor",
    "ref",
    "argument",
    "value",
    "context",
    "level",
    "type",
    "protocolVersion",
    "capabilities",
    "clientInfo",
    "version",
    "requestId",
    "notifications",
    "_meta",
    "progressToken",
    "city",
    "station",
    "text",
    "object",
    "region",
    "io.modelcontextprotocol/protocolVersion",
    "io.modelcontextprotocol/logLevel",
];

/// Names of the fixture, apart from what fails on purpose.
const WORDS: &[&str] = &[
    "blocks",
    "titled",
    "nothing",
    "talk",
    "report",
    "rows",
    "either",
    "anything",
    "tells",
    "greet",
    "city",
    "demo://text",
    "demo://named/x",
    "demo://search?q=1",
    "demo://named/{name}",
    "ref/prompt",
    "ref/resource",
    "warning",
    "2025-06-18",
    "2026-07-28",
    "=?base64?AA?=",
];
