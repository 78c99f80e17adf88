//! Requests to an authorization server: small, bounded in time and size, and to no other server
//! than the one that was named.

mod address;

use std::{fmt, time::Duration};

use bytes::Bytes;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::{
    HeaderMap, Method, Request, Response, StatusCode,
    body::Incoming,
    header::{
        ACCEPT, AGE, AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, HeaderValue, LOCATION, USER_AGENT,
    },
};
use hyper_rustls::{ConfigBuilderExt, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::{TokioExecutor, TokioTimer},
};
use mcp_core::BoxError;
use rustls::{ClientConfig, ConfigBuilder, RootCertStore, WantsVerifier, crypto::ring};
use tokio::time::timeout;

use crate::ConfigError;
pub(crate) use address::Address;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FetchError {
    #[error("{0}: no answer within {1:?}")]
    Late(Address, Duration),
    #[error("{0}: {1}")]
    Failed(Address, #[source] BoxError),
    #[error("{0}: the answer is larger than {MAX_LEN} bytes")]
    TooLarge(Address),
    #[error("{0}: a redirect to another server, or one too many")]
    Redirect(Address),
    #[error("{0}: the answer is {1}")]
    Status(Address, StatusCode),
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.uri(), formatter)
    }
}

/// An answer of success.
#[derive(Debug)]
pub(crate) struct Fetched {
    pub(crate) body: Bytes,
    /// How long it is fresh, if it says so.
    pub(crate) fresh_for: Option<Duration>,
}

/// A client of one authorization server.
#[derive(Clone)]
pub(crate) struct Fetcher {
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    timeout: Duration,
}

impl Fetcher {
    /// A client for what is at that address, and for where it points.
    pub(crate) fn new(address: &Address, timeout: Duration) -> Result<Self, ConfigError> {
        let failed = |error: BoxError| ConfigError::Certificates(error);
        let tls = tls().map_err(|error| failed(error.into()))?;
        let tls = if address.is_tls() {
            tls.with_native_roots()
                .map_err(|error| failed(error.into()))?
        } else {
            // A server of this machine points at `https` only where it stands in for another.
            tls.with_root_certificates(RootCertStore::empty())
        };
        Ok(Self::trusting(tls.with_no_client_auth(), timeout))
    }

    fn trusting(tls: ClientConfig, timeout: Duration) -> Self {
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls)
            .https_or_http()
            .enable_http1()
            .build();
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(MAX_IDLE)
            .build(connector);
        Self { client, timeout }
    }

    pub(crate) const fn timeout(&self) -> Duration {
        self.timeout
    }

    /// What is at that address.
    pub(crate) async fn get(&self, address: &Address) -> Result<Fetched, FetchError> {
        let mut at = address.clone();
        for _ in 0..=MAX_REDIRECTS {
            let request = Request::builder().method(Method::GET);
            let (status, headers, body) = self.send(&at, request, Bytes::new()).await?;
            if status.is_redirection() {
                let location = headers.get(LOCATION).and_then(|it| it.to_str().ok());
                let there = location.and_then(|it| at.redirected(it));
                at = there.ok_or_else(|| FetchError::Redirect(at.clone()))?;
                continue;
            }
            if status != StatusCode::OK {
                return Err(FetchError::Status(at, status));
            }
            let fresh_for = fresh_for(&headers);
            return Ok(Fetched { body, fresh_for });
        }
        Err(FetchError::Redirect(at))
    }

    /// What comes of posting a form there. It goes nowhere else: no redirect is followed.
    pub(crate) async fn post(
        &self,
        address: &Address,
        authorization: &HeaderValue,
        form: String,
    ) -> Result<Fetched, FetchError> {
        let request = Request::builder()
            .method(Method::POST)
            .header(AUTHORIZATION, authorization)
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        let (status, headers, body) = self.send(address, request, form.into()).await?;
        if status != StatusCode::OK {
            return Err(FetchError::Status(address.clone(), status));
        }
        let fresh_for = fresh_for(&headers);
        Ok(Fetched { body, fresh_for })
    }

    async fn send(
        &self,
        address: &Address,
        request: hyper::http::request::Builder,
        body: Bytes,
    ) -> Result<(StatusCode, HeaderMap, Bytes), FetchError> {
        let failed = |error: BoxError| FetchError::Failed(address.clone(), error);
        let request = request
            .uri(address.uri())
            .header(ACCEPT, "application/json")
            .header(USER_AGENT, concat!("mcp-auth/", env!("CARGO_PKG_VERSION")))
            .body(Full::new(body))
            .map_err(|error| failed(error.into()))?;
        let whole = async {
            let response = self.client.request(request).await;
            let response = response.map_err(|error| failed(root_of(&error).into()))?;
            let (status, headers) = (response.status(), response.headers().clone());
            let body = read(response).await.map_err(|error| {
                if error.is::<LengthLimitError>() {
                    FetchError::TooLarge(address.clone())
                } else {
                    failed(error)
                }
            })?;
            Ok((status, headers, body))
        };
        timeout(self.timeout, whole)
            .await
            .unwrap_or_else(|_| Err(FetchError::Late(address.clone(), self.timeout)))
    }
}

impl fmt::Debug for Fetcher {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Fetcher").finish_non_exhaustive()
    }
}

/// The provider is named: which one a process has by default is for the application to say.
fn tls() -> Result<ConfigBuilder<ClientConfig, WantsVerifier>, rustls::Error> {
    let provider = ring::default_provider().into();
    ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()
}

async fn read(response: Response<Incoming>) -> Result<Bytes, BoxError> {
    let body = Limited::new(response.into_body(), MAX_LEN);
    body.collect().await.map(|it| it.to_bytes())
}

/// The error that says what happened: the outer ones say that something did.
fn root_of(error: &(dyn std::error::Error + 'static)) -> String {
    let mut root = error;
    while let Some(source) = root.source() {
        root = source;
    }
    root.to_string()
}

/// RFC 9111 section 4.2.1, of which the age is taken off.
fn fresh_for(headers: &HeaderMap) -> Option<Duration> {
    let mut fresh = None;
    for value in headers.get_all(CACHE_CONTROL) {
        for directive in value.to_str().unwrap_or_default().split(',') {
            let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
            match name.trim().to_ascii_lowercase().as_str() {
                "no-store" | "no-cache" => return Some(Duration::ZERO),
                "max-age" => fresh = value.trim().trim_matches('"').parse().ok().or(fresh),
                _ => {}
            }
        }
    }
    let age = headers
        .get(AGE)
        .and_then(|it| it.to_str().ok()?.parse().ok());
    let fresh: u64 = fresh?;
    Some(Duration::from_secs(fresh.saturating_sub(age.unwrap_or(0))))
}

/// The longest answer, in bytes, that is read.
const MAX_LEN: usize = 1024 * 1024;
const MAX_REDIRECTS: usize = 3;
/// Connections that are kept for the next request.
const MAX_IDLE: usize = 4;
const IDLE: Duration = Duration::from_secs(30);

#[cfg(test)]
mod tests;
