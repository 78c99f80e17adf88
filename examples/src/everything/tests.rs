use bytes::Bytes;
use mcp_core::{Dispatcher, Incoming, Message, PageSize, Registry};
use serde_json::{Value, json};

use crate::{endpoint, field::SECRET, flags::Flags, registry};

/// A request, answered by a fresh server; the notifications before the reply come first.
async fn exchange(registry: &Registry, method: &str, params: Value) -> Vec<Value> {
    let request = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
    let body = Bytes::from(request.to_string());
    let incoming = Incoming::new(body).pinned(Some("2025-11-25")).local();
    let mut answer = Dispatcher::new(registry.clone()).answer(&incoming);
    let mut messages = Vec::new();
    while let Some(message) = answer.next().await {
        let text = match message {
            Message::Reply(reply) => reply.body.unwrap(),
            Message::Notification(text) => text,
        };
        messages.push(serde_json::from_slice(&text).unwrap());
    }
    messages
}

async fn ask(method: &str, params: Value) -> Value {
    let registry = registry(&Flags::default()).unwrap();
    exchange(&registry, method, params).await.pop().unwrap()
}

async fn call(tool: &str, arguments: Value) -> Value {
    let reply = ask("tools/call", json!({"name": tool, "arguments": arguments})).await;
    reply["result"].clone()
}

async fn read(uri: &str) -> Value {
    let reply = ask("resources/read", json!({"uri": uri})).await;
    reply["result"]["contents"][0].clone()
}

#[test]
fn a_host_or_an_origin_that_is_none_is_named() {
    let served = |flags: &Flags| endpoint(registry(flags).unwrap(), flags);
    let mut flags = Flags::default();
    flags.allow_hosts.push("*.example.com".to_owned());
    flags
        .allow_origins
        .push("https://app.example.com".to_owned());
    assert!(served(&flags).is_ok());
    flags.allow_origins.push("null".to_owned());
    let refused = served(&flags).unwrap_err().to_string();
    assert!(refused.contains("\"null\""), "{refused}");
    flags.allow_hosts.push("https://example.com".to_owned());
    let refused = served(&flags).unwrap_err().to_string();
    assert!(refused.contains("\"https://example.com\""), "{refused}");
}

#[test]
fn builds_with_every_flag() {
    let key = "a secret of at least thirty-two bytes".to_owned();
    let flags = Flags {
        keys: vec![key],
        page_size: PageSize::new(2).unwrap(),
        ..Flags::default()
    };
    registry(&flags).unwrap();
    let short = Flags {
        keys: vec!["short".to_owned()],
        ..Flags::default()
    };
    assert!(registry(&short).is_err());
}

#[tokio::test]
async fn suites_may_try_the_first_tool_and_resource() {
    let listed = ask("tools/list", json!({})).await;
    let tools = listed["result"]["tools"].as_array().unwrap().clone();
    assert_eq!(tools[0]["name"], "test_simple_text");
    for tool in &tools {
        assert!(tool["description"].is_string(), "{tool}");
    }
    let listed = ask("resources/list", json!({})).await;
    assert_eq!(
        listed["result"]["resources"][0]["uri"],
        "test://static-text"
    );
    let listed = ask("prompts/list", json!({})).await;
    for prompt in listed["result"]["prompts"].as_array().unwrap() {
        assert!(prompt["description"].is_string(), "{prompt}");
    }
}

/// Where nobody logs in, as on stdio, whoever starts the server may do everything.
#[tokio::test]
async fn writing_says_who_did_it() {
    let said = call("write", json!({"path": "notes.txt", "text": "hello"})).await;
    let text = &said["content"][0]["text"];
    assert_eq!(*text, "somebody wrote 5 bytes to notes.txt", "{said}");
}

#[tokio::test]
async fn tools_without_arguments_look_alike() {
    let listed = ask("tools/list", json!({})).await;
    let tools = listed["result"]["tools"].as_array().unwrap().clone();
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    for name in ["now", "now_unit", "now_struct"] {
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        assert_eq!(tool["inputSchema"], schema, "{name}");
        let now = call(name, json!({})).await;
        let now: u64 = now["content"][0]["text"].as_str().unwrap().parse().unwrap();
        assert!(now > 1_700_000_000);
    }
}

#[tokio::test]
async fn what_does_not_fit_is_not_sent() {
    let fine = call("report", json!({"fail": false, "value": 7})).await;
    assert_eq!(fine["structuredContent"], json!({"value": 7}));
    for misfit in [
        json!({"fail": false, "misfit": true}),
        json!({"fail": false, "value": 101}),
        json!({"fail": true}),
    ] {
        let result = call("report", misfit).await;
        assert_eq!(result["isError"], true);
        assert_eq!(result.get("structuredContent"), None);
    }
}

