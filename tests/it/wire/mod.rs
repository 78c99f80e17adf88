//! HTTP as it is on the wire.

mod clients;
mod eras;
mod mirrored;
mod mounted;
mod refusals;
mod streams;
