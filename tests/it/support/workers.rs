//! Several workers that share a store, a hub and their keys, as behind a balancer.

use std::sync::Arc;

use mcp_core::{KeyRing, MemoryHub, MemoryStore, Registry, ServerConfig};

use super::http::Server;

/// What workers share.
#[derive(Debug, Clone)]
pub(crate) struct Shared {
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) hub: Arc<MemoryHub>,
    pub(crate) keys: KeyRing,
}

impl Default for Shared {
    fn default() -> Self {
        Self {
            store: Arc::default(),
            hub: Arc::default(),
            keys: KeyRing::ephemeral(),
        }
    }
}

impl Shared {
    /// The configuration of one more worker.
    pub(crate) fn config(&self) -> ServerConfig {
        let mut config = ServerConfig::default();
        config.store = Some(Arc::clone(&self.store) as _);
        config.hub = Some(Arc::clone(&self.hub) as _);
        config.keys = Some(self.keys.clone());
        config
    }
}

/// Two workers of one server.
pub(crate) struct Workers {
    pub(crate) shared: Shared,
    pub(crate) registries: [Registry; 2],
    pub(crate) servers: [Server; 2],
}

impl Workers {
    pub(crate) fn new(build: impl Fn(ServerConfig) -> Registry) -> Self {
        let shared = Shared::default();
        let registries = [(); 2].map(|()| build(shared.config()));
        let servers = [0, 1].map(|at: usize| Server::of(registries[at].clone()));
        Self {
            shared,
            registries,
            servers,
        }
    }
}
