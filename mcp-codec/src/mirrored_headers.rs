//! Comparing mirrored headers with the body.
//!
//! Source: `basic/transports/streamable-http` of 2026-07-28, "Standard Request Headers" and
//! "Custom Headers from Tool Parameters"; `server/tools`, "x-mcp-header".

use std::{borrow::Cow, collections::HashMap};

use serde_json::value::RawValue;

use crate::{
    Failure, FailureKind, Headers,
    envelope::text_of,
    headers::{self, BadHeader},
    method::Method,
    mirror::{MirroredKind, MirroredParameter},
    params::Params,
};

/// The largest integer that every JSON reader keeps apart from its neighbours.
const SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;

/// `MCP-Protocol-Version` has to say what `_meta` says.
pub(crate) fn version(headers: &dyn Headers, version: &str) -> Result<(), Failure> {
    equal(
        "MCP-Protocol-Version",
        headers::plain(headers, headers::PROTOCOL_VERSION),
        version,
    )
}

/// `Mcp-Method` has to say what `method` says.
pub(crate) fn method(headers: &dyn Headers, method: &str) -> Result<(), Failure> {
    equal(
        "Mcp-Method",
        headers::plain(headers, headers::METHOD),
        method,
    )
}

/// `Mcp-Method` on a notification: compared if it is there.
pub(crate) fn method_if_there(headers: &dyn Headers, method: &str) -> Result<(), Failure> {
    match headers::plain(headers, headers::METHOD) {
        Err(BadHeader::Missing) => Ok(()),
        found => equal("Mcp-Method", found, method),
    }
}

/// `Mcp-Name` has to say what `params.name` or `params.uri` says.
pub(crate) fn name(
    headers: &dyn Headers,
    method: Method,
    params: &Params<'_>,
) -> Result<(), Failure> {
    let named = match method {
        Method::CallTool | Method::GetPrompt => params.name,
        Method::ReadResource => params.uri,
        _ => return Ok(()),
    };
    // A missing or mistyped name is the parameters' trouble, not the header's.
    let Some(named) = named.and_then(text_of) else {
        return Ok(());
    };
    equal(
        "Mcp-Name",
        headers::mirrored(headers, headers::NAME),
        &named,
    )
}

/// Each annotated parameter that is present has to be mirrored, and truly.
pub(crate) fn parameters(
    headers: &dyn Headers,
    parameters: &[MirroredParameter],
    arguments: Option<&RawValue>,
) -> Result<(), Failure> {
    for parameter in parameters {
        let label = format!("Mcp-Param-{}", parameter.header_suffix);
        let found = headers::mirrored(headers, &label.to_ascii_lowercase());
        let argument = arguments.and_then(|raw| member(raw, &parameter.path));
        let Some(argument) = argument else {
            if found == Err(BadHeader::Missing) {
                continue;
            }
            let message = format!("header mismatch: {label} is there, but the parameter is not");
            return Err(Failure::new(FailureKind::HeaderMismatch, message));
        };
        let value = found.map_err(|error| bad(&label, error))?;
        if !same(&value, argument.get(), parameter.kind) {
            return Err(differs(&label));
        }
    }
    Ok(())
}

/// The value at a path of members; null counts as absent.
fn member<'a>(object: &'a RawValue, path: &[String]) -> Option<&'a RawValue> {
    let mut at = object;
    for key in path {
        let members: HashMap<Cow<'a, str>, &'a RawValue> = serde_json::from_str(at.get()).ok()?;
        at = members.get(key.as_str()).copied()?;
    }
    (at.get() != "null").then_some(at)
}

fn same(value: &str, argument: &str, kind: MirroredKind) -> bool {
    match kind {
        MirroredKind::String => {
            serde_json::from_str::<String>(argument).is_ok_and(|argument| argument == value)
        }
        MirroredKind::Boolean => value == argument,
        MirroredKind::Integer => match (integer(value), integer(argument)) {
            (Some(value), Some(argument)) => value == argument,
            // What is no integer in the body is for the tool's schema to refuse.
            _ => false,
        },
    }
}

/// A JSON number with a zero fraction and within the safe range.
fn integer(text: &str) -> Option<f64> {
    let number: serde_json::Number = serde_json::from_str(text).ok()?;
    let value = number.as_f64()?;
    (value.fract() == 0.0 && value.abs() <= SAFE_INTEGER).then_some(value)
}

fn equal<T: AsRef<str>>(
    label: &str,
    found: Result<T, BadHeader>,
    expected: &str,
) -> Result<(), Failure> {
    let found = found.map_err(|error| bad(label, error))?;
    if found.as_ref() == expected {
        Ok(())
    } else {
        Err(differs(label))
    }
}

fn bad(label: &str, error: BadHeader) -> Failure {
    Failure::new(
        FailureKind::HeaderMismatch,
        format!("header mismatch: {label} {error}"),
    )
}

fn differs(label: &str) -> Failure {
    let message = format!("header mismatch: {label} differs from the body");
    Failure::new(FailureKind::HeaderMismatch, message)
}
