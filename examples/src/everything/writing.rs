//! A tool that needs more than the others.

use std::sync::Arc;

use mcp_core::{Principal, RegistryBuilder, tool};
use schemars::JsonSchema;
use serde::Deserialize;

pub(crate) fn register(builder: RegistryBuilder) -> RegistryBuilder {
    builder.tool(
        tool("write", write)
            .description("Writes a file, for those who may, and says who did.")
            .scopes(["files:write", "audit:log"]),
    )
}

#[derive(Deserialize, JsonSchema)]
struct Write {
    /// What the file is called.
    path: String,
    /// What goes into it.
    text: String,
}

/// Nothing is written: what matters is who gets here.
async fn write(Write { path, text }: Write, principal: Option<Arc<Principal>>) -> String {
    let who = principal.as_ref().map_or("somebody", |it| &it.subject);
    format!("{who} wrote {} bytes to {path}", text.len())
}
