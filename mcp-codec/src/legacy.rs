//! What the four handshake revisions share: reading, writing, codes and statuses.
//!
//! Source: `basic/lifecycle`, `basic/transports` and the schema of 2024-11-05 to 2025-11-25.

use bytes::Bytes;
use mcp_types::{
    InitializeResult, InputRequest, ProtocolVersion, RequestId, ServerNotification, error_codes,
};

use crate::{
    ClientMessage, ClientNotification, ClientRequest, Envelope, Failure, FailureKind, MessageKind,
    Outcome, Reply, ServerResult,
    call::Call,
    method::{self, Method},
    write,
};

/// Reads a message of a handshake revision; headers are not judged there.
pub(crate) fn decode<'a>(
    envelope: &Envelope<'a>,
    table: fn(&str) -> Option<Method>,
) -> Result<ClientMessage<'a>, Failure> {
    match envelope.kind() {
        MessageKind::Response => return Ok(ClientMessage::Response),
        MessageKind::Notification => {
            let notification = envelope
                .params()
                .map_or(ClientNotification::Other, |params| {
                    method::notification(envelope.method(), params)
                });
            return Ok(ClientMessage::Notification(notification));
        }
        MessageKind::Request => {}
    }
    let name = envelope.method();
    let method = table(name).ok_or_else(|| Failure::method_not_found(name))?;
    let params = envelope.params()?;
    let context = method::context(params.meta.as_ref())?;
    Ok(ClientMessage::Call(Call::new(
        method::read(method, params)?,
        context,
    )))
}

/// The methods that every handshake revision has.
pub(crate) fn method(name: &str) -> Option<Method> {
    Some(match name {
        "tools/call" => Method::CallTool,
        "tools/list" => Method::ListTools,
        "initialize" => Method::Initialize,
        "ping" => Method::Ping,
        "logging/setLevel" => Method::SetLevel,
        "prompts/list" => Method::ListPrompts,
        "prompts/get" => Method::GetPrompt,
        "resources/list" => Method::ListResources,
        "resources/templates/list" => Method::ListResourceTemplates,
        "resources/read" => Method::ReadResource,
        "resources/subscribe" => Method::Subscribe,
        "resources/unsubscribe" => Method::Unsubscribe,
        "completion/complete" => Method::Complete,
        _ => return None,
    })
}

/// Drops what the request said that its revision did not define yet.
pub(crate) fn without_completion_context(message: &mut ClientMessage<'_>) {
    if let ClientMessage::Call(call) = message
        && let ClientRequest::Complete(complete) = &mut call.request
    {
        complete.context.clear();
    }
}

/// Writes an answer of a handshake revision.
pub(crate) fn encode(version: ProtocolVersion, id: Option<&RequestId>, outcome: Outcome) -> Reply {
    match outcome {
        Outcome::Failure(failure) => {
            let (code, status) = code(failure.kind);
            Reply::new(status, write::error(id, code, &failure))
        }
        Outcome::Result(ServerResult::Page(page)) => {
            let body = write::result(id, page.member.len(), |out| write::page(out, &page));
            Reply::new(200, body)
        }
        Outcome::Result(result) => Reply::new(
            200,
            write::result(id, 0, |out| members(out, version, result)),
        ),
    }
}

fn members(out: &mut Vec<u8>, version: ProtocolVersion, result: ServerResult) {
    match result {
        // `InputRequired` never gets here: these revisions have questions on the stream, or
        // results that ask.
        ServerResult::Empty
        | ServerResult::Page(_)
        | ServerResult::Listened(_)
        | ServerResult::InputRequired(_) => {}
        ServerResult::Written(members) => out.extend_from_slice(&members),
        ServerResult::Describe(description) => {
            let described = *description;
            let mut result = InitializeResult::new(version, described.capabilities, described.info);
            result.instructions = described.instructions;
            write::members(out, &result);
        }
        ServerResult::Tools(_)
        | ServerResult::Prompts(_)
        | ServerResult::Resources(_)
        | ServerResult::ResourceTemplates(_) => write::listing(out, &result),
        ServerResult::CallTool(called) => write::members(out, &called.result),
        ServerResult::GetPrompt(result) => write::members(out, &result),
        ServerResult::ReadResource(result) => write::members(out, &result),
        ServerResult::Complete(result) => write::members(out, &result),
    }
}

