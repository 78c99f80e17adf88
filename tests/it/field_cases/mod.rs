//! Trouble from the field, each case under its own name with its own input.

mod abandoned;
mod authorization;
mod calls;
mod elicitation;
mod headers;
mod jsonrpc;
mod processes;
mod request_state;
mod resources;
mod schemas;
mod sessions;
mod shutdown;
mod streams;
mod versions;
