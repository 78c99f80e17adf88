//! What is decided by the message: its form, its revision, its method and parameters.

use serde_json::{Value, json};

use super::site::{Row, Site};
use crate::support::{
    calling, curious::able, http::Request, init, legacy, meta, modern, pending::Pending,
    session::Session,
};

pub(crate) async fn rows() -> Vec<Row> {
    let site = Site::open(|config| {
        config.limits.max_depth = 20;
        config.limits.max_batch = 2;
        config.limits.max_values = 200;
    });
    let mut rows = forms(&site).await;
    rows.extend(batches(&site).await);
    rows.extend(revisions(&site).await);
    rows.extend(headers(&site).await);
    rows
}

async fn forms(site: &Site) -> Vec<Row> {
    let raw = |body: &str| Request::modern("tools/list", body);
    let deep = format!("{}{}", "[".repeat(30), "]".repeat(30));
    let deep =
        modern(1, "tools/list", json!({"x": 0})).replace(r#""x":0"#, &format!(r#""x":{deep}"#));
    let many = modern(1, "tools/list", json!({"x": vec![1; 300]}));
    let response = json!({"jsonrpc": "2.0", "id": 1, "result": {}}).to_string();
    vec![
        site.refused("not JSON", raw("{")).await,
        site.refused(
            "not UTF-8",
            Request::modern("tools/list", b"\"\xff\"".to_vec()),
        )
        .await,
        site.refused("no object", raw("null")).await,
        site.refused("no `jsonrpc`", raw(r#"{"id":1,"method":"tools/list"}"#))
            .await,
        site.refused("no `method`", raw(r#"{"jsonrpc":"2.0","id":1}"#))
            .await,
        site.refused("too many values", raw(&many)).await,
        site.refused("too deep", raw(&deep)).await,
        site.refused("a response, in 2026-07-28", raw(&response))
            .await,
    ]
}

async fn batches(site: &Site) -> Vec<Row> {
    let session = Session::of(&site.server, "2025-03-26", &[]).await;
    let ping = legacy(1, "ping", json!({}));
    let batch = |text: String| session.dressed(Request::post(text));
    let newer = Session::open(&site.server).await;
    vec![
        site.refused(
            "a batch, where there are none",
            newer.dressed(Request::post("[]")),
        )
        .await,
        site.refused("a batch of nothing", batch("[]".to_owned()))
            .await,
        site.refused("a batch too long", batch(format!("[{ping},{ping},{ping}]")))
            .await,
    ]
}

async fn revisions(site: &Site) -> Vec<Row> {
    let list = || modern(1, "tools/list", json!({}));
    let mut context = meta();
    context["io.modelcontextprotocol/protocolVersion"] = json!("2099-01-01");
    let unheard = legacy(1, "tools/list", json!({"_meta": context}));
    let unheard = Request::modern("tools/list", unheard).with("MCP-Protocol-Version", "2099-01-01");
    let twice = Request::modern("tools/list", list()).header("MCP-Protocol-Version", "2026-07-28");
    let bare = legacy(1, "tools/list", json!({}));
    let pinned = Request::modern("tools/list", list()).target("/mcp?mcp=2099-01-01");
    vec![
        site.refused("a version that is not spoken", unheard).await,
        site.refused("`MCP-Protocol-Version` is there twice", twice)
            .await,
        site.refused("the address names a version that is not spoken", pinned)
            .await,
        site.refused("`_meta` is missing", Request::modern("tools/list", bare))
            .await,
    ]
}

async fn headers(site: &Site) -> Vec<Row> {
    let list = Request::modern("tools/list", modern(1, "tools/list", json!({})));
    let regional = modern(
        1,
        "tools/call",
        calling("regional", json!({"region": "eu", "level": 1})),
    );
    let regional = Request::modern("tools/call", regional);
    let named = regional.clone().header("Mcp-Name", "regional");
    let other = list.clone().with("MCP-Protocol-Version", "2025-11-25");
    vec![
        site.refused(
            "`Mcp-Method` is missing",
            list.clone().without("Mcp-Method"),
        )
        .await,
        site.refused(
            "`Mcp-Method` differs",
            list.with("Mcp-Method", "tools/call"),
        )
        .await,
        site.refused("`Mcp-Name` is missing", regional).await,
        site.refused("`Mcp-Name` differs", named.clone().with("Mcp-Name", "echo"))
            .await,
        site.refused("`Mcp-Param-…` is missing", named.clone())
            .await,
        site.refused(
            "`Mcp-Param-…` differs",
            named
                .header("Mcp-Param-Region", "us")
                .header("Mcp-Param-Level", "1"),
        )
        .await,
        site.refused("`MCP-Protocol-Version` differs", other).await,
    ]
}

fn request(method: &'static str, params: Value) -> Request {
    let name = params.get("name").or_else(|| params.get("uri"));
    let name = name.and_then(Value::as_str).map(str::to_owned);
    let request = Request::modern(method, modern(1, method, params));
    match name {
        Some(name) => request.header("Mcp-Name", &name),
        None => request,
    }
}

pub(crate) async fn calls() -> Vec<Row> {
    let site = Site::open(|config| config.limits.max_watched = 2);
    let mut rows = parameters(&site).await;
    rows.extend(names(&site).await);
    rows.extend(asking(&site).await);
    rows
}

async fn parameters(site: &Site) -> Vec<Row> {
    let session = Session::open(&site.server).await;
    let earlier = legacy(1, "tools/unheard", json!({}));
    let watched =
        json!({"resourceSubscriptions": ["watched://a", "watched://b", "made://c/thing"]});
    let listen = request("subscriptions/listen", json!({"notifications": watched}));
    let json_alone = request("subscriptions/listen", json!({"notifications": {}}));
    vec![
        site.refused("unknown method", request("tools/unheard", json!({})))
            .await,
        site.refused(
            "unknown method, before 2026-07-28",
            session.dressed(Request::post(earlier)),
        )
        .await,
        site.refused(
            "`initialize` without a version",
            Request::legacy(legacy(1, "initialize", json!({}))),
        )
        .await,
        site.refused(
            "parameters of the wrong type",
            request("prompts/get", json!({"name": "greet", "arguments": 5})),
        )
        .await,
        site.refused(
            "arguments of a prompt do not fit",
            request("prompts/get", json!({"name": "greet"})),
        )
        .await,
        site.refused(
            "invalid cursor",
            request("tools/list", json!({"cursor": "made-up"})),
        )
        .await,
        site.refused("too many subscriptions", listen).await,
        site.refused(
            "a subscription of a client that takes no streams",
            json_alone.with("Accept", "application/json"),
        )
        .await,
    ]
}

async fn names(site: &Site) -> Vec<Row> {
    let session = Session::open(&site.server).await;
    let read = json!({"uri": "test://unheard"});
    let complete = json!({
        "ref": {"type": "ref/prompt", "name": "greet"},
        "argument": {"name": "unheard", "value": ""},
    });
    let earlier = session.dressed(Request::post(legacy(1, "resources/read", read.clone())));
    let motd = json!({"uri": "test://motd"});
    let subscribe = session.dressed(Request::post(legacy(1, "resources/subscribe", motd)));
    vec![
        site.refused("a resource that cannot be subscribed to", subscribe)
            .await,
        site.refused(
            "unknown tool",
            request("tools/call", calling("unheard", json!({}))),
        )
        .await,
        site.refused(
            "unknown prompt",
            request("prompts/get", json!({"name": "unheard"})),
        )
        .await,
        site.refused("unknown argument", request("completion/complete", complete))
            .await,
        site.refused("unknown resource", request("resources/read", read))
            .await,
        site.refused("unknown resource, before 2026-07-28", earlier)
            .await,
        site.refused(
            "no URI",
            request("resources/read", json!({"uri": "unheard"})),
        )
        .await,
        site.refused(
            "a path that leads elsewhere",
            request("resources/read", json!({"uri": "file:///docs/..%2Fsecret"})),
        )
        .await,
    ]
}

async fn asking(site: &Site) -> Vec<Row> {
    let params = calling("transfer", json!({"amount": 5}));
    let call = |params: Value| {
        Request::modern("tools/call", able(1, "tools/call", params)).header("Mcp-Name", "transfer")
    };
    let asked = site.server.send(&call(params.clone())).await.message();
    let pending = Pending::of(&params, &asked["result"]).unwrap();
    let forged = pending.with_state(&json!({}), &json!("made-up"));
    let mut moved = pending.with(&json!({}));
    moved["arguments"]["amount"] = json!(6);
    let answers = pending.with_state(&json!(5), &json!(pending.token));
    vec![
        site.refused(
            "the client lacks a capability",
            request("tools/call", params),
        )
        .await,
        site.refused("a request state that does not open", call(forged))
            .await,
        site.refused("a request state of another request", call(moved))
            .await,
        site.refused("answers that are none", call(answers)).await,
        site.refused(
            "a handshake version that is none",
            Request::legacy(init("").replace("\"\"", "5")),
        )
        .await,
    ]
}
