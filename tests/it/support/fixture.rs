//! The fixture server of the field cases, and whatever else the scenarios call for.

use std::time::Duration;

use mcp_core::{
    CompletionQuery, Exchange, HandlerError, Json, Registry, RegistryBuilder, ServerConfig,
    SessionMode, State, blocking_tool, dynamic_tool, prompt, resource, template, tool,
    types::{
        CacheScope, CallToolResult, ContentBlock, Icon, LoggingLevel, RawJson, ResourceContents,
        ToolAnnotations,
    },
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::time::sleep;

use super::probe::Probe;

/// What no client may read.
pub(crate) const SECRET: &str = "no such file: /srv/secret/ledger.db";

/// The fixture server.
pub(crate) fn fixture(probe: &Probe) -> Registry {
    with(probe, ServerConfig::default())
}

pub(crate) fn with(probe: &Probe, config: ServerConfig) -> Registry {
    builder(probe).build(config).unwrap()
}

/// The fixture server, whose handshake clients have no sessions over HTTP.
pub(crate) fn stateless(probe: &Probe) -> Registry {
    let mut config = ServerConfig::default();
    config.sessions.mode = SessionMode::Stateless;
    with(probe, config)
}

pub(crate) fn builder(probe: &Probe) -> RegistryBuilder {
    let builder = Registry::builder("fixture", "1.2.3")
        .title("Fixture")
        .description("Answers and misbehaves.")
        .instructions("Call anything.")
        .icons([Icon::new("data:image/png;base64,AA==")])
        .state(probe.clone());
    resources(prompts(odd_tools(field_tools(builder), probe)))
}

/// A client of a server without entries sees this one alone.
pub(crate) fn echo_only(probe: &Probe) -> RegistryBuilder {
    Registry::builder("fixture", "1.2.3")
        .state(probe.clone())
        .tool(tool("echo", echo))
}

fn field_tools(builder: RegistryBuilder) -> RegistryBuilder {
    builder
        .tool(
            tool("echo", echo)
                .title("Echo")
                .icons([Icon::new("data:image/png;base64,AA==")]),
        )
        .tool(tool("slow", slow))
        .tool(tool("rows", rows))
        .tool(tool("now", async || "It is now."))
        .tool(tool("now_unit", async |(): ()| "It is now."))
        .tool(tool("now_struct", async |Nothing {}: Nothing| "It is now."))
        .tool(tool("boom", boom))
        .tool(tool("boom_early", boom_early))
        .tool(tool("boom_later", boom_later))
        .tool(tool("report", report))
        .tool(tool("failed", failed).output_schema(json!({"type": "object"})))
}

fn odd_tools(builder: RegistryBuilder, probe: &Probe) -> RegistryBuilder {
    let gate = probe.clone();
    let any = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    builder
        .tool(tool("hold", hold))
        .tool(tool("limited", limited).timeout(Duration::from_millis(30)))
        .tool(tool("journal", journal))
        .tool(tool("chatty", chatty))
        .tool(tool("told", async || {
            Err::<String, _>(HandlerError::tell("the shop is closed"))
        }))
        .tool(tool("invalid", async || {
            Err::<String, _>(HandlerError::invalid("n: not today"))
        }))
        .tool(tool("internal", internal))
        .tool(tool("everything", everything))
        .tool(tool("numbers", async || Json(vec![1, 2, 3])))
        .tool(tool("client", client))
        .tool(tool("regional", regional))
        .tool(
            tool("annotated", async || "…").annotations(ToolAnnotations::new().title("Annotated")),
        )
        .tool(tool("newest", async || "seen").since("2026-07-28"))
        .tool(tool("structured_era", async || "seen").since("2025-06-18"))
        .tool(blocking_tool("crunch", move |(): ()| crunch(&gate)))
        .tool(blocking_tool("crash", |(): ()| -> String {
            panic!("{SECRET}")
        }))
        .tool(dynamic_tool(
            "dynamic",
            any,
            async |raw: RawJson, _: Exchange| raw.get().to_owned(),
        ))
}

/// Answers with the text it is given.
#[derive(Deserialize, JsonSchema)]
struct Echo {
    /// The text to send back.
    text: String,
}

async fn echo(Echo { text }: Echo, State(probe): State<Probe>) -> String {
    probe.note(format!("echo {text}"));
    text
}

/// Sleeps, then answers how long.
#[derive(Deserialize, JsonSchema)]
struct Slow {
    ms: u32,
}

async fn slow(Slow { ms }: Slow, exchange: Exchange, State(probe): State<Probe>) -> String {
    let guard = probe.guard("slow began", "slow stopped");
    let third = Duration::from_millis(ms.into()) / 3;
    exchange.progress(0.0, 1.0).await;
    sleep(third).await;
    exchange.progress(1.0 / 3.0, 1.0).await;
    exchange.progress(1.0 / 3.0, 1.0).await;
    sleep(third).await;
    exchange
        .progress_message(2.0 / 3.0, 1.0, "two thirds")
        .await;
    sleep(third).await;
    exchange.progress(1.0, 1.0).await;
    guard.disarm();
    probe.note("slow done");
    ms.to_string()
}

/// Answers with the number it is given.
#[derive(Deserialize, JsonSchema)]
struct Rows {
    max: u32,
}

async fn rows(Rows { max }: Rows, State(probe): State<Probe>) -> String {
    probe.note(format!("rows {max}"));
    max.to_string()
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

async fn boom() -> String {
    panic!("{SECRET}")
}

/// Panics before there is a future.
fn boom_early((): ()) -> std::future::Ready<String> {
    panic!("{SECRET}")
}

async fn boom_later() -> String {
    sleep(Duration::from_millis(5)).await;
    panic!("{SECRET}")
}

#[derive(Deserialize, JsonSchema)]
struct Report {
    fail: bool,
    #[serde(default)]
    misfit: bool,
}

#[derive(Serialize, JsonSchema)]
struct Reported {
    #[schemars(range(min = 0, max = 100))]
    value: i64,
}

async fn report(Report { fail, misfit }: Report) -> Result<Json<Reported>, HandlerError> {
    if fail {
        return Err(HandlerError::tell("there is nothing to report"));
    }
    Ok(Json(Reported {
        value: if misfit { -1 } else { 42 },
    }))
}

/// Fails, and says so in two ways.
async fn failed() -> Result<CallToolResult, HandlerError> {
    let said = RawJson::from_value(&json!({"code": 7, "message": "denied"}))?;
    Ok(CallToolResult::error("denied").structured_content(said))
}

/// Waits until it is stopped.
async fn hold((): (), exchange: Exchange, State(probe): State<Probe>) -> String {
    let _guard = probe.guard("hold began", "hold stopped");
    exchange.progress(1.0, None).await;
    std::future::pending().await
}

async fn limited((): (), State(probe): State<Probe>) -> String {
    let _guard = probe.guard("limited began", "limited stopped");
    std::future::pending().await
}

/// Reports progress, as often as asked.
#[derive(Deserialize, JsonSchema)]
struct Chatty {
    n: u32,
}

async fn chatty(Chatty { n }: Chatty, exchange: Exchange) -> String {
    for step in 1..=n {
        exchange.progress(step.into(), None).await;
    }
    n.to_string()
}

/// Logs at four levels.
async fn journal((): (), exchange: Exchange) -> &'static str {
    for level in [
        LoggingLevel::Debug,
        LoggingLevel::Info,
        LoggingLevel::Warning,
        LoggingLevel::Error,
    ] {
        exchange
            .log_as("journal", level, json!({"said": "it"}))
            .await;
    }
    "logged"
}

async fn internal() -> Result<String, HandlerError> {
    Err(std::io::Error::other(SECRET))?
}

/// Answers with every kind of content.
async fn everything() -> Vec<ContentBlock> {
    vec![
        ContentBlock::text("世界"),
        ContentBlock::image("AA==", "image/png"),
        ContentBlock::audio("AA==", "audio/wav"),
        ContentBlock::resource_link("test://motd", "motd"),
        ContentBlock::resource(ResourceContents::text("test://motd", "Be kind.")),
    ]
}

/// Answers with what is known of the client.
async fn client((): (), exchange: Exchange) -> Result<CallToolResult, HandlerError> {
    let known = json!({
        "version": exchange.protocol_version().as_str(),
        "name": exchange.client_info().map(|info| info.name),
        "elicitation": exchange.client_capabilities().elicitation.is_some(),
    });
    Ok(CallToolResult::text(known.to_string()))
}

/// Answers with its arguments, three of which are mirrored into headers.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Regional {
    #[schemars(extend("x-mcp-header" = "Region"))]
    region: Option<String>,
    #[schemars(extend("x-mcp-header" = "Level"))]
    level: i32,
    #[serde(default)]
    #[schemars(extend("x-mcp-header" = "Dry"))]
    dry: bool,
}

