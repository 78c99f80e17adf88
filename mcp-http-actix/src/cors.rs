//! What browsers let pages of other origins do: preflights, and the headers they may read.
//!
//! Source: the Fetch standard, "CORS protocol". Field case A10.

use std::rc::Rc;

use actix_cors::Cors;
use actix_web::{
    Error,
    dev::{Service, ServiceRequest, ServiceResponse, Transform, forward_ready},
    http::{
        Method,
        header::{ORIGIN, RETRY_AFTER, WWW_AUTHENTICATE},
    },
};
use futures_util::future::{Either, LocalBoxFuture, ready};

use crate::{
    Endpoint,
    headers::{PROTOCOL_VERSION, SESSION_ID},
};

impl Endpoint {
    /// Leaves CORS to the application or to a proxy, so that nothing is said twice.
    ///
    /// Otherwise pages of every origin that is served (see [`Endpoint::allow_origin`]) may call the
    /// endpoint with GET, POST and DELETE and with any header, and may read `Mcp-Session-Id`,
    /// `MCP-Protocol-Version`, `WWW-Authenticate` and `Retry-After` of its answers, refusals too.
    /// Their browsers send no cookies. Preflights need no credentials. Other origins are told
    /// nothing; and they are refused with or without this.
    #[must_use]
    pub fn without_cors(mut self) -> Self {
        self.cors = false;
        self
    }
}

/// CORS for the resources of one endpoint: for requests of pages alone, and only of those that are
/// served.
pub(crate) struct Browsers {
    endpoint: Rc<Endpoint>,
}

impl Browsers {
    pub(crate) fn new(endpoint: &Rc<Endpoint>) -> Self {
        Self {
            endpoint: Rc::clone(endpoint),
        }
    }
}

impl<S> Transform<S, ServiceRequest> for Browsers
where
    S: Service<ServiceRequest, Response = ServiceResponse, Error = Error> + 'static,
{
    type Response = ServiceResponse;
    type Error = Error;
    type Transform = Guarded<S>;
    type InitError = ();
    type Future = LocalBoxFuture<'static, Result<Self::Transform, ()>>;

    fn new_transform(&self, service: S) -> Self::Future {
        let service = Rc::new(service);
        let endpoint = Rc::clone(&self.endpoint);
        let cors = endpoint.cors.then(served_pages);
        let cors = cors.map(|cors| cors.new_transform(Rc::clone(&service)));
        Box::pin(async move {
            let cors = match cors {
                Some(cors) => Some(cors.await?),
                None => None,
            };
            Ok(Guarded {
                service,
                cors,
                endpoint,
            })
        })
    }
}

/// A resource as browsers see it.
pub(crate) struct Guarded<S> {
    service: Rc<S>,
    cors: Option<actix_cors::CorsMiddleware<Rc<S>>>,
    endpoint: Rc<Endpoint>,
}

impl<S> Service<ServiceRequest> for Guarded<S>
where
    S: Service<ServiceRequest, Response = ServiceResponse, Error = Error> + 'static,
{
    type Response = ServiceResponse;
    type Error = Error;
    type Future = Either<S::Future, LocalBoxFuture<'static, Result<ServiceResponse, Error>>>;

    forward_ready!(service);

    fn call(&self, request: ServiceRequest) -> Self::Future {
        let Some(cors) = &self.cors else {
            return Either::Left(self.service.call(request));
        };
        // No page sent it, and nothing is spent on it.
        if !request.headers().contains_key(ORIGIN) {
            return Either::Left(self.service.call(request));
        }
        if let Err(failure) = self.endpoint.judge_source(request.head()) {
            let refused = request.into_response(self.endpoint.refuse(failure));
            return Either::Right(Box::pin(ready(Ok(refused))));
        }
        let answered = cors.call(request);
        Either::Right(Box::pin(async {
            Ok(answered.await?.map_into_boxed_body())
        }))
    }
}

/// For pages that have been judged: each reads its own origin.
fn served_pages() -> Cors {
    // `Mcp-Param-*` cannot be listed, and a policy of the application may read a header of its own:
    // whatever is asked for is allowed.
    Cors::default()
        .allow_any_origin()
        .allowed_methods([Method::GET, Method::POST, Method::DELETE, Method::OPTIONS])
        .allow_any_header()
        .expose_headers([SESSION_ID, PROTOCOL_VERSION, WWW_AUTHENTICATE, RETRY_AFTER])
        .allow_private_network_access()
        .max_age(MAX_AGE)
}

/// For a document that everybody may read.
pub(crate) fn everybody() -> Cors {
    Cors::default()
        .allow_any_origin()
        .send_wildcard()
        .allowed_methods([Method::GET, Method::HEAD, Method::OPTIONS])
        .allow_any_header()
        .max_age(MAX_AGE)
}

/// For how many seconds a browser keeps the answer to a preflight.
const MAX_AGE: usize = 3600;
