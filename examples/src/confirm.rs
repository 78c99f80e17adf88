//! One handler that asks before it acts, for clients of every age, over HTTP or `--stdio`.

use mcp_core::{
    Elicited, Exchange, HandlerError, RegisterError, Registry, ServerConfig, SessionMode, tool,
};
use schemars::JsonSchema;
use serde::Deserialize;

/// Delete a file, if the user agrees.
#[derive(Deserialize, JsonSchema)]
struct Delete {
    /// The file to delete.
    file: String,
}

#[derive(Deserialize, JsonSchema)]
struct Confirm {
    /// Delete it for good?
    sure: bool,
}

async fn delete(Delete { file }: Delete, exchange: Exchange) -> Result<String, HandlerError> {
    let question = format!("Delete {file}? This cannot be undone.");
    match exchange.elicit::<Confirm>("confirm", question).await? {
        Elicited::Accepted(Confirm { sure: true }) => Ok(format!("{file} is deleted.")),
        _ => Ok(format!("{file} is still there.")),
    }
}

fn registry() -> Result<Registry, RegisterError> {
    let mut config = ServerConfig::default();
    // `curl` may call without opening a session first.
    config.sessions.mode = SessionMode::Optional;
    Registry::builder("confirm", env!("CARGO_PKG_VERSION"))
        .tool(tool("delete", delete).asks().single_use())
        .build(config)
}

#[expect(clippy::print_stderr, reason = "it says what to do next")]
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let address = match *arguments {
        ["--stdio"] => return Ok(mcp_stdio::serve(registry()?).await?),
        [] => "127.0.0.1:8080",
        ["--bind", address] => address,
        _ => {
            eprintln!("usage: confirm [--bind ADDR:PORT | --stdio]");
            std::process::exit(2);
        }
    };
    let endpoint = mcp_http_actix::Endpoint::new(registry()?);
    let server = mcp_http_actix::bind(endpoint, address, "/mcp")?;
    eprintln!("Give a client this address: {}", server.url());
    Ok(server.run().await?)
}
