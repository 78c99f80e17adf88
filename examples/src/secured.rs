//! A server for strangers: everybody logs in, keeps notes of his own, and writes with a scope.
//!
//! Without `--issuer` it makes two tokens to try it with; with it, clients log in there. The guide
//! is `docs/internet.md`.

use std::{
    collections::HashMap,
    error::Error,
    process::ExitCode,
    sync::{Arc, Mutex, PoisonError},
};

use mcp_auth::JwtVerifier;
use mcp_core::{
    HandlerError, KeyRing, Principal, Registry, ServerConfig, SessionMode, State,
    auth::{Authorization, Bearer, ProtectedResource, StaticTokens},
    tool,
};
use mcp_http_actix::Endpoint;
use schemars::JsonSchema;
use serde::Deserialize;

/// Notes by whose they are: what identifies a principal is the same with each of its tokens.
#[derive(Debug, Clone, Default)]
struct Notes(Arc<Mutex<HashMap<String, String>>>);

/// Keep a note, in place of the last one.
#[derive(Deserialize, JsonSchema)]
struct Write {
    text: String,
}

/// Read the note that you have kept.
async fn read((): (), of: Principal, State(notes): State<Notes>) -> Result<String, HandlerError> {
    let notes = notes.0.lock().unwrap_or_else(PoisonError::into_inner);
    let note = notes.get(&of.identity()).cloned();
    note.ok_or_else(|| HandlerError::tell("there is no note yet"))
}

async fn write(Write { text }: Write, of: Principal, State(notes): State<Notes>) -> String {
    let mut notes = notes.0.lock().unwrap_or_else(PoisonError::into_inner);
    notes.insert(of.identity(), text);
    format!("Kept for {}.", of.subject)
}

fn registry() -> Result<Registry, Box<dyn Error>> {
    let mut config = ServerConfig::default();
    // `curl` may call without opening a session first.
    config.sessions.mode = SessionMode::Optional;
    // The same for every worker, and after a restart: `openssl rand -base64 48`.
    if let Ok(secret) = std::env::var("MCP_SECRET") {
        config.keys = Some(KeyRing::new([secret])?);
    }
    let registry = Registry::builder("secured", env!("CARGO_PKG_VERSION"))
        .state(Notes::default())
        .tool(tool("read", read).description("Read the note that you have kept."))
        .tool(tool("write", write).scopes(["notes:write"]))
        .build(config)?;
    Ok(registry)
}

/// Who may call: everybody whose token is for this server and good for `notes:read`.
fn of_issuer(issuer: &str, public_url: &str) -> Result<Authorization, Box<dyn Error>> {
    let verifier = JwtVerifier::builder().audience(public_url).discover(issuer);
    let authorization = Authorization::builder()
        .policy(Bearer::new(verifier.build()?))
        .resource(ProtectedResource::new(public_url).authorization_server(issuer))
        .require(["notes:read"]);
    Ok(authorization.build()?)
}

/// The same with two tokens, of which one may read alone.
fn of_tokens(tokens: &[String; 2]) -> Result<Authorization, Box<dyn Error>> {
    let [reader, writer] = tokens;
    let reading = Principal::new("secured", "reader").scopes(["notes:read"]);
    let writing = Principal::new("secured", "writer").scopes(["notes:read", "notes:write"]);
    let known = StaticTokens::new()
        .token(reader, reading)
        .token(writer, writing);
    let authorization = Authorization::builder()
        .policy(Bearer::new(known))
        .require(["notes:read"]);
    Ok(authorization.build()?)
}

/// A token that nobody guesses.
fn token() -> String {
    format!("{:032x}", rand::random::<u128>())
}

/// What the command line asks for.
struct Flags {
    bind: String,
    public_url: Option<String>,
    issuer: Option<String>,
}

impl Flags {
    fn parse(mut words: impl Iterator<Item = String>) -> Option<Self> {
        let mut flags = Self {
            bind: "127.0.0.1:8080".to_owned(),
            public_url: None,
            issuer: None,
        };
        while let Some(flag) = words.next() {
            match flag.as_str() {
                "--bind" => flags.bind = words.next()?,
                "--public-url" => flags.public_url = Some(words.next()?),
                "--issuer" => flags.issuer = Some(words.next()?),
                _ => return None,
            }
        }
        (flags.public_url.is_some() == flags.issuer.is_some()).then_some(flags)
    }
}

#[expect(clippy::print_stderr, reason = "its user reads it")]
#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let Some(flags) = Flags::parse(std::env::args().skip(1)) else {
        eprintln!("usage: secured [--bind ADDR:PORT] [--public-url URL --issuer URL]");
        return ExitCode::from(2);
    };
    match run(flags).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(flags: Flags) -> Result<(), Box<dyn Error>> {
    let endpoint = Endpoint::new(registry()?);
    if let (Some(public_url), Some(issuer)) = (&flags.public_url, &flags.issuer) {
        let endpoint = endpoint.authorization(of_issuer(issuer, public_url)?);
        let server = mcp_http_actix::bind(endpoint, &flags.bind, "/mcp")?;
        return Ok(server.run().await?);
    }
    let tokens = [token(), token()];
    let endpoint = endpoint.authorization(of_tokens(&tokens)?);
    let server = mcp_http_actix::bind(endpoint, &flags.bind, "/mcp")?;
    explain(&server.url(), &tokens);
    Ok(server.run().await?)
}

#[expect(clippy::print_stderr, reason = "it says what to do next")]
fn explain(url: &str, [reader, writer]: &[String; 2]) {
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write","arguments":{"text":"hello"}}}"#;
    eprintln!("Call it by hand, first without a token (401):\n");
    eprintln!("  curl -i {url} -H 'Content-Type: application/json' -d '{call}'\n");
    eprintln!("Then with one that may read alone (403), and with one that may write:\n");
    for token in [reader, writer] {
        eprintln!("  -H 'Authorization: Bearer {token}'");
    }
}
