//! A request on its way to its feature: one `match`, one arm.

mod complete;
mod handshake;
mod permission;
mod retry;
mod subscribe;
mod worded;

use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use mcp_codec::{
    ClientRequest, Failure, FailureKind, Outcome, Revision, ServerResult, adapter_set,
    call::{Call, CallTool, GetPrompt, ReadResource, RequestContext},
    outcome::clipped,
};
use mcp_types::{CallToolResult, RequestId};
use serde_json::value::RawValue;

use self::retry::TakenUp;
use crate::{
    Answer, Dispatcher, Exchange, Incoming,
    answer::{HandlerFuture, Running},
    asking::{Carried, Origin, Progress, Seen, single_use},
    auth::Needs,
    budget::Permit,
    caller::Caller,
    catalog::{Catalog, Found, Listings},
    exchange::{CallState, Client},
    listing::Listing,
    outbox::Outbox,
    outcome::{self, Target},
    peer::Peer,
    resources::has_scheme,
    schema::ArgumentsError,
};

/// A request on its way to its feature.
pub(crate) struct Request<'a, 'b> {
    pub(crate) dispatcher: &'a Dispatcher,
    pub(crate) revision: Revision,
    pub(crate) incoming: &'a Incoming<'b>,
    pub(crate) peer: &'a Peer,
    pub(crate) caller: &'a Caller,
    /// The message: the whole body or, in a batch, its part of it.
    pub(crate) text: Bytes,
    /// What was fetched of a call that is taken up again.
    pub(crate) progress: Option<(Box<Progress>, Seen)>,
    pub(crate) catalog: &'a Arc<Catalog>,
    pub(crate) id: RequestId,
    /// What the messages that arrived with it need and their caller lacks.
    pub(crate) lacking: &'a Cell<Needs>,
}

impl Request<'_, '_> {
    pub(crate) fn dispatch(self, call: Call<'_>) -> Answer {
        let Call {
            request, context, ..
        } = call;
        let offers = &self.catalog.manifest.capabilities;
        match request {
            ClientRequest::Initialize(handshake) => self.initialize(handshake),
            // Whoever asks can listen.
            ClientRequest::Discover => self.describe(true),
            ClientRequest::Ping => self.finish(ServerResult::Empty),
            ClientRequest::SetLevel(level) => self.set_level(level),
            ClientRequest::ListTools(cursor) => {
                let offered = offers.tools.is_some();
                self.list("tools/list", offered, cursor.as_deref(), |it| &it.tools)
            }
            ClientRequest::ListPrompts(cursor) => {
                let offered = offers.prompts.is_some();
                self.list("prompts/list", offered, cursor.as_deref(), |it| &it.prompts)
            }
            ClientRequest::ListResources(cursor) => {
                let offered = offers.resources.is_some();
                self.list("resources/list", offered, cursor.as_deref(), |it| {
                    &it.resources
                })
            }
            ClientRequest::ListResourceTemplates(cursor) => {
                let offered = offers.resources.is_some();
                let method = "resources/templates/list";
                self.list(method, offered, cursor.as_deref(), |it| &it.templates)
            }
            ClientRequest::CallTool(call) => self.call_tool(&call, context),
            ClientRequest::GetPrompt(get) => self.prompt(get, context),
            ClientRequest::ReadResource(read) => self.read_resource(&read, context),
            ClientRequest::Complete(complete) => self.complete(complete, context),
            ClientRequest::Subscribe(uri) => self.subscribe(&uri),
            ClientRequest::Unsubscribe(uri) => self.unsubscribe(&uri),
            ClientRequest::Listen(filter) => self.listen(filter),
        }
    }

    /// What the server is, for a peer that hears of changes or does not.
    fn description(&self, notifies: bool) -> ServerResult {
        let listings = self.catalog.listings(self.revision);
        listings.map_or(ServerResult::Empty, |it| it.description(notifies))
    }

    fn describe(self, notifies: bool) -> Answer {
        let description = self.description(notifies);
        self.finish(description)
    }

