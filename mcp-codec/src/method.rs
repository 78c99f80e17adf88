//! Methods in no revision's words, and how the parameters of each are read.
//!
//! Every revision has its own table of method names; the parameters behind a method have kept
//! their names since 2024-11-05, so they are read in one place.

use std::{borrow::Cow, collections::BTreeMap};

use mcp_types::{CompletionReference, LoggingLevel, ProgressToken, RequestId};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    Failure, FailureKind,
    call::{
        CallTool, Cancelled, ClientNotification, ClientRequest, Complete, GetPrompt, Handshake,
        ReadResource, RequestContext, Retry,
    },
    envelope::text_of,
    params::{Meta, Params},
};

/// A request's method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Initialize,
    Discover,
    Ping,
    SetLevel,
    ListTools,
    CallTool,
    ListPrompts,
    GetPrompt,
    ListResources,
    ListResourceTemplates,
    ReadResource,
    Complete,
    Subscribe,
    Unsubscribe,
    Listen,
}

/// Reads the parameters of `method`.
pub(crate) fn read<'a>(method: Method, params: &Params<'a>) -> Result<ClientRequest<'a>, Failure> {
    Ok(match method {
        Method::Initialize => ClientRequest::Initialize(handshake(params)?),
        Method::Discover => ClientRequest::Discover,
        Method::Ping => ClientRequest::Ping,
        Method::SetLevel => {
            ClientRequest::SetLevel(level(required(params.level, "level")?, "level")?)
        }
        Method::ListTools => ClientRequest::ListTools(cursor(params)?),
        Method::ListPrompts => ClientRequest::ListPrompts(cursor(params)?),
        Method::ListResources => ClientRequest::ListResources(cursor(params)?),
        Method::ListResourceTemplates => ClientRequest::ListResourceTemplates(cursor(params)?),
        Method::CallTool => ClientRequest::CallTool(CallTool::new(
            text(params.name, "name")?,
            object(params.arguments, "arguments")?,
            retry(params),
        )),
        Method::GetPrompt => ClientRequest::GetPrompt(GetPrompt::new(
            text(params.name, "name")?,
            texts(params.arguments, "arguments")?,
            retry(params),
        )),
        Method::ReadResource => {
            ClientRequest::ReadResource(ReadResource::new(text(params.uri, "uri")?, retry(params)))
        }
        Method::Complete => ClientRequest::Complete(complete(params)?),
        Method::Subscribe => ClientRequest::Subscribe(text(params.uri, "uri")?),
        Method::Unsubscribe => ClientRequest::Unsubscribe(text(params.uri, "uri")?),
        Method::Listen => {
            let filter = object(params.notifications, "notifications")?;
            let filter = required(filter, "notifications")?;
            let filter = serde_json::from_str(filter.get())
                .map_err(|_| wrong("notifications", "a filter of booleans and a list of URIs"))?;
            ClientRequest::Listen(filter)
        }
    })
}

/// Reads what every handshake revision's notifications have in common.
pub(crate) fn notification<'a>(method: &str, params: &Params<'a>) -> ClientNotification<'a> {
    match method {
        "notifications/initialized" => ClientNotification::Initialized,
        "notifications/roots/list_changed" => ClientNotification::RootsListChanged,
        "notifications/cancelled" => cancelled(params),
        _ => ClientNotification::Other,
    }
}

/// Reads a cancellation; one that names no request is ignored, as the specification has it.
pub(crate) fn cancelled<'a>(params: &Params<'a>) -> ClientNotification<'a> {
    match params
        .request_id
        .and_then(|raw| RequestId::parse(raw.get()))
    {
        Some(id) => {
            let reason = params.reason.and_then(text_of);
            ClientNotification::Cancelled(Cancelled::new(id, reason))
        }
        None => ClientNotification::Other,
    }
}

/// Reads the context that the request's `_meta` carries in every revision.
pub(crate) fn context<'a>(meta: Option<&Meta<'a>>) -> Result<RequestContext<'a>, Failure> {
    let mut context = RequestContext::default();
    if let Some(raw) = meta.and_then(|meta| meta.progress_token) {
        let token = ProgressToken::parse(raw.get());
        context.progress_token =
            Some(token.ok_or_else(|| wrong("_meta.progressToken", "a string or an integer"))?);
    }
    Ok(context)
}

