//! Streamable HTTP for Model Context Protocol servers, on actix-web.
//!
//! Every revision is served at one path: POST for messages, GET for the stream of a session,
//! DELETE for its end. The first message of a call decides the form of the answer: a reply becomes
//! JSON, anything else opens a stream of server-sent events. A stream of a handshake revision that
//! breaks off is taken up again; one of 2026-07-28 that is closed cancels its call.
//!
//! ```no_run
//! use mcp_core::{Registry, ServerConfig, tool};
//! use mcp_http_actix::Endpoint;
//!
//! async fn now() -> &'static str {
//!     "It is now."
//! }
//!
//! # #[actix_web::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let registry =
//!     Registry::builder("clock", "1.0.0").tool(tool("now", now)).build(ServerConfig::default())?;
//! mcp_http_actix::serve(Endpoint::new(registry), "127.0.0.1:8080", "/mcp").await?;
//! # Ok(())
//! # }
//! ```
//!
//! In an application of your own, mount the endpoint with [`Endpoint::at`], and give its
//! `HttpServer` the settings that [`serve`] gives its own: `h1_allow_half_closed(false)`, without
//! which a quiet handler outlives its client; `tcp_nodelay(true)`, without which an answer in two
//! writes waits 40 ms for the client's acknowledgement; and [`give_up_after`] for each connection,
//! without which a stream to a client that vanished stays open. Before you stop it, call
//! [`Registry::shut_down`](mcp_core::Registry::shut_down), so that open streams end.

//!
//! # Hosts, origins and browsers
//!
//! Until something else is said, requests are served that name a loopback host and that no page
//! sent, or a page of this machine: enough for local clients and for the MCP Inspector, and nothing
//! for a web page that has its own name resolve to 127.0.0.1 (DNS rebinding). The rest is said once,
//! and an entry that is wrong is an error where it is said ([`InvalidEntry`]):
//!
//! | To serve | Say |
//! |---|---|
//! | clients at `https://mcp.example.com/mcp`, whoever ends TLS | [`Endpoint::public_url`], or the address of the resource of [`Endpoint::authorization`] |
//! | another name, or every name below a domain | [`Endpoint::allow_host`] |
//! | a web application at another origin | [`Endpoint::allow_origin`] |
//! | behind a proxy that puts its own name into `Host` | [`Endpoint::trust_forwarded_host`] |
//!
//! ```
//! # use mcp_core::{Registry, ServerConfig};
//! # use mcp_http_actix::Endpoint;
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let registry = Registry::builder("demo", "1.0.0").build(ServerConfig::default())?;
//! let endpoint = Endpoint::new(registry)
//!     .public_url("https://mcp.example.com/mcp")?
//!     .allow_origin("https://app.example.com")?;
//! # Ok(())
//! # }
//! ```
//!
//! Whatever else a request comes with is refused with 403, before anything is done for it. The
//! answer and the log say which value was seen and which setting would serve it.
//!
//! Pages of the origins that are served get what browsers ask for (CORS): preflights without
//! credentials, and the headers `Mcp-Session-Id`, `MCP-Protocol-Version`, `WWW-Authenticate` and
//! `Retry-After` of every answer. The metadata of a protected resource is for pages of any origin.
//! Nothing else that the application serves is touched; [`Endpoint::without_cors`] turns it off.

mod body;
#[cfg(feature = "compress")]
mod compress;
mod connection;
mod cors;
mod endpoint;
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing;
mod headers;
mod judge;
mod link;
mod metadata;
mod negotiate;
mod origin;
mod respond;
mod serve;
mod signals;
mod socket;
mod source;
mod sse;

pub use connection::MountedSse;
pub use endpoint::{Endpoint, Mounted};
pub use mcp_core as core;
pub use metadata::{MetadataConflict, MetadataRoutes};
pub use origin::InvalidEntry;
pub use serve::{Bound, bind, serve};
pub use socket::give_up_after;

/// The project's README, whose example has to compile.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
