//! Tools that change what the server has while it runs.

use std::sync::atomic::{AtomicU64, Ordering};

use mcp_core::{Exchange, HandlerError, RegistryBuilder, prompt, tool};

pub(crate) fn register(builder: RegistryBuilder) -> RegistryBuilder {
    builder
        .tool(
            tool("test_trigger_tool_change", change_tools)
                .description("Adds a tool and removes it again."),
        )
        .tool(
            tool("test_trigger_prompt_change", change_prompts)
                .description("Adds a prompt and removes it again."),
        )
        .tool(
            tool("test_trigger_resource_update", update_resource)
                .description("Says that the watched resource has changed."),
        )
}

async fn change_tools((): (), exchange: Exchange) -> Result<&'static str, HandlerError> {
    let name = unused_name();
    let dummy = tool(&name, async || "Nothing.").description("Is about to go.");
    exchange.registry().add_tool(dummy)?;
    exchange.registry().remove_tool(&name);
    Ok("the tools changed twice")
}

async fn change_prompts((): (), exchange: Exchange) -> Result<&'static str, HandlerError> {
    let name = unused_name();
    let dummy = prompt(&name, async || "Nothing.").description("Is about to go.");
    exchange.registry().add_prompt(dummy)?;
    exchange.registry().remove_prompt(&name);
    Ok("the prompts changed twice")
}

async fn update_resource((): (), exchange: Exchange) -> &'static str {
    exchange
        .registry()
        .resource_updated("test://watched-resource");
    "the resource was updated"
}

/// A name of its own for each call: two may run at once.
fn unused_name() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("dummy_{}", NEXT.fetch_add(1, Ordering::Relaxed))
}
