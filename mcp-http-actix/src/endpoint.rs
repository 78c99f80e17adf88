//! The endpoint: one path, mounted with actix's own means.

use std::{future::poll_fn, mem::take, rc::Rc, task::Poll, time::Duration};

#[cfg(not(feature = "compress"))]
use actix_web::http::header::HeaderMap;
use actix_web::{
    HttpRequest, HttpResponse,
    dev::{AppService, HttpServiceFactory},
    http::Method,
    web,
};
use bytes::Bytes;
use mcp_core::{
    Dispatcher, Failure, FailureKind, Principal, Registry,
    auth::{Authorization, Metadata},
};

use crate::{
    body::Arriving,
    cors::Browsers,
    headers::ActixHeaders,
    metadata, negotiate,
    origin::Allowed,
    respond::{Begins, whole},
    source::Told,
    sse::Pending,
};

/// The MCP endpoint of one registry: one path that takes POST.
///
/// Cheap to clone; give each worker's `App` a clone:
///
/// ```no_run
/// use actix_web::{App, HttpServer};
/// use mcp_core::{Registry, ServerConfig};
/// use mcp_http_actix::Endpoint;
///
/// # #[actix_web::main]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let registry = Registry::builder("demo", "1.0.0").build(ServerConfig::default())?;
/// let endpoint = Endpoint::new(registry);
/// HttpServer::new(move || App::new().service(endpoint.clone().at("/mcp")))
///     .h1_allow_half_closed(false) // a client that has gone is noticed
///     .tcp_nodelay(true) // an answer in two writes does not wait for an acknowledgement
///     .bind("127.0.0.1:8080")?
///     .run()
///     .await?;
/// # Ok(())
/// # }
/// ```
///
/// # Security
///
/// Requests are served for loopback names alone until [`Endpoint::public_url`] or
/// [`Endpoint::allow_host`] names another, and for pages of those hosts alone until
/// [`Endpoint::allow_origin`] names where others are from.
#[derive(Debug, Clone)]
pub struct Endpoint {
    pub(crate) dispatcher: Dispatcher,
    pub(crate) allowed: Allowed,
    pub(crate) cors: bool,
    pub(crate) keep_alive: Duration,
    pub(crate) principal: Option<Told<Principal>>,
    pub(crate) namespace: Option<Told<String>>,
    pub(crate) source: Option<Told<String>>,
    metadata: Option<Metadata>,
    #[cfg(feature = "compress")]
    pub(crate) compress: bool,
}

impl Endpoint {
    /// An endpoint of that registry, for loopback.
    #[must_use]
    pub fn new(registry: Registry) -> Self {
        Self {
            dispatcher: Dispatcher::new(registry),
            allowed: Allowed::default(),
            cors: true,
            keep_alive: Duration::from_secs(15),
            principal: None,
            namespace: None,
            source: None,
            metadata: None,
            #[cfg(feature = "compress")]
            compress: false,
        }
    }

    /// After how long a silence a comment keeps a stream open; 15 s by default.
    ///
    /// A handler that is silent for longer turns its answer into a stream, where the client takes
    /// one.
    #[must_use]
    pub fn keep_alive(mut self, interval: Duration) -> Self {
        self.keep_alive = interval.max(Duration::from_millis(1));
        self
    }

    /// Says who a request is from, as the application's own middleware has verified it.
    ///
    /// Sessions and streams belong to whoever opened them: the same issuer, client and subject
    /// reach them again, and for anybody else they do not exist.
    ///
    /// ```
    /// use actix_web::{HttpMessage, HttpRequest};
    /// use mcp_core::{Principal, Registry, ServerConfig};
    /// use mcp_http_actix::Endpoint;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let registry = Registry::builder("demo", "1.0.0").build(ServerConfig::default())?;
    /// let endpoint = Endpoint::new(registry)
    ///     .identify(|request: &HttpRequest| request.extensions().get::<Principal>().cloned());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn identify(
        mut self,
        principal: impl Fn(&HttpRequest) -> Option<Principal> + Send + Sync + 'static,
    ) -> Self {
        self.principal = Some(Told::by(principal));
        self
    }

    /// Lets those in alone that `authorization` lets in: each request shows its credentials, and
    /// is turned away before its body is read where they do not count.
    ///
    /// Where the authorization describes a resource, its metadata is served as well: by an endpoint
    /// that is mounted at the root of the site, and by [`MetadataRoutes`](crate::MetadataRoutes).
    /// Its address is served as if [`Endpoint::public_url`] had named it.
    #[must_use]
    pub fn authorization(mut self, authorization: Authorization) -> Self {
        self.metadata = authorization.metadata().cloned();
        self.learn_address(authorization.metadata());
        self.dispatcher = self.dispatcher.authorization(authorization);
        self
    }

    /// The namespace (tenant) of everything that belongs to a request: what one namespace keeps is
    /// found in no other. Where this gives none, it follows from the principal.
    ///
    /// # Security
    ///
    /// A header or an address that any client can choose keeps nobody apart: use what the
    /// application has verified, or a host that only one tenant reaches.
    #[must_use]
    pub fn namespace(
        mut self,
        namespace: impl Fn(&HttpRequest) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.namespace = Some(Told::by(namespace));
        self
    }

    /// Mounts it: `App::service`, `Scope::service` and `ServiceConfig::service` take the result.
    pub fn at(self, path: &str) -> Mounted {
        let path = path.trim_end_matches('/');
        Mounted {
            endpoint: self,
            path: path.to_owned(),
        }
    }

    pub(crate) fn metadata(&self) -> Option<&Metadata> {
        self.metadata.as_ref()
    }
}

