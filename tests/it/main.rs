//! Cross-crate tests: every scenario on every transport in every revision, and the wire itself.
//!
//! A test that proves a requirement of the specification names it: `// req: ID`.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a test fails by panicking, and has clients that run beside it"
)]

mod support;

mod asking;
mod auth;
mod field_cases;
mod refusals;
mod scenarios;
mod schemas;
mod vectors;
mod wire;
