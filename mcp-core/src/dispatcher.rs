//! The spine: bytes in, an [`Answer`] out, one `match` in between.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use mcp_codec::{
    ClientMessage, ClientNotification, ClientRequest, Envelope, Failure, FailureKind,
    HandshakeState, Headers, Hints, MessageKind, Outcome, Reply, Revision, ServerResult,
    adapter_set,
    call::{Call, CallTool, Complete, GetPrompt, ReadResource, RequestContext},
    envelope,
    outcome::clipped,
};
use mcp_types::ServerNotification;
use mcp_types::{CallToolResult, CompletionReference, NotificationParams, RequestId};
use serde_json::value::RawValue;

use crate::{
    Answer, Change, CompletionQuery, Connection, Exchange, Registry,
    answer::{HandlerFuture, Running},
    catalog::{Catalog, Found},
    exchange::{CallState, Client, Outbox},
    outcome::{self, Target},
    schema::ArgumentsError,
};

/// One message as it arrived, with what its transport knows.
#[non_exhaustive]
pub struct Incoming<'a> {
    /// The message, or a batch of them.
    pub body: Bytes,
    /// The HTTP headers, where there are any.
    pub headers: Option<&'a dyn Headers>,
    /// The connection it came on, where messages belong together.
    pub connection: Option<&'a Arc<Connection>>,
    /// The one revision that the endpoint's address names.
    pub pinned: Option<&'a str>,
    /// Whether the client takes notifications before the reply.
    pub streams: bool,
}

impl<'a> Incoming<'a> {
    /// A message that came alone.
    #[must_use]
    pub fn new(body: Bytes) -> Self {
        Self {
            body,
            headers: None,
            connection: None,
            pinned: None,
            streams: true,
        }
    }

    /// Its HTTP headers.
    #[must_use]
    pub fn headers(mut self, headers: &'a dyn Headers) -> Self {
        self.headers = Some(headers);
        self
    }

    /// The connection it came on.
    #[must_use]
    pub fn connection(mut self, connection: &'a Arc<Connection>) -> Self {
        self.connection = Some(connection);
        self
    }

    /// The one revision that the endpoint's address names.
    #[must_use]
    pub fn pinned(mut self, version: Option<&'a str>) -> Self {
        self.pinned = version;
        self
    }

    /// Whether the client takes notifications before the reply.
    #[must_use]
    pub fn streams(mut self, streams: bool) -> Self {
        self.streams = streams;
        self
    }

    fn hints(&self) -> Hints<'a> {
        let handshake = self
            .connection
            .map_or(HandshakeState::Unknown, |it| it.handshake());
        Hints::new(self.headers, handshake, self.pinned)
    }
}

impl std::fmt::Debug for Incoming<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut formatter = formatter.debug_struct("Incoming");
        formatter
            .field("body", &self.body.len())
            .finish_non_exhaustive()
    }
}

/// Answers messages by a registry.
#[derive(Debug, Clone)]
pub struct Dispatcher {
    registry: Registry,
}

impl Dispatcher {
    /// Answers by that registry.
    #[must_use]
    pub fn new(registry: Registry) -> Self {
        Self { registry }
    }

    /// What it answers by.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Answers one message, or a batch.
    ///
    /// Everything up to the handler's first `await` happens when the answer is first polled, and
    /// everything before the handler here.
    #[must_use]
    pub fn answer(&self, incoming: &Incoming<'_>) -> Answer {
        let catalog = self.registry.catalog();
        if is_array(&incoming.body) {
            return self.answer_batch(incoming, &catalog);
        }
        match Envelope::parse(&incoming.body) {
            Ok(envelope) => {
                let selected = self
                    .registry
                    .config()
                    .revisions
                    .select(&envelope, incoming.hints());
                self.answer_one(envelope, selected, incoming, &catalog)
            }
            Err(unreadable) => {
                let reason = &*unreadable.failure.message;
                tracing::warn!(reason, "a message could not be read");
                Answer::ready(self.refused(unreadable.id.as_ref(), unreadable.failure, &catalog))
            }
        }
    }