/// The code and the HTTP status: 200 for whatever a well-formed request comes to.
fn code(kind: FailureKind) -> (i64, u16) {
    match kind {
        FailureKind::Parse => (error_codes::PARSE_ERROR, 400),
        FailureKind::InvalidRequest | FailureKind::NotInitialized => {
            (error_codes::INVALID_REQUEST, 400)
        }
        FailureKind::MethodNotFound => (error_codes::METHOD_NOT_FOUND, 200),
        FailureKind::InvalidParams
        | FailureKind::UnknownName
        | FailureKind::InvalidCursor
        | FailureKind::MissingMeta
        | FailureKind::InvalidRequestState => (error_codes::INVALID_PARAMS, 200),
        FailureKind::ResourceNotFound => (error_codes::RESOURCE_NOT_FOUND, 200),
        FailureKind::UnsupportedVersion => (error_codes::INVALID_PARAMS, 400),
        FailureKind::Internal | FailureKind::MissingCapability => {
            (error_codes::INTERNAL_ERROR, 200)
        }
        FailureKind::HeaderMismatch => (error_codes::INVALID_REQUEST, 400),
        other => (error_codes::INVALID_REQUEST, transport_status(other)),
    }
}

/// The HTTP status of a refusal that has nothing to do with JSON-RPC.
pub(crate) fn transport_status(kind: FailureKind) -> u16 {
    match kind {
        FailureKind::Unauthorized => 401,
        FailureKind::Forbidden | FailureKind::InsufficientScope => 403,
        FailureKind::SessionNotFound => 404,
        FailureKind::MethodNotAllowed => 405,
        FailureKind::NotAcceptable => 406,
        FailureKind::TooSlow => 408,
        FailureKind::TooLarge => 413,
        FailureKind::UnsupportedMediaType => 415,
        FailureKind::TooManyRequests => 429,
        FailureKind::HeadersTooLarge => 431,
        FailureKind::Overloaded => 503,
        _ => 400,
    }
}

/// Writes a request of the server that all handshake revisions have.
pub(crate) fn question(id: &RequestId, question: &InputRequest) -> Option<Bytes> {
    Some(match question {
        InputRequest::CreateMessage(params) => write::request(id, question.method(), Some(params)),
        InputRequest::ListRoots(params) => {
            let said = params.meta.as_ref().is_some_and(|meta| !meta.is_empty());
            write::request(id, question.method(), said.then_some(params))
        }
        InputRequest::Elicit(_) => return None,
    })
}

/// Writes a notification that all handshake revisions have.
pub(crate) fn notify(notification: &ServerNotification) -> Option<Bytes> {
    Some(match notification {
        ServerNotification::Cancelled(params) => {
            write::notification("notifications/cancelled", Some(params))
        }
        ServerNotification::Progress(params) => {
            write::notification("notifications/progress", Some(params))
        }
        ServerNotification::Message(params) => {
            write::notification("notifications/message", Some(params))
        }
        ServerNotification::ToolsListChanged(_) => {
            write::bare_notification("notifications/tools/list_changed")
        }
        ServerNotification::PromptsListChanged(_) => {
            write::bare_notification("notifications/prompts/list_changed")
        }
        ServerNotification::ResourcesListChanged(_) => {
            write::bare_notification("notifications/resources/list_changed")
        }
        ServerNotification::ResourceUpdated(params) => {
            write::notification("notifications/resources/updated", Some(params))
        }
        ServerNotification::SubscriptionsAcknowledged(_)
        | ServerNotification::ElicitationComplete(_) => return None,
    })
}
