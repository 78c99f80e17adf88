//! What trouble from the field was met with: odd calls, panics, and results that do not fit.

use std::{
    future::Future,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use mcp_core::{
    CompletionQuery, Exchange, HandlerError, Json, PromptSpec, RegistryBuilder, ResourceSpec,
    prompt, resource, tool,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) fn register(builder: RegistryBuilder) -> RegistryBuilder {
    builder
        .tool(tool("echo", echo))
        .tool(tool("rows", rows))
        .tool(tool("now", now).description("Answers with the seconds since 1970."))
        .tool(tool("now_unit", now_unit).description("As `now`, declared with `()`."))
        .tool(tool("now_struct", now_struct))
        .tool(tool("report", report))
        .tool(tool("boom", boom).description("Panics."))
        .tool(tool("boom_later", boom_later).description("Panics after a moment."))
}

/// A resource that panics.
pub(crate) fn boom_resource() -> ResourceSpec {
    resource("test://boom", boom).description("Panics when it is read.")
}

/// A prompt that panics, and so does its completion.
pub(crate) fn boom_prompt() -> PromptSpec {
    prompt("boom", boom_of).complete("fuse", boom_suggestions)
}

/// Answers with the text it is given.
#[derive(Deserialize, JsonSchema)]
struct Echo {
    /// The text to send back.
    text: String,
}

async fn echo(Echo { text }: Echo) -> String {
    text
}

/// Answers with the number it is given.
#[derive(Deserialize, JsonSchema)]
struct Rows {
    /// The most rows to return.
    max: u32,
}

async fn rows(Rows { max }: Rows) -> String {
    max.to_string()
}

#[expect(
    clippy::disallowed_methods,
    reason = "telling the time is what it does"
)]
async fn now() -> Result<String, HandlerError> {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH)?;
    Ok(elapsed.as_secs().to_string())
}

fn now_unit((): ()) -> impl Future<Output = Result<String, HandlerError>> {
    now()
}

/// As `now`, declared with a struct that has no fields.
#[derive(Deserialize, JsonSchema)]
struct Nothing {}

fn now_struct(Nothing {}: Nothing) -> impl Future<Output = Result<String, HandlerError>> {
    now()
}

/// Reports a value from 0 to 100; or fails; or breaks its own promise, which is not passed on.
#[derive(Deserialize, JsonSchema)]
struct Report {
    /// Whether to fail.
    fail: bool,
    /// The value to report, whether it fits or not.
    value: Option<i64>,
    /// Whether to report a value that does not fit.
    #[serde(default)]
    misfit: bool,
}

#[derive(Serialize, JsonSchema)]
struct Reported {
    /// The value.
    #[schemars(range(min = 0, max = 100))]
    value: i64,
}

async fn report(
    Report {
        fail,
        value,
        misfit,
    }: Report,
) -> Result<Json<Reported>, HandlerError> {
    if fail {
        return Err(HandlerError::tell("there is nothing to report"));
    }
    let value = value.unwrap_or(if misfit { -1 } else { 42 });
    Ok(Json(Reported { value }))
}

#[expect(clippy::panic, reason = "panicking is what it does")]
async fn boom() -> String {
    panic!("{SECRET}")
}

#[expect(clippy::panic, reason = "panicking is what it does")]
async fn boom_later() -> String {
    tokio::time::sleep(Duration::from_millis(10)).await;
    panic!("{SECRET}")
}

/// Panics when it is filled in or completed.
#[derive(Deserialize, JsonSchema)]
struct Boom {
    /// Anything.
    #[serde(rename = "fuse")]
    _fuse: Option<String>,
}

fn boom_of(_: Boom) -> impl Future<Output = String> {
    boom()
}

#[expect(clippy::panic, reason = "panicking is what it does")]
async fn boom_suggestions(_query: CompletionQuery, _exchange: Exchange) -> Vec<String> {
    panic!("{SECRET}")
}

/// What no client may read.
pub(crate) const SECRET: &str = "no such file: /srv/secret/ledger.db";
