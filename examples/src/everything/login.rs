//! Who may call: `--auth`.

use std::error::Error;

use mcp_auth::{JwtVerifier, KeySource};
use mcp_core::auth::{Authorization, Bearer, ProtectedResource};

/// An authorization server whose tokens count.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Login {
    /// The address or the file of its key set.
    jwks: String,
    issuer: String,
    /// What this server is called in a token.
    audiences: Vec<String>,
}

impl Login {
    /// Reads `jwks:FILE_OR_URL,issuer=URL,audience=URL`.
    pub(crate) fn parse(value: &str) -> Result<Self, String> {
        let mut parts = value.split(',');
        let jwks = parts.next().and_then(|it| it.strip_prefix("jwks:"));
        let jwks = jwks.filter(|it| !it.is_empty());
        let jwks = jwks.ok_or("--auth begins with jwks: and the file or URL of a key set")?;
        let mut login = Self {
            jwks: jwks.to_owned(),
            issuer: String::new(),
            audiences: Vec::new(),
        };
        for part in parts {
            match part.split_once('=') {
                Some(("issuer", issuer)) if login.issuer.is_empty() => {
                    issuer.clone_into(&mut login.issuer);
                }
                Some(("issuer", _)) => return Err("--auth has two issuers".to_owned()),
                Some(("audience", "")) => {}
                Some(("audience", audience)) => login.audiences.push(audience.to_owned()),
                _ => return Err(format!("--auth has issuer= and audience=, not {part:?}")),
            }
        }
        if login.issuer.is_empty() {
            return Err("--auth lacks issuer=, whose tokens count".to_owned());
        }
        if login.audiences.is_empty() {
            return Err("--auth lacks audience=, what tokens for this server name".to_owned());
        }
        Ok(login)
    }

    /// Lets those in who show a token of that server with the scope `mcp:use`.
    pub(crate) fn authorization(&self, public_url: &str) -> Result<Authorization, Box<dyn Error>> {
        let is_url = self.jwks.starts_with("https://") || self.jwks.starts_with("http://");
        let keys = if is_url {
            KeySource::url(&self.jwks)
        } else {
            KeySource::file(&self.jwks)
        };
        let mut verifier = JwtVerifier::builder().issuer(&self.issuer).keys(keys);
        for audience in &self.audiences {
            verifier = verifier.audience(audience);
        }
        let resource = ProtectedResource::new(public_url)
            .name("Everything")
            .authorization_server(&self.issuer);
        let authorization = Authorization::builder()
            .policy(Bearer::new(verifier.build()?))
            .resource(resource)
            .require(["mcp:use"]);
        Ok(authorization.build()?)
    }
}

#[cfg(test)]
mod tests {
    use super::Login;

    #[test]
    fn reads_all_parts() {
        let value = "jwks:https://i/keys,issuer=https://i?a=b,audience=x,audience=y";
        let wanted = Login {
            jwks: "https://i/keys".to_owned(),
            issuer: "https://i?a=b".to_owned(),
            audiences: vec!["x".to_owned(), "y".to_owned()],
        };
        assert_eq!(Login::parse(value), Ok(wanted));
    }

    #[test]
    fn says_which_part_is_missing() {
        for (value, word) in [
            ("", "jwks:"),
            ("k.json,issuer=i,audience=a", "jwks:"),
            ("jwks:,issuer=i,audience=a", "jwks:"),
            ("jwks:k,audience=a", "issuer="),
            ("jwks:k,issuer=,audience=a", "issuer="),
            ("jwks:k,issuer=i", "audience="),
            ("jwks:k,issuer=i,audience=", "audience="),
            ("jwks:k,issuer=i,issuer=j,audience=a", "two issuers"),
            ("jwks:k,issuer=i,aud=a", "\"aud=a\""),
        ] {
            let problem = Login::parse(value).unwrap_err();
            assert!(problem.contains(word), "{value}: {problem}");
        }
    }

    #[test]
    fn keys_and_addresses_that_cannot_be_used_are_said_at_once() {
        let said = |jwks: &str, public_url: &str| {
            let login = Login::parse(&format!("jwks:{jwks},issuer=https://i,audience=a"));
            let refused = login.unwrap().authorization(public_url);
            refused.unwrap_err().to_string()
        };
        assert!(said("nowhere.json", "https://m/mcp").contains("nowhere.json"));
        assert!(said("http://i/keys", "https://m/mcp").contains("https"));
        assert!(said("https://i/keys", "m/mcp").contains("the public address"));
    }
}
