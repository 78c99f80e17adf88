//! Bytes to calls, outcomes to bytes: one adapter for each revision of the Model Context Protocol.
//!
//! Bytes become an [`Envelope`], an `Envelope` becomes a [`Call`](call::Call), an [`Outcome`]
//! becomes a [`Reply`]. Nothing here awaits, reads a clock or holds a socket, and nothing outside
//! one revision's file and [`adapter_set`] knows a protocol version.
//!
//! ```
//! use mcp_codec::{AdapterSet, ClientMessage, Envelope, Hints, Manifest};
//! use mcp_types::Implementation;
//!
//! let body = br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
//! let envelope = Envelope::parse(body).map_err(|unreadable| unreadable.failure)?;
//! let revision = AdapterSet::default().select(&envelope, Hints::default())?;
//! let manifest = Manifest::new(Implementation::new("demo", "1.0.0"));
//! let message = revision.decode(&envelope, None, &manifest)?;
//! assert!(matches!(message, ClientMessage::Call(_)));
//! # Ok::<(), mcp_codec::Failure>(())
//! ```

pub mod call;
pub mod depth;
pub mod envelope;
pub mod headers;
pub mod outcome;
pub mod params;
pub mod question;

mod adapter;
pub mod adapter_set;
mod hints;
mod manifest;
mod mirror;

mod content;
mod legacy;
mod method;
mod mirrored_headers;
mod notice;
mod schema;
mod write;

mod v2024_11_05;
mod v2025_03_26;
mod v2025_06_18;
mod v2025_11_25;
mod v2026_07_28;

pub use adapter::{Era, InputStyle, Resumption, RevisionAdapter};
pub use adapter_set::{AdapterSet, HandshakeState, Hints, Revision, UnknownRevision};
pub use call::{ClientMessage, ClientNotification, ClientRequest};
pub use envelope::{Envelope, MessageKind};
pub use headers::{HeaderValue, Headers};
pub use manifest::Manifest;
pub use mirror::{MirroredKind, MirroredParameter, mirrored_parameters};
pub use notice::{Change, Notice};
pub use outcome::{Failure, FailureKind, Outcome, Reply, ServerResult};
