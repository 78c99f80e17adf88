//! rmcp as client of the fixture server, one line for each check.
//!
//! `interop-rmcp --era DATE|modern --http|--stateless|--auth URL` or `… --stdio PROGRAM`; a date asks
//! for that revision in the handshake, `modern` asks by `server/discover`. `--stateless` is a server
//! without sessions, `--auth` one that wants a token: there the checks are about logging in.

#![expect(
    deprecated,
    reason = "logging, resources/subscribe, sampling and roots are deprecated, and still served"
)]

mod account;
mod asking;
mod checks;
mod login;
mod peer;
mod person;
mod proxy;
mod sessions;
mod target;

use std::env;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use target::{Target, Transport};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    match tokio::time::timeout(Duration::from_secs(120), run(&words)).await {
        Ok(Ok(0)) => return ExitCode::SUCCESS,
        Ok(Ok(_)) => {}
        Ok(Err(error)) => println!("FAIL connection: {error:#}"),
        Err(_) => println!("FAIL time: the client is not done after two minutes"),
    }
    ExitCode::FAILURE
}

/// Runs every check and gives the number of those that failed.
async fn run(words: &[String]) -> Result<usize> {
    let target = Target::parse(words)?;
    if target.transport == Transport::Auth {
        return Ok(login::run(&target).await);
    }
    let peer = target.connect().await?;
    let failures = checks::run(&peer).await;
    peer.client.cancel().await?;
    Ok(failures + sessions::run(&target).await + asking::run(&target).await)
}

/// Prints how a check went; gives 1 where it failed.
async fn report(name: &str, check: impl Future<Output = Result<()>>) -> usize {
    let checked = tokio::time::timeout(Duration::from_secs(15), check).await;
    match checked.unwrap_or_else(|_| Err(anyhow::anyhow!("it takes too long"))) {
        Ok(()) => {
            println!("ok {name}");
            0
        }
        Err(error) => {
            println!("FAIL {name}: {error:#}");
            1
        }
    }
}
