//! What a client asks for, in no revision's words.

use std::{borrow::Cow, collections::BTreeMap};

use mcp_types::{CompletionReference, LoggingLevel, ProgressToken, RequestId, SubscriptionFilter};
use serde_json::value::RawValue;

/// One message of a client, read by its revision's adapter.
#[derive(Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "JSON-RPC has three kinds of message"
)]
pub enum ClientMessage<'a> {
    /// A request: exactly one answer.
    Call(Call<'a>),
    /// A notification: no answer.
    Notification(ClientNotification<'a>),
    /// An answer to a question of the server.
    Response,
}

/// A request and what came with it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Call<'a> {
    /// What is asked for.
    pub request: ClientRequest<'a>,
    /// What the request says about its client and itself.
    pub context: RequestContext<'a>,
}

impl<'a> Call<'a> {
    /// A request in its context.
    #[must_use]
    pub fn new(request: ClientRequest<'a>, context: RequestContext<'a>) -> Self {
        Self { request, context }
    }
}

/// What a client may ask for, one variant for each method of any revision.
#[derive(Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a new method has to be given an arm in the dispatcher"
)]
pub enum ClientRequest<'a> {
    /// `initialize`; the negotiated revision is the adapter that decoded it.
    Initialize(Handshake<'a>),
    /// `server/discover`.
    Discover,
    /// `ping`.
    Ping,
    /// `logging/setLevel`.
    SetLevel(LoggingLevel),
    /// `tools/list` from a cursor on.
    ListTools(Option<Cow<'a, str>>),
    /// `tools/call`.
    CallTool(CallTool<'a>),
    /// `prompts/list` from a cursor on.
    ListPrompts(Option<Cow<'a, str>>),
    /// `prompts/get`.
    GetPrompt(GetPrompt<'a>),
    /// `resources/list` from a cursor on.
    ListResources(Option<Cow<'a, str>>),
    /// `resources/templates/list` from a cursor on.
    ListResourceTemplates(Option<Cow<'a, str>>),
    /// `resources/read`.
    ReadResource(ReadResource<'a>),
    /// `completion/complete`.
    Complete(Complete<'a>),
    /// `resources/subscribe` to a URI.
    Subscribe(Cow<'a, str>),
    /// `resources/unsubscribe` from a URI.
    Unsubscribe(Cow<'a, str>),
    /// `subscriptions/listen` with its filter.
    Listen(SubscriptionFilter),
}

/// What `initialize` says about the client.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Handshake<'a> {
    /// The client's name and version.
    pub client_info: &'a RawValue,
    /// What the client can do.
    pub client_capabilities: &'a RawValue,
}

impl<'a> Handshake<'a> {
    /// The client's two members, as they arrived.
    #[must_use]
    pub fn new(client_info: &'a RawValue, client_capabilities: &'a RawValue) -> Self {
        Self {
            client_info,
            client_capabilities,
        }
    }
}

/// The answers and the state that a retried call brings back; attacker controlled.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct Retry<'a> {
    /// `requestState` as it arrived.
    pub state: Option<&'a RawValue>,
    /// `inputResponses` as it arrived.
    pub responses: Option<&'a RawValue>,
}

impl<'a> Retry<'a> {
    /// The two members as they arrived.
    #[must_use]
    pub fn new(state: Option<&'a RawValue>, responses: Option<&'a RawValue>) -> Self {
        Self { state, responses }
    }
}

/// `tools/call`.
#[derive(Debug)]
#[non_exhaustive]
pub struct CallTool<'a> {
    /// The tool.
    pub name: Cow<'a, str>,
    /// Its arguments, raw; absent where the client sent none or null.
    pub arguments: Option<&'a RawValue>,
    /// What a retry brings back.
    pub retry: Retry<'a>,
}

impl<'a> CallTool<'a> {
    /// A call of one tool.
    #[must_use]
    pub fn new(name: Cow<'a, str>, arguments: Option<&'a RawValue>, retry: Retry<'a>) -> Self {
        Self {
            name,
            arguments,
            retry,
        }
    }
}

/// `prompts/get`.
#[derive(Debug)]
#[non_exhaustive]
pub struct GetPrompt<'a> {
    /// The prompt.
    pub name: Cow<'a, str>,
    /// Its arguments, all of them text.
    pub arguments: BTreeMap<String, String>,
    /// What a retry brings back.
    pub retry: Retry<'a>,
}

impl<'a> GetPrompt<'a> {
    /// A request for one prompt.
    #[must_use]
    pub fn new(name: Cow<'a, str>, arguments: BTreeMap<String, String>, retry: Retry<'a>) -> Self {
        Self {
            name,
            arguments,
            retry,
        }
    }
}

/// `resources/read`.
#[derive(Debug)]
#[non_exhaustive]
pub struct ReadResource<'a> {
    /// The resource, not yet compared with anything.
    pub uri: Cow<'a, str>,
    /// What a retry brings back.
    pub retry: Retry<'a>,
}

impl<'a> ReadResource<'a> {
    /// A request for one resource.
    #[must_use]
    pub fn new(uri: Cow<'a, str>, retry: Retry<'a>) -> Self {
        Self { uri, retry }
    }
}

/// `completion/complete`.
#[derive(Debug)]
#[non_exhaustive]
pub struct Complete<'a> {
    /// The prompt or template whose argument it is.
    pub reference: CompletionReference,
    /// The argument.
    pub argument: Cow<'a, str>,
    /// What has been typed of it.
    pub value: Cow<'a, str>,
    /// Arguments that are settled already; empty where the revision has no `context`.
    pub context: BTreeMap<String, String>,
}

impl<'a> Complete<'a> {
    /// A request for suggestions.
    #[must_use]
    pub fn new(
        reference: CompletionReference,
        argument: Cow<'a, str>,
        value: Cow<'a, str>,
        context: BTreeMap<String, String>,
    ) -> Self {
        Self {
            reference,
            argument,
            value,
            context,
        }
    }
}

/// What a request says about its client and itself.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct RequestContext<'a> {
    /// Where progress is to be reported.
    pub progress_token: Option<ProgressToken>,
    /// From which level on log messages are wanted; absent where the request does not say.
    pub log_level: Option<LoggingLevel>,
    /// The client's name and version, where the request carries them.
    pub client_info: Option<&'a RawValue>,
    /// The client's capabilities, where the request carries them.
    pub client_capabilities: Option<&'a RawValue>,
}

/// What a client may tell, as far as a server has to act on it.
#[derive(Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a notification that the server acts on has to be given an arm"
)]
pub enum ClientNotification<'a> {
    /// The handshake is over.
    Initialized,
    /// The client no longer wants an answer.
    Cancelled(Cancelled<'a>),
    /// The client's roots have changed.
    RootsListChanged,
    /// Anything else, which is accepted and ignored.
    Other,
}

/// `notifications/cancelled`.
#[derive(Debug)]
#[non_exhaustive]
pub struct Cancelled<'a> {
    /// The request that is no longer wanted.
    pub request_id: RequestId,
    /// Why, for the log.
    pub reason: Option<Cow<'a, str>>,
}

impl<'a> Cancelled<'a> {
    /// A cancellation of one request.
    #[must_use]
    pub fn new(request_id: RequestId, reason: Option<Cow<'a, str>>) -> Self {
        Self { request_id, reason }
    }
}
