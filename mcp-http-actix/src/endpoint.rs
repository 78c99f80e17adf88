//! The endpoint: one path, mounted with actix's own means.

use std::{fmt, future::poll_fn, rc::Rc, sync::Arc, task::Poll, time::Duration};

use actix_web::{
    HttpRequest, HttpResponse,
    dev::{AppService, HttpServiceFactory},
    http::{
        StatusCode,
        header::{
            ALLOW, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderMap, HeaderName,
            HeaderValue, ORIGIN, RETRY_AFTER,
        },
    },
    web,
};
use bytes::Bytes;
use mcp_core::{
    Begun, Dispatcher, EventStream, Failure, FailureKind, Incoming, Principal, Registry, Reply,
};

use crate::{
    headers::ActixHeaders,
    negotiate,
    origin::Allowed,
    sse::{Events, Pending},
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
/// Requests are served for loopback names alone until [`Endpoint::allow_host`] names another.
#[derive(Debug, Clone)]
pub struct Endpoint {
    pub(crate) dispatcher: Dispatcher,
    allowed: Allowed,
    max_body: usize,
    keep_alive: Duration,
    principal: Option<Identify>,
}

/// Who a request is from, as the application says.
#[derive(Clone)]
struct Identify(Arc<dyn Identifies>);

trait Identifies: Fn(&HttpRequest) -> Option<Principal> + Send + Sync {}

impl<F: Fn(&HttpRequest) -> Option<Principal> + Send + Sync> Identifies for F {}

impl fmt::Debug for Identify {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Identify").finish()
    }
}

impl Endpoint {
    /// An endpoint of that registry, for loopback.
    #[must_use]
    pub fn new(registry: Registry) -> Self {
        Self {
            dispatcher: Dispatcher::new(registry),
            allowed: Allowed::default(),
            max_body: 4 << 20,
            keep_alive: Duration::from_secs(15),
            principal: None,
        }
    }

    /// Serves requests for that host as well: a name, with a port if only that one is meant.
    #[must_use]
    pub fn allow_host(mut self, host: &str) -> Self {
        self.allowed.host(host);
        self
    }

    /// Serves requests of pages of that origin: `https://app.example.com`.
    #[must_use]
    pub fn allow_origin(mut self, origin: &str) -> Self {
        self.allowed.origin(origin);
        self
    }

    /// Serves requests for any host.
    ///
    /// # Security
    ///
    /// For servers behind a proxy that checks `Host` itself; otherwise any web page can reach the
    /// server through its visitors' browsers.
    #[must_use]
    pub fn trust_any_host(mut self) -> Self {
        self.allowed.any_host();
        self
    }

    /// Serves requests of pages of any origin.
    ///
    /// # Security
    ///
    /// For public servers whose requests carry no ambient authority.
    #[must_use]
    pub fn trust_any_origin(mut self) -> Self {
        self.allowed.any_origin();
        self
    }

    /// The largest body that is read, in bytes; 4 MiB by default. A larger one gets 413.
    #[must_use]
    pub fn max_body(mut self, bytes: usize) -> Self {
        self.max_body = bytes;
        self
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
        self.principal = Some(Identify(Arc::new(principal)));
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

    pub(crate) fn keep_alive_interval(&self) -> Duration {
        self.keep_alive
    }

    pub(crate) fn is_public(&self) -> bool {
        self.allowed.is_public()
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
        let paths = [self.path.clone(), format!("{}/", self.path)];
        let (post, get) = (Rc::clone(&endpoint), Rc::clone(&endpoint));
        let (delete, other) = (Rc::clone(&endpoint), endpoint);
        web::resource(paths)
            .route(
                web::post().to(move |request: HttpRequest, body: web::Payload| {
                    let endpoint = Rc::clone(&post);
                    async move { endpoint.post(&request, body).await }
                }),
            )
            .route(web::get().to(move |request: HttpRequest| {
                let endpoint = Rc::clone(&get);
                async move { endpoint.get(&request).await }
            }))
            .route(web::delete().to(move |request: HttpRequest| {
                let endpoint = Rc::clone(&delete);
                async move { endpoint.delete(&request).await }
            }))
            .default_service(web::to(move |request: HttpRequest| {
                let response = other.other(&request);
                async move { response }
            }))
            .register(config);
    }
}

impl Endpoint {
    async fn post(&self, request: &HttpRequest, body: web::Payload) -> HttpResponse {
        let headers = request.headers();
        let accepted = negotiate::accepted(headers);
        let body = match self.body(headers, accepted, body).await {
            Ok(body) => body,
            Err(failure) => return self.refuse(failure),
        };
        let seen = ActixHeaders(headers);
        let principal = self.principal_of(request);
        let incoming = Incoming::new(body)
            .headers(&seen)
            .principal(principal.as_ref())
            .pinned(pinned(request.query_string()))
            .streams(accepted.events);
        let answer = Pending::new(self.dispatcher.answer(&incoming));
        self.respond(answer, accepted).await
    }

