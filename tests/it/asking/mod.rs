//! Handlers that ask their client, however the question travels.

mod alterations;
mod batches;
mod capabilities;
mod interview;
mod kinds;
mod misuse;
mod single_use;
mod slow_store;
mod state;
mod streams;
mod waiting;
