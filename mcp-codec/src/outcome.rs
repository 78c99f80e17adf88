//! What became of a call, in no revision's numbers.

use std::borrow::Cow;

use bytes::Bytes;
use mcp_types::{
    CacheHints, CallToolResult, CompleteResult, GetPromptResult, Implementation,
    InputRequiredResult, Prompt, ReadResourceResult, Resource, ResourceTemplate,
    ServerCapabilities, SubscriptionsListenResult, Tool,
};
use serde_json::{Value, json};

use crate::schema;

/// How a call ended.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "a call has a result or has failed")]
pub enum Outcome {
    /// It has a result.
    Result(ServerResult),
    /// It was refused or has failed.
    Failure(Failure),
}

impl From<ServerResult> for Outcome {
    fn from(result: ServerResult) -> Self {
        Self::Result(result)
    }
}

impl From<Failure> for Outcome {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

/// A result in the newest revision's shape.
#[derive(Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a new kind of result has to be looked at in every adapter"
)]
pub enum ServerResult {
    /// Nothing to say: `ping`, `logging/setLevel`, subscribing.
    Empty,
    /// What the server is: `initialize` and `server/discover`.
    Describe(Box<Description>),
    /// Tools, before they are rendered for one revision.
    Tools(Vec<Tool>),
    /// Prompts, before they are rendered for one revision.
    Prompts(Vec<Prompt>),
    /// Resources, before they are rendered for one revision.
    Resources(Vec<Resource>),
    /// Resource templates, before they are rendered for one revision.
    ResourceTemplates(Vec<ResourceTemplate>),
    /// A result that was written for the peer's revision before: its members, without braces.
    Written(Bytes),
    /// One page of a listing, rendered for the peer's revision.
    Page(Page),
    /// `tools/call`.
    CallTool(CalledTool),
    /// `prompts/get`.
    GetPrompt(GetPromptResult),
    /// `resources/read`.
    ReadResource(ReadResourceResult),
    /// `completion/complete`.
    Complete(CompleteResult),
    /// The end of `subscriptions/listen`.
    Listened(SubscriptionsListenResult),
    /// Questions to answer before the request is sent again. Only for a revision whose
    /// questions go [into results](crate::InputStyle::InResult); the others would write an
    /// empty result.
    InputRequired(InputRequiredResult),
}

/// What a tool came to, and how its structured content travels to older peers.
#[derive(Debug)]
#[non_exhaustive]
pub struct CalledTool {
    /// The result.
    pub result: CallToolResult,
    /// What its tool's output schema says of the content.
    pub shape: OutputShape,
}

impl CalledTool {
    /// A result of a tool whose output has that shape.
    #[must_use]
    pub fn new(result: CallToolResult, shape: OutputShape) -> Self {
        Self { result, shape }
    }
}

impl From<CallToolResult> for CalledTool {
    /// A result of a tool without an output schema.
    fn from(result: CallToolResult) -> Self {
        Self::new(result, OutputShape::Unknown)
    }
}

/// What an output schema says of structured content, for peers that know objects alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(
    clippy::exhaustive_enums,
    reason = "an adapter has to look at each of them"
)]
pub enum OutputShape {
    /// There is no schema: the value decides.
    #[default]
    Unknown,
    /// Always an object.
    Object,
    /// Something else: older peers see schema and value under `result`.
    Wrapped,
    /// Something else that cannot be wrapped: older peers see neither, and read the text.
    TextOnly,
}

impl OutputShape {
    /// The shape that a schema describes.
    #[must_use]
    pub fn of(schema: Option<&Value>) -> Self {
        match schema {
            None => Self::Unknown,
            Some(schema) if schema::is_object_root(schema) => Self::Object,
            Some(schema) if schema::wrap_non_object_output(schema.clone()).is_some() => {
                Self::Wrapped
            }
            Some(_) => Self::TextOnly,
        }
    }
}

/// How the server describes itself to one peer, in the newest revision's shape.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Description {
    /// Who the server is.
    pub info: Implementation,
    /// What it can do for this peer.
    pub capabilities: ServerCapabilities,
    /// How a model should use it.
    pub instructions: Option<String>,
}

/// One page of a listing: rendered once per revision, copied into each answer.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Page {
    /// `"tools":[…]`: the member of the result, without braces.
    pub member: Bytes,
    /// Where the next page starts; absent on the last one.
    pub next_cursor: Option<String>,
    /// How long and by whom the page may be kept.
    pub hints: CacheHints,
}

impl Page {
    /// A page with the caching hints of its listing.
    #[must_use]
    pub fn new(member: Bytes, next_cursor: Option<String>, hints: CacheHints) -> Self {
        Self {
            member,
            next_cursor,
            hints,
        }
    }
}

