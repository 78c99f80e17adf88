//! rmcp as client of the fixture server, one line for each check.
//!
//! `interop-rmcp --era DATE|modern --url URL` or `… --stdio PROGRAM`; a date asks for that
//! revision in the handshake, `modern` asks by `server/discover`.

#![expect(deprecated, reason = "logging is deprecated, and still served")]

mod checks;

use std::env;
use std::process::{ExitCode, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rmcp::model::{
    ClientCapabilities, ClientConfig, Implementation, LoggingMessageNotificationParam,
    ProgressNotificationParam, ProtocolVersion,
};
use rmcp::service::{NotificationContext, RunningService};
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, RoleClient};
use tokio::process::Command;

/// A connected client, and how it got there.
struct Peer {
    client: RunningService<RoleClient, Handler>,
    era: Era,
    heard: Heard,
}

/// The revision to speak.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Era {
    Handshake(String),
    Modern,
}

/// What the server said unasked.
#[derive(Debug, Clone, Default)]
struct Heard {
    logs: Arc<Mutex<Vec<String>>>,
    steps: Arc<Mutex<Vec<(f64, Option<f64>)>>>,
}

struct Handler {
    config: ClientConfig,
    heard: Heard,
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        self.config.clone()
    }

    async fn on_progress(
        &self,
        step: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        if let Ok(mut steps) = self.heard.steps.lock() {
            steps.push((step.progress, step.total));
        }
    }

    async fn on_logging_message(
        &self,
        message: LoggingMessageNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        if let Ok(mut logs) = self.heard.logs.lock() {
            logs.push(message.data.to_string());
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let all = async {
        match connect().await {
            Ok(peer) => checks::run(&peer).await,
            Err(error) => {
                println!("FAIL connection: {error:#}");
                1
            }
        }
    };
    match tokio::time::timeout(Duration::from_secs(120), all).await {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(_) => {
            println!("FAIL time: the client is not done after two minutes");
            ExitCode::FAILURE
        }
    }
}

async fn connect() -> Result<Peer> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [era_flag, era, flag, target] = arguments.as_slice() else {
        bail!("usage: --era ERA --url URL|--stdio PROGRAM");
    };
    let era = match (era_flag.as_str(), era.as_str()) {
        ("--era", "modern") => Era::Modern,
        ("--era", date) => Era::Handshake(date.to_owned()),
        (other, _) => bail!("--era comes first, not {other}"),
    };
    let heard = Heard::default();
    let handler = Handler {
        config: config(&era)?,
        heard: heard.clone(),
    };
    let lifecycle = match era {
        Era::Handshake(_) => ClientLifecycleMode::Initialize,
        Era::Modern => ClientLifecycleMode::Discover {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        },
    };
    let client = match flag.as_str() {
        "--url" => {
            let transport = StreamableHttpClientTransport::from_uri(target.as_str());
            handler.serve_with_lifecycle(transport, lifecycle).await
        }
        "--stdio" => {
            let mut command = Command::new(target);
            command.arg("--stdio");
            let child = TokioChildProcess::builder(command).stderr(Stdio::null());
            let (transport, _) = child.spawn()?;
            handler.serve_with_lifecycle(transport, lifecycle).await
        }
        other => bail!("--url or --stdio, not {other}"),
    };
    Ok(Peer {
        client: client.context("cannot connect")?,
        era,
        heard,
    })
}

fn config(era: &Era) -> Result<ClientConfig> {
    let client = Implementation::new("interop", "1");
    let config = ClientConfig::new(ClientCapabilities::default(), client);
    let Era::Handshake(date) = era else {
        return Ok(config);
    };
    let known = ProtocolVersion::KNOWN_VERSIONS;
    let version = known.iter().find(|version| version.as_str() == date);
    let version = version.with_context(|| format!("rmcp knows no {date}"))?;
    Ok(config.with_protocol_version(version.clone()))
}
