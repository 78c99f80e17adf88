//! The smallest useful server: a tool, a resource and a prompt, over HTTP or `--stdio`.

use mcp_core::{
    HandlerError, RegisterError, Registry, ServerConfig, SessionMode, prompt, resource, tool,
};
use schemars::JsonSchema;
use serde::Deserialize;

/// Add two numbers.
#[derive(Deserialize, JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

async fn add(Add { a, b }: Add) -> Result<String, HandlerError> {
    let sum = a.checked_add(b).map(|sum| sum.to_string());
    sum.ok_or_else(|| HandlerError::tell("the sum is too large"))
}

/// Greet a city.
#[derive(Deserialize, JsonSchema)]
struct Greet {
    /// The city to greet.
    city: String,
}

async fn greet(Greet { city }: Greet) -> String {
    format!("Write a greeting to {city}.")
}

fn registry() -> Result<Registry, RegisterError> {
    let mut config = ServerConfig::default();
    // `curl` may call without opening a session first.
    config.sessions.mode = SessionMode::Optional;
    Registry::builder("quickstart", env!("CARGO_PKG_VERSION"))
        .tool(tool("add", add))
        .resource(resource("demo://motd", async || "Be kind.").description("Message of the day."))
        .prompt(prompt("greet", greet).suggest("city", ["Lisbon", "London", "Oslo"]))
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
            eprintln!("usage: quickstart [--bind ADDR:PORT | --stdio]");
            std::process::exit(2);
        }
    };
    let endpoint = mcp_http_actix::Endpoint::new(registry()?);
    let server = mcp_http_actix::bind(endpoint, address, "/mcp")?;
    let url = server.url();
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":2,"b":3}}}"#;
    eprintln!("Give a client this address: {url}\nOr call a tool by hand:\n");
    eprintln!("  curl {url} -H 'Content-Type: application/json' -d '{call}'");
    Ok(server.run().await?)
}
