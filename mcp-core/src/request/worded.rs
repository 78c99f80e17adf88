//! Replies that are worded once something has been looked up.

use std::sync::Arc;

use mcp_codec::{Failure, Outcome, Reply, Revision, adapter_set};
use mcp_types::RequestId;

use super::Request;
use crate::{Registry, catalog::Catalog};

/// What is needed to word a reply once something has been looked up.
pub(super) struct Worded {
    registry: Registry,
    revision: Revision,
    id: RequestId,
    catalog: Arc<Catalog>,
}

impl Worded {
    pub(super) fn refuse(&self, failure: Failure) -> Reply {
        self.registry.note_refusal(&failure);
        self.reply(failure.into())
    }

    pub(super) fn reply(&self, outcome: Outcome) -> Reply {
        let manifest = &self.catalog.manifest;
        adapter_set::render(self.revision, Some(&self.id), outcome, manifest)
    }
}

impl Request<'_, '_> {
    /// What is needed to word the reply later.
    pub(super) fn worded(self) -> Worded {
        Worded {
            registry: self.dispatcher.registry().clone(),
            revision: self.revision,
            id: self.id,
            catalog: Arc::clone(self.catalog),
        }
    }
}
