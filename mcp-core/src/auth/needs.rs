//! What an operation needs of whoever asks for it, and how the others are turned away.

use std::sync::Arc;

use mcp_codec::{Failure, FailureKind, Headers};

use super::{Denied, Scopes};
use crate::{
    Dispatcher, Principal, RegisterError, Reply, budget::Who, caller::Caller, clock::time_of_day,
};

/// What an operation needs of its caller.
#[derive(Debug, Clone, Default)]
pub(crate) struct Needs {
    pub(crate) scopes: Scopes,
    /// Whether it takes the principal, so that there has to be one.
    pub(crate) principal: bool,
}

impl Needs {
    pub(crate) fn is_nothing(&self) -> bool {
        !self.principal && self.scopes.is_empty()
    }

    /// The needs of an entry that is to be registered.
    pub(crate) fn check(self, kind: &'static str, name: &str) -> Result<Self, RegisterError> {
        match super::usable(&self.scopes) {
            Ok(()) => Ok(self),
            Err(error) => Err(RegisterError::invalid(kind, name, error)),
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
        let who = source.map_or(Who::Nobody, Who::Stranger);
        let listened_to = budget.may_charge(limits, who);
        listened_to.map_err(|failure| self.refuse(failure))?;
        let admitted = authorization.admit(headers, time_of_day()).await;
        admitted.map_err(|denied| {
            // It was listened to, so that there is enough.
            let _ = budget.charge(limits, who);
            self.turned_away(denied)
        })
    }

    /// Words a refusal for which no message was read.
    pub(crate) fn turned_away(&self, denied: Denied) -> Reply {
        let mut reply = self.refuse(denied.failure);
        reply.challenges = denied.challenges;
        reply
    }

    /// Why a caller may not have what needs this, if it may not.
    ///
    /// `remote` says whether it came over a network: whoever starts a process and talks to it over
    /// its pipes needs no scopes.
    pub(crate) fn denial(&self, caller: &Caller, needs: &Needs, remote: bool) -> Option<Denied> {
        if self.allows(caller, needs, remote) {
            return None;
        }
        let scopes = &needs.scopes;
        Some(match (caller.principal(), self.door()) {
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
        })
    }

    /// Whether a caller may have what needs this.
    pub(crate) fn allows(&self, caller: &Caller, needs: &Needs, remote: bool) -> bool {
        let needed = &needs.scopes;
        match (caller.principal(), self.door()) {
            _ if needs.is_nothing() => true,
            (None, _) => !remote,
            (Some(principal), Some(door)) => door.permits(&principal.scopes, needed),
            (Some(principal), None) => needed.iter().all(|it| principal.scopes.contains(it)),
        }
    }
}