    /// Words a refusal for which no message was read.
    #[must_use]
    pub fn refuse(&self, failure: Failure) -> Reply {
        self.refused(None, failure, &self.registry.catalog())
    }

    /// Words a change of a listing for one connection, if it wants to hear of it.
    #[must_use]
    pub fn announce(&self, change: Change, connection: &Connection) -> Option<Bytes> {
        let params = NotificationParams::new();
        let notification = match change {
            Change::Tools => ServerNotification::ToolsListChanged(params),
            Change::Prompts => ServerNotification::PromptsListChanged(params),
            Change::Resources => ServerNotification::ResourcesListChanged(params),
        };
        connection.notifiable()?.notify(&notification)
    }

    fn refused(&self, id: Option<&RequestId>, failure: Failure, catalog: &Catalog) -> Reply {
        let newest = self.registry.config().revisions.newest();
        newest.encode(id, failure.into(), &catalog.manifest)
    }

    fn answer_batch(&self, incoming: &Incoming<'_>, catalog: &Arc<Catalog>) -> Answer {
        let refuse = |failure| Answer::ready(self.refused(None, failure, catalog));
        let members = match envelope::batch(&incoming.body) {
            Some(Ok(members)) => members,
            Some(Err(unreadable)) => return refuse(unreadable.failure),
            None => return refuse(Failure::new(FailureKind::Parse, "not valid JSON")),
        };
        let revision = match self
            .registry
            .config()
            .revisions
            .select_batch(incoming.hints())
        {
            Ok(revision) => revision,
            Err(failure) => return refuse(failure),
        };
        let max = self.registry.config().max_batch;
        if members.is_empty() || members.len() > max {
            let message = format!("a batch has 1 to {max} messages");
            return refuse(Failure::new(FailureKind::InvalidRequest, message));
        }
        let answers = members
            .into_iter()
            .map(|member| match Envelope::of_member(member) {
                Ok(envelope) if envelope.method() == "initialize" => {
                    let message = "`initialize` is not part of a batch";
                    let failure = Failure::new(FailureKind::InvalidRequest, message);
                    self.answer_one(envelope, Err(failure), incoming, catalog)
                }
                Ok(envelope) => self.answer_one(envelope, Ok(revision), incoming, catalog),
                Err(unreadable) => {
                    Answer::ready(self.refused(unreadable.id.as_ref(), unreadable.failure, catalog))
                }
            });
        Answer::batch(answers.collect())
    }

    fn answer_one(
        &self,
        mut envelope: Envelope<'_>,
        selected: Result<Revision, Failure>,
        incoming: &Incoming<'_>,
        catalog: &Arc<Catalog>,
    ) -> Answer {
        let manifest = &catalog.manifest;
        let (revision, decoded) = match selected {
            Ok(revision) => (
                revision,
                revision.decode(&envelope, incoming.headers, manifest),
            ),
            Err(failure) => (self.registry.config().revisions.newest(), Err(failure)),
        };
        match (envelope.kind(), decoded, envelope.take_id()) {
            (MessageKind::Request, Ok(ClientMessage::Call(call)), Some(id)) => {
                let request = Request {
                    dispatcher: self,
                    revision,
                    incoming,
                    catalog,
                    id,
                };
                request.dispatch(call)
            }
            (MessageKind::Request, Err(failure), id) => {
                Answer::ready(revision.encode(id.as_ref(), failure.into(), manifest))
            }
            (_, Ok(message), _) => {
                if let (ClientMessage::Notification(it), Some(connection)) =
                    (message, incoming.connection)
                {
                    notified(it, connection);
                }
                Answer::ready(Reply::bare(202))
            }
            (_, Err(failure), _) => {
                tracing::info!(message = %failure.message, "a notification was refused");
                let reply = revision.encode(None, failure.into(), manifest);
                Answer::ready(Reply::bare(reply.status))
            }
        }
    }
}

