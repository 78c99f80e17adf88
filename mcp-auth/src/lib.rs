//! Verification of OAuth access tokens: whose a token is, and whether it is for this server.

mod algorithm;
mod cache;
mod claims;
mod clock;
mod error;
mod jws;
mod keys;
mod shown;
mod verifier;

pub use algorithm::Algorithm;
pub use error::{ConfigError, KeySetError};
pub use keys::KeySource;
pub use verifier::{JwtVerifier, JwtVerifierBuilder};
