//! A server to attack: its limits on time and number are small, those on bytes are the defaults.
//!
//! It says where it listens, and for each line of its input what it is at.

use std::{
    io::{self, BufRead as _},
    sync::Arc,
    thread,
    time::Duration,
};

use mcp_core::{
    Exchange, HandlerError, KeyRing, MemoryStore, PageSize, Principal, Registry, RegistryBuilder,
    ServerConfig,
    auth::{Authorization, Bearer, StaticTokens},
    resource, template, tool,
};
use mcp_http_actix::{Endpoint, bind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let store = MemoryStore::new().max_entries(SESSIONS);
    let registry = tools(Registry::builder("besieged", "1.0.0")).build(config(&store))?;
    let tokens = StaticTokens::new()
        .token(
            "the-token-of-the-honest-client",
            Principal::new("x", "honest"),
        )
        .token("the-token-of-mallory", Principal::new("x", "mallory"));
    let authorization = Authorization::builder().policy(Bearer::new(tokens));
    let endpoint = Endpoint::new(registry.clone())
        .authorization(authorization.allow_anonymous().build()?)
        // As a proxy would say it, or the address of the connection.
        .source(|request| match request.headers().get("X-Real-IP") {
            Some(address) => Some(address.to_str().ok()?.to_owned()),
            None => Some(request.peer_addr()?.ip().to_string()),
        })
        .keep_alive(Duration::from_secs(1));
    let server = bind(endpoint, "127.0.0.1:0", "/mcp")?.workers(2);
    say(&server.url());
    thread::spawn(move || report(&registry, &store));
    Ok(server.run().await?)
}

fn config(store: &MemoryStore) -> ServerConfig {
    let mut config = ServerConfig::default();
    config.keys = KeyRing::new(["k1-0123456789abcdef0123456789abcdef"]).ok();
    config.store = Some(Arc::new(store.clone()));
    config.page_size = PageSize::new(3).unwrap_or_default();
    config.sessions.handshake = Duration::from_secs(2);
    config.sessions.idle = Duration::from_secs(3);
    config.streams.keep = Duration::from_secs(5);
    config.asking.timeout = Duration::from_secs(3);
    config.limits.read_timeout = Duration::from_secs(2);
    config.limits.max_streams = 300;
    config.limits.max_streams_per_principal = 20;
    config.limits.max_calls = 400;
    config.limits.max_calls_per_principal = 50;
    config
}

/// What it is at, for each line that comes in.
fn report(registry: &Registry, store: &MemoryStore) {
    for _ in io::stdin().lock().lines() {
        let usage = registry.usage();
        let refused: u64 = usage.refusals.iter().map(|(_, count)| count).sum();
        say(&format!(
            "{} {} {} {refused}",
            usage.calls,
            usage.streams,
            store.len()
        ));
    }
}

#[expect(clippy::print_stdout, reason = "the test reads it")]
fn say(line: &str) {
    println!("{line}");
}

fn tools(builder: RegistryBuilder) -> RegistryBuilder {
    // The first page of the list is large, and costs no time: it was written before.
    let long = "long ".repeat(60_000);
    builder
        .tool(tool("wordy", async |(): ()| "").description(long))
        .tool(tool("echo", async |Echo { text }: Echo| text))
        .tool(tool("any", async |Anything { value }: Anything| {
            size(&value).to_string()
        }))
        .tool(tool("items", items))
        .tool(tool("sleep", sleep))
        .tool(tool("talk", talk))
        .tool(tool("ask", ask))
        .tool(tool("touch", touch))
        .resource(resource("place://a", async || "a").subscribable())
        .template(template(
            "place://{name}/thing",
            async |Place { name }: Place| name,
        ))
}

#[derive(Deserialize, JsonSchema)]
struct Place {
    name: String,
}

#[derive(Deserialize, JsonSchema)]
struct Echo {
    text: String,
}

#[derive(Deserialize, JsonSchema)]
struct Anything {
    value: Value,
}

/// How many values there are.
fn size(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(size).sum::<usize>(),
        Value::Object(members) => 1 + members.values().map(size).sum::<usize>(),
        _ => 1,
    }
}

#[derive(Deserialize, JsonSchema)]
struct Items {
    #[schemars(length(max = 10))]
    items: Vec<Item>,
}

#[derive(Deserialize, JsonSchema)]
struct Item {
    name: String,
}

async fn items(Items { items }: Items) -> String {
    items.into_iter().map(|it| it.name).collect()
}

#[derive(Deserialize, JsonSchema)]
struct Millis {
    millis: u64,
}

async fn sleep(Millis { millis }: Millis) -> &'static str {
    tokio::time::sleep(Duration::from_millis(millis)).await;
    "slept"
}

/// Says a lot, for as long as somebody listens.
async fn talk(Millis { millis }: Millis, exchange: Exchange) -> &'static str {
    let line = "x".repeat(10_000);
    let talking = async {
        for step in 0..1_000_000_u32 {
            exchange
                .progress_message(f64::from(step), None, line.as_str())
                .await;
            tokio::task::yield_now().await;
        }
    };
    let limit = Duration::from_millis(millis);
    match tokio::time::timeout(limit, talking).await {
        Ok(()) => "said it all",
        Err(_) => "said enough",
    }
}

#[derive(Deserialize, JsonSchema)]
struct Name {
    name: String,
}

async fn ask((): (), exchange: Exchange) -> Result<String, HandlerError> {
    exchange.remember(&"what only the server knows")?;
    let answer = exchange.elicit::<Name>("name", "Who are you?").await?;
    Ok(format!("{:?}", answer.accepted().map(|it| it.name)))
}

async fn touch((): (), exchange: Exchange) -> &'static str {
    exchange.resource_updated("place://a");
    "touched"
}

/// How many sessions there may be.
const SESSIONS: usize = 500;
