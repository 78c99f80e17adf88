#![doc = include_str!("../README.md")]

mod algorithm;
mod cache;
mod claims;
mod clock;
mod error;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "http")]
mod introspection;
mod jws;
mod keys;
mod shown;
mod verifier;

pub use algorithm::Algorithm;
pub use error::{ConfigError, KeySetError};
#[cfg(feature = "http")]
pub use introspection::{IntrospectionVerifier, IntrospectionVerifierBuilder};
pub use keys::KeySource;
pub use verifier::{JwtVerifier, JwtVerifierBuilder};