    /// The body of a request that may be served.
    pub(crate) async fn body(
        &self,
        headers: &HeaderMap,
        accepted: negotiate::Accepted,
        body: web::Payload,
    ) -> Result<Bytes, Failure> {
        self.judge(headers, accepted)?;
        match body.to_bytes_limited(self.max_body).await {
            Ok(Ok(body)) => Ok(body),
            Ok(Err(_)) => Err(Failure::new(
                FailureKind::InvalidRequest,
                "the body broke off",
            )),
            Err(_) => Err(self.too_large()),
        }
    }

    /// The stream of a session, or the rest of one that broke off.
    async fn get(&self, request: &HttpRequest) -> HttpResponse {
        let headers = request.headers();
        if let Err(failure) = self.judge_source(headers) {
            return self.refuse(failure);
        }
        let seen = ActixHeaders(headers);
        let principal = self.principal_of(request);
        let incoming = Incoming::new(Bytes::new())
            .headers(&seen)
            .principal(principal.as_ref())
            .pinned(pinned(request.query_string()))
            .streams(negotiate::accepted(headers).events);
        let opened = self.dispatcher.open_stream(&incoming).await;
        self.opened(opened).await
    }

    /// The response to a GET that opens a stream.
    pub(crate) async fn opened(&self, opened: Result<EventStream, Reply>) -> HttpResponse {
        match opened {
            Ok(stream) => self.stream(Events::new(stream)).await,
            Err(reply) => whole(reply),
        }
    }

    async fn delete(&self, request: &HttpRequest) -> HttpResponse {
        let headers = request.headers();
        if let Err(failure) = self.judge_source(headers) {
            return self.refuse(failure);
        }
        let seen = ActixHeaders(headers);
        let principal = self.principal_of(request);
        let incoming = Incoming::new(Bytes::new())
            .headers(&seen)
            .principal(principal.as_ref())
            .pinned(pinned(request.query_string()));
        whole(self.dispatcher.end_session(&incoming).await)
    }

    pub(crate) fn principal_of(&self, request: &HttpRequest) -> Option<Principal> {
        self.principal.as_ref().and_then(|it| (it.0)(request))
    }

    /// Keeps sessions alive and frees what has expired, for as long as this worker lives.
    pub(crate) fn keep_house(&self) {
        if tokio::runtime::Handle::try_current().is_ok() {
            actix_web::rt::spawn(self.dispatcher.registry().housekeeping());
        }
    }

    /// Everything that is decided before the body is read.
    fn judge(&self, headers: &HeaderMap, accepted: negotiate::Accepted) -> Result<(), Failure> {
        self.judge_source(headers)?;
        if !negotiate::is_json(headers) {
            let message = "the Content-Type is application/json";
            return Err(Failure::new(FailureKind::UnsupportedMediaType, message));
        }
        if !accepted.json && !accepted.events {
            let message = "the client has to accept application/json or text/event-stream";
            return Err(Failure::new(FailureKind::NotAcceptable, message));
        }
        let length = headers
            .get(CONTENT_LENGTH)
            .and_then(|value| value.to_str().ok());
        let length = length.and_then(|length| length.parse::<usize>().ok());
        if length.is_some_and(|length| length > self.max_body) {
            return Err(self.too_large());
        }
        Ok(())
    }

    pub(crate) fn judge_source(&self, headers: &HeaderMap) -> Result<(), Failure> {
        let host = only(headers, HOST)?;
        // A request without `Host` comes from no browser.
        if let Some(host) = host
            && !self.allowed.serves_host(host)
        {
            tracing::warn!(
                host,
                "refused: if this host is yours, use `Endpoint::allow_host`"
            );
            return Err(Failure::new(
                FailureKind::Forbidden,
                "this Host is not served",
            ));
        }
        if let Some(origin) = only(headers, ORIGIN)?
            && !self.allowed.serves_origin(origin, host)
        {
            tracing::warn!(
                origin,
                "refused: if it is trusted, use `Endpoint::allow_origin`"
            );
            return Err(Failure::new(
                FailureKind::Forbidden,
                "this Origin is not served",
            ));
        }
        Ok(())
    }

