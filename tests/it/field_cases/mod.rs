//! Trouble from the field, each case under its own name with its own input.

mod calls;
mod headers;
mod jsonrpc;
mod processes;
mod resources;
mod schemas;
mod versions;
