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
            Way::Auth => format!("{}/mcp", self.protected.endpoint.origin).into(),
            Way::AuthSse => format!("{}/sse", self.protected.origin.origin).into(),
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

/// Two servers that want a token, and who issues it.
struct Protected {
    /// Its public address is that of the endpoint.
    endpoint: Listening,
    /// Its public address is the origin: where two transports have two paths, clients take the
    /// address that begins both.
    origin: Listening,
    _authorization: Server,
}

impl Protected {
    fn start(program: &Path, authorization: &AuthorizationServer, folder: &Path) -> Result<Self> {
        let authorization = authorization.start(folder)?;
        let start = |path: &str, flags: &[&str], log: &str| {
            let listen = || {
                let issuer = &authorization.url;
                Listening::start(program, issuer, path, flags, &folder.join(log))
            };
            // Somebody else may have taken the port that was free.
            let started = listen().or_else(|_| listen());
            started.context("no server that wants a token")
        };
        Ok(Self {
            endpoint: start("/mcp", &[], "protected.log")?,
            origin: start("", &["--sse"], "origin.log")?,
            _authorization: authorization,
        })
    }
}

/// A server that wants a token.
struct Listening {
    origin: String,
    _server: Server,
}

impl Listening {
    /// Starts it on a port that it is told, since it has to know its public address: that port and
    /// `path`.
    fn start(program: &Path, issuer: &str, path: &str, more: &[&str], log: &Path) -> Result<Self> {
        let bind = format!("127.0.0.1:{}", free_port()?);
        let origin = format!("http://{bind}");
        let url = format!("{origin}{path}");
        let auth = format!("jwks:{issuer}/jwks,issuer={issuer},audience={url}");
        let flags = ["--bind", &bind, "--public-url", &url, "--auth", &auth];
        let flags: Vec<&OsStr> = flags.iter().chain(more).map(OsStr::new).collect();
        let server = Server::run(program, &flags, log)?;
        Ok(Self {
            origin,
            _server: server,
        })
    }
}

/// For how many seconds after its end a server takes a token by default: what the authorization
/// server takes off, so that tokens of tests end when they say.
const LEEWAY: &str = "60";