    /// JSON where the first message is the reply, a stream otherwise.
    async fn respond(&self, mut answer: Pending, accepted: negotiate::Accepted) -> HttpResponse {
        let json = accepted.json;
        let begun = poll_fn(|context| Poll::Ready(answer.poll_begin(context, json))).await;
        let begun = match begun {
            Poll::Ready(begun) => begun,
            Poll::Pending => match self.wait(&mut answer, accepted).await {
                Some(begun) => begun,
                None => {
                    let Some(stream) = answer.into_events() else {
                        return HttpResponse::Accepted().finish();
                    };
                    let mut events = Events::new(stream);
                    events.push_comment();
                    return self.stream(events).await;
                }
            },
        };
        match begun {
            Begun::Nothing => HttpResponse::Accepted().finish(),
            Begun::Reply(reply) => whole(reply),
            Begun::Stream(stream) => {
                let session = stream.session().map(str::to_owned);
                let mut response = self.stream(Events::new(stream)).await;
                name_session(&mut response, session.as_deref());
                response
            }
        }
    }

    /// How the answer begins, or nothing where its handler is silent and a stream can be opened.
    async fn wait(&self, answer: &mut Pending, accepted: negotiate::Accepted) -> Option<Begun> {
        let begun = poll_fn(|context| answer.poll_begin(context, accepted.json));
        if accepted.events {
            tokio::time::timeout(self.keep_alive, begun).await.ok()
        } else {
            Some(begun.await)
        }
    }

    async fn stream(&self, mut events: Events) -> HttpResponse {
        poll_fn(|context| {
            events.collect(context);
            Poll::Ready(())
        })
        .await;
        let mut response = HttpResponse::Ok();
        response.insert_header((CONTENT_TYPE, HeaderValue::from_static("text/event-stream")));
        response.insert_header((CACHE_CONTROL, HeaderValue::from_static("no-store")));
        response.insert_header((ACCEL_BUFFERING, HeaderValue::from_static("no")));
        match events.complete() {
            Some(body) => response.body(body),
            None => response.body(events.stream(self.keep_alive)),
        }
    }

    fn other(&self, request: &HttpRequest) -> HttpResponse {
        if let Err(failure) = self.judge_source(request.headers()) {
            return self.refuse(failure);
        }
        let message = "this endpoint takes POST, GET and DELETE";
        self.refuse(Failure::new(FailureKind::MethodNotAllowed, message))
    }

    fn too_large(&self) -> Failure {
        let message = format!("the body is larger than {} bytes", self.max_body);
        Failure::new(FailureKind::TooLarge, message)
    }

    pub(crate) fn refuse(&self, failure: Failure) -> HttpResponse {
        whole(self.dispatcher.refuse(failure))
    }
}

/// A header that decides who is served: two of it, or other than text, and nobody can tell.
fn only(headers: &HeaderMap, name: HeaderName) -> Result<Option<&str>, Failure> {
    let mut values = headers.get_all(name);
    match (values.next().map(HeaderValue::to_str), values.next()) {
        (None, _) => Ok(None),
        (Some(Ok(value)), None) => Ok(Some(value)),
        _ => Err(Failure::new(
            FailureKind::Forbidden,
            "Host or Origin is ambiguous",
        )),
    }
}

/// A reply in one piece.
pub(crate) fn whole(reply: Reply) -> HttpResponse {
    let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = HttpResponse::build(status);
    if let Some(seconds) = reply.retry_after {
        response.insert_header((RETRY_AFTER, seconds));
    }
    if status == StatusCode::METHOD_NOT_ALLOWED {
        response.insert_header((ALLOW, HeaderValue::from_static("POST, GET, DELETE")));
    }
    let mut response = match reply.body {
        Some(body) => {
            response.insert_header((CONTENT_TYPE, HeaderValue::from_static("application/json")));
            response.body::<Bytes>(body)
        }
        None => response.finish(),
    };
    name_session(&mut response, reply.session.as_deref());
    response
}

/// Tells the client the session that its request has opened.
fn name_session(response: &mut HttpResponse, session: Option<&str>) {
    if let Some(id) = session.and_then(|id| HeaderValue::from_str(id).ok()) {
        response.headers_mut().insert(SESSION_ID, id);
    }
}

/// The revision that the address names: `?mcp=DATE`.
fn pinned(query: &str) -> Option<&str> {
    query.split('&').find_map(|pair| pair.strip_prefix("mcp="))
}

const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");
const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
