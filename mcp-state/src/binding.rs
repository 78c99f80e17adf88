//! What a token is bound to: a request's method, target and arguments, and a principal.

use std::fmt;

use sha2::{Digest, Sha256};

use crate::{text::decode, token::base64url};

/// Method, target and the digest of the arguments: what makes two requests the same request.
#[derive(Clone, PartialEq, Eq)]
pub struct RequestIdentity {
    method: &'static str,
    /// Escaped, so that a surrogate without its partner is one thing and not another.
    target: String,
    digest: String,
}

impl RequestIdentity {
    pub(crate) fn new(method: &'static str, target: String, arguments: &[u8]) -> Self {
        let hash = Sha256::digest(arguments);
        let digest = base64url(hash.get(..DIGEST_LEN).unwrap_or_default());
        Self {
            method,
            target,
            digest,
        }
    }

    /// The JSON-RPC method.
    #[must_use]
    pub const fn method(&self) -> &'static str {
        self.method
    }

    /// The name or uri, with U+FFFD for what is no Unicode text.
    #[must_use]
    pub fn target(&self) -> String {
        decode(&self.target).unwrap_or_else(|| "\u{fffd}".to_owned())
    }

    /// The name or uri as an ASCII JSON string, which is exact even for a lone surrogate.
    #[must_use]
    pub fn target_json(&self) -> String {
        format!("\"{}\"", self.target)
    }

    /// base64url of half the SHA-256 of the canonical arguments.
    #[must_use]
    pub fn args_digest(&self) -> &str {
        &self.digest
    }

    /// The inside of [`target_json`](Self::target_json).
    pub(crate) fn escaped_target(&self) -> &str {
        &self.target
    }
}

impl fmt::Debug for RequestIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestIdentity")
            .field("method", &self.method)
            .field("target_bytes", &self.target.len())
            .finish_non_exhaustive()
    }
}

/// What one round of a request binds its state to; computed once and used both ways.
#[derive(Clone, PartialEq, Eq)]
pub struct Binding {
    pub(crate) identity: RequestIdentity,
    pub(crate) principal: Option<String>,
}

impl Binding {
    /// A binding to a request and, if given, a principal. Most callers want
    /// [`Boundary::bind`](crate::Boundary::bind), which asks the policy for the principal.
    #[must_use]
    pub const fn new(identity: RequestIdentity, principal: Option<String>) -> Self {
        Self {
            identity,
            principal,
        }
    }

    /// The request's part of it.
    #[must_use]
    pub const fn identity(&self) -> &RequestIdentity {
        &self.identity
    }

    /// Whether a principal is bound.
    #[must_use]
    pub const fn has_principal(&self) -> bool {
        self.principal.is_some()
    }
}

impl fmt::Debug for Binding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Binding")
            .field("identity", &self.identity)
            .field("principal_bytes", &self.principal.as_ref().map(String::len))
            .finish()
    }
}

const DIGEST_LEN: usize = 16;
