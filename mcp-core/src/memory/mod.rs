//! The store and the hub of one process: memory behind locks, without a task of their own.

mod clock;
mod hub;
mod shards;
mod store;

pub use hub::MemoryHub;
pub use store::MemoryStore;
