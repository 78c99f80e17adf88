//! Who may call: policies that say whose a request is, and what the server tells those that it
//! turns away.
//!
//! ```
//! use mcp_core::{
//!     Principal,
//!     auth::{Authorization, Bearer, ProtectedResource, StaticTokens},
//! };
//!
//! # fn main() -> Result<(), mcp_core::auth::AuthorizationError> {
//! let tokens = StaticTokens::new().token(
//!     "a long and random one",
//!     Principal::new("ops", "nightly-job").scopes(["mcp:use"]),
//! );
//! let authorization = Authorization::builder()
//!     .policy(Bearer::new(tokens))
//!     .resource(
//!         ProtectedResource::new("https://mcp.example.com/mcp")
//!             .authorization_server("https://login.example.com"),
//!     )
//!     .require(["mcp:use"])
//!     .build()?;
//! # Ok(())
//! # }
//! ```
//!
//! Source: `basic/authorization` of 2025-03-26 and newer; RFC 6750, RFC 9728, RFC 9110 section 11.

mod authorization;
mod basic;
mod bearer;
mod needs;
mod policy;
mod resource;
mod resource_uri;
mod scopes;
mod secret;

pub(crate) use authorization::Denied;
pub use authorization::{Authorization, AuthorizationBuilder, AuthorizationError};
pub use basic::{Basic, PasswordVerifier, StaticPasswords};
pub use bearer::{Bearer, StaticTokens};
pub(crate) use needs::{Gate, Needs};
pub use policy::{AuthError, AuthPolicy, Challenge, Problem, TokenVerifier};
pub use resource::{Metadata, ProtectedResource};
pub use resource_uri::same_resource;
pub use scopes::Scopes;

use mcp_codec::{HeaderValue, Headers};

/// What the `Authorization` header shows under a scheme, if it is of that one.
fn shown<'a>(headers: &'a dyn Headers, scheme: &str) -> Result<Option<&'a str>, AuthError> {
    let value = match headers.value(AUTHORIZATION) {
        HeaderValue::Absent => return Ok(None),
        HeaderValue::Repeated => {
            let reason = "there is more than one Authorization header";
            return Err(AuthError::malformed(reason));
        }
        HeaderValue::Once(value) => std::str::from_utf8(value),
    };
    let value = value.map_err(|_| AuthError::malformed("the Authorization header is no text"))?;
    let value = value.trim();
    if value.is_empty() {
        return Err(AuthError::malformed("the Authorization header is empty"));
    }
    let (named, credentials) = value.split_once(' ').unwrap_or((value, ""));
    let ours = named.eq_ignore_ascii_case(scheme);
    Ok(ours.then(|| credentials.trim_start()))
}

/// Whether scopes can be asked of a client.
fn usable(scopes: &Scopes) -> Result<(), AuthorizationError> {
    if let Some(scope) = scopes.first_invalid() {
        return Err(AuthorizationError::Scope(scope.to_owned()));
    }
    // Refresh tokens are no requirement of a resource (2026-07-28, "Refresh Tokens").
    if scopes.contains(OFFLINE_ACCESS) {
        return Err(AuthorizationError::Scope(OFFLINE_ACCESS.to_owned()));
    }
    Ok(())
}

const AUTHORIZATION: &str = "authorization";
const OFFLINE_ACCESS: &str = "offline_access";
