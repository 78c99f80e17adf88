//! Who may call, and what belongs to whom.

mod binding;
mod budget;
mod challenges;
mod listing;
mod metadata;
mod namespaces;
mod principal;
mod scopes;
