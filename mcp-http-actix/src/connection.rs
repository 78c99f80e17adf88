//! HTTP+SSE, the transport of 2024-11-05, for clients that know no other: one stream for all that
//! the server says, and an address to POST to.
//!
//! Source: `basic/transports` of 2024-11-05, "HTTP with SSE".

use std::rc::Rc;

use actix_web::{
    HttpRequest, HttpResponse,
    dev::{AppService, HttpServiceFactory},
    web,
};
use bytes::Bytes;

use crate::{
    Endpoint,
    body::Arriving,
    cors::Browsers,
    headers::ActixHeaders,
    negotiate::{self, Accepted},
    respond::whole,
};

/// The two addresses of the HTTP+SSE transport, over the same registry as [`Endpoint::at`].
///
/// Deprecated since 2025-03-26: mount it beside the endpoint only for clients that cannot do
/// without.
#[derive(Debug, Clone)]
#[must_use = "an endpoint serves nothing before it is given to `App::service`"]
pub struct MountedSse {
    endpoint: Endpoint,
    stream: String,
    messages: String,
}

impl Endpoint {
    /// Serves the old HTTP+SSE transport: `stream` is the address that clients know (`/sse`),
    /// `messages` the one that they are told to POST to (`/messages`).
    ///
    /// Both are whole paths: with a prefix of a surrounding `Scope`, if there is one, `messages`
    /// has to name it too, and the scope's own path is left out when it is mounted there.
    ///
    /// Clients log in only where the public address of the
    /// [`ProtectedResource`](mcp_core::auth::ProtectedResource) begins the one that they know: with
    /// `/mcp` and `/sse` at one origin, that is the origin alone.
    pub fn at_sse(self, stream: &str, messages: &str) -> MountedSse {
        MountedSse {
            endpoint: self,
            stream: stream.trim_end_matches('/').to_owned(),
            messages: messages.trim_end_matches('/').to_owned(),
        }
    }

    async fn open_connection(&self, request: &HttpRequest, messages: &str) -> HttpResponse {
        let source = match self.admitted(request).await {
            Ok(source) => source,
            Err(reply) => return whole(reply),
        };
        let headers = request.headers();
        let seen = ActixHeaders(headers);
        let incoming = source
            .incoming(Bytes::new())
            .headers(&seen)
            .streams(negotiate::accepted(headers).events);
        let messages = messages.to_owned();
        let endpoint = move |id: &str| format!("{messages}?{CONNECTION}={id}");
        let opened = self.dispatcher.open_connection(&incoming, endpoint).await;
        self.opened(opened).await
    }

    async fn take_message(&self, request: &HttpRequest, body: web::Payload) -> HttpResponse {
        let mut body = Arriving::new(body);
        let response = self.took_message(request, &mut body).await;
        body.respond(response)
    }

    async fn took_message(&self, request: &HttpRequest, body: &mut Arriving) -> HttpResponse {
        // The answer goes elsewhere, whatever the client accepts here.
        let accepted = Accepted {
            json: true,
            events: true,
        };
        let (source, body) = match self.received(request, body, accepted).await {
            Ok(received) => received,
            Err(reply) => return whole(reply),
        };
        let seen = ActixHeaders(request.headers());
        let incoming = source.incoming(body).headers(&seen);
        let mut pairs = request.query_string().split('&');
        let connection = pairs.find_map(|pair| pair.strip_prefix(CONNECTION)?.strip_prefix('='));
        let (reply, posted) = self.dispatcher.post_message(&incoming, connection).await;
        if let Some(posted) = posted {
            actix_web::rt::spawn(posted.run());
        }
        whole(reply)
    }
}

impl HttpServiceFactory for MountedSse {
    fn register(self, config: &mut AppService) {
        let endpoint = Rc::new(self.endpoint);
        endpoint.keep_house();
        let messages: Rc<str> = self.messages.as_str().into();
        let opening = Rc::clone(&endpoint);
        web::resource(self.stream)
            .wrap(Browsers::new(&endpoint))
            .route(
                web::get().to(move |request: HttpRequest, body: web::Payload| {
                    let (endpoint, messages) = (Rc::clone(&opening), Rc::clone(&messages));
                    async move {
                        let response = endpoint.open_connection(&request, &messages).await;
                        let response = endpoint.encoded(request.headers(), response);
                        Arriving::refuse(&request, body, response)
                    }
                }),
            )
            .register(config);
        web::resource(self.messages)
            .wrap(Browsers::new(&endpoint))
            .route(
                web::post().to(move |request: HttpRequest, body: web::Payload| {
                    let endpoint = Rc::clone(&endpoint);
                    async move { endpoint.take_message(&request, body).await }
                }),
            )
            .register(config);
    }
}

const CONNECTION: &str = "session_id";
