//! Where clients learn who issues tokens for an endpoint.
//!
//! Source: RFC 9728 section 3; `basic/authorization` of 2025-06-18 and newer.

use std::{fmt, rc::Rc};

use actix_web::{
    HttpRequest, HttpResponse,
    dev::{AppService, HttpServiceFactory},
    http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderValue},
    middleware::Condition,
    web,
};
use mcp_core::auth::Metadata;

use crate::{Endpoint, cors};

/// The metadata documents of endpoints, for the application that has the root of the site.
///
/// A well-known address lies below the root, whatever prefix an endpoint is mounted under: where
/// it sits in a `Scope`, this goes into the `App`. Mounted at the root, an endpoint serves its
/// document itself; this adds the address without a path.
///
/// ```
/// use actix_web::{App, web};
/// # use mcp_core::{Principal, Registry, ServerConfig, auth::*};
/// use mcp_http_actix::{Endpoint, MetadataRoutes};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let registry = Registry::builder("demo", "1.0.0").build(ServerConfig::default())?;
/// # let authorization = Authorization::builder()
/// #     .policy(Bearer::new(StaticTokens::new()))
/// #     .resource(ProtectedResource::new("https://mcp.example.com/public/mcp")
/// #         .authorization_server("https://login.example.com"))
/// #     .build()?;
/// let endpoint = Endpoint::new(registry).authorization(authorization);
/// let metadata = MetadataRoutes::of([&endpoint])?;
/// let app = App::new()
///     .service(metadata)
///     .service(web::scope("/public").service(endpoint.at("/mcp")));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "documents are served once they are given to `App::service`"]
pub struct MetadataRoutes {
    documents: Vec<(Metadata, Endpoint)>,
}

/// Two endpoints have one public address and tell different things of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetadataConflict {
    url: String,
}

impl fmt::Display for MetadataConflict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { url } = self;
        write!(formatter, "two endpoints contradict one another at {url}")
    }
}

impl std::error::Error for MetadataConflict {}

impl MetadataRoutes {
    /// The documents of these endpoints; those that describe no resource have none.
    ///
    /// The address without a path is served as well, where there is one document.
    ///
    /// # Errors
    ///
    /// Two endpoints would tell different things at one address.
    pub fn of<'a>(
        endpoints: impl IntoIterator<Item = &'a Endpoint>,
    ) -> Result<Self, MetadataConflict> {
        let mut documents: Vec<(Metadata, Endpoint)> = Vec::new();
        for endpoint in endpoints {
            let Some(metadata) = endpoint.metadata() else {
                continue;
            };
            match documents
                .iter()
                .find(|(it, _)| it.path() == metadata.path())
            {
                None => documents.push((metadata.clone(), endpoint.clone())),
                Some((same, _)) if same == metadata => {}
                Some(_) => {
                    let url = metadata.url().to_owned();
                    return Err(MetadataConflict { url });
                }
            }
        }
        Ok(Self { documents })
    }
}

impl HttpServiceFactory for MetadataRoutes {
    fn register(self, config: &mut AppService) {
        let alone = self.documents.len() == 1;
        for (metadata, endpoint) in self.documents {
            if alone && metadata.path() != Metadata::root_path() {
                register(&endpoint, &metadata, Metadata::root_path(), config);
            }
            register(&endpoint, &metadata, metadata.path(), config);
        }
    }
}

/// Serves one document at one path. It is for everybody: whoever reads it has no token yet, and
/// pages of any origin may, unless CORS is the application's own.
pub(crate) fn register(
    endpoint: &Endpoint,
    metadata: &Metadata,
    path: &str,
    config: &mut AppService,
) {
    let (endpoint, document) = (Rc::new(endpoint.clone()), metadata.document().clone());
    let cors = endpoint.cors;
    let serve = move |request: HttpRequest| {
        let response = match endpoint.judge_host(request.head()) {
            Ok(_) => HttpResponse::Ok()
                .insert_header((CONTENT_TYPE, HeaderValue::from_static("application/json")))
                .insert_header((
                    CACHE_CONTROL,
                    HeaderValue::from_static("public, max-age=3600"),
                ))
                .body(document.clone()),
            Err(failure) => endpoint.refuse(failure),
        };
        async move { response }
    };
    web::resource(path.to_owned())
        .wrap(Condition::new(cors, cors::everybody()))
        .route(web::get().to(serve.clone()))
        .route(web::head().to(serve))
        .default_service(web::to(|| async {
            let allow = (ALLOW, HeaderValue::from_static("GET, HEAD"));
            HttpResponse::MethodNotAllowed()
                .insert_header(allow)
                .finish()
        }))
        .register(config);
}
