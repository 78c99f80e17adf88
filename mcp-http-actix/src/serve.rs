//! A whole HTTP server in one call, with the settings that MCP needs.

use std::{
    io,
    net::{SocketAddr, TcpListener},
};

use actix_web::{App, HttpServer};

use crate::Endpoint;

/// Serves one endpoint until the process is asked to end.
///
/// # Errors
///
/// As [`bind`]; and what the server failed with.
pub async fn serve(endpoint: Endpoint, address: &str, path: &str) -> io::Result<()> {
    bind(endpoint, address, path)?.run().await
}

/// Takes an address for one endpoint; port 0 takes any that is free.
///
/// # Errors
///
/// The address is taken, or no address; or it is reached from elsewhere and no
/// [`Endpoint::allow_host`] says under which name.
pub fn bind(endpoint: Endpoint, address: &str, path: &str) -> io::Result<Bound> {
    let listener = TcpListener::bind(address)
        .map_err(|error| io::Error::new(error.kind(), format!("cannot bind {address}: {error}")))?;
    let address = listener.local_addr()?;
    if !address.ip().is_loopback() && !endpoint.is_public() {
        let message = format!(
            "{address} is reached from other machines: name the host that clients use with \
             `Endpoint::allow_host`, or bind 127.0.0.1"
        );
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    Ok(Bound {
        endpoint,
        listener,
        address,
        path: path.to_owned(),
        workers: None,
    })
}

/// A server that has its address and does not serve yet.
#[derive(Debug)]
#[must_use = "nothing is served before `run`"]
pub struct Bound {
    endpoint: Endpoint,
    listener: TcpListener,
    address: SocketAddr,
    path: String,
    workers: Option<usize>,
}

impl Bound {
    /// How many threads serve; by default one for each core.
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = Some(workers);
        self
    }

    /// Where clients find the endpoint.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}{}", self.address, self.path)
    }

    /// Serves until the process is asked to end.
    ///
    /// # Errors
    ///
    /// What the server failed with.
    pub async fn run(self) -> io::Result<()> {
        let (endpoint, path) = (self.endpoint, self.path);
        let mut server = HttpServer::new(move || App::new().service(endpoint.clone().at(&path)))
            .h1_allow_half_closed(false)
            .tcp_nodelay(true)
            .shutdown_timeout(5);
        if let Some(workers) = self.workers {
            server = server.workers(workers);
        }
        server.listen(self.listener)?.run().await
    }
}