/// Reads a severity by its name.
pub(crate) fn level(raw: &RawValue, path: &str) -> Result<LoggingLevel, Failure> {
    serde_json::from_str(raw.get()).map_err(|_| wrong(path, "a logging level"))
}

/// A member that has to be there.
pub(crate) fn required<'a>(raw: Option<&'a RawValue>, path: &str) -> Result<&'a RawValue, Failure> {
    raw.ok_or_else(|| {
        Failure::new(
            FailureKind::InvalidParams,
            format!("`params.{path}` is missing"),
        )
    })
}

/// A member that is an object, if it is there.
pub(crate) fn object<'a>(
    raw: Option<&'a RawValue>,
    path: &str,
) -> Result<Option<&'a RawValue>, Failure> {
    match raw {
        Some(raw) if !raw.get().starts_with('{') => Err(wrong(path, "an object")),
        other => Ok(other),
    }
}

fn text<'a>(raw: Option<&'a RawValue>, path: &str) -> Result<Cow<'a, str>, Failure> {
    text_of(required(raw, path)?).ok_or_else(|| wrong(path, "a string"))
}

fn texts(raw: Option<&RawValue>, path: &str) -> Result<BTreeMap<String, String>, Failure> {
    let Some(raw) = object(raw, path)? else {
        return Ok(BTreeMap::new());
    };
    serde_json::from_str(raw.get()).map_err(|_| wrong(path, "an object of strings"))
}

fn cursor<'a>(params: &Params<'a>) -> Result<Option<Cow<'a, str>>, Failure> {
    let read = |raw| text_of(raw).ok_or_else(|| wrong("cursor", "a string"));
    params.cursor.map(read).transpose()
}

fn retry<'a>(params: &Params<'a>) -> Retry<'a> {
    Retry::new(params.request_state, params.input_responses)
}

fn handshake<'a>(params: &Params<'a>) -> Result<Handshake<'a>, Failure> {
    text(params.protocol_version, "protocolVersion")?;
    let capabilities = object(params.capabilities, "capabilities")?;
    let info = required(object(params.client_info, "clientInfo")?, "clientInfo")?;
    #[derive(Deserialize)]
    struct Named<'a> {
        #[serde(borrow)]
        name: Option<&'a RawValue>,
        #[serde(borrow)]
        version: Option<&'a RawValue>,
    }
    let named: Named<'_> =
        serde_json::from_str(info.get()).map_err(|_| wrong("clientInfo", "an object"))?;
    text(named.name, "clientInfo.name")?;
    text(named.version, "clientInfo.version")?;
    Ok(Handshake::new(
        info,
        required(capabilities, "capabilities")?,
    ))
}

fn complete<'a>(params: &Params<'a>) -> Result<Complete<'a>, Failure> {
    #[derive(Deserialize)]
    struct Argument<'a> {
        #[serde(borrow)]
        name: Option<&'a RawValue>,
        #[serde(borrow)]
        value: Option<&'a RawValue>,
    }
    #[derive(Deserialize)]
    struct Context<'a> {
        #[serde(borrow)]
        arguments: Option<&'a RawValue>,
    }
    let reference = required(params.reference, "ref")?;
    let reference: CompletionReference = serde_json::from_str(reference.get()).map_err(|_| {
        wrong(
            "ref",
            "a ref/prompt with a name or a ref/resource with a uri",
        )
    })?;
    let argument = required(object(params.argument, "argument")?, "argument")?;
    let argument: Argument<'a> =
        serde_json::from_str(argument.get()).map_err(|_| wrong("argument", "an object"))?;
    let context = match object(params.context, "context")? {
        Some(raw) => {
            let context: Context<'_> =
                serde_json::from_str(raw.get()).map_err(|_| wrong("context", "an object"))?;
            texts(context.arguments, "context.arguments")?
        }
        None => BTreeMap::new(),
    };
    Ok(Complete::new(
        reference,
        text(argument.name, "argument.name")?,
        text(argument.value, "argument.value")?,
        context,
    ))
}

pub(crate) fn wrong(path: &str, expected: &str) -> Failure {
    Failure::new(
        FailureKind::InvalidParams,
        format!("`params.{path}` is not {expected}"),
    )
}
