//! What a server tells of itself to those who want a token for it.
//!
//! Source: RFC 9728; `basic/authorization` of 2025-06-18 and newer.

use std::{fmt, net::IpAddr};

use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::{AuthorizationError, Scopes, resource_uri::ResourceUri};

/// The server as its clients and its authorization servers name it.
///
/// Everything that clients are told follows from the one public address: `resource` of the
/// metadata, where the metadata is, and what a challenge points at. Nothing is taken from a request,
/// whose scheme and host a proxy may have changed.
#[derive(Debug, Clone)]
#[must_use = "it is given to `AuthorizationBuilder::resource`"]
pub struct ProtectedResource {
    address: String,
    servers: Vec<String>,
    name: Option<String>,
    documentation: Option<String>,
    scopes_supported: Option<Scopes>,
}

impl ProtectedResource {
    /// The endpoint at that public address: `https://mcp.example.com/mcp`.
    pub fn new(public_url: impl Into<String>) -> Self {
        Self {
            address: public_url.into(),
            servers: Vec::new(),
            name: None,
            documentation: None,
            scopes_supported: None,
        }
    }

    /// Who issues tokens for it: an issuer (RFC 8414 section 2). At least one is needed.
    pub fn authorization_server(mut self, issuer: impl Into<String>) -> Self {
        self.servers.push(issuer.into());
        self
    }

    /// What it is called, for people.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Where developers can read about it.
    pub fn documentation(mut self, url: impl Into<String>) -> Self {
        self.documentation = Some(url.into());
        self
    }

    /// What a client asks for that has no challenge to go by: the least that is of use. What the
    /// whole endpoint needs by default.
    pub fn scopes_supported(mut self, scopes: impl Into<Scopes>) -> Self {
        self.scopes_supported = Some(scopes.into());
        self
    }

    /// Checks it and renders its document.
    pub(super) fn describe(self, needed: &Scopes) -> Result<Metadata, AuthorizationError> {
        let resource = address("the public address", &self.address)?;
        if self.servers.is_empty() {
            return Err(AuthorizationError::NoAuthorizationServer);
        }
        for server in &self.servers {
            address("an authorization server", server)?;
        }
        let scopes = self.scopes_supported.unwrap_or_else(|| needed.clone());
        super::usable(&scopes)?;
        let mut document = Map::new();
        document.insert("resource".to_owned(), json!(resource.to_string()));
        document.insert("authorization_servers".to_owned(), json!(self.servers));
        if !scopes.is_empty() {
            let scopes: Vec<&str> = scopes.iter().collect();
            document.insert("scopes_supported".to_owned(), json!(scopes));
        }
        document.insert("bearer_methods_supported".to_owned(), json!(["header"]));
        let told = [
            ("resource_name", self.name),
            ("resource_documentation", self.documentation),
        ];
        for (name, value) in told {
            document.extend(value.map(|it| (name.to_owned(), Value::String(it))));
        }
        let path = format!("{WELL_KNOWN}{}{}", resource.path(), resource.query());
        Ok(Metadata {
            url: format!("{}{path}", resource.origin()),
            path: format!("{WELL_KNOWN}{}", resource.path()),
            document: Value::Object(document).to_string().into(),
        })
    }
}

/// The metadata document of a protected resource.
#[derive(Clone, PartialEq, Eq)]
pub struct Metadata {
    url: String,
    path: String,
    document: Bytes,
}

impl Metadata {
    /// Where clients find it.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The path that it is served at: the well-known one, with the path of the endpoint behind it
    /// (RFC 9728 section 3.1).
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Where clients look that know no path: for the one endpoint of a host.
    #[must_use]
    pub const fn root_path() -> &'static str {
        WELL_KNOWN
    }

    /// The document, as JSON.
    #[must_use]
    pub fn document(&self) -> &Bytes {
        &self.document
    }
}

impl fmt::Debug for Metadata {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Metadata")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

/// An address that is reached over TLS, or on this machine.
fn address(what: &'static str, text: &str) -> Result<ResourceUri, AuthorizationError> {
    let bad = |problem| AuthorizationError::Address {
        what,
        address: text.to_owned(),
        problem,
    };
    let uri = ResourceUri::parse(text);
    let uri = uri.ok_or_else(|| bad("it is no `https` URI without user and fragment"))?;
    let origin = uri.origin();
    if let Some(host) = origin.strip_prefix("http://")
        && !is_loopback(host)
    {
        return Err(bad("other than on this machine it has to be `https`"));
    }
    Ok(uri)
}

fn is_loopback(authority: &str) -> bool {
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => host,
        _ => authority,
    };
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || address.parse::<IpAddr>().is_ok_and(|it| it.is_loopback())
}

const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

#[cfg(test)]
mod tests {
    use super::*;

    fn described(resource: ProtectedResource) -> (Metadata, Value) {
        let metadata = resource.describe(&Scopes::from(["mcp:use"])).unwrap();
        let document = serde_json::from_slice(metadata.document()).unwrap();
        (metadata, document)
    }

    #[test]
    fn a33_the_path_is_inserted() {
        for (public_url, resource, url) in [
            (
                "HTTPS://MCP.example.com:443/public/mcp",
                "https://mcp.example.com/public/mcp",
                "https://mcp.example.com/.well-known/oauth-protected-resource/public/mcp",
            ),
            (
                "https://mcp.example.com/",
                "https://mcp.example.com",
                "https://mcp.example.com/.well-known/oauth-protected-resource",
            ),
            (
                "http://127.0.0.1:3000/mcp",
                "http://127.0.0.1:3000/mcp",
                "http://127.0.0.1:3000/.well-known/oauth-protected-resource/mcp",
            ),
        ] {
            let resource_of = ProtectedResource::new(public_url)
                .authorization_server("https://login.example.com/");
            let (metadata, document) = described(resource_of);
            assert_eq!(metadata.url(), url);
            assert!(url.ends_with(metadata.path()));
            assert_eq!(document["resource"], resource);
            // An issuer is compared to the letter (RFC 8414 section 3.3).
            let servers = json!(["https://login.example.com/"]);
            assert_eq!(document["authorization_servers"], servers);
            assert_eq!(document["scopes_supported"], json!(["mcp:use"]));
        }
    }

    #[test]
    fn what_cannot_be_is_refused_at_once() {
        let of = |address: &str| ProtectedResource::new(address).authorization_server("https://a");
        let refused = |resource: ProtectedResource| {
            let refused = resource.describe(&Scopes::none());
            refused.unwrap_err().to_string()
        };
        assert!(refused(of("mcp.example.com")).contains("the public address"));
        assert!(refused(of("http://mcp.example.com")).contains("has to be `https`"));
        assert!(refused(of("http://127.0.0.1.evil.example")).contains("https"));
        assert!(refused(of("https://h#f")).contains("fragment"));
        assert!(refused(ProtectedResource::new("https://h")).contains("authorization server"));
        let other = of("https://h").authorization_server("http://login.example.com");
        assert!(refused(other).contains("an authorization server"));
        let offline = of("https://h").scopes_supported(["offline_access"]);
        assert!(refused(offline).contains("offline_access"));
        for here in ["http://localhost:1/x", "http://[::1]:1", "http://[::1]"] {
            of(here).describe(&Scopes::none()).unwrap();
        }
    }
}