/// What a notification changes on its connection.
fn notified(notification: ClientNotification<'_>, connection: &Connection) {
    match notification {
        ClientNotification::Initialized => connection.initialized(),
        ClientNotification::Cancelled(cancelled) => {
            let reason = cancelled.reason.as_deref().map(clipped);
            tracing::debug!(id = %cancelled.request_id, ?reason, "the client cancelled a call");
            connection.cancel(&cancelled.request_id);
        }
        ClientNotification::RootsListChanged | ClientNotification::Other => {}
    }
}

/// A request on its way to its feature.
struct Request<'a, 'b> {
    dispatcher: &'a Dispatcher,
    revision: Revision,
    incoming: &'a Incoming<'b>,
    catalog: &'a Arc<Catalog>,
    id: RequestId,
}

impl Request<'_, '_> {
    fn dispatch(
        self,
        Call {
            request, context, ..
        }: Call<'_>,
    ) -> Answer {
        match request {
            ClientRequest::Initialize(handshake) => {
                if let Some(connection) = self.incoming.connection {
                    let client = Client {
                        info: Some(self.slice(handshake.client_info)),
                        capabilities: Some(self.slice(handshake.client_capabilities)),
                    };
                    connection.settle(self.revision, client);
                }
                self.describe()
            }
            ClientRequest::Discover => self.describe(),
            ClientRequest::Ping => self.finish(ServerResult::Empty),
            ClientRequest::SetLevel(level) => {
                if !self.dispatcher.registry.config().logging {
                    return self.no_such_method("logging/setLevel");
                }
                if let Some(connection) = self.incoming.connection {
                    connection.set_log_level(level);
                }
                self.finish(ServerResult::Empty)
            }
            ClientRequest::ListTools(cursor) => {
                let offered = self.catalog.manifest.capabilities.tools.is_some();
                self.list("tools/list", offered, cursor.as_deref(), |it| &it.tools)
            }
            ClientRequest::ListPrompts(cursor) => {
                let offered = self.catalog.manifest.capabilities.prompts.is_some();
                self.list("prompts/list", offered, cursor.as_deref(), |it| &it.prompts)
            }
            ClientRequest::ListResources(cursor) => {
                let offered = self.catalog.manifest.capabilities.resources.is_some();
                self.list("resources/list", offered, cursor.as_deref(), |it| {
                    &it.resources
                })
            }
            ClientRequest::ListResourceTemplates(cursor) => {
                let offered = self.catalog.manifest.capabilities.resources.is_some();
                let method = "resources/templates/list";
                self.list(method, offered, cursor.as_deref(), |it| &it.templates)
            }
            ClientRequest::CallTool(call) => self.call_tool(&call, context),
            ClientRequest::GetPrompt(get) => self.prompt(get, context),
            ClientRequest::ReadResource(read) => self.read_resource(&read, context),
            ClientRequest::Complete(complete) => self.complete(complete, context),
            ClientRequest::Subscribe(_) => self.no_such_method("resources/subscribe"),
            ClientRequest::Unsubscribe(_) => self.no_such_method("resources/unsubscribe"),
            ClientRequest::Listen(_) => self.no_such_method("subscriptions/listen"),
        }
    }

    fn describe(self) -> Answer {
        // Changes reach a peer only on a connection that stays.
        let notifies = self.incoming.connection.is_some() && self.incoming.headers.is_none();
        let notifies = notifies && self.revision.era() == mcp_codec::Era::Legacy;
        let description = self.catalog.manifest.describe(notifies);
        self.finish(ServerResult::Describe(Box::new(description)))
    }

