//! What the caller may do, and how it is turned away.

use mcp_codec::{Failure, outcome::Page};

use super::Request;
use crate::{
    Answer,
    auth::{Denied, Gate, Needs},
    budget::Permit,
    listing::{Listing, Reader},
};

impl Request<'_, '_> {
    /// Why the caller may not have what needs this, if it may not.
    pub(super) fn denial(&self, needs: &Needs) -> Option<Denied> {
        let denied = self.gate().denial(needs)?;
        // A batch is refused as a whole, for all that its messages lack.
        let lacking = self.lacking.take();
        self.lacking.set(lacking.and(needs));
        Some(denied)
    }

    fn gate(&self) -> Gate<'_> {
        self.dispatcher.gate(self.caller, self.incoming.local)
    }

    pub(super) fn deny(self, denied: Denied) -> Answer {
        // A batch is refused, and counted, as a whole.
        let alone = self.text.len() == self.incoming.body.len();
        let worded = self.worded();
        let mut reply = if alone {
            worded.refuse(denied.failure)
        } else {
            worded.reply(denied.failure.into())
        };
        reply.challenges = denied.challenges;
        Answer::ready(reply)
    }

    /// Charges a handler that is about to work to its caller.
    pub(super) fn permit(&self) -> Result<Permit, Failure> {
        let registry = self.dispatcher.registry();
        let budget = &registry.backplane().budget;
        budget.enter(&registry.config().limits, self.caller.account())
    }

    /// A page of a listing, with what the caller may use alone where that is asked for.
    pub(super) fn page(&self, listing: &Listing, cursor: Option<&str>) -> Option<Page> {
        let dispatcher = self.dispatcher;
        let filtered = dispatcher
            .door()
            .is_some_and(|it| it.lists_permitted_only());
        let reader = Reader {
            cursors: dispatcher.registry().cursors(),
            caller: self.caller,
            permitted: filtered.then_some(|needs: &Needs| self.gate().allows(needs)),
        };
        listing.page(cursor, &reader)
    }
}
