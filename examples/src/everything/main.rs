//! The fixture server: everything the protocol has, for conformance suites and other clients.
//!
//! Each file has one theme and a `register`. The first tool is one that answers a call without
//! arguments, and the first resource can be read, because suites try just those.

mod asking;
mod changes;
mod content;
mod field;
mod flags;
mod forms;
mod login;
mod prompts;
mod reports;
mod resources;
mod schemas;
mod sessions;
mod writing;

use std::{error::Error, process::ExitCode};

use mcp_core::{KeyRing, Registry, ServerConfig, types::Icon};
use mcp_http_actix::Endpoint;
use tracing_subscriber::{EnvFilter, filter::LevelFilter};

use crate::flags::{Flags, USAGE};

#[expect(clippy::print_stderr, reason = "its user reads it")]
#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let flags = match Flags::parse(std::env::args().skip(1)) {
        Ok(flags) => flags,
        Err(problem) => {
            eprintln!("{problem}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    log_to_stderr();
    match run(&flags).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Standard output belongs to the protocol; `RUST_LOG` says how much is told.
fn log_to_stderr() {
    let filter = EnvFilter::builder()
        .with_default_directive(LevelFilter::WARN.into())
        .from_env_lossy();
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .init();
}

#[expect(clippy::print_stderr, reason = "programs wait for this line")]
async fn run(flags: &Flags) -> Result<(), Box<dyn Error>> {
    let registry = registry(flags)?;
    if flags.stdio {
        return Ok(mcp_stdio::serve(registry).await?);
    }
    let endpoint = endpoint(registry, flags)?;
    let mut server = mcp_http_actix::bind(endpoint, &flags.bind, "/mcp")?;
    if flags.sse {
        server = server.sse("/sse", "/messages");
    }
    eprintln!("listening on {}", server.url());
    Ok(server.run().await?)
}

fn endpoint(registry: Registry, flags: &Flags) -> Result<Endpoint, Box<dyn Error>> {
    let mut endpoint = Endpoint::new(registry);
    for host in &flags.allow_hosts {
        endpoint = endpoint.allow_host(host)?;
    }
    for origin in &flags.allow_origins {
        endpoint = endpoint.allow_origin(origin)?;
    }
    let Some(public_url) = &flags.public_url else {
        return Ok(endpoint);
    };
    endpoint = endpoint.public_url(public_url)?;
    if let Some(login) = &flags.auth {
        endpoint = endpoint.authorization(login.authorization(public_url)?);
    }
    Ok(endpoint)
}

fn registry(flags: &Flags) -> Result<Registry, Box<dyn Error>> {
    let mut config = ServerConfig::default();
    config.page_size = flags.page_size;
    config.sessions.mode = flags.sessions;
    if !flags.keys.is_empty() {
        config.keys = Some(KeyRing::new(&flags.keys)?);
    }
    let mut builder = Registry::builder(&flags.name, env!("CARGO_PKG_VERSION"))
        .title("Everything")
        .description("Everything the protocol has, to try clients and suites on.")
        .icons([picture()])
        .instructions("Call any tool: they answer, fail and misbehave on purpose.");
    for register in [
        content::register,
        reports::register,
        schemas::register,
        field::register,
        changes::register,
        sessions::register,
        asking::register,
        forms::register,
        resources::register,
        prompts::register,
        writing::register,
    ] {
        builder = register(builder);
    }
    Ok(builder.build(config)?)
}

/// A picture to show beside a name.
fn picture() -> Icon {
    let source = format!("data:image/png;base64,{}", content::PNG);
    Icon::new(source)
        .mime_type("image/png")
        .sizes(["1x1".to_owned()])
}

#[cfg(test)]
mod tests;
