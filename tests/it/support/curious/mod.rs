//! A server whose handlers ask: its user, the model and the roots of its client.

mod kinds;
mod misuses;

use std::time::Duration;

use mcp_core::{
    CompletionQuery, Elicited, Exchange, HandlerError, Registry, RegistryBuilder, ServerConfig,
    State, prompt, resource, template, tool, types::ContentBlock,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

pub(crate) use kinds::{rooted, sampled};

use super::{pending::accept, probe::Probe};

/// What the step of `interview` comes to, which no client may read before the end.
pub(crate) const STEP: &str = "reserved-4711";
/// What `interview` remembers, which no client may ever read.
pub(crate) const MEMORY: &str = "remembered-0815";
/// Where `visit` sends its user.
pub(crate) const URL: &str = "https://example.com/pay";

/// Everything that a client can declare.
pub(crate) fn capable() -> Value {
    json!({
        "elicitation": {"form": {}, "url": {}},
        "sampling": {"tools": {}, "context": {}},
        "roots": {},
    })
}

pub(crate) fn with(probe: &Probe, config: ServerConfig) -> Registry {
    builder(probe).build(config).unwrap()
}

pub(crate) fn builder(probe: &Probe) -> RegistryBuilder {
    asking(Registry::builder("curious", "1.0.0").state(probe.clone()))
}

/// Those handlers beside others.
pub(crate) fn asking(builder: RegistryBuilder) -> RegistryBuilder {
    let builder = builder
        .tool(tool("interview", interview).asks())
        .tool(tool("transfer", transfer).asks())
        .tool(tool("refund", transfer).asks())
        .tool(tool("transfer_once", transfer).asks().single_use())
        .tool(tool("quiet", transfer))
        .tool(tool("sounds", sounds).asks())
        .tool(tool("bulky", bulky).asks())
        .tool(tool("bulky_once", bulky).asks().single_use())
        .tool(tool("slow_once", slow_once).asks().single_use())
        .prompt(prompt("about", about))
        .prompt(prompt("completed", greet).complete("name", completed))
        .resource(resource("asked://town", about))
        .template(template("asked://{name}/town", about_named));
    misuses::register(kinds::register(builder))
}

#[derive(Deserialize, JsonSchema)]
struct Text {
    text: String,
}

/// A form with one text, filled in.
pub(crate) fn filled(text: &str) -> Value {
    accept(json!({"text": text}))
}

fn text(answer: Elicited<Text>) -> String {
    match answer {
        Elicited::Accepted(Text { text }) => text,
        Elicited::Declined => "declined".to_owned(),
        Elicited::Cancelled => "cancelled".to_owned(),
    }
}

/// Three questions, one after another, and a step in between.
async fn interview(
    (): (),
    exchange: Exchange,
    State(probe): State<Probe>,
) -> Result<String, HandlerError> {
    probe.note("ran");
    let name = text(exchange.elicit("name", "What is your name?").await?);
    let step = async {
        probe.note("step");
        Ok(STEP.to_owned())
    };
    let number: String = exchange.once("number", step).await?;
    exchange.remember(&MEMORY)?;
    let message = format!("Where do you live, {name}?");
    let town = text(exchange.elicit("town", message).await?);
    let trade = text(exchange.elicit("trade", "What do you do?").await?);
    let memory: Option<String> = exchange.recall()?;
    assert_eq!(memory.as_deref(), Some(MEMORY));
    Ok(format!("{number}: {name}, {town}, {trade}"))
}

/// Sends money, if the user agrees.
#[derive(Deserialize, JsonSchema)]
struct Transfer {
    amount: u32,
}

#[derive(Deserialize, JsonSchema)]
struct Confirm {
    confirm: bool,
}

async fn transfer(
    Transfer { amount }: Transfer,
    exchange: Exchange,
    State(probe): State<Probe>,
) -> Result<String, HandlerError> {
    probe.note("ran");
    let message = format!("Send {amount}?");
    let said = match exchange.elicit("confirm", message).await? {
        Elicited::Accepted(Confirm { confirm: true }) => {
            probe.note(format!("sent {amount}"));
            format!("sent {amount}")
        }
        Elicited::Accepted(_) => "kept".to_owned(),
        Elicited::Declined => "declined".to_owned(),
        Elicited::Cancelled => "cancelled".to_owned(),
    };
    Ok(said)
}

/// Does its work when the test notes `go on`.
async fn slow_once(
    (): (),
    exchange: Exchange,
    State(probe): State<Probe>,
) -> Result<String, HandlerError> {
    let said = text(exchange.elicit("said", "What is it?").await?);
    let guard = probe.guard("began", "stopped");
    while !probe.has("go on") {
        tokio::time::sleep(Duration::from_millis(3)).await;
    }
    guard.disarm();
    probe.note("done");
    Ok(format!("{said} {}", probe.count("done")))
}

/// Answers with the revision, and a sound where the revision has sounds.
async fn sounds((): (), exchange: Exchange) -> Result<Vec<ContentBlock>, HandlerError> {
    text(exchange.elicit("name", "What is your name?").await?);
    let version = exchange.protocol_version();
    let sound = ContentBlock::audio("AA==", "audio/wav");
    Ok(vec![ContentBlock::text(version.as_str()), sound])
}

/// Remembers more than travels.
async fn bulky(
    (): (),
    exchange: Exchange,
    State(probe): State<Probe>,
) -> Result<String, HandlerError> {
    let kept: Option<String> = exchange.recall()?;
    exchange.remember(&"x".repeat(40_000))?;
    let name = text(exchange.elicit("name", "What is your name?").await?);
    let town = text(exchange.elicit("town", "Where do you live?").await?);
    probe.note("done");
    Ok(format!("{name}, {town}, {}", kept.map_or(0, |it| it.len())))
}

async fn about(
    (): (),
    exchange: Exchange,
    State(probe): State<Probe>,
) -> Result<String, HandlerError> {
    probe.note("ran");
    let town = text(exchange.elicit("town", "Which town?").await?);
    Ok(format!("About {town}."))
}

#[derive(Deserialize, JsonSchema)]
struct Named {
    name: String,
}

async fn about_named(Named { name }: Named, exchange: Exchange) -> Result<String, HandlerError> {
    let town = text(exchange.elicit("town", "Which town?").await?);
    Ok(format!("{name} of {town}."))
}

async fn greet(Named { name }: Named) -> String {
    name
}

/// A completion cannot ask, wherever it is asked for.
async fn completed(_: CompletionQuery, exchange: Exchange) -> Result<Vec<String>, HandlerError> {
    Ok(vec![text(exchange.elicit("town", "Which town?").await?)])
}

/// A request of a client that can be asked everything.
pub(crate) fn able(id: impl Into<Value>, method: &str, mut params: Value) -> String {
    params["_meta"] = super::meta();
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = capable();
    super::legacy(id, method, params)
}

/// What a client with an answer to everything says.
pub(crate) fn anything(question: &Value) -> Value {
    let params = &question["params"];
    match question["method"].as_str().unwrap() {
        "sampling/createMessage" => sampled(if params.get("tools").is_some() {
            "tools"
        } else {
            "model"
        }),
        "roots/list" => json!({"roots": [{"uri": "file:///r"}]}),
        _ if params["mode"] == "url" => json!({"action": "accept"}),
        _ => filled("form"),
    }
}

/// A tool's result that its user has confirmed.
pub(crate) fn confirmed(_: &Value) -> Value {
    accept(json!({"confirm": true}))
}
