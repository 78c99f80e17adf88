//! Whose a request is, as far as anybody can tell.

use std::{fmt, sync::Arc};

use actix_web::HttpRequest;
use bytes::Bytes;
use mcp_core::{Incoming, Principal, Reply};

use crate::{Endpoint, headers::ActixHeaders};

/// What the application tells of a request.
pub(crate) struct Told<T>(Arc<dyn Tells<T>>);

pub(crate) trait Tells<T>: Fn(&HttpRequest) -> Option<T> + Send + Sync {}

impl<T, F: Fn(&HttpRequest) -> Option<T> + Send + Sync> Tells<T> for F {}

impl<T> Clone for Told<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> fmt::Debug for Told<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Told").finish()
    }
}

impl<T> Told<T> {
    pub(crate) fn by(told: impl Fn(&HttpRequest) -> Option<T> + Send + Sync + 'static) -> Self {
        Self(Arc::new(told))
    }

    fn of(&self, request: &HttpRequest) -> Option<T> {
        (self.0)(request)
    }
}

impl Endpoint {
    /// What tells strangers apart, so that [`Limits::rate`](mcp_core::Limits::rate) holds for each
    /// of them, and for each who tries credentials: the address they come from. Without it,
    /// principals alone have a rate.
    ///
    /// The application has to say which address that is, since behind a proxy each request comes
    /// from the proxy:
    ///
    /// ```
    /// # use mcp_core::{Registry, ServerConfig};
    /// use actix_web::HttpRequest;
    /// use mcp_http_actix::Endpoint;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let registry = Registry::builder("demo", "1.0.0").build(ServerConfig::default())?;
    /// // Clients come directly; behind a proxy it would be what the proxy writes down of them.
    /// let endpoint = Endpoint::new(registry)
    ///     .source(|request: &HttpRequest| Some(request.peer_addr()?.ip().to_string()));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Security
    ///
    /// What a client can choose, as a header that no proxy of yours overwrites, lets it be as many
    /// strangers as it likes.
    #[must_use]
    pub fn source(
        mut self,
        source: impl Fn(&HttpRequest) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.source = Some(Told::by(source));
        self
    }

    /// Whose a request is, once it may be served.
    pub(crate) async fn admit(&self, request: &HttpRequest) -> Result<Source, Reply> {
        let address = self.source.as_ref().and_then(|it| it.of(request));
        let seen = ActixHeaders(request.headers());
        let admitted = self.dispatcher.admit(&seen, address.as_deref()).await?;
        let identified = || Some(Arc::new(self.principal.as_ref()?.of(request)?));
        Ok(Source {
            principal: admitted.or_else(identified),
            namespace: self.namespace.as_ref().and_then(|it| it.of(request)),
            address,
        })
    }
}

/// Whose a request is.
pub(crate) struct Source {
    principal: Option<Arc<Principal>>,
    namespace: Option<String>,
    address: Option<String>,
}

impl Source {
    pub(crate) fn incoming(&self, body: Bytes) -> Incoming<'_> {
        Incoming::new(body)
            .principal(self.principal.as_ref())
            .namespace(self.namespace.as_deref())
            .source(self.address.as_deref())
    }
}
