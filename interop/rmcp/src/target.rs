//! Where the server is, and how to speak to it.

use std::process::Stdio;

use anyhow::{Context, Result, bail};
use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion};
use rmcp::service::ClientInitializeError;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientLifecycleMode, ClientServiceExt};
use tokio::process::Command;

use crate::account;
use crate::peer::{Handler, Heard, Peer};
use crate::person::Person;
use crate::proxy::Proxy;

/// The revision to speak.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Era {
    Handshake(String),
    Modern,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transport {
    Http,
    /// HTTP without sessions.
    Stateless,
    /// HTTP with a server that wants a token.
    Auth,
    Stdio,
}

pub(crate) struct Target {
    pub(crate) era: Era,
    pub(crate) transport: Transport,
    /// An URL or a program.
    pub(crate) address: String,
}

impl Target {
    /// Reads `--era ERA --TRANSPORT ADDRESS`.
    pub(crate) fn parse(words: &[String]) -> Result<Self> {
        let [era_flag, era, transport, address] = words else {
            bail!("usage: --era ERA --http URL|--stateless URL|--auth URL|--stdio PROGRAM");
        };
        let era = match (era_flag.as_str(), era.as_str()) {
            ("--era", "modern") => Era::Modern,
            ("--era", date) => Era::Handshake(date.to_owned()),
            (other, _) => bail!("--era comes first, not {other}"),
        };
        let transport = match transport.as_str() {
            "--http" => Transport::Http,
            "--stateless" => Transport::Stateless,
            "--auth" => Transport::Auth,
            "--stdio" => Transport::Stdio,
            other => bail!("--http, --stateless, --auth or --stdio, not {other}"),
        };
        Ok(Self {
            era,
            transport,
            address: address.clone(),
        })
    }

    /// Whether a connection has a session.
    pub(crate) fn sessions(&self) -> bool {
        self.era != Era::Modern && self.transport != Transport::Stateless
    }

    /// Whether that is a session of Streamable HTTP.
    pub(crate) fn streamable(&self) -> bool {
        self.era != Era::Modern && self.transport == Transport::Http
    }

    /// Whether the server tells of changes.
    pub(crate) fn tells(&self) -> bool {
        self.era == Era::Modern || self.sessions()
    }

    /// Whether events have ids, so that a client can go on after one: not in 2024-11-05.
    pub(crate) fn resumes(&self) -> bool {
        self.streamable() && !self.speaks("2024-11-05")
    }

    /// Whether the server may end a stream early and have its client come back.
    pub(crate) fn calls_back(&self) -> bool {
        self.streamable() && self.speaks("2025-11-25")
    }

    /// Whether a call's state travels where a proxy sees it.
    pub(crate) fn carries_state_over_http(&self) -> bool {
        self.transport != Transport::Stdio && (self.era == Era::Modern || !self.forms())
    }

    fn speaks(&self, date: &str) -> bool {
        self.era == Era::Handshake(date.to_owned())
    }

    /// Whether the revision has forms; an older one carries them in the arguments of a call.
    pub(crate) fn forms(&self) -> bool {
        !self.speaks("2025-03-26") && !self.speaks("2024-11-05")
    }

    /// Whether the server can ask by a request or, without a handshake, in its result; a request
    /// has it wait for the answer, which takes a session.
    pub(crate) fn asks(&self) -> bool {
        self.era == Era::Modern || self.sessions()
    }

    pub(crate) async fn connect(&self) -> Result<Peer> {
        self.connect_by(self.http(&self.address)).await
    }

    /// A peer that hears what it has not asked for, and the proxy on its way.
    ///
    /// Where there are no streams of Streamable HTTP, nothing goes through the proxy.
    pub(crate) async fn stream(&self) -> Result<(Peer, Proxy)> {
        let proxy = Proxy::before(&self.address).await?;
        if !self.streamable() {
            return Ok((self.connect().await?, proxy));
        }
        let peer = self.connect_by(self.http(&proxy.url)).await?;
        proxy.streams(1).await?;
        Ok((peer, proxy))
    }

    pub(crate) fn http(&self, url: &str) -> StreamableHttpClientTransportConfig {
        StreamableHttpClientTransportConfig::with_uri(url)
    }

    pub(crate) async fn connect_by(
        &self,
        http: StreamableHttpClientTransportConfig,
    ) -> Result<Peer> {
        self.connect_with(http, None).await
    }

    /// A peer with somebody who answers the server.
    pub(crate) async fn connect_with(
        &self,
        http: StreamableHttpClientTransportConfig,
        person: Option<Person>,
    ) -> Result<Peer> {
        let (handler, lifecycle) = (self.handler(person)?, self.lifecycle());
        let heard = handler.heard.clone();
        let client = if self.transport == Transport::Stdio {
            let mut command = Command::new(&self.address);
            command.arg("--stdio");
            let child = TokioChildProcess::builder(command).stderr(Stdio::null());
            let (transport, _) = child.spawn()?;
            handler.serve_with_lifecycle(transport, lifecycle).await
        } else {
            let transport = StreamableHttpClientTransport::from_config(http);
            handler.serve_with_lifecycle(transport, lifecycle).await
        };
        Ok(Peer {
            client: client.context("cannot connect")?,
            era: self.era.clone(),
            heard,
        })
    }

    /// A peer of somebody who logs in, or why the server refuses.
    pub(crate) async fn connect_as(
        &self,
        client: account::Client,
    ) -> Result<Result<Peer, ClientInitializeError>> {
        let (handler, lifecycle) = (self.handler(None)?, self.lifecycle());
        let heard = handler.heard.clone();
        let http = self.http(&self.address);
        let transport = StreamableHttpClientTransport::with_client(client, http);
        let client = handler.serve_with_lifecycle(transport, lifecycle).await;
        Ok(client.map(|client| Peer {
            client,
            era: self.era.clone(),
            heard,
        }))
    }

    fn handler(&self, person: Option<Person>) -> Result<Handler> {
        let mut config = self.config()?;
        if person.is_some() {
            config.capabilities = Person::capabilities();
        }
        Ok(Handler {
            config,
            heard: Heard::default(),
            person,
        })
    }

    fn lifecycle(&self) -> ClientLifecycleMode {
        match self.era {
            Era::Handshake(_) => ClientLifecycleMode::Initialize,
            Era::Modern => ClientLifecycleMode::Discover {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            },
        }
    }

    fn config(&self) -> Result<ClientConfig> {
        let client = Implementation::new("interop", "1");
        let config = ClientConfig::new(ClientCapabilities::default(), client);
        let Era::Handshake(date) = &self.era else {
            return Ok(config);
        };
        let known = ProtocolVersion::KNOWN_VERSIONS;
        let version = known.iter().find(|version| version.as_str() == date);
        let version = version.with_context(|| format!("rmcp knows no {date}"))?;
        Ok(config.with_protocol_version(version.clone()))
    }
}