/// An endpoint at its path, with and without a trailing slash.
#[derive(Debug, Clone)]
#[must_use = "an endpoint serves nothing before it is given to `App::service`"]
pub struct Mounted {
    endpoint: Endpoint,
    path: String,
}

impl HttpServiceFactory for Mounted {
    fn register(self, config: &mut AppService) {
        let endpoint = Rc::new(self.endpoint);
        endpoint.keep_house();
        if let Some(metadata) = endpoint.metadata().filter(|_| config.is_root()) {
            metadata::register(&endpoint, metadata, metadata.path(), config);
        }
        // Two resources: a resource of two paths is found by a regular expression.
        serve(&endpoint, &self.path, config);
        serve(&endpoint, &format!("{}/", self.path), config);
    }
}

/// Serves one path, by one handler: routes that ask for methods one after the other cost more than
/// what they lead to.
fn serve(endpoint: &Rc<Endpoint>, path: &str, config: &mut AppService) {
    let serving = Rc::clone(endpoint);
    web::resource(path)
        .wrap(Browsers::new(endpoint))
        .to(move |request: HttpRequest, body: web::Payload| {
            let endpoint = Rc::clone(&serving);
            async move { endpoint.serve(&request, body).await }
        })
        .register(config);
}

impl Endpoint {
    async fn serve(&self, request: &HttpRequest, body: web::Payload) -> HttpResponse {
        let response = match *request.method() {
            Method::POST => {
                let mut body = Arriving::new(body);
                let response = self.posted(request, &mut body).await;
                return body.respond(self.encoded(request.headers(), response));
            }
            // In boxes: the future of a call stays small.
            Method::GET => Box::pin(self.get(request)).await,
            Method::DELETE => Box::pin(self.delete(request)).await,
            _ => self.other(request),
        };
        Arriving::refuse(request, body, response)
    }

    async fn posted(&self, request: &HttpRequest, body: &mut Arriving) -> HttpResponse {
        let accepted = negotiate::accepted(request.headers());
        let (source, mut body) = match self.received(request, body, accepted).await {
            Ok(received) => received,
            Err(reply) => return whole(reply),
        };
        let answered = poll_fn(|context| {
            let seen = ActixHeaders(request.headers());
            let incoming = source
                .incoming(take(&mut body))
                .headers(&seen)
                .pinned(pinned(request.query_string()))
                .streams(accepted.events);
            let answer = Pending::new(self.dispatcher.answer(&incoming));
            Poll::Ready(self.begin(answer, accepted, context))
        });
        let later = match answered.await {
            Begins::Whole(response) => return response,
            Begins::Later(response) => response,
        };
        later.await
    }

    /// The stream of a session, or the rest of one that broke off.
    async fn get(&self, request: &HttpRequest) -> HttpResponse {
        let source = match self.admitted(request).await {
            Ok(source) => source,
            Err(reply) => return whole(reply),
        };
        let headers = request.headers();
        let seen = ActixHeaders(headers);
        let incoming = source
            .incoming(Bytes::new())
            .headers(&seen)
            .pinned(pinned(request.query_string()))
            .streams(negotiate::accepted(headers).events);
        let opened = self.dispatcher.open_stream(&incoming).await;
        let response = self.opened(opened).await;
        self.encoded(headers, response)
    }

    async fn delete(&self, request: &HttpRequest) -> HttpResponse {
        let source = match self.admitted(request).await {
            Ok(source) => source,
            Err(reply) => return whole(reply),
        };
        let seen = ActixHeaders(request.headers());
        let incoming = source
            .incoming(Bytes::new())
            .headers(&seen)
            .pinned(pinned(request.query_string()));
        whole(self.dispatcher.end_session(&incoming).await)
    }

    /// Keeps sessions alive and frees what has expired, for as long as this worker lives.
    pub(crate) fn keep_house(&self) {
        if tokio::runtime::Handle::try_current().is_ok() {
            actix_web::rt::spawn(self.dispatcher.registry().housekeeping());
        }
    }

    fn other(&self, request: &HttpRequest) -> HttpResponse {
        if let Err(failure) = self.judge_source(request.head()) {
            return self.refuse(failure);
        }
        let message = "this endpoint takes POST, GET and DELETE";
        self.refuse(Failure::new(FailureKind::MethodNotAllowed, message))
    }

    pub(crate) fn refuse(&self, failure: Failure) -> HttpResponse {
        whole(self.dispatcher.refuse(failure))
    }

    /// The response as it is: this build has no other coding.
    #[cfg(not(feature = "compress"))]
    pub(crate) fn encoded(&self, _: &HeaderMap, response: HttpResponse) -> HttpResponse {
        response
    }
}

/// The revision that the address names: `?mcp=DATE`.
fn pinned(query: &str) -> Option<&str> {
    query.split('&').find_map(|pair| pair.strip_prefix("mcp="))
}
