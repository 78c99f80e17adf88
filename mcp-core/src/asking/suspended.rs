//! Leaving a call to ask, and coming back to it: the questions are the result, and what is to be
//! known again travels with them, sealed.
//!
//! Source: `basic/patterns/mrtr` of 2026-07-28; the boundary is that of `mcp-state`.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use mcp_codec::{Failure, FailureKind, ServerResult, call::Retry};
use mcp_state::{Boundary, Request, TokenId};
use mcp_types::InputRequiredResult;
use serde_json::{json, value::RawValue};

use super::{MAX_ROUNDS, Progress, Responses};
use crate::{
    Exchange, HandlerError, Key, Registry, answer::HandlerFuture, backplane::Backplane,
    caller::Caller, clock::time_of_day, exchange::CallState, session::new_id,
};

/// What a call is about, which its state is bound to: parts of the request as it arrived.
#[derive(Clone)]
pub(crate) struct Origin {
    pub(crate) method: &'static str,
    /// The name or the URI that it is aimed at.
    pub(crate) target: Bytes,
    /// Its arguments as JSON text.
    pub(crate) arguments: Option<Bytes>,
    pub(crate) caller: Caller,
}

/// What a retried call brings back, before it is believed.
#[derive(Clone, Default)]
pub(crate) struct Carried {
    pub(crate) state: Option<Bytes>,
    pub(crate) responses: Option<Bytes>,
}

impl Carried {
    pub(crate) fn of(retry: Retry<'_>, slice: impl Fn(&str) -> Bytes) -> Self {
        let given = |raw: &&RawValue| raw.get() != "null";
        Self {
            state: retry.state.filter(given).map(|raw| slice(raw.get())),
            responses: retry.responses.filter(given).map(|raw| slice(raw.get())),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.state.is_none() && self.responses.is_none()
    }
}

impl Origin {
    /// Does something with the request as the boundary sees it.
    fn with<R>(&self, use_it: impl FnOnce(&Request<'_>) -> R) -> R {
        let arguments = self.arguments.as_deref().map(text);
        let request = Request::from_parts(self.method, text(&self.target), arguments);
        let Some(principal) = self.caller.principal() else {
            return use_it(&request);
        };
        let caller = mcp_state::Caller::new(&principal.client)
            .with_issuer(&principal.issuer)
            .with_subject(&principal.subject);
        use_it(&request.with_caller(caller))
    }
}

/// A state that was opened: here, or in the store under a handle.
pub(crate) enum Restored {
    /// With the id of the token, where it came with one.
    Here(Box<Progress>, Option<Seen>),
    Stored(Key, Responses, Seen),
}

/// A token that was opened, and how long it can come back.
#[derive(Clone)]
pub(crate) struct Seen {
    token: Bytes,
    pub(crate) remaining: Duration,
}

impl Seen {
    /// How a store recognises the token.
    pub(crate) fn id(&self) -> TokenId {
        TokenId::of(text(&self.token))
    }
}

impl Registry {
    /// Opens what a retried call brings back.
    ///
    /// # Security
    ///
    /// Whatever is wrong with the state is one failure for the client; the log has the reason.
    pub(crate) fn restore(&self, carried: &Carried, origin: &Origin) -> Result<Restored, Failure> {
        let responses = responses(carried)?;
        let Some(state) = &carried.state else {
            let progress = Progress::take_loose(responses);
            return Ok(Restored::Here(Box::new(progress), None));
        };
        let (token, now) = (token(state)?, time_of_day());
        let opened = origin.with(|it| self.boundary().open(it, text(&token), now));
        let opened = opened.map_err(|error| refused(&format!("{error:?}")))?;
        let seen = Seen {
            remaining: opened.remaining(now),
            token,
        };
        // The boundary knows the principal; a namespace may be one of several of that.
        let state = opened.state().strip_prefix(&*origin.caller.mark());
        let state = state.ok_or_else(|| refused(&"of another namespace"))?;
        if let Some(id) = state.strip_prefix(STORED) {
            return Ok(Restored::Stored(
                Backplane::state_key(&origin.caller, id),
                responses,
                seen,
            ));
        }
        let mut progress: Progress = serde_json::from_slice(&swapped(state.into()))
            .map_err(|_| refused(&"another service's or namespace's state"))?;
        progress.take(responses);
        Ok(Restored::Here(Box::new(progress), Some(seen)))
    }

    /// Fetches a state that was too large for the client to hold.
    pub(crate) async fn stored_progress(
        &self,
        key: &Key,
        responses: Responses,
    ) -> Result<Box<Progress>, Failure> {
        let stored = self.backplane().store.get(key).await;
        let stored = stored.map_err(|error| crate::session::store_failure(&error))?;
        let stored = stored.ok_or_else(|| refused(&"its content has expired"))?;
        let progress = serde_json::from_slice(&stored.value);
        let mut progress: Progress = progress.map_err(|_| refused(&"its content is none"))?;
        progress.take(responses);
        Ok(Box::new(progress))
    }

