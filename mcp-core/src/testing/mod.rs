//! What every backend has to keep, as tests that its author calls.
//!
//! A contract takes two handles on one backend, as two workers have, and panics with the promise
//! that is broken. It uses names of its own, so that the backend may hold other things and serve
//! others meanwhile; and it waits for what is short-lived to expire, so that time must not be
//! paused unless it is the backend's time too.
//!
//! ```
//! use mcp_core::{MemoryHub, MemoryStore, testing};
//!
//! # /*
//! #[tokio::test]
//! # */
//! async fn keeps_the_contracts() {
//!     let store = MemoryStore::new();
//!     testing::session_store_contract(store.clone(), store).await;
//!
//!     let hub = MemoryHub::new();
//!     testing::hub_contract(hub.clone(), hub).await;
//! }
//! # tokio::runtime::Builder::new_current_thread()
//! #     .enable_time()
//! #     .build()?
//! #     .block_on(keeps_the_contracts());
//! # Ok::<(), std::io::Error>(())
//! ```

mod hub;
mod store;
#[cfg(test)]
mod tests;

pub use hub::{HubContract, hub_contract};
pub use store::session_store_contract;

use std::{fmt, future::Future, time::Duration};

use tokio::{task::JoinSet, time::timeout};

use crate::Key;

/// Ends the test: a promise is broken.
#[expect(clippy::panic, reason = "this is how a test fails")]
fn broken(promise: &str, found: &dyn fmt::Display) -> ! {
    panic!("broken promise: {promise}: {found}")
}

/// What a call came to, for which it has plenty of time.
async fn done<T>(promise: &str, call: impl Future<Output = T>) -> T {
    match timeout(PATIENCE, call).await {
        Ok(value) => value,
        Err(_) => broken(promise, &"nothing happened"),
    }
}

/// What a call came to that must not fail.
async fn sound<T, E: fmt::Debug>(promise: &str, call: impl Future<Output = Result<T, E>>) -> T {
    match done(promise, call).await {
        Ok(value) => value,
        Err(error) => broken(promise, &format_args!("{error:?}")),
    }
}

/// Tasks at work, until `join_all` tells what they came to, in any order.
fn at_work<T: Send + 'static>(
    tasks: impl IntoIterator<Item = impl Future<Output = T> + Send + 'static>,
) -> JoinSet<T> {
    let mut running = JoinSet::new();
    for task in tasks {
        running.spawn(task);
    }
    running
}

/// A name that nobody else uses.
fn unique() -> String {
    format!("contract-{:032x}", rand::random::<u128>())
}

/// A key that nobody else uses.
fn fresh_key() -> Key {
    Key::new("", "contract", &unique())
}

/// Long enough to outlive a test on any machine.
const LONG: Duration = Duration::from_secs(600);

/// Soon over.
const SHORT: Duration = Duration::from_millis(40);

/// When what is [`SHORT`] is over for certain, also by a clock of whole milliseconds.
const OVER: Duration = Duration::from_millis(60);

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(60);
