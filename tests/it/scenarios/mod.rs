//! Scenarios: what they do is the same everywhere, and they say what they need.

mod batches;
mod calls;
mod changes;
mod hostile;
mod lifecycle;
mod listen;
mod notifications;
mod prompts;
mod registration;
mod resources;
mod revisions;
mod sessions;
mod subscriptions;
mod tools;
