//! A whole HTTP server in one call, with the settings that MCP needs.

use std::{
    future::ready,
    io,
    net::{SocketAddr, TcpListener},
    pin::pin,
    rc::Rc,
    time::Duration,
};

use actix_http::{HttpService, Protocol, error::DispatchError};
use actix_server::{GracefulShutdownSignal, Server};
use actix_service::{ServiceFactory, ServiceFactoryExt as _, boxed, fn_service, map_config};
use actix_web::{App, dev::AppConfig, rt::net::TcpStream, web};

use crate::{
    Endpoint, MetadataRoutes,
    body::not_found,
    link::{self, Link, Terms},
    signals::Signals,
};

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
/// The address is taken, or no address; or it is reached from elsewhere and neither
/// [`Endpoint::public_url`] nor [`Endpoint::allow_host`] says under which name.
pub fn bind(endpoint: Endpoint, address: &str, path: &str) -> io::Result<Bound> {
    let listener = TcpListener::bind(address)
        .map_err(|error| io::Error::new(error.kind(), format!("cannot bind {address}: {error}")))?;
    let address = listener.local_addr()?;
    if !address.ip().is_loopback() && !endpoint.allowed.names_hosts() {
        let message = format!(
            "{address} is reached from other machines: say what clients call it, with \
             `Endpoint::public_url` or `Endpoint::allow_host`, or bind 127.0.0.1"
        );
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    let site = Site {
        endpoint,
        path: path.to_owned(),
        sse: None,
    };
    Ok(Bound {
        site,
        listener,
        address,
        workers: None,
        grace: Duration::from_secs(5),
    })
}

/// A server that has its address and does not serve yet.
#[derive(Debug)]
#[must_use = "nothing is served before `run`"]
pub struct Bound {
    site: Site,
    listener: TcpListener,
    address: SocketAddr,
    workers: Option<usize>,
    grace: Duration,
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
        format!("http://{}{}", self.address, self.site.path)
    }

    /// Serves the old HTTP+SSE transport as well, as [`Endpoint::at_sse`] does.
    pub fn sse(mut self, stream: &str, messages: &str) -> Self {
        self.site.sse = Some((stream.to_owned(), messages.to_owned()));
        self
    }

    /// How long running calls may go on once the process is asked to end; 5 s by default, counted
    /// in whole seconds.
    pub fn grace(mut self, limit: Duration) -> Self {
        self.grace = limit;
        self
    }

    /// Serves until the process is asked to end: by SIGTERM, or by SIGINT as Ctrl-C sends it.
    ///
    /// Then no new request is served, open streams end as their protocol has it, and running
    /// calls may finish. A second signal ends them at once.
    ///
    /// # Errors
    ///
    /// What the server failed with.
    pub async fn run(self) -> io::Result<()> {
        let mut signals = Signals::new()?;
        self.run_until(async move || signals.next().await).await
    }

    /// Serves until `stop` resolves for the first time; for the second time, it ends at once.
    ///
    /// # Errors
    ///
    /// What the server failed with.
    pub async fn run_until(self, mut stop: impl AsyncFnMut()) -> io::Result<()> {
        let registry = self.site.endpoint.dispatcher.registry().clone();
        let mut builder = Server::build()
            .disable_signals()
            .shutdown_timeout(whole_seconds(self.grace));
        if let Some(workers) = self.workers {
            builder = builder.workers(workers);
        }
        let (site, ending) = (self.site, builder.graceful_shutdown_signal());
        let service = move || site.connections(ending.clone());
        let server = builder.listen("mcp", self.listener, service)?.run();
        let handle = server.handle();
        let mut server = pin!(server);
        tokio::select! {
            ended = &mut server => return ended,
            () = stop() => {}
        }
        registry.shut_down();
        let mut graceful = pin!(handle.stop(true));
        tokio::select! {
            ended = async { tokio::join!(&mut server, &mut graceful).0 } => return ended,
            () = stop() => {}
        }
        // It hears of nothing more; what is left ends with the process.
        drop(handle.stop(false));
        Ok(())
    }
}

/// What a server has, and where.
#[derive(Debug, Clone)]
struct Site {
    endpoint: Endpoint,
    path: String,
    /// The two paths of HTTP+SSE.
    sse: Option<(String, String)>,
}

impl Site {
    fn configure(&self, config: &mut web::ServiceConfig) {
        // One endpoint contradicts nobody.
        if let Ok(metadata) = MetadataRoutes::of([&self.endpoint]) {
            config.service(metadata);
        }
        config.service(self.endpoint.clone().at(&self.path));
        if let Some((stream, messages)) = &self.sse {
            config.service(self.endpoint.clone().at_sse(stream, messages));
        }
        config.default_service(web::to(not_found));
    }

    /// What serves the connections of one worker, until the server is `ending`.
    fn connections(
        &self,
        ending: GracefulShutdownSignal,
    ) -> impl ServiceFactory<
        TcpStream,
        Config = (),
        Response = (),
        Error = DispatchError,
        InitError = (),
    > + use<> {
        let site = self.clone();
        let app = App::new()
            .wrap_fn(link::attend)
            .configure(|config| site.configure(config));
        let app = map_config(app, |_| AppConfig::default());
        let http = HttpService::build()
            .keep_alive(KEEP_ALIVE)
            .client_request_timeout(HEAD)
            .client_disconnect_timeout(LINGER)
            .h1_allow_half_closed(false)
            .on_connect_ext(|link: &Link, data| {
                data.insert(link.work());
            })
            .finish(app.map_err(|error| error.error_response()));
        let terms = Rc::new(Terms {
            limit: KEEP_ALIVE + HEAD,
            patience: self.endpoint.keep_alive,
            ending,
            registry: self.endpoint.dispatcher.registry().clone(),
        });
        let accept = move |stream| {
            let link = Link::accept(stream, &terms).map_err(DispatchError::Io);
            ready(link.map(|(link, peer)| (link, Protocol::Http1, peer)))
        };
        // The task of a connection has room for its future twice: in a box, it is there once.
        boxed::factory(fn_service(accept).and_then(http))
    }
}

fn whole_seconds(duration: Duration) -> u64 {
    duration.as_secs() + u64::from(duration.subsec_nanos() > 0)
}

/// How long a connection is kept for the next request.
const KEEP_ALIVE: Duration = Duration::from_secs(5);
/// How long the head of a request may take.
const HEAD: Duration = Duration::from_secs(5);
/// How long what nobody reads is taken in, so that a refusal is not lost with it.
const LINGER: Duration = Duration::from_secs(1);
