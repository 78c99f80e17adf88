//! A server whose log is read along, and what it says to one request.

use std::{net::TcpListener, thread};

use actix_web::{App, HttpServer, dev::ServerHandle, rt::System};
use mcp_core::{Exchange, HandlerError, Registry, ServerConfig, prompt, resource, template, tool};
use mcp_http_actix::{Endpoint, MetadataRoutes};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::support::{
    curious,
    http::{Request, Response, Server},
    lively,
    logged::Lines,
    login::door,
    probe::Probe,
};

/// One refusal, as its client and its operator see it.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) check: &'static str,
    pub(crate) status: u16,
    /// The code of the JSON-RPC error, if there is one.
    pub(crate) code: Option<i64>,
    pub(crate) body: String,
    /// Headers that say what to do next.
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) log: Vec<String>,
}

impl Row {
    fn of(check: &'static str, response: &Response, log: Vec<String>) -> Self {
        let body = response.text().to_owned();
        let message: Option<Value> = serde_json::from_str(&body).ok();
        let code = message.and_then(|it| it["error"]["code"].as_i64());
        let names = ["WWW-Authenticate", "Retry-After", "Allow"];
        let headers = names.iter().flat_map(|name| {
            let values = response.all(&name.to_ascii_lowercase());
            values
                .into_iter()
                .map(|it| (*name, it.to_owned()))
                .collect::<Vec<_>>()
        });
        Self {
            check,
            status: response.status,
            code,
            headers: headers.collect(),
            body,
            log,
        }
    }

    /// Whether it is a refusal, and somebody hears of it: the client and the log, or the client
    /// alone of what the HTTP server itself does not understand.
    pub(crate) fn is_in_order(&self) -> bool {
        let refused = self.status >= 400 || self.code.is_some();
        refused && (!self.log.is_empty() || self.is_of_the_server())
    }

    /// Whether the HTTP server has refused it before the endpoint saw it.
    pub(crate) fn is_of_the_server(&self) -> bool {
        self.status == 400 && self.body.is_empty() && self.log.is_empty()
    }
}

/// A server whose log is read along, until it is dropped.
pub(crate) struct Site {
    pub(crate) server: Server,
    pub(crate) registry: Registry,
    pub(crate) probe: Probe,
    lines: Lines,
    handle: ServerHandle,
}

impl Site {
    /// Lets those in alone that [`door`] does.
    pub(crate) fn guarded(change: impl Fn(&mut ServerConfig)) -> Self {
        Self::new(change, |endpoint| {
            endpoint.authorization(door().build().unwrap())
        })
    }

    /// Lets anybody in.
    pub(crate) fn open(change: impl Fn(&mut ServerConfig)) -> Self {
        Self::new(change, |endpoint| endpoint)
    }

    pub(crate) fn new(
        change: impl Fn(&mut ServerConfig),
        arrange: impl Fn(Endpoint) -> Endpoint,
    ) -> Self {
        let (probe, mut config) = (Probe::default(), ServerConfig::default());
        change(&mut config);
        let registry = registry(&probe, config);
        let endpoint = arrange(Endpoint::new(registry.clone()));
        let lines = Lines::default();
        let (server, handle) = start(endpoint, lines.clone());
        Self {
            server,
            registry,
            probe,
            lines,
            handle,
        }
    }

    pub(crate) async fn refused(&self, check: &'static str, request: Request) -> Row {
        self.watched(check, self.server.send(&request)).await
    }

    /// What comes of something else than one whole request.
    pub(crate) async fn watched(
        &self,
        check: &'static str,
        sent: impl Future<Output = Response>,
    ) -> Row {
        self.lines.take();
        let response = sent.await;
        let log = self.lines.take();
        let log = log.iter().map(|line| line.replacen(" message=", " ", 1));
        Row::of(check, &response, log.collect())
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        // It hears of it at once; nobody waits for the rest.
        drop(self.handle.stop(false));
    }
}

fn start(endpoint: Endpoint, lines: Lines) -> (Server, ServerHandle) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let (sender, handle) = std::sync::mpsc::channel();
    thread::spawn(move || {
        let app = move || {
            // This is the thread that serves.
            lines.hear_this_thread();
            App::new()
                .service(MetadataRoutes::of([&endpoint]).unwrap())
                .service(endpoint.clone().at("/mcp"))
                .service(endpoint.clone().at_sse("/sse", "/messages"))
        };
        System::new().block_on(async move {
            let server = HttpServer::new(app)
                .workers(1)
                .h1_allow_half_closed(false)
                .tcp_nodelay(true)
                .disable_signals()
                .listen(listener)
                .unwrap()
                .run();
            sender.send(server.handle()).unwrap();
            server.await.unwrap();
        });
    });
    (Server::at(&url), handle.recv().unwrap())
}

#[derive(Deserialize, JsonSchema)]
struct Named {
    name: String,
}

/// Needs more than it says beforehand.
async fn delete((): (), exchange: Exchange) -> Result<&'static str, HandlerError> {
    exchange.require_scopes(["files:delete"])?;
    Ok("deleted")
}

/// The fixture server, with something of everything that needs a scope.
fn registry(probe: &Probe, config: ServerConfig) -> Registry {
    curious::asking(lively::builder(probe))
        .tool(tool("write", async || "").scopes(["files:write", "audit:log"]))
        .tool(tool("delete", delete))
        .tool(tool("whoami", async |(): (), it: mcp_core::Principal| {
            it.subject
        }))
        .prompt(prompt("draft", async || "").scopes(["draft"]))
        .resource(resource("file:///log", async || "").scopes(["audit:read"]))
        .template(template("log://{name}", async |it: Named| it.name).scopes(["audit:read"]))
        .build(config)
        .unwrap()
}
