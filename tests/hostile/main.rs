//! What a hostile client can do: nothing.
//!
//! Raw sockets against a server in a process of its own. Each test is a siege: while it lasts, an
//! honest client is served as ever; the server's memory stays near that of an idle one; and when it
//! is over, nothing is left. Each also says what the attacker is told.
#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test fails by panicking, and says what it has measured"
)]

mod honest;
mod raw;
mod siege;
mod words;

mod bodies;
mod floods;
mod guesses;
mod heads;
mod messages;
mod sockets;