    fn list(
        self,
        method: &str,
        offered: bool,
        cursor: Option<&str>,
        listing: impl Fn(&crate::catalog::Listings) -> &crate::listing::Listing,
    ) -> Answer {
        if !offered {
            return self.no_such_method(method);
        }
        let cursors = self.dispatcher.registry.cursors();
        let listings = self.catalog.listings(self.revision);
        match listings.and_then(|listings| listing(listings).page(cursor, cursors)) {
            Some(page) => self.finish(ServerResult::Page(page)),
            None => self.fail(Failure::new(FailureKind::InvalidCursor, "invalid cursor")),
        }
    }

    fn call_tool(self, call: &CallTool<'_>, context: RequestContext<'_>) -> Answer {
        if self.catalog.manifest.capabilities.tools.is_none() {
            return self.no_such_method("tools/call");
        }
        let Some(tool) = self.catalog.tool(&call.name, self.revision) else {
            return self.unknown("tool", &call.name);
        };
        let tool = Arc::clone(tool);
        let limit = tool
            .timeout
            .or_else(|| self.dispatcher.registry.config().call_timeout);
        let target = Target::Tool(Arc::clone(&tool));
        self.start(context, target, limit, |exchange| {
            tool.call(call.arguments, exchange)
        })
    }

    fn prompt(self, get: GetPrompt<'_>, context: RequestContext<'_>) -> Answer {
        if self.catalog.manifest.capabilities.prompts.is_none() {
            return self.no_such_method("prompts/get");
        }
        let Some(prompt) = self.catalog.prompt(&get.name, self.revision) else {
            return self.unknown("prompt", &get.name);
        };
        let prompt = Arc::clone(prompt);
        let target = Target::Prompt(prompt.prompt.name.clone());
        let arguments = get.arguments;
        self.start(context, target, None, |exchange| {
            prompt.call(&arguments, exchange)
        })
    }

    fn read_resource(self, read: &ReadResource<'_>, context: RequestContext<'_>) -> Answer {
        if self.catalog.manifest.capabilities.resources.is_none() {
            return self.no_such_method("resources/read");
        }
        let uri = &*read.uri;
        let target = Target::Resource(uri.to_owned());
        if let Some(resource) = self.catalog.resource(uri, self.revision) {
            let resource = Arc::clone(resource);
            return self.start(context, target, None, |exchange| resource.read(exchange));
        }
        match self.catalog.template(uri, self.revision) {
            Found::Template(template, variables) => self.start(context, target, None, |exchange| {
                template.read(uri, &variables, exchange)
            }),
            Found::Refused(refusal) => {
                tracing::info!(%refusal, "a resource URI was refused");
                self.fail(Failure::resource_not_found(uri))
            }
            Found::Nothing => self.fail(Failure::resource_not_found(uri)),
        }
    }

    fn complete(self, complete: Complete<'_>, context: RequestContext<'_>) -> Answer {
        if self.catalog.manifest.capabilities.completions.is_none() {
            return self.no_such_method("completion/complete");
        }
        let argument = &*complete.argument;
        let (name, completers, known) = match &complete.reference {
            CompletionReference::Prompt(reference) => {
                let found = self.catalog.prompt(&reference.name, self.revision);
                let found = found.map(|it| (it.completers.clone(), it.has_argument(argument)));
                let Some((completers, known)) = found else {
                    return self.unknown("prompt", &reference.name);
                };
                (reference.name.clone(), completers, known)
            }
            CompletionReference::Resource(reference) => {
                let found = self.catalog.template_named(&reference.uri, self.revision);
                let found = found.map(|it| (it.completers.clone(), it.has_variable(argument)));
                let Some((completers, known)) = found else {
                    return self.unknown("resource template", &reference.uri);
                };
                (reference.uri.clone(), completers, known)
            }
            _ => return self.unknown("reference", ""),
        };
        if !known {
            return self.unknown("argument", argument);
        }
        let value = complete.value.into_owned();
        let query = CompletionQuery {
            value,
            arguments: complete.context,
        };
        self.start(context, Target::Completion(name), None, |exchange| {
            Ok(completers.complete(argument, query, exchange))
        })
    }

