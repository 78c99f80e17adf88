//! Handlers that wait, ask too much, or ask as they should not.

use std::time::Duration;

use mcp_core::{Elicited, Exchange, HandlerError, RegistryBuilder, State, tool};

use super::{
    Text,
    kinds::{prompted, said},
    text,
};
use crate::support::probe::Probe;

/// Handlers that wait, ask too much, or ask as they should not.
pub(super) fn register(builder: RegistryBuilder) -> RegistryBuilder {
    builder
        .tool(tool("panics_once", panics_once).asks().single_use())
        .tool(tool("patient", patient).asks())
        .tool(tool("pausing", pausing))
        .tool(tool("endless", endless).asks())
        .tool(tool("key_twice", key_twice).asks())
        .tool(tool("key_of_step", key_of_step).asks())
        .tool(tool("changing", changing).asks())
        .tool(tool("failing_step", failing_step).asks())
        .tool(tool("mixed_once", mixed_once).single_use())
}

/// Panics once it is answered.
async fn panics_once(
    (): (),
    exchange: Exchange,
    State(probe): State<Probe>,
) -> Result<String, HandlerError> {
    let said = text(exchange.elicit("said", "What is it?").await?);
    probe.note("panicked");
    panic!("{said}")
}

/// Asks, and notes when it is stopped meanwhile.
async fn patient(
    (): (),
    exchange: Exchange,
    State(probe): State<Probe>,
) -> Result<String, HandlerError> {
    let guard = probe.guard("began", "stopped");
    let said = text(exchange.elicit("said", "What is it?").await?);
    guard.disarm();
    Ok(said)
}

/// Has its client come back before it asks.
async fn pausing((): (), exchange: Exchange) -> Result<String, HandlerError> {
    let closed = exchange.close_stream(Duration::from_millis(1));
    let said = text(exchange.elicit("said", "What is it?").await?);
    assert!(closed, "it was asked where it was");
    Ok(said)
}

/// Never has enough.
async fn endless((): (), exchange: Exchange) -> Result<String, HandlerError> {
    for at in 0..100 {
        let _: Elicited<Text> = exchange
            .elicit(format!("q{at}"), format!("No. {at}?"))
            .await?;
    }
    Ok("enough".to_owned())
}

async fn key_twice((): (), exchange: Exchange) -> Result<String, HandlerError> {
    let one = text(exchange.elicit("same-key", "One?").await?);
    let two = text(exchange.elicit("same-key", "Two?").await?);
    Ok(format!("{one} {two}"))
}

async fn key_of_step((): (), exchange: Exchange) -> Result<String, HandlerError> {
    let step = async { Ok("step".to_owned()) };
    let one: String = exchange.once("same-key", step).await?;
    let two = text(exchange.elicit("same-key", "Two?").await?);
    Ok(format!("{one} {two}"))
}

/// Asks something else in each run.
async fn changing(
    (): (),
    exchange: Exchange,
    State(probe): State<Probe>,
) -> Result<String, HandlerError> {
    probe.note("ran");
    let message = format!("Run {}?", probe.count("ran"));
    Ok(text(exchange.elicit("changing-key", message).await?))
}

/// A step that fails the first time has not run.
async fn failing_step(
    (): (),
    exchange: Exchange,
    State(probe): State<Probe>,
) -> Result<String, HandlerError> {
    let step = async {
        probe.note("step");
        match probe.count("step") {
            1 => Err(HandlerError::tell("not yet")),
            count => Ok(count),
        }
    };
    let count = exchange.once("step", step).await.unwrap_or(1);
    let name = text(exchange.elicit("name", "What is your name?").await?);
    Ok(format!("{name} {count}"))
}

/// A form, then the model.
async fn mixed_once(
    (): (),
    exchange: Exchange,
    State(probe): State<Probe>,
) -> Result<String, HandlerError> {
    let name = text(exchange.elicit("name", "What is your name?").await?);
    let model = said(&exchange.sample("model", prompted()).await?);
    probe.note("done");
    Ok(format!("{name} {model}"))
}