    fn list(
        self,
        method: &str,
        offered: bool,
        cursor: Option<&str>,
        listing: impl Fn(&Listings) -> &Listing,
    ) -> Answer {
        if !offered {
            return self.no_such_method(method);
        }
        let listings = self.catalog.listings(self.revision);
        let page = listings.and_then(|listings| self.page(listing(listings), cursor));
        match page {
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
        if let Some(denied) = self.denial(&tool.needs) {
            return self.deny(denied);
        }
        let limit = tool
            .timeout
            .or_else(|| self.dispatcher.registry().config().call_timeout);
        let target = Target::Tool(Arc::clone(&tool));
        let (own, origin) = self.tool_origin(&tool, call);
        let arguments = own.as_deref().or(call.arguments);
        self.start(context, origin, target, limit, |exchange| {
            tool.call(arguments, exchange)
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
        if let Some(denied) = self.denial(&prompt.needs) {
            return self.deny(denied);
        }
        let target = Target::Prompt(prompt.prompt.name.clone());
        let arguments = get.arguments;
        let text = || serde_json::to_vec(&arguments).ok().map(Bytes::from);
        let origin = self.origin("prompts/get", &get.name, text, get.retry);
        self.start(context, origin, target, None, |exchange| {
            prompt.call(&arguments, exchange)
        })
    }

    fn read_resource(self, read: &ReadResource<'_>, context: RequestContext<'_>) -> Answer {
        if self.catalog.manifest.capabilities.resources.is_none() {
            return self.no_such_method("resources/read");
        }
        let uri = &*read.uri;
        if !has_scheme(uri) {
            let message = "`params.uri` is not a URI: it has no scheme";
            return self.fail(Failure::new(FailureKind::InvalidParams, message));
        }
        let target = Target::Resource(uri.to_owned());
        let origin = self.origin("resources/read", &read.uri, || None, read.retry);
        if let Some(resource) = self.catalog.resource(uri, self.revision) {
            let resource = Arc::clone(resource);
            if let Some(denied) = self.denial(&resource.needs) {
                return self.deny(denied);
            }
            return self.start(context, origin, target, None, |exchange| {
                resource.read(exchange)
            });
        }
        match self.catalog.template(uri, self.revision) {
            Found::Template(template, variables) => {
                if let Some(denied) = self.denial(&template.needs) {
                    return self.deny(denied);
                }
                self.start(context, origin, target, None, |exchange| {
                    template.read(uri, &variables, exchange)
                })
            }
            Found::Refused(refusal) => {
                tracing::info!(%refusal, "a resource URI was refused");
                self.fail(Failure::resource_not_found(uri))
            }
            Found::Nothing => self.fail(Failure::resource_not_found(uri)),
        }
    }

    /// Calls a handler; its future runs when the answer is polled.
    fn start(
        mut self,
        context: RequestContext<'_>,
        origin: Option<(Origin, Carried)>,
        target: Target,
        limit: Option<Duration>,
        call: impl FnOnce(Exchange) -> Result<HandlerFuture, ArgumentsError>,
    ) -> Answer {
        if self.is_in_flight() {
            return Answer::nothing();
        }
        let permit = match self.permit() {
            Ok(permit) => permit,
            Err(failure) => return self.fail(failure),
        };
        let mut state = self.call_state(context);
        let mut seen = None;
        if let Some((origin, carried)) = origin {
            match self.take_up(origin, &carried, &target, &mut state) {
                Ok(TakenUp::Here(token)) => seen = token,
                Ok(TakenUp::Stored(key, responses, token)) => {
                    return self.fetch(key, responses, token);
                }
                Err(failure) => return self.fail(failure),
            }
        }
        let state = Arc::new(state);
        let exchange = Exchange::new(Arc::clone(&state));
        match catch_unwind(AssertUnwindSafe(|| call(exchange))) {
            Ok(Ok(future)) => self.run(future, state, target, seen, limit, permit),
            Ok(Err(error)) => self.bad_arguments(&error, &target),
            Err(panic) => {
                let outcome = outcome::of_panic(&*panic, &target);
                self.encode(outcome)
            }
        }
    }

    fn run(
        self,
        mut future: HandlerFuture,
        state: Arc<CallState>,
        target: Target,
        once: Option<Seen>,
        limit: Option<Duration>,
        permit: Permit,
    ) -> Answer {
        if let Some(seen) = once {
            future = single_use::once(seen, &state, target.clone(), future);
        }
        let catalog = Arc::clone(self.catalog);
        let running = Running::new(future, state, catalog, target, self.id, permit);
        Answer::running(running.within(limit))
    }

    /// Whether the connection has a call with this very id, whose answer this one's would be
    /// taken for.
    fn is_in_flight(&self) -> bool {
        let connection = self.peer.connection();
        let twice = connection.is_some_and(|connection| connection.is_in_flight(&self.id));
        if twice {
            tracing::warn!(id = %self.id, "a request with the id of one in flight was dropped");
        }
        twice
    }

    fn call_state(&self, context: RequestContext<'_>) -> CallState {
        let registry = self.dispatcher.registry().clone();
        let config = registry.config();
        let outbox = Outbox::new(config.limits.max_queued, self.incoming.streams);
        let log_level = if !config.logging {
            None
        } else if self.revision.logs_on_request_only() {
            context.log_level
        } else {
            Some(self.peer.log_level().unwrap_or(config.default_log_level))
        };
        let client = match context.client_capabilities {
            None => self.peer.client(),
            Some(capabilities) => Client {
                info: context.client_info.map(|raw| self.slice(raw)),
                capabilities: Some(self.slice(capabilities)),
            },
        };
        let mut state = CallState::new(registry, self.revision, outbox);
        state.progress_token = context.progress_token;
        state.log_level = log_level;
        state.client = client;
        state.peer = self.peer.clone();
        state.caller = self.caller.clone();
        state.door = self.dispatcher.door().cloned();
        state.local = self.incoming.local;
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
        self.dispatcher.registry().note_refusal(&failure);
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
