//! The crate as its users have it.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod claims;
mod signatures;
mod sources;
mod support;