    /// Calls a handler; its future runs when the answer is polled.
    fn start(
        self,
        context: RequestContext<'_>,
        target: Target,
        limit: Option<Duration>,
        call: impl FnOnce(Exchange) -> Result<HandlerFuture, ArgumentsError>,
    ) -> Answer {
        let connection = self.incoming.connection;
        if connection.is_some_and(|connection| connection.is_in_flight(&self.id)) {
            tracing::warn!(id = %self.id, "a request with the id of one in flight was dropped");
            return Answer::nothing();
        }
        let state = Arc::new(self.call_state(context));
        let exchange = Exchange::new(Arc::clone(&state));
        match catch_unwind(AssertUnwindSafe(|| call(exchange))) {
            Ok(Ok(future)) => {
                let catalog = Arc::clone(self.catalog);
                let running = Running::new(future, state, catalog, target, self.id);
                Answer::running(running.on(connection).within(limit))
            }
            Ok(Err(error)) => self.bad_arguments(&error, &target),
            Err(panic) => {
                let outcome = outcome::of_panic(&*panic, &target);
                self.encode(outcome)
            }
        }
    }

    fn call_state(&self, context: RequestContext<'_>) -> CallState {
        let registry = self.dispatcher.registry.clone();
        let config = registry.config();
        let outbox = Outbox::new(config.max_queued_bytes, self.incoming.streams);
        let log_level = if !config.logging {
            None
        } else if self.revision.logs_on_request_only() {
            context.log_level
        } else {
            let chosen = self.incoming.connection.and_then(|it| it.log_level());
            Some(chosen.unwrap_or(config.default_log_level))
        };
        let client = match (context.client_capabilities, self.incoming.connection) {
            (None, Some(connection)) => connection.client(),
            (capabilities, _) => Client {
                info: context.client_info.map(|raw| self.slice(raw)),
                capabilities: capabilities.map(|raw| self.slice(raw)),
            },
        };
        let mut state = CallState::new(registry, self.revision, outbox);
        state.progress_token = context.progress_token;
        state.log_level = log_level;
        state.client = client;
        state
    }

    /// A violation of a tool's schema is for the model to read, in every revision.
    fn bad_arguments(self, error: &ArgumentsError, target: &Target) -> Answer {
        match (error, target) {
            (ArgumentsError::Violations(_), Target::Tool(_)) => self.finish(
                ServerResult::CallTool(CallToolResult::error(error.to_string()).into()),
            ),
            (ArgumentsError::Violations(_), Target::Resource(uri)) => {
                tracing::info!(%error, "a resource URI has variables that do not fit");
                let failure = Failure::resource_not_found(uri);
                self.fail(failure)
            }
            _ => self.fail(Failure::new(FailureKind::InvalidParams, error.to_string())),
        }
    }

    fn unknown(self, kind: &str, name: &str) -> Answer {
        let message = format!("unknown {kind}: {}", clipped(name));
        self.fail(Failure::new(FailureKind::UnknownName, message))
    }

    fn no_such_method(self, method: &str) -> Answer {
        self.fail(Failure::method_not_found(method))
    }

    fn fail(self, failure: Failure) -> Answer {
        self.encode(failure.into())
    }

    fn finish(self, result: ServerResult) -> Answer {
        self.encode(result.into())
    }

    fn encode(self, outcome: Outcome) -> Answer {
        let manifest = &self.catalog.manifest;
        Answer::ready(adapter_set::render(
            self.revision,
            Some(&self.id),
            outcome,
            manifest,
        ))
    }

    /// A part of the body that outlives the request, without a copy.
    fn slice(&self, raw: &RawValue) -> Bytes {
        self.incoming.body.slice_ref(raw.get().as_bytes())
    }
}

fn is_array(body: &[u8]) -> bool {
    let body = body.strip_prefix("\u{feff}".as_bytes()).unwrap_or(body);
    body.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[')
}