/// Why a request is refused or has failed; `encode` alone makes a code and a status of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a new kind of failure needs a code and a status in every adapter"
)]
pub enum FailureKind {
    /// The body is not JSON.
    Parse,
    /// JSON, but no JSON-RPC message, or one that is not allowed here.
    InvalidRequest,
    /// A handshake revision's request came before the handshake.
    NotInitialized,
    /// The revision or the server has no such method.
    MethodNotFound,
    /// Parameters are missing or of the wrong type.
    InvalidParams,
    /// No such tool, prompt or argument.
    UnknownName,
    /// A cursor that this server did not issue.
    InvalidCursor,
    /// No such resource.
    ResourceNotFound,
    /// Metadata that every request needs is missing.
    MissingMeta,
    /// A header and the body disagree.
    HeaderMismatch,
    /// The server does not speak the version that is asked for.
    UnsupportedVersion,
    /// The client did not declare what the request needs.
    MissingCapability,
    /// A request state that does not open.
    InvalidRequestState,
    /// Something of the server's own has failed.
    Internal,
    /// The `Host` or `Origin` is not one of ours.
    Forbidden,
    /// The request needs credentials, and has none that count.
    Unauthorized,
    /// The credentials permit less than the request needs.
    InsufficientScope,
    /// The request needs a session and names none.
    SessionRequired,
    /// The session is unknown, ended or somebody else's.
    SessionNotFound,
    /// The HTTP method is not served.
    MethodNotAllowed,
    /// The client accepts neither JSON nor what the operation needs.
    NotAcceptable,
    /// The body is larger than the server reads.
    TooLarge,
    /// The headers are larger than the server reads.
    HeadersTooLarge,
    /// The body did not arrive in time.
    TooSlow,
    /// The body is not declared as JSON.
    UnsupportedMediaType,
    /// The caller sends more requests than it may.
    TooManyRequests,
    /// The server has too much to do.
    Overloaded,
}

/// A refusal or failure as the client will read it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Failure {
    /// Which kind it is.
    pub kind: FailureKind,
    /// One short sentence.
    pub message: Cow<'static, str>,
    /// The error's `data`, if the revision or the reader needs one.
    pub data: Option<Box<Value>>,
    /// When to try again, in seconds, where that is known.
    pub retry_after: Option<u32>,
}

impl Failure {
    /// A failure without `data`.
    pub fn new(kind: FailureKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            kind,
            message: message.into(),
            data: None,
            retry_after: None,
        }
    }

    /// The same, to be tried again after so many seconds.
    #[must_use]
    pub fn retry_after(mut self, seconds: u32) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// The same with `data`.
    #[must_use]
    pub fn data(mut self, data: Value) -> Self {
        self.data = Some(Box::new(data));
        self
    }

    /// The peer's revision or this server has no `method`.
    #[must_use]
    pub fn method_not_found(method: &str) -> Self {
        Self::new(
            FailureKind::MethodNotFound,
            format!("method not found: {}", clipped(method)),
        )
    }

    /// No resource is at `uri`.
    #[must_use]
    pub fn resource_not_found(uri: &str) -> Self {
        Self::new(FailureKind::ResourceNotFound, "resource not found").data(json!({ "uri": uri }))
    }

    /// The server does not speak `requested`.
    #[must_use]
    pub fn unsupported_version(requested: &str, supported: &[&str]) -> Self {
        Self::new(
            FailureKind::UnsupportedVersion,
            "unsupported protocol version",
        )
        .data(json!({ "supported": supported, "requested": requested }))
    }

    /// The request needs capabilities that the client did not declare.
    #[must_use]
    pub fn missing_capability(required: &Value) -> Self {
        Self::new(
            FailureKind::MissingCapability,
            "the client lacks a required capability",
        )
        .data(json!({ "requiredCapabilities": required }))
    }

    /// Something of the server's own has failed; the log has the rest under `incident`.
    #[must_use]
    pub fn internal(incident: &str) -> Self {
        Self::new(
            FailureKind::Internal,
            format!("internal error (incident {incident})"),
        )
    }
}

/// At most 64 characters of a text that the client sent, for an error message.
#[must_use]
pub fn clipped(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(64) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}…", text.get(..end).unwrap_or_default())),
    }
}

/// One message as it goes out, with the HTTP status that goes with it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reply {
    /// The HTTP status; other transports ignore it.
    pub status: u16,
    /// The JSON-RPC message, if there is one to send.
    pub body: Option<Bytes>,
    /// The session that the reply opens, for its `Mcp-Session-Id`.
    pub session: Option<Box<str>>,
    /// When to try again, in seconds, for its `Retry-After` (RFC 9110 section 10.2.3).
    pub retry_after: Option<u32>,
    /// What credentials are needed, for its `WWW-Authenticate` (RFC 9110 section 11.6.1).
    pub challenges: Vec<Box<str>>,
}

impl Reply {
    /// A reply with a body.
    #[must_use]
    pub fn new(status: u16, body: Bytes) -> Self {
        Self {
            body: Some(body),
            ..Self::bare(status)
        }
    }

    /// A status alone: 202 for what was accepted and has no answer.
    #[must_use]
    pub fn bare(status: u16) -> Self {
        Self {
            status,
            body: None,
            session: None,
            retry_after: None,
            challenges: Vec::new(),
        }
    }
}
