//! 2026-07-28: no handshake; every request carries its version, client and capabilities; mirrored
//! headers, caching hints, `resultType`, questions in results, any JSON as structured content.
//!
//! Changelog: `docs/specification/2026-07-28/changelog`.

use bytes::Bytes;
use mcp_types::{
    ElicitRequestParams, InputRequest, ProtocolVersion, RequestId, ServerNotification, error_codes,
    meta_keys,
};
use serde_json::json;

use crate::{
    ClientMessage, ClientNotification, ClientRequest, Envelope, Era, Failure, FailureKind, Headers,
    InputStyle, Manifest, MessageKind, Outcome, Reply, RevisionAdapter, ServerResult,
    call::{Call, RequestContext},
    envelope::text_of,
    legacy, method,
    method::Method,
    mirrored_headers,
    params::{Meta, Params},
    write,
};

mod older;
mod results;

/// The adapter for 2026-07-28.
#[derive(Debug, Clone, Copy)]
pub(crate) struct V2026_07_28;

/// This revision's methods.
fn method(name: &str) -> Option<Method> {
    Some(match name {
        "tools/call" => Method::CallTool,
        "tools/list" => Method::ListTools,
        "server/discover" => Method::Discover,
        "prompts/list" => Method::ListPrompts,
        "prompts/get" => Method::GetPrompt,
        "resources/list" => Method::ListResources,
        "resources/templates/list" => Method::ListResourceTemplates,
        "resources/read" => Method::ReadResource,
        "completion/complete" => Method::Complete,
        "subscriptions/listen" => Method::Listen,
        _ => return None,
    })
}

impl RevisionAdapter for V2026_07_28 {
    fn version(&self) -> ProtocolVersion {
        ProtocolVersion::new("2026-07-28")
    }

    fn era(&self) -> Era {
        Era::Modern
    }

    fn input_style(&self) -> InputStyle {
        InputStyle::InResult
    }

    fn subscription_tag(&self, id: &RequestId) -> Option<Bytes> {
        let mut tag = Vec::with_capacity(80);
        tag.extend_from_slice(b"\"_meta\":{\"");
        tag.extend_from_slice(meta_keys::SUBSCRIPTION_ID.as_bytes());
        tag.extend_from_slice(b"\":");
        id.write_json(&mut tag);
        tag.push(b'}');
        Some(Bytes::from(tag))
    }

    /// Checks in the order that the specification leaves open: version mismatch, version support,
    /// `_meta`, `Mcp-Method` and `Mcp-Name`, method, `Mcp-Param-*`, parameters.
    fn decode<'a>(
        &self,
        envelope: &Envelope<'a>,
        headers: Option<&dyn Headers>,
        manifest: &Manifest,
    ) -> Result<ClientMessage<'a>, Failure> {
        match envelope.kind() {
            MessageKind::Response => {
                let message = "a client sends no responses in this revision";
                return Err(Failure::new(FailureKind::InvalidRequest, message));
            }
            MessageKind::Notification => return notification(envelope, headers),
            MessageKind::Request => {}
        }
        let params = envelope.params()?;
        let context = self.context(envelope.method(), params, headers, manifest)?;
        let name = envelope.method();
        let method = method(name);
        if let Some(headers) = headers {
            mirrored_headers::method(headers, name)?;
            if let Some(method) = method {
                mirrored_headers::name(headers, method, params)?;
            }
        }
        let method = method.ok_or_else(|| Failure::method_not_found(name))?;
        let request = method::read(method, params)?;
        if let (Some(headers), ClientRequest::CallTool(call)) = (headers, &request)
            && let Some(parameters) = manifest.mirrored.get(&*call.name)
        {
            mirrored_headers::parameters(headers, parameters, call.arguments)?;
        }
        Ok(ClientMessage::Call(Call::new(request, context)))
    }

    fn encode(&self, id: Option<&RequestId>, outcome: Outcome, manifest: &Manifest) -> Reply {
        match outcome {
            Outcome::Failure(failure) => {
                let (code, status) = code(failure.kind);
                Reply::new(status, write::error(id, code, &failure))
            }
            Outcome::Result(ServerResult::Written(members)) => {
                let body = write::result(id, members.len(), |out| out.extend_from_slice(&members));
                Reply::new(200, body)
            }
            Outcome::Result(result) => {
                let size = match &result {
                    ServerResult::Page(page) => page.member.len(),
                    // A form of a few fields, and the state.
                    ServerResult::InputRequired(asked) => {
                        256 + asked.request_state.as_ref().map_or(0, String::len)
                    }
                    _ => 0,
                };
                Reply::new(
                    200,
                    write::result(id, size, |out| results::write(out, result, manifest)),
                )
            }
        }
    }

    fn notify(&self, notification: &ServerNotification) -> Option<Bytes> {
        Some(match notification {
            ServerNotification::ToolsListChanged(params) => {
                write::notification("notifications/tools/list_changed", Some(params))
            }
            ServerNotification::PromptsListChanged(params) => {
                write::notification("notifications/prompts/list_changed", Some(params))
            }
            ServerNotification::ResourcesListChanged(params) => {
                write::notification("notifications/resources/list_changed", Some(params))
            }
            ServerNotification::SubscriptionsAcknowledged(params) => {
                write::notification("notifications/subscriptions/acknowledged", Some(params))
            }
            ServerNotification::ElicitationComplete(_) => return None,
            other => return legacy::notify(other),
        })
    }

    fn retire(&self, result: &mut ServerResult) {
        match result {
            ServerResult::Tools(tools) => tools.iter_mut().for_each(|tool| tool.execution = None),
            ServerResult::Describe(description) => description.capabilities.tasks = None,
            ServerResult::InputRequired(result) => {
                let questions = result.input_requests.iter_mut().flatten();
                questions.for_each(|(_, question)| self.retire_question(question));
            }
            _ => {}
        }
    }

    fn withdraw(&self, result: &mut ServerResult) {
        older::result(result);
    }

    fn gates_context(&self) -> bool {
        true
    }

    fn retire_question(&self, question: &mut InputRequest) {
        match question {
            InputRequest::Elicit(ElicitRequestParams::Form(form)) => form.meta = None,
            InputRequest::Elicit(ElicitRequestParams::Url(url)) => {
                url.elicitation_id = None;
                url.meta = None;
            }
            InputRequest::CreateMessage(params) => {
                params.meta = None;
                for tool in params.tools.iter_mut().flatten() {
                    tool.execution = None;
                }
            }
            InputRequest::Elicit(_) | InputRequest::ListRoots(_) => {}
        }
    }

    fn withdraw_question(&self, question: &mut InputRequest) -> bool {
        older::question(question);
        true
    }
}

