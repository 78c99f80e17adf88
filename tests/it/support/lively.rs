//! The fixture server with all that outlives a call: values, handles, subscriptions, streams.

use std::time::Duration;

use mcp_core::{
    Change, Exchange, HandlerError, Registry, RegistryBuilder, ServerConfig, SessionError, State,
    resource, template, tool,
};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::time::sleep;

use super::{fixture, probe::Probe};

/// Resources that can be subscribed to.
pub(crate) const WATCHED: [&str; 2] = ["watched://a", "watched://b"];
/// One that is made by a template.
pub(crate) const MADE: &str = "made://one/thing";

pub(crate) fn lively(probe: &Probe) -> Registry {
    with(probe, ServerConfig::default())
}

pub(crate) fn with(probe: &Probe, config: ServerConfig) -> Registry {
    builder(probe).build(config).unwrap()
}

pub(crate) fn builder(probe: &Probe) -> RegistryBuilder {
    fixture::builder(probe)
        .tool(tool("put", put))
        .tool(tool("get", get))
        .tool(tool("count", count))
        .tool(tool("open", open))
        .tool(tool("close", close))
        .tool(tool("steps", steps))
        .tool(tool("pause", pause))
        .tool(tool("touch_tools", touch_tools))
        .resource(resource(WATCHED[0], async || "a").subscribable())
        .resource(resource(WATCHED[1], async || "b").subscribable())
        .template(template("made://{name}/thing", made).subscribable())
}

#[derive(Deserialize, JsonSchema)]
struct Made {
    name: String,
}

async fn made(Made { name }: Made) -> String {
    name
}

/// What a session error looks like to the client.
fn told(error: SessionError) -> HandlerError {
    match error {
        SessionError::Gone => HandlerError::tell("gone"),
        SessionError::TooLarge(_) => HandlerError::tell("too large"),
        error => HandlerError::from(error),
    }
}

fn none() -> HandlerError {
    HandlerError::tell("no session")
}

/// Keeps a text.
#[derive(Deserialize, JsonSchema)]
struct Put {
    name: String,
    text: String,
}

async fn put(Put { name, text }: Put, exchange: Exchange) -> Result<&'static str, HandlerError> {
    let session = exchange.session().ok_or_else(none)?;
    session.set(&name, &text).await.map_err(told)?;
    Ok("kept")
}

#[derive(Deserialize, JsonSchema)]
struct Get {
    name: String,
}

async fn get(Get { name }: Get, exchange: Exchange) -> Result<String, HandlerError> {
    let session = exchange.session().ok_or_else(none)?;
    let text = session.get(&name).await.map_err(told)?;
    Ok(text.unwrap_or_else(|| "nothing".to_owned()))
}

/// Counts its calls.
#[derive(Deserialize, JsonSchema)]
struct Count {
    handle: Option<String>,
}

async fn count(Count { handle }: Count, exchange: Exchange) -> Result<String, HandlerError> {
    let session = match handle {
        Some(handle) => exchange.sessions().find(&handle).await.map_err(told)?,
        None => exchange.session().ok_or_else(none)?,
    };
    let next = |count: Option<u64>| Some(count.unwrap_or(0) + 1);
    let count = session.update("count", next).await.map_err(told)?;
    Ok(count.unwrap_or_default().to_string())
}

async fn open((): (), exchange: Exchange) -> Result<String, HandlerError> {
    let (handle, _) = exchange.sessions().open().await.map_err(told)?;
    Ok(handle)
}

#[derive(Deserialize, JsonSchema)]
struct Close {
    handle: String,
}

async fn close(Close { handle }: Close, exchange: Exchange) -> Result<String, HandlerError> {
    let ended = exchange.sessions().end(&handle).await.map_err(told)?;
    Ok(ended.to_string())
}

/// Reports its steps, each when the test notes `go` and its number.
#[derive(Deserialize, JsonSchema)]
struct Steps {
    n: u32,
}

async fn steps(Steps { n }: Steps, exchange: Exchange, State(probe): State<Probe>) -> String {
    let guard = probe.guard("steps began", "steps stopped");
    for step in 1..=n {
        gate(&probe, &format!("go {step}")).await;
        exchange.progress(step.into(), None).await;
    }
    gate(&probe, "go on").await;
    guard.disarm();
    probe.note("steps done");
    n.to_string()
}

/// Ends its stream, then answers when the test notes `go on`.
async fn pause((): (), exchange: Exchange, State(probe): State<Probe>) -> String {
    let closed = exchange.close_stream(Duration::from_millis(1234));
    exchange.progress(1.0, None).await;
    gate(&probe, "go on").await;
    closed.to_string()
}

/// Says that the list of tools has changed.
async fn touch_tools((): (), exchange: Exchange) -> &'static str {
    exchange.registry().announce(Change::Tools);
    "touched"
}

/// Waits until the test says so, however long; a handler that is stopped waits no more.
async fn gate(probe: &Probe, note: &str) {
    while !probe.has(note) {
        sleep(Duration::from_millis(3)).await;
    }
}