async fn regional(regional: Regional, State(probe): State<Probe>) -> Result<String, HandlerError> {
    probe.note("regional");
    Ok(serde_json::to_string(&regional)?)
}

/// Blocks its thread until the test says so.
fn crunch(gate: &Probe) -> &'static str {
    for _ in 0..1000 {
        if gate.has("release") {
            return "released";
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    "never released"
}

/// Greets a city.
#[derive(Deserialize, JsonSchema)]
struct Greet {
    /// The city to greet.
    city: String,
    /// How often.
    times: Option<u8>,
    /// Whether to shout.
    #[serde(default)]
    loud: bool,
}

async fn greet(Greet { city, times, loud }: Greet) -> String {
    format!("{city} {} {loud}", times.unwrap_or(1))
}

#[derive(Deserialize, JsonSchema)]
struct Fuse {
    #[serde(rename = "fuse")]
    _fuse: Option<String>,
}

fn prompts(builder: RegistryBuilder) -> RegistryBuilder {
    builder
        .prompt(
            prompt("greet", greet)
                .title("Greet")
                .suggest("city", (0..250).map(|n| format!("city-{n:03}")))
                .complete("times", async |query: CompletionQuery, _| {
                    let city = query.arguments.get("city").cloned();
                    vec![city.unwrap_or_else(|| "unknown".to_owned())]
                }),
        )
        .prompt(prompt("simple", async || "Be brief."))
        .prompt(
            prompt("boom", async |_: Fuse| boom().await)
                .complete("fuse", async |_, _| -> Vec<String> { panic!("{SECRET}") }),
        )
}

#[derive(Deserialize, JsonSchema)]
struct Document {
    name: String,
}

async fn document(
    Document { name }: Document,
    State(probe): State<Probe>,
) -> Result<&'static str, HandlerError> {
    probe.note(format!("document {name}"));
    match name.as_str() {
        "café menu.txt" => Ok("Soup of the day."),
        "100%.txt" => Ok("All of it."),
        _ => Err(HandlerError::not_found()),
    }
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Search {
    q: Option<String>,
    limit: Option<u32>,
}

fn resources(builder: RegistryBuilder) -> RegistryBuilder {
    builder
        .resource(
            resource("test://motd", async || "Be kind.")
                .title("Message of the day")
                .mime_type("text/markdown")
                .cache(Duration::from_secs(60), CacheScope::Public),
        )
        .resource(resource("test://bytes", async || vec![0xFB_u8, 0xFF, 0xFE]))
        .resource(resource("test://boom", boom))
        .resource(resource("test://internal", internal))
        .template(
            template("file:///docs/{name}", document)
                .name("docs")
                .suggest("name", ["café menu.txt", "100%.txt"]),
        )
        .template(
            template("search://items{?q,limit}", async |search: Search| {
                Json(search)
            })
            .name("search"),
        )
}
