//! What is wrong with a verifier's configuration.

use mcp_core::BoxError;

/// Why a verifier cannot be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// Nobody is trusted.
    #[error("no issuer: `issuer` or `discover` says whose tokens count")]
    NoIssuer,
    /// Any server's tokens would be taken.
    #[error("no audience: `audience` says what the tokens for this server name as theirs")]
    NoAudience,
    /// There is nothing to check signatures with.
    #[error("no keys: `keys` or `discover` says where the issuer's keys are")]
    NoKeys,
    /// No token could be good.
    #[error("`algorithms` lists none")]
    NoAlgorithms,
    /// Nothing says who asks for introspection.
    #[error("no client: `client` says as whom the introspection endpoint is asked")]
    NoClient,
    /// The keys cannot be read.
    #[error("the keys of {place}: {source}")]
    Keys {
        /// Where they are.
        place: String,
        /// What is wrong with them.
        source: KeySetError,
    },
    /// An address that must not be used.
    #[error("{what} is at {address:?}, and that cannot be: {problem}")]
    Address {
        /// What is there.
        what: &'static str,
        /// The address.
        address: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// This machine trusts no certificate.
    #[error("the certificates that this machine trusts (`SSL_CERT_FILE` names others): {0}")]
    Certificates(#[source] BoxError),
}

/// Why a key set (RFC 7517 section 5) cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeySetError {
    /// It cannot be had.
    #[error("cannot be read: {0}")]
    Unreadable(#[source] BoxError),
    /// It is no key set.
    #[error("not a JSON Web Key Set: {0}")]
    Malformed(#[source] BoxError),
    /// It is beyond all measure.
    #[error("larger than {limit} {unit}")]
    TooLarge {
        /// How much is read.
        limit: usize,
        /// Of what.
        unit: &'static str,
    },
    /// It has keys, but none for signatures that count here.
    #[error("no key that a signature can be checked with")]
    NoUsableKey,
}
