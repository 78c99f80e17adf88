//! A Model Context Protocol server without a transport: registry, dispatcher, exchange.
//!
//! A handler is a plain `async fn`; a [`Registry`] collects handlers; a [`Dispatcher`] answers
//! messages by it, in whichever protocol revision they speak. A transport crate feeds it bytes.
//!
//! ```
//! use bytes::Bytes;
//! use mcp_core::{Dispatcher, Incoming, Message, Registry, ServerConfig, tool};
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//!
//! /// Add two numbers.
//! #[derive(Deserialize, JsonSchema)]
//! struct Add {
//!     a: i64,
//!     b: i64,
//! }
//!
//! async fn add(Add { a, b }: Add) -> String {
//!     (a + b).to_string()
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! let registry = Registry::builder("sums", "1.0.0")
//!     .tool(tool("add", add))
//!     .build(ServerConfig::default())?;
//! let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call",
//!                "params":{"name":"add","arguments":{"a":2,"b":3}}}"#;
//! let mut answer = Dispatcher::new(registry).answer(&Incoming::new(Bytes::from(call)));
//! let Some(Message::Reply(reply)) = answer.next().await else { unreachable!() };
//! assert_eq!(
//!     reply.body.as_deref(),
//!     Some(&br#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"5"}]}}"#[..]),
//! );
//! # Ok::<(), mcp_core::RegisterError>(())
//! # }).unwrap();
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # Cancel safety
//!
//! Nothing here spawns a task. A call's future is owned by its [`Answer`], and dropping the
//! `Answer` cancels the call.

pub mod auth;

mod builder;
mod config;
mod error;
mod limits;
mod registry;
mod usage;

mod handler;
mod holdings;
mod results;

mod completion;
mod prompts;
mod registering;
mod resources;
mod templates;
mod tools;

mod answer;
mod arriving;
mod asking;
mod caller;
mod connection;
mod dispatcher;
mod entrance;
mod exchange;
mod form;
mod incoming;
mod outbox;
mod outcome;
mod owned;
mod peer;
mod principal;
mod request;

mod backplane;
mod hub;
mod key;
mod memory;
mod store;
pub mod testing;

mod budget;
mod busy;
mod clock;
mod closing;
mod gauges;
mod housekeeping;
mod room;
mod session;
mod stream;

#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing;

mod catalog;
mod cursor;
mod listing;
mod schema;
mod uri_template;

pub use answer::{Answer, Begun, Message};
pub use asking::{Answers, Ask, Elicit, ElicitUrl, Elicited, Roots, Sample};
pub use builder::RegistryBuilder;
pub use completion::CompletionQuery;
pub use config::{AskingConfig, PageSize, ServerConfig, SessionConfig, SessionMode, StreamConfig};
pub use connection::Connection;
pub use dispatcher::Dispatcher;
pub use entrance::Posted;
pub use error::{HandlerError, RegisterError};
pub use exchange::Exchange;
pub use form::{Form, FormError};
pub use handler::{Arguments, FromExchange, Handler, State, States};
pub use hub::{Delivery, Hub, HubError, Position, Start, Subscription};
pub use incoming::Incoming;
pub use key::Key;
pub use limits::{Limits, Rate};
pub use mcp_codec::{AdapterSet, Change, Failure, FailureKind, HeaderValue, Headers, Reply};
pub use mcp_state::{KeyRing, PrincipalBinding, RequestStateSecurity};
pub use mcp_types as types;
pub use memory::{MemoryHub, MemoryStore};
pub use outbox::undelivered_notifications;
pub use principal::Principal;
pub use prompts::{PromptSpec, prompt};
pub use registry::Registry;
pub use resources::{ResourceSpec, resource};
pub use results::{IntoCompletion, IntoPromptResult, IntoResource, IntoToolResult, Json};
pub use room::Receiving;
pub use session::{Session, SessionError, Sessions};
pub use store::{BoxError, SessionStore, Stamp, StoreError, Stored};
pub use stream::{Event, EventStream, Unasked};
pub use templates::{TemplateSpec, template};
pub use tools::{ToolSpec, blocking_tool, dynamic_tool, tool};
pub use usage::Usage;
