//! What an operation needs of whoever asks for it, and how the others are turned away.

use std::sync::Arc;

use mcp_codec::{Failure, FailureKind, HeaderValue, Headers};

use super::{AUTHORIZATION, Authorization, Denied, Scopes};
use crate::{
    Dispatcher, Exchange, HandlerError, Principal, RegisterError, Reply, budget::Who,
    caller::Caller, clock::time_of_day, registering::Registering,
};

/// What an operation needs of its caller.
#[derive(Debug, Clone, Default)]
pub(crate) struct Needs {
    pub(crate) scopes: Scopes,
    /// Whether it takes the principal, so that there has to be one.
    pub(crate) principal: bool,
}

impl Needs {
    pub(crate) fn of(scopes: Scopes) -> Self {
        Self {
            scopes,
            principal: false,
        }
    }

    pub(crate) fn is_nothing(&self) -> bool {
        !self.principal && self.scopes.is_empty()
    }

    /// The needs of an entry that is to be registered.
    pub(crate) fn check(self, entry: &Registering) -> Result<Self, RegisterError> {
        match super::usable(&self.scopes) {
            Ok(()) => Ok(self),
            Err(error) => Err(entry.invalid(error)),
        }
    }

    /// The needs of two operations.
    pub(crate) fn and(&self, other: &Self) -> Self {
        Self {
            scopes: self.scopes.union(&other.scopes),
            principal: self.principal || other.principal,
        }
    }
}

impl Dispatcher {
    /// Whose a request is, by its headers: before anything else of it is looked at.
    ///
    /// Nobody's where [`Dispatcher::authorization`] was not given, or lets anybody in. `source` is
    /// what tells strangers apart, if anything does: whoever guesses is charged for each guess,
    /// and is not listened to once that was too many.
    ///
    /// # Errors
    ///
    /// The refusal to answer with, with its challenges.
    pub async fn admit(
        &self,
        headers: &dyn Headers,
        source: Option<&str>,
    ) -> Result<Option<Arc<Principal>>, Reply> {
        let Some(authorization) = self.door() else {
            return Ok(None);
        };
        let registry = self.registry();
        let (budget, limits) = (&registry.backplane().budget, &registry.config().limits);
        let who = source.map_or(Who::Nobody, Who::Guesser);
        let listened_to = budget.may_charge(limits, who);
        listened_to.map_err(|failure| self.refuse(failure))?;
        let admitted = authorization.admit(headers, time_of_day()).await;
        admitted.map_err(|denied| {
            if headers.value(AUTHORIZATION) != HeaderValue::Absent {
                // It was listened to, so that there is enough.
                let _ = budget.charge(limits, who);
            }
            self.turned_away(denied)
        })
    }

    /// Words a refusal for which no message was read.
    pub(crate) fn turned_away(&self, denied: Denied) -> Reply {
        let mut reply = self.refuse(denied.failure);
        reply.challenges = denied.challenges;
        reply
    }

    /// What a caller may do; `local` says whether that is the owner of this process.
    pub(crate) fn gate<'a>(&'a self, caller: &'a Caller, local: bool) -> Gate<'a> {
        Gate {
            door: self.door(),
            caller,
            local,
        }
    }
}

/// What a caller may do.
#[derive(Clone, Copy)]
pub(crate) struct Gate<'a> {
    pub(crate) door: Option<&'a Authorization>,
    pub(crate) caller: &'a Caller,
    /// Whether it is the owner of this process: whoever starts one and talks to it over its pipes
    /// needs no scopes.
    pub(crate) local: bool,
}

impl Gate<'_> {
    /// Whether the caller may have what needs this.
    pub(crate) fn allows(&self, needs: &Needs) -> bool {
        let needed = &needs.scopes;
        match (self.caller.principal(), self.door) {
            _ if needs.is_nothing() => true,
            (None, _) => self.local,
            (Some(principal), Some(door)) => door.permits(&principal.scopes, needed),
            (Some(principal), None) => needed.iter().all(|it| principal.scopes.contains(it)),
        }
    }

    /// Why the caller may not have what needs this, if it may not.
    pub(crate) fn denial(&self, needs: &Needs) -> Option<Denied> {
        (!self.allows(needs)).then(|| self.deny(&needs.scopes))
    }

    /// How a caller is turned away that lacks some of these scopes.
    pub(crate) fn deny(&self, scopes: &Scopes) -> Denied {
        match (self.caller.principal(), self.door) {
            (Some(_), Some(authorization)) => authorization.forbidden(scopes),
            (None, Some(authorization)) => authorization.unauthorized(None, scopes),
            (_, None) => {
                tracing::warn!(%scopes, "refused: `Endpoint::authorization` says who may do this");
                let message = "this needs more than the caller may do";
                Denied {
                    failure: Failure::new(FailureKind::InsufficientScope, message),
                    challenges: Vec::new(),
                }
            }
        }
    }
}

impl Exchange {
    /// Goes on only for a caller that holds these scopes: for what depends on the arguments. What
    /// everybody needs who calls a tool is said once, by [`ToolSpec::scopes`](crate::ToolSpec::scopes).
    ///
    /// Before anything is done: whoever is turned away comes back with the same call. Over HTTP
    /// that is 403 with all the scopes that are needed, as long as nothing was said on the call's
    /// stream. Whoever has started the process needs none.
    ///
    /// ```
    /// use mcp_core::{Exchange, HandlerError};
    ///
    /// async fn read(path: String, exchange: Exchange) -> Result<String, HandlerError> {
    ///     if path.starts_with("/etc/") {
    ///         exchange.require_scopes(["files:admin"])?;
    ///     }
    ///     Ok(std::fs::read_to_string(path)?)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// The caller lacks one: let it through.
    ///
    /// Source: `basic/authorization` of 2025-11-25, "Runtime Insufficient Scope Errors".
    pub fn require_scopes(&self, scopes: impl Into<Scopes>) -> Result<(), HandlerError> {
        let needs = Needs::of(scopes.into());
        if self.call().gate().allows(&needs) {
            return Ok(());
        }
        Err(HandlerError::InsufficientScope(needs.scopes))
    }
}
