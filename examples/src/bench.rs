//! The contestant of the performance yardstick: small tools, and as many fillers as asked.

use std::{error::Error, process::ExitCode, sync::Arc};

use mcp_core::{
    Change, Elicited, Exchange, HandlerError, MemoryStore, RegisterError, Registry, ServerConfig,
    SessionMode, ToolSpec, tool,
};
use mcp_http_actix::Endpoint;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

#[expect(clippy::print_stderr, reason = "its user reads it")]
#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let flags = match Flags::parse(std::env::args().skip(1)) {
        Ok(flags) => flags,
        Err(problem) => {
            eprintln!("{problem}\nusage: bench [--port P] [--tools N] [--workers N] [--stdio]");
            return ExitCode::from(2);
        }
    };
    match run(&flags).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(flags: &Flags) -> Result<(), Box<dyn Error>> {
    let registry = registry(flags.tools)?;
    if flags.stdio {
        return Ok(mcp_stdio::serve(registry).await?);
    }
    let address = format!("127.0.0.1:{}", flags.port);
    let server = mcp_http_actix::bind(Endpoint::new(registry), &address, "/mcp")?;
    Ok(server.workers(flags.workers).run().await?)
}

fn registry(tools: usize) -> Result<Registry, RegisterError> {
    let mut builder = Registry::builder("ours", "1.0.0")
        .tool(tool("echo", echo))
        .tool(tool("add", add))
        .tool(tool("ask", ask))
        .tool(
            tool("publish", publish).description("Tell every listener that the tool list changed"),
        );
    for number in 4..tools {
        builder = builder.tool(filler_tool(number));
    }
    let mut config = ServerConfig::default();
    config.sessions.mode = SessionMode::Optional;
    config.store = Some(Arc::new(
        MemoryStore::new().max_entries(1 << 20).max_bytes(1 << 30),
    ));
    builder.build(config)
}

/// Send the message back
#[derive(Deserialize, JsonSchema)]
struct Echo {
    /// The text to send back
    message: String,
}

async fn echo(Echo { message }: Echo) -> String {
    message
}

/// Add two integers
#[derive(Deserialize, JsonSchema)]
struct Add {
    /// First number
    a: i64,
    /// Second number
    b: i64,
}

async fn add(Add { a, b }: Add) -> Result<String, HandlerError> {
    let sum = a.checked_add(b).map(|sum| sum.to_string());
    sum.ok_or_else(|| HandlerError::tell("the sum is too large"))
}

/// Ask for a name, then answer with it
#[derive(Deserialize, JsonSchema)]
struct Ask {
    /// What to ask about
    topic: String,
}

#[derive(Deserialize, JsonSchema)]
struct Name {
    name: String,
}

async fn ask(Ask { topic }: Ask, exchange: Exchange) -> Result<String, HandlerError> {
    let topic = exchange.recall()?.unwrap_or(topic);
    exchange.remember(&topic)?;
    let answer = exchange
        .elicit::<Name>("answer", "What is your name?")
        .await?;
    match answer {
        Elicited::Accepted(Name { name }) => Ok(format!("{topic}:{name}")),
        _ => Err(HandlerError::tell("nobody said a name")),
    }
}

async fn publish((): (), exchange: Exchange) -> &'static str {
    exchange.registry().announce(Change::Tools);
    "published"
}

#[derive(Deserialize, JsonSchema)]
struct Filler {
    text: String,
    #[serde(default = "one")]
    count: i64,
    #[serde(default)]
    flag: bool,
}

fn one() -> i64 {
    1
}

async fn filler(Filler { text, count, flag }: Filler) -> String {
    format!("{text} {count} {flag}")
}

/// A tool whose listing has the bytes of every other contestant's.
fn filler_tool(number: usize) -> ToolSpec {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "text": {"type": "string", "description": "Some text"},
            "count": {"type": "integer", "description": "How often", "default": 1},
            "flag": {"type": "boolean", "description": "Whether to", "default": false},
        },
        "required": ["text"],
    });
    tool(format!("tool_{number:03}"), filler)
        .description(format!("Filler tool number {number} of the listing"))
        .input_schema(schema)
}

/// What the command line asks for.
#[derive(Debug)]
struct Flags {
    port: u16,
    tools: usize,
    workers: usize,
    stdio: bool,
}

impl Flags {
    /// Reads the words after the program's name.
    fn parse(words: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut flags = Self {
            port: 8080,
            tools: 4,
            workers: 1,
            stdio: false,
        };
        let mut words = words.into_iter();
        while let Some(flag) = words.next() {
            let value = || words.next().ok_or_else(|| format!("{flag} needs a number"));
            match flag.as_str() {
                "--port" => flags.port = number(value)?,
                "--tools" => flags.tools = number(value)?,
                "--workers" => flags.workers = number(value)?,
                "--stdio" => flags.stdio = true,
                _ => return Err(format!("unknown flag {flag:?}")),
            }
        }
        Ok(flags)
    }
}

fn number<T: std::str::FromStr>(
    value: impl FnOnce() -> Result<String, String>,
) -> Result<T, String> {
    let value = value()?;
    value
        .parse()
        .map_err(|_| format!("{value:?} is no number that fits"))
}

#[cfg(test)]
mod tests {
    use super::{Flags, registry};

    #[test]
    fn builds_with_fillers() {
        for tools in [0, 4, 100] {
            registry(tools).unwrap();
        }
    }

    #[test]
    fn reads_its_flags() {
        let parse = |words: &str| Flags::parse(words.split_whitespace().map(str::to_owned));
        let flags = parse("--port 9 --tools 100 --workers 2 --stdio").unwrap();
        let given = (flags.port, flags.tools, flags.workers, flags.stdio);
        assert_eq!(given, (9, 100, 2, true));
        for wrong in ["--port", "--port 65536", "--what"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