#[tokio::test]
async fn panics_are_kept_from_clients() {
    for (method, params) in [
        ("tools/call", json!({"name": "boom"})),
        ("tools/call", json!({"name": "boom_later"})),
        ("resources/read", json!({"uri": "test://boom"})),
        ("prompts/get", json!({"name": "boom"})),
        (
            "completion/complete",
            json!({
                "ref": {"type": "ref/prompt", "name": "boom"},
                "argument": {"name": "fuse", "value": ""},
            }),
        ),
    ] {
        let reply = ask(method, params).await;
        let told = reply["result"]["isError"] == true || reply["error"]["code"] == -32603;
        assert!(told, "{reply}");
        assert!(!reply.to_string().contains(SECRET), "{reply}");
    }
}

#[tokio::test]
async fn typed_arguments_come_back() {
    let result = call("big", json!({"n": i64::MIN})).await;
    let text = r#"{"n":-9223372036854775808,"m":18446744073709551615}"#;
    assert_eq!(result["content"][0]["text"], text);
    let picked = json!({"count": 3, "filter": {"a": -7}, "tags": ["x", "é"]});
    let result = call("pick", picked.clone()).await;
    assert_eq!(result["structuredContent"], picked);
    let shapes = json!({
        "from": {"x": 1, "y": 2},
        "to": {"x": 3, "y": 4},
        "label": null,
        "shape": {"kind": "polygon", "corners": [{"x": 0, "y": 0}]},
        "tree": {"name": "a", "children": [{"name": "b", "children": []}]},
        "weights": {"a": 1.5},
    });
    let result = call("shapes", shapes.clone()).await;
    assert_eq!(result["structuredContent"], shapes, "{result}");
}

#[tokio::test]
async fn templates_are_filled_in() {
    assert_eq!(
        read("file:///docs/caf%C3%A9%20menu.txt").await["text"],
        "Soup of the day."
    );
    assert_eq!(read("file:///docs/100%25.txt").await["text"], "All of it.");
    assert_eq!(read("file:///docs/..%2F..%2Fsecret").await, Value::Null);
    assert_eq!(
        read("search://items").await["text"],
        r#"{"q":null,"limit":null}"#
    );
    assert_eq!(
        read("search://items?limit=2&q=a%20b").await["text"],
        r#"{"q":"a b","limit":2}"#
    );
    assert_eq!(read("mem://bytes/4").await["blob"], "+//++w==");
    assert_eq!(read("mem://bytes/0").await["blob"], "");
    assert_eq!(read("mem://bytes/16777217").await, Value::Null);
    assert_eq!(read("mem://caf%C3%A9/1").await["text"], "1");
    let data = r#"{"id":"123","templateTest":true,"data":"Data for ID: 123"}"#;
    assert_eq!(read("test://template/123/data").await["text"], data);
}

#[tokio::test]
async fn cities_are_suggested() {
    let complete = async |typed: &str| {
        let reference = json!({"type": "ref/prompt", "name": "greet"});
        let argument = json!({"name": "city", "value": typed});
        let params = json!({"ref": reference, "argument": argument});
        ask("completion/complete", params).await["result"]["completion"].clone()
    };
    let all = complete("").await;
    assert_eq!(all["values"].as_array().unwrap().len(), 100);
    assert_eq!(
        (&all["total"], &all["hasMore"]),
        (&json!(250), &json!(true))
    );
    assert_eq!(
        complete("city-24").await["values"]
            .as_array()
            .unwrap()
            .len(),
        10
    );
}

#[tokio::test]
async fn listings_change_and_are_as_before() {
    let registry = registry(&Flags::default()).unwrap();
    let before = exchange(&registry, "tools/list", json!({})).await;
    for tool in ["test_trigger_tool_change", "test_trigger_prompt_change"] {
        exchange(&registry, "tools/call", json!({"name": tool})).await;
    }
    assert_eq!(exchange(&registry, "tools/list", json!({})).await, before);
}

#[tokio::test(start_paused = true)]
async fn reports_come_before_the_answer() {
    let registry = registry(&Flags::default()).unwrap();
    let params = |name: &str, arguments: Value| json!({"name": name, "arguments": arguments, "_meta": {"progressToken": 0}});
    let messages = exchange(&registry, "tools/call", params("slow", json!({"ms": 300}))).await;
    let steps: Vec<&Value> = messages
        .iter()
        .map(|it| &it["params"]["progress"])
        .collect();
    let thirds = [
        json!(0.0),
        json!(1.0 / 3.0),
        json!(2.0 / 3.0),
        json!(1.0),
        Value::Null,
    ];
    assert_eq!(steps, thirds.iter().collect::<Vec<_>>());
    let messages = exchange(&registry, "tools/call", params("chatty", json!({"n": 3}))).await;
    assert_eq!(messages.len(), 7);
    assert_eq!(messages[6]["result"]["content"][0]["text"], "3");
}
