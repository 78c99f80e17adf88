//! The servers that the clients are run against.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::Way;
use crate::server::{Server, free_port};

/// The servers that all clients share, and the program that each starts for itself.
pub(super) struct Servers {
    program: PathBuf,
    stateful: Server,
    stateless: Server,
    protected: Protected,
}

impl Servers {
    pub(super) fn start(
        program: PathBuf,
        authorization: &AuthorizationServer,
        folder: &Path,
    ) -> Result<Self> {
        let start = |flags: &[&str], log: &str| Server::start(&program, flags, &folder.join(log));
        Ok(Self {
            stateful: start(&["--sse"], "server.log")?,
            stateless: start(&["--sessions", "stateless"], "stateless.log")?,
            protected: Protected::start(&program, authorization, folder)?,
            program,
        })
    }

    /// What the client is told after `--WAY`.
    pub(super) fn target(&self, way: Way) -> PathBuf {
        match way {
            Way::Http => self.stateful.url.clone().into(),
            Way::Stateless => self.stateless.url.clone().into(),
            Way::Sse => self.stateful.url.replace("/mcp", "/sse").into(),
            Way::Auth => self.protected.public_url.clone().into(),
            Way::Stdio => self.program.clone(),
        }
    }
}

/// How the authorization server of the tests is started.
pub(super) struct AuthorizationServer {
    pub(super) python: PathBuf,
    pub(super) script: PathBuf,
}

impl AuthorizationServer {
    /// Starts it; its address is its issuer.
    fn start(&self, folder: &Path) -> Result<Server> {
        let script = self.script.as_os_str();
        // `-B` leaves no compiled files among the sources.
        let arguments = ["-B".as_ref(), script, "--leeway".as_ref(), LEEWAY.as_ref()];
        Server::run(&self.python, &arguments, &folder.join("authorization.log"))
    }
}

/// A server that wants a token, and who issues it.
struct Protected {
    public_url: String,
    _server: Server,
    _authorization: Server,
}

impl Protected {
    fn start(program: &Path, authorization: &AuthorizationServer, folder: &Path) -> Result<Self> {
        let authorization = authorization.start(folder)?;
        let start = || Self::listen(program, &authorization.url, &folder.join("protected.log"));
        // Somebody else may have taken the port that was free.
        let started = start().or_else(|_| start());
        let (public_url, server) = started.context("no server that wants a token")?;
        Ok(Self {
            public_url,
            _server: server,
            _authorization: authorization,
        })
    }

    /// Gives its public address, which it has to know from the start.
    fn listen(program: &Path, issuer: &str, log: &Path) -> Result<(String, Server)> {
        let bind = format!("127.0.0.1:{}", free_port()?);
        let url = format!("http://{bind}/mcp");
        let auth = format!("jwks:{issuer}/jwks,issuer={issuer},audience={url}");
        let flags = ["--bind", &bind, "--public-url", &url, "--auth", &auth];
        let server = Server::run(program, &flags.map(OsStr::new), log)?;
        Ok((url, server))
    }
}

/// For how many seconds after its end a server takes a token by default: what the authorization
/// server takes off, so that tokens of tests end when they say.
const LEEWAY: &str = "60";
