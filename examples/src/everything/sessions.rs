//! Tools that outlive their connection, and remember their client.

use std::time::Duration;

use mcp_core::{Exchange, HandlerError, RegistryBuilder, tool};
use schemars::JsonSchema;
use serde::Deserialize;

pub(crate) fn register(builder: RegistryBuilder) -> RegistryBuilder {
    builder
        .tool(
            tool("test_reconnection", reconnection)
                .description("Ends its stream early; the answer is fetched by a new request."),
        )
        .tool(tool("count", count).description("Counts its calls, for each session on its own."))
        .tool(
            tool("open_counter", open_counter)
                .description("Opens a session of its own, and gives the handle for `count`."),
        )
        .tool(tool("close_counter", close_counter).description("Ends the session of a handle."))
}

async fn reconnection((): (), exchange: Exchange) -> &'static str {
    // Where the client would not come back, the answer comes on the stream that it has.
    let _ = exchange.close_stream(Duration::from_millis(500));
    tokio::time::sleep(Duration::from_millis(100)).await;
    "Reconnected."
}

#[derive(Deserialize, JsonSchema)]
struct Count {
    /// The handle that `open_counter` gave; without one, the session of the connection counts.
    #[serde(default)]
    handle: Option<String>,
}

async fn count(Count { handle }: Count, exchange: Exchange) -> Result<String, HandlerError> {
    let session = match handle {
        Some(handle) => exchange.sessions().find(&handle).await.ok(),
        None => exchange.session(),
    };
    let Some(session) = session else {
        return Err(HandlerError::tell("there is no such session"));
    };
    let next = |count: Option<u64>| Some(count.unwrap_or(0) + 1);
    let count = session.update("count", next).await?;
    Ok(count.unwrap_or_default().to_string())
}

async fn open_counter((): (), exchange: Exchange) -> Result<String, HandlerError> {
    let (handle, _) = exchange.sessions().open().await?;
    Ok(handle)
}

#[derive(Deserialize, JsonSchema)]
struct Close {
    /// The handle that `open_counter` gave.
    handle: String,
}

async fn close_counter(
    Close { handle }: Close,
    exchange: Exchange,
) -> Result<&'static str, HandlerError> {
    match exchange.sessions().end(&handle).await {
        Ok(true) => Ok("ended"),
        _ => Err(HandlerError::tell("there is no such session")),
    }
}
