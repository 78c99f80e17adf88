//! HTTP as it is on the wire.

mod browsers;
mod clients;
mod connections;
mod eras;
mod limits;
mod mirrored;
mod mounted;
mod origins;
mod races;
mod refusals;
mod resumption;
mod sessions;
mod streams;
