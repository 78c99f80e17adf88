//! Who may call, and what belongs to whom.

mod binding;
mod budget;
mod challenges;
mod expiry;
mod listing;
mod metadata;
mod namespaces;
mod principal;
mod required;
mod scopes;
mod sources;
