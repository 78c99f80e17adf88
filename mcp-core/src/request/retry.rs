//! What a call brings back from earlier rounds, where it can leave to ask.

use std::borrow::Cow;

use bytes::Bytes;
use mcp_codec::{
    Failure, InputStyle,
    call::{CallTool, Retry},
};
use serde_json::value::RawValue;

use super::Request;
use crate::{
    Answer, Key,
    asking::{Carried, Origin, Responses, Restored, Seen, in_arguments},
    exchange::CallState,
    outcome::Target,
    owned::Owned,
    tools::ToolEntry,
};

/// A call that goes on, or has to be fetched from the store first.
pub(super) enum TakenUp {
    /// With the token that it is counted by, where it counts once.
    Here(Option<Seen>),
    Stored(Key, Responses, Seen),
}

impl Request<'_, '_> {
    /// The same of a tool, whose arguments may bring something back; then the others come first.
    pub(super) fn tool_origin(
        &self,
        tool: &ToolEntry,
        call: &CallTool<'_>,
    ) -> (Option<Box<RawValue>>, Option<(Origin, Carried)>) {
        let arguments = || call.arguments.map(|raw| self.part(raw.get()));
        if self.revision.input_style() != InputStyle::InArguments {
            return (
                None,
                self.origin("tools/call", &call.name, arguments, call.retry),
            );
        }
        if !tool.asks {
            return (None, None);
        }
        let (own, carried) = match call.arguments.and_then(in_arguments::split) {
            Some((own, carried)) => (Some(own), carried),
            None => (None, Carried::default()),
        };
        let text = own.as_ref().map_or_else(arguments, |it| {
            Some(Bytes::copy_from_slice(it.get().as_bytes()))
        });
        let origin = self.origin_of("tools/call", &call.name, text);
        (own, Some((origin, carried)))
    }

    #[expect(
        clippy::ptr_arg,
        reason = "what is borrowed is a part of the message, and not copied"
    )]
    fn origin_of(
        &self,
        method: &'static str,
        target: &Cow<'_, str>,
        arguments: Option<Bytes>,
    ) -> Origin {
        let target = match target {
            Cow::Borrowed(text) => self.part(text),
            Cow::Owned(text) => Bytes::copy_from_slice(text.as_bytes()),
        };
        Origin {
            method,
            target,
            arguments,
            caller: self.caller.clone(),
        }
    }

    /// What the call is about and what it brings back, where it can leave to ask.
    #[expect(clippy::ptr_arg, reason = "as for `origin_of`")]
    pub(super) fn origin(
        &self,
        method: &'static str,
        target: &Cow<'_, str>,
        arguments: impl FnOnce() -> Option<Bytes>,
        retry: Retry<'_>,
    ) -> Option<(Origin, Carried)> {
        if self.revision.input_style() != InputStyle::InResult {
            return None;
        }
        let carried = Carried::of(retry, |text| self.part(text));
        Some((self.origin_of(method, target, arguments()), carried))
    }

    /// A part of the message that outlives the request, without a copy.
    fn part(&self, text: &str) -> Bytes {
        self.text.slice_ref(text.as_bytes())
    }

    /// Has a call go on from what earlier rounds of it have come to.
    pub(super) fn take_up(
        &mut self,
        origin: Origin,
        carried: &Carried,
        target: &Target,
        state: &mut CallState,
    ) -> Result<TakenUp, Failure> {
        let counts_once = target.is_single_use();
        let seen = match self.progress(&origin, carried)? {
            // What counts once needs the token that it is counted by.
            Some(Restored::Here(_, None)) if counts_once => None,
            Some(Restored::Here(progress, token)) => {
                state.resume(*progress);
                token.filter(|_| counts_once)
            }
            Some(Restored::Stored(key, responses, token)) => {
                return Ok(TakenUp::Stored(key, responses, token));
            }
            None => None,
        };
        state.origin = Some(origin);
        Ok(TakenUp::Here(seen))
    }

    /// What earlier rounds of the call have come to.
    fn progress(
        &mut self,
        origin: &Origin,
        carried: &Carried,
    ) -> Result<Option<Restored>, Failure> {
        if let Some((progress, token)) = self.progress.take() {
            return Ok(Some(Restored::Here(progress, Some(token))));
        }
        if carried.is_empty() {
            return Ok(None);
        }
        self.dispatcher
            .registry()
            .restore(carried, origin)
            .map(Some)
    }

    /// Fetches what the client was not given to hold, then takes the call up again.
    pub(super) fn fetch(self, key: Key, responses: Responses, token: Seen) -> Answer {
        let dispatcher = self.dispatcher.clone();
        // Of a batch, this message alone.
        let owned = Owned::of(self.incoming).with_body(self.text.clone());
        let (peer, caller) = (self.peer.clone(), self.caller.clone());
        let era = self.revision.era();
        let cancels = self.revision.disconnect_cancels();
        let worded = self.worded();
        Answer::opening(cancels, async move {
            let registry = dispatcher.registry();
            match registry.stored_progress(&key, responses).await {
                Ok(progress) => owned.again(era, |incoming| {
                    dispatcher.answer_resumed(incoming, &peer, &caller, Some((progress, token)))
                }),
                Err(failure) => Answer::ready(worded.refuse(failure)),
            }
        })
    }
}
