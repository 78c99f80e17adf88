//! Model Context Protocol over stdio: one message a line, on any reader and writer.
//!
//! Both eras are served in one process: a client may begin with `initialize`, or with a request
//! that carries its context. Answers interleave; a bad line costs one error and nothing else.
//!
//! ```no_run
//! use mcp_core::{Registry, ServerConfig, tool};
//!
//! async fn now() -> &'static str {
//!     "It is now."
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let registry =
//!     Registry::builder("clock", "1.0.0").tool(tool("now", now)).build(ServerConfig::default())?;
//! mcp_stdio::serve(registry).await?;
//! # Ok(())
//! # }
//! ```
//!
//! Use a current-thread runtime: there is one client, and handing work between threads costs more
//! than it brings. A function that blocks is registered as a
//! [`blocking_tool`](mcp_core::blocking_tool).
//!
//! Source: `basic/transports` of each revision, "stdio".

mod in_flight;
mod lines;
mod server;
mod streams;

use std::io;

use mcp_core::Registry;
use tokio::io::{AsyncRead, AsyncWrite};

pub use server::Server;

/// Serves a registry on the process's own streams until the input ends or SIGTERM arrives.
///
/// On Unix, whatever else is printed to standard output from then on goes to standard error.
///
/// # Errors
///
/// What taking over, reading or writing the streams failed with.
///
/// # Cancel safety
///
/// As [`Server::run`].
pub async fn serve(registry: Registry) -> io::Result<()> {
    serve_with(Server::new(registry)).await
}

/// As [`serve`], with settings of your own.
///
/// # Errors
///
/// As [`serve`].
///
/// # Cancel safety
///
/// As [`Server::run`].
pub async fn serve_with(server: Server) -> io::Result<()> {
    let (input, output) = streams::standard()?;
    let stop = terminated()?;
    server.local().run(input, output, stop).await
}

/// Serves a registry on any pair of streams until the input ends: a Unix socket, TCP, memory.
///
/// Nobody is known at the other end: what needs scopes is refused, unless [`Server::local`] says
/// that it is the owner of this process.
///
/// # Errors
///
/// What reading or writing failed with.
///
/// # Cancel safety
///
/// As [`Server::run`].
pub async fn serve_io(
    registry: Registry,
    reader: impl AsyncRead + Unpin,
    writer: impl AsyncWrite + Unpin,
) -> io::Result<()> {
    Server::new(registry)
        .run(reader, writer, std::future::pending())
        .await
}

/// Resolves when the process is asked to end.
#[cfg(unix)]
fn terminated() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        terminate.recv().await;
    })
}

/// Resolves when the process is asked to end.
#[cfg(not(unix))]
fn terminated() -> io::Result<impl Future<Output = ()>> {
    Ok(async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    })
}
