//! Where an issuer's keys are, by what it tells of itself.
//!
//! Source: RFC 8414 section 3, `OpenID` Connect Discovery 1.0 section 4;
//! `basic/authorization` of 2025-11-25, "Authorization Server Metadata Discovery".

use serde::Deserialize;

use crate::{
    ConfigError,
    http::{Address, FetchError, Fetcher},
    shown::Shown,
};

/// An issuer that tells where its keys are.
#[derive(Debug)]
pub(crate) struct Issuer {
    /// To the letter, as its document has to name it.
    name: String,
    address: Address,
}

/// Why an issuer's keys are not found.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.join("; "))]
pub(crate) struct Undiscovered(Vec<String>);

#[derive(Deserialize)]
struct Document {
    issuer: String,
    jwks_uri: Option<String>,
}

impl Issuer {
    pub(crate) fn new(name: String) -> Result<Self, ConfigError> {
        let what = "the issuer";
        let address = Address::parse(what, &name)?;
        if address.has_query() {
            return Err(ConfigError::Address {
                what,
                address: name,
                problem: "an issuer has no query (RFC 8414 section 2)",
            });
        }
        Ok(Self { name, address })
    }

    pub(crate) const fn address(&self) -> &Address {
        &self.address
    }

    /// Where its keys are: what the first document says that is one, and is its own.
    pub(crate) async fn keys(&self, fetcher: &Fetcher) -> Result<Address, Undiscovered> {
        let mut problems = Vec::new();
        for place in self.places() {
            match self.keys_by(&place, fetcher).await {
                Ok(keys) => return Ok(keys),
                Err(problem) => problems.push(problem),
            }
        }
        Err(Undiscovered(problems))
    }

    /// Where its document may be, in the order of the specification: the well-known path before
    /// that of the issuer, and last, as `OpenID` Connect has it, behind.
    fn places(&self) -> Vec<Address> {
        let path = self.address.path();
        let mut places = vec![format!("{OAUTH}{path}"), format!("{OPENID}{path}")];
        if !path.is_empty() {
            places.push(format!("{path}{OPENID}"));
        }
        places.iter().filter_map(|it| self.address.at(it)).collect()
    }

    async fn keys_by(&self, place: &Address, fetcher: &Fetcher) -> Result<Address, String> {
        let fetched = fetcher.get(place).await;
        let fetched = fetched.map_err(|error: FetchError| error.to_string())?;
        let document: Document = serde_json::from_slice(&fetched.body)
            .map_err(|_| format!("{place}: no metadata of an authorization server"))?;
        if document.issuer != self.name {
            let (theirs, ours) = (Shown(&document.issuer), Shown(&self.name));
            return Err(format!("{place}: its issuer is {theirs}, not {ours}"));
        }
        let keys = document.jwks_uri;
        let keys = keys.ok_or_else(|| format!("{place}: it has no `jwks_uri`"))?;
        let keys = self.address.points_at("`jwks_uri`", &keys);
        keys.map_err(|error| format!("{place}: {error}"))
    }
}

const OAUTH: &str = "/.well-known/oauth-authorization-server";
const OPENID: &str = "/.well-known/openid-configuration";

#[cfg(test)]
mod tests {
    use super::Issuer;

    fn places(issuer: &str) -> Vec<String> {
        let issuer = Issuer::new(issuer.to_owned()).unwrap();
        issuer.places().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn looks_where_the_specification_says_and_in_that_order() {
        assert_eq!(
            places("https://auth.example.com/tenant1"),
            [
                "https://auth.example.com/.well-known/oauth-authorization-server/tenant1",
                "https://auth.example.com/.well-known/openid-configuration/tenant1",
                "https://auth.example.com/tenant1/.well-known/openid-configuration",
            ]
        );
        for root in ["https://auth.example.com", "https://auth.example.com/"] {
            assert_eq!(
                places(root),
                [
                    "https://auth.example.com/.well-known/oauth-authorization-server",
                    "https://auth.example.com/.well-known/openid-configuration",
                ]
            );
        }
        assert_eq!(places("https://h:1/a/b/").len(), 3);
    }

    #[test]
    fn an_issuer_is_an_address_of_its_own() {
        for bad in [
            "login",
            "http://login.example.com",
            "https://h/?q",
            "https://h/#f",
        ] {
            Issuer::new(bad.to_owned()).unwrap_err();
        }
    }
}
