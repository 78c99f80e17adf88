//! Tools that tell the client something before they answer.

use std::time::Duration;

use mcp_core::{Exchange, RegistryBuilder, tool, types::LoggingLevel};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::time::sleep;

pub(crate) fn register(builder: RegistryBuilder) -> RegistryBuilder {
    builder
        .tool(tool("test_tool_with_progress", progress).description("Reports progress."))
        .tool(tool("test_tool_with_logging", logging).description("Sends log messages."))
        .tool(
            tool("test_logging_tool", log_once)
                .description("Sends a log message to a client that asked for them."),
        )
        .tool(tool("slow", slow))
        .tool(tool("chatty", chatty))
}

async fn progress((): (), exchange: Exchange) -> &'static str {
    for step in [0.0, 50.0] {
        exchange.progress(step, 100.0).await;
        sleep(STEP).await;
    }
    exchange.progress(100.0, 100.0).await;
    "progress was reported"
}

async fn logging((): (), exchange: Exchange) -> &'static str {
    exchange
        .log(LoggingLevel::Info, "Tool execution started")
        .await;
    sleep(STEP).await;
    exchange
        .log(LoggingLevel::Info, "Tool processing data")
        .await;
    sleep(STEP).await;
    exchange
        .log(LoggingLevel::Info, "Tool execution completed")
        .await;
    "three messages were logged"
}

async fn log_once((): (), exchange: Exchange) -> &'static str {
    let logger = "test_logging_tool";
    exchange
        .log_as(logger, LoggingLevel::Info, "a message")
        .await;
    "a message was logged"
}

/// Sleeps, reporting progress meanwhile, then answers how long.
#[derive(Deserialize, JsonSchema)]
struct Slow {
    /// Milliseconds to sleep.
    ms: u32,
}

async fn slow(Slow { ms }: Slow, exchange: Exchange) -> String {
    let third = Duration::from_millis(ms.into()) / 3;
    exchange.progress(0.0, 1.0).await;
    sleep(third).await;
    // The second of these does not rise, and is not sent.
    exchange.progress(1.0 / 3.0, 1.0).await;
    exchange.progress(1.0 / 3.0, 1.0).await;
    sleep(third).await;
    exchange.progress(2.0 / 3.0, 1.0).await;
    sleep(third).await;
    exchange.progress(1.0, 1.0).await;
    ms.to_string()
}

/// Sends log messages and reports progress, as often as asked.
#[derive(Deserialize, JsonSchema)]
struct Chatty {
    /// How many of each.
    n: u32,
}

async fn chatty(Chatty { n }: Chatty, exchange: Exchange) -> String {
    for step in 1..=n {
        exchange
            .log_as("chatty", LoggingLevel::Info, format!("message {step}"))
            .await;
        let sentence = format!("{step} of {n}");
        exchange
            .progress_message(step.into(), f64::from(n), sentence)
            .await;
    }
    n.to_string()
}

const STEP: Duration = Duration::from_millis(50);