impl V2026_07_28 {
    /// The version, which has to be this one and the same everywhere, and the rest of `_meta`.
    fn context<'a>(
        self,
        method: &str,
        params: &Params<'a>,
        headers: Option<&dyn Headers>,
        manifest: &Manifest,
    ) -> Result<RequestContext<'a>, Failure> {
        let meta = params.meta.as_ref();
        let version = meta
            .and_then(|meta| meta.protocol_version)
            .and_then(text_of);
        if let (Some(headers), Some(version)) = (headers, &version) {
            mirrored_headers::version(headers, version)?;
        }
        let (Some(meta), Some(version)) = (meta, version) else {
            return Err(unversioned(method, params, manifest));
        };
        if self.version() != *version {
            return Err(Failure::unsupported_version(&version, &manifest.versions));
        }
        context(meta)
    }
}

/// A notification is judged by its method header alone, and only if there is one.
fn notification<'a>(
    envelope: &Envelope<'a>,
    headers: Option<&dyn Headers>,
) -> Result<ClientMessage<'a>, Failure> {
    let name = envelope.method();
    if let Some(headers) = headers {
        mirrored_headers::method_if_there(headers, name)?;
        // Ids are not unique across the clients of one endpoint: closing the stream cancels.
        return Ok(ClientMessage::Notification(ClientNotification::Other));
    }
    let notification = match envelope.params() {
        Ok(params) if name == "notifications/cancelled" => method::cancelled(params),
        _ => ClientNotification::Other,
    };
    Ok(ClientMessage::Notification(notification))
}

fn context<'a>(meta: &Meta<'a>) -> Result<RequestContext<'a>, Failure> {
    let mut context = method::context(Some(meta))?;
    let capabilities = meta.client_capabilities;
    let capabilities = capabilities.filter(|raw| raw.get().starts_with('{'));
    context.client_capabilities =
        Some(capabilities.ok_or_else(|| missing(meta_keys::CLIENT_CAPABILITIES))?);
    context.client_info = meta.client_info;
    if let Some(raw) = meta.log_level {
        context.log_level = Some(method::level(
            raw,
            "_meta[io.modelcontextprotocol/logLevel]",
        )?);
    }
    Ok(context)
}

/// A handshake that this server does not make is told which versions it could ask for instead
/// (`basic/versioning`, "Backward Compatibility": whatever the error is).
fn unversioned(method: &str, params: &Params<'_>, manifest: &Manifest) -> Failure {
    let failure = missing(meta_keys::PROTOCOL_VERSION);
    if method != "initialize" {
        return failure;
    }
    let requested = params.protocol_version.and_then(text_of);
    let requested = crate::outcome::clipped(requested.as_deref().unwrap_or_default()).into_owned();
    failure.data(json!({ "supported": manifest.versions, "requested": requested }))
}

fn missing(key: &str) -> Failure {
    let message = format!("`params._meta[\"{key}\"]` is missing or of the wrong type");
    Failure::new(FailureKind::MissingMeta, message)
}

/// The code and the HTTP status: 400 for what was refused on the way in, 404 for an unknown
/// method, 200 for whatever a handler came to.
fn code(kind: FailureKind) -> (i64, u16) {
    match kind {
        FailureKind::Parse => (error_codes::PARSE_ERROR, 400),
        FailureKind::InvalidRequest | FailureKind::NotInitialized => {
            (error_codes::INVALID_REQUEST, 400)
        }
        FailureKind::MethodNotFound => (error_codes::METHOD_NOT_FOUND, 404),
        FailureKind::InvalidParams | FailureKind::MissingMeta => (error_codes::INVALID_PARAMS, 400),
        FailureKind::UnknownName
        | FailureKind::InvalidCursor
        | FailureKind::ResourceNotFound
        | FailureKind::InvalidRequestState => (error_codes::INVALID_PARAMS, 200),
        FailureKind::HeaderMismatch => (error_codes::HEADER_MISMATCH, 400),
        FailureKind::UnsupportedVersion => (error_codes::UNSUPPORTED_PROTOCOL_VERSION, 400),
        FailureKind::MissingCapability => (error_codes::MISSING_CLIENT_CAPABILITY, 400),
        FailureKind::Internal => (error_codes::INTERNAL_ERROR, 200),
        other => (
            error_codes::INVALID_REQUEST,
            legacy::transport_status(other),
        ),
    }
}
