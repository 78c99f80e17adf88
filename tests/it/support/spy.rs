//! A spy on a store and a hub, who notes under which names they are used.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use mcp_core::{BoxError, Key};

use super::watched::{Operation, Watch};

/// The names under which something was kept or told. All clones are one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names(Arc<Mutex<BTreeSet<String>>>);

impl Names {
    pub(crate) fn all(&self) -> BTreeSet<String> {
        self.0.lock().unwrap().clone()
    }
}

#[async_trait]
impl Watch for Names {
    async fn before(&self, _operation: Operation, key: &Key) -> Result<(), BoxError> {
        self.0.lock().unwrap().insert(key.as_str().to_owned());
        Ok(())
    }
}
