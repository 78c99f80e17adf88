//! The crate as its users have it.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod admission;
mod claims;
#[cfg(feature = "http")]
mod introspection;
#[cfg(feature = "http")]
mod remote;
#[cfg(feature = "http")]
mod server;
mod signatures;
mod sources;
mod support;