    pub(crate) fn boundary(&self) -> &Boundary {
        &self.backplane().boundary
    }
}

/// The token that is a JSON string, without a copy where it has no escapes.
fn token(state: &Bytes) -> Result<Bytes, Failure> {
    let inner = state
        .strip_prefix(b"\"")
        .and_then(|it| it.strip_suffix(b"\""));
    match inner {
        Some(inner) if !inner.contains(&b'\\') => Ok(state.slice_ref(inner)),
        _ => serde_json::from_slice::<String>(state)
            .map(Bytes::from)
            .map_err(|_| refused(&"no string")),
    }
}

/// Parts of a message that was read are text.
fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}

fn responses(carried: &Carried) -> Result<Responses, Failure> {
    let Some(responses) = &carried.responses else {
        return Ok(Responses::new());
    };
    serde_json::from_slice(responses).map_err(|_| {
        let message = "`params.inputResponses` is no object of answers";
        Failure::new(FailureKind::InvalidParams, message)
    })
}

/// One failure for everything that is wrong with a state.
fn refused(reason: &dyn std::fmt::Display) -> Failure {
    tracing::warn!(%reason, "a request state was refused");
    Failure::new(
        FailureKind::InvalidRequestState,
        "Invalid or expired requestState",
    )
    .data(json!({ "reason": "invalid_request_state" }))
}

impl Exchange {
    /// Whether this call can leave with a question as its result.
    pub(super) fn may_suspend(&self) -> bool {
        self.call().origin.is_some()
    }
}

/// Ends a run that asks: what the client is to read instead of the result.
pub(crate) fn suspend(call: &Arc<CallState>) -> HandlerFuture {
    let call = Arc::clone(call);
    Box::pin(async move {
        let (questions, progress) = call.asking().suspend();
        let Some(origin) = &call.origin else {
            return Err(HandlerError::internal(
                "a call that cannot ask was left to ask",
            ));
        };
        if progress.round > MAX_ROUNDS {
            let text = format!("the client was asked {MAX_ROUNDS} times, which is enough");
            return Err(HandlerError::tell(text));
        }
        let state = state_of(&call, &progress).await?;
        let state = match &*origin.caller.mark() {
            "" => state,
            mark => format!("{mark}{state}"),
        };
        let boundary = call.registry.boundary();
        let token = origin.with(|it| {
            let binding = boundary.bind(it)?;
            boundary.seal(&binding, &state, time_of_day())
        })?;
        let result = InputRequiredResult::new()
            .input_requests(questions)
            .request_state(token);
        Ok(ServerResult::InputRequired(result))
    })
}

/// The inner state: as it is, or, where it is large, a place in the store.
async fn state_of(call: &CallState, progress: &Progress) -> Result<String, HandlerError> {
    let registry = &call.registry;
    let state = serde_json::to_string(progress)?;
    let limits = &registry.config().limits;
    if state.len() <= limits.max_carried {
        return Ok(String::from_utf8(swapped(state.into())).unwrap_or_default());
    }
    if state.len() > limits.max_stored {
        let problem = format!("the state of a call has {} bytes", state.len());
        tracing::warn!(
            problem,
            limit = limits.max_stored,
            "too much to keep for a client"
        );
        return Err(HandlerError::tell("the answers are too long to be kept"));
    }
    let id = new_id();
    let store = &registry.backplane().store;
    let key = Backplane::state_key(&call.caller, &id);
    store
        .create(&key, Bytes::from(state), registry.config().asking.ttl)
        .await?;
    Ok(format!("{STORED}{id}"))
}

/// The text with its quotes and apostrophes swapped, or, given that, the text.
///
/// What is sealed is JSON, and travels as a text within JSON: each quote of it would need an escape
/// there, and an apostrophe needs none.
fn swapped(mut text: Vec<u8>) -> Vec<u8> {
    for byte in &mut text {
        *byte = match *byte {
            b'"' => b'\'',
            b'\'' => b'"',
            other => other,
        };
    }
    text
}

/// What begins a state that is in the store.
const STORED: &str = "stored:";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_apostrophes_are_swapped_and_swapped_back() {
        let text = r#"{"n":1,"m":"it's é\"…"}"#;
        let carried = swapped(text.into());
        assert_eq!(carried, r#"{'n':1,'m':'it"s é\'…'}"#.as_bytes());
        assert_eq!(swapped(carried), text.as_bytes());
    }
}
