//! What a token says, judged.
//!
//! Source: RFC 7519 section 4.1, RFC 9068 sections 2.2 and 4; `basic/authorization` of 2025-06-18
//! and newer, "Token Handling".

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use mcp_core::{
    Principal,
    auth::{AuthError, Scopes, same_resource},
    types::JsonObject,
};
use serde_json::Value;

use crate::{ConfigError, shown::Shown};

/// What the claims of a token have to be.
#[derive(Debug, Clone)]
pub(crate) struct Rules {
    pub(crate) issuer: String,
    /// What this server is called; one of them has to be named.
    pub(crate) audiences: Vec<String>,
    pub(crate) leeway: Duration,
    pub(crate) absent: Absent,
}

/// Which claims need not be there.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Absent {
    pub(crate) issuer: bool,
    pub(crate) audience: bool,
    pub(crate) expiry: bool,
    pub(crate) subject: bool,
}

impl Rules {
    /// What both builders begin with: no issuer and no audience, and a minute of leeway.
    pub(crate) fn new(absent: Absent) -> Self {
        Self {
            issuer: String::new(),
            audiences: Vec::new(),
            leeway: Duration::from_mins(1),
            absent,
        }
    }

    /// The same, if they say whose tokens count and, unless that need not be there, for whom.
    pub(crate) fn complete(mut self) -> Result<Self, ConfigError> {
        if self.issuer.is_empty() {
            return Err(ConfigError::NoIssuer);
        }
        self.audiences.retain(|it| !it.is_empty());
        if self.audiences.is_empty() && !self.absent.audience {
            return Err(ConfigError::NoAudience);
        }
        Ok(self)
    }

    /// Whose token it is, if its claims are in order at that time.
    pub(crate) fn judge(
        &self,
        mut claims: JsonObject,
        now: SystemTime,
    ) -> Result<Arc<Principal>, AuthError> {
        self.check_issuer(claims.get("iss"))?;
        self.check_audience(claims.get("aud"))?;
        let expires = self.check_times(&claims, now)?;
        // Whoever shows it would have to prove a key, and nothing here asks for that (RFC 9449
        // section 7.1, RFC 8705 section 3).
        if claims.get("cnf").is_some_and(|it| !it.is_null()) {
            let reason = "the token is bound to a key (`cnf`), and so no bearer token";
            return Err(AuthError::invalid(reason));
        }
        let scopes = scopes(&claims)?;
        let client = text(&claims, "client_id")?.or(text(&claims, "azp")?);
        let client = client.unwrap_or_default().to_owned();
        let subject = text(&claims, "sub")?.unwrap_or_default().to_owned();
        // Nobody at all would share everything with everybody else of that kind.
        if subject.is_empty() && (!self.absent.subject || client.is_empty()) {
            return Err(AuthError::invalid("the token has no subject (`sub`)"));
        }
        for told in ["iss", "sub", "client_id", "exp", "scope", "scp"] {
            claims.remove(told);
        }
        let mut principal = Principal::new(&self.issuer, subject)
            .client(client)
            .scopes(scopes)
            .claims(claims);
        principal.expires = expires;
        Ok(Arc::new(principal))
    }

    /// Compared to the letter (RFC 8414 section 3.3).
    fn check_issuer(&self, issuer: Option<&Value>) -> Result<(), AuthError> {
        match issuer {
            Some(Value::String(issuer)) if *issuer == self.issuer => Ok(()),
            None if self.absent.issuer => Ok(()),
            Some(Value::String(issuer)) => {
                let reason = format!(
                    "the token's issuer is {}, not the configured {}",
                    Shown(issuer),
                    Shown(&self.issuer)
                );
                Err(AuthError::invalid(reason))
            }
            _ => Err(AuthError::invalid("the token has no issuer (`iss`)")),
        }
    }

    fn check_audience(&self, audience: Option<&Value>) -> Result<(), AuthError> {
        let named: Vec<&str> = match audience {
            None if self.absent.audience => return Ok(()),
            Some(Value::String(one)) => vec![one],
            Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let ours = |name: &&str| self.audiences.iter().any(|it| same_resource(it, name));
        if named.iter().any(ours) {
            return Ok(());
        }
        let reason = match named.first() {
            Some(name) => format!("the token is for {}, no `audience` of ours", Shown(name)),
            None => "the token says for no server that it is for it (`aud`)".to_owned(),
        };
        Err(AuthError::invalid(reason))
    }

    /// Until when it is good: its expiry and the leeway.
    fn check_times(
        &self,
        claims: &JsonObject,
        now: SystemTime,
    ) -> Result<Option<SystemTime>, AuthError> {
        let latest = now.checked_add(self.leeway).unwrap_or(now);
        let later = |name| Ok::<_, AuthError>(time(claims, name)?.is_some_and(|at| at > latest));
        if later("nbf")? {
            return Err(AuthError::invalid("the token is not good yet (`nbf`)"));
        }
        if later("iat")? {
            return Err(AuthError::invalid("the token is from the future (`iat`)"));
        }
        let Some(expires) = time(claims, "exp")? else {
            return if self.absent.expiry {
                Ok(None)
            } else {
                Err(AuthError::invalid("the token never expires (`exp`)"))
            };
        };
        let expires = expires.checked_add(self.leeway).unwrap_or(expires);
        if expires <= now {
            return Err(AuthError::invalid("the token has expired (`exp`)"));
        }
        Ok(Some(expires))
    }
}

/// A `scope` (RFC 9068 section 2.2.3), or `scp`, which some authorization servers have instead:
/// names between spaces, or a list of names.
fn scopes(claims: &JsonObject) -> Result<Scopes, AuthError> {
    let malformed = || AuthError::invalid("the scopes of the token cannot be read");
    let claim = claims.get("scope").or_else(|| claims.get("scp"));
    match claim {
        None | Some(Value::Null) => Ok(Scopes::none()),
        Some(Value::String(names)) => Ok(Scopes::parse(names)),
        Some(Value::Array(names)) => {
            let names = names.iter().map(|it| it.as_str().ok_or_else(malformed));
            names.collect::<Result<Vec<_>, _>>().map(Scopes::from)
        }
        Some(_) => Err(malformed()),
    }
}

/// A claim that is a text wherever it is there.
fn text<'a>(claims: &'a JsonObject, name: &str) -> Result<Option<&'a str>, AuthError> {
    match claims.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(AuthError::invalid(format!(
            "the token's `{name}` is no text"
        ))),
    }
}

/// A `NumericDate` (RFC 7519 section 2): seconds since 1970, perhaps with a fraction.
fn time(claims: &JsonObject, name: &str) -> Result<Option<SystemTime>, AuthError> {
    let Some(value) = claims.get(name) else {
        return Ok(None);
    };
    let seconds = value.as_f64().filter(|it| *it >= 0.0);
    let since = seconds.and_then(|it| Duration::try_from_secs_f64(it).ok());
    let at = since.and_then(|it| SystemTime::UNIX_EPOCH.checked_add(it));
    at.map(Some)
        .ok_or_else(|| AuthError::invalid(format!("the token's `{name}` is no time")))
}
