//! States in a store that takes its time, and clients that do not wait for it.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use mcp_core::{Key, MemoryStore, ServerConfig, SessionStore, Stamp, StoreError, Stored};
use serde_json::json;

use crate::support::{
    calling,
    curious::{self, capable, filled},
    http::{Request, Server},
    legacy,
    pending::Pending,
    probe::Probe,
    session::Session,
};

/// A store that finds nothing before the test notes `found`, once it notes `slow`.
#[derive(Debug, Default)]
struct Slow {
    store: MemoryStore,
    probe: Probe,
}

#[async_trait]
impl SessionStore for Slow {
    async fn create(&self, key: &Key, value: Bytes, ttl: Duration) -> Result<bool, StoreError> {
        self.store.create(key, value, ttl).await
    }

    async fn get(&self, key: &Key) -> Result<Option<Stored>, StoreError> {
        if self.probe.has("slow") {
            self.probe.note("looked up");
            while !self.probe.has("found") {
                tokio::time::sleep(Duration::from_millis(3)).await;
            }
        }
        self.store.get(key).await
    }

    fn get_now(&self, key: &Key) -> Option<Option<Stored>> {
        self.store.get_now(key)
    }

    async fn save(
        &self,
        key: &Key,
        value: Bytes,
        expected: Stamp,
        ttl: Duration,
    ) -> Result<Option<Stamp>, StoreError> {
        self.store.save(key, value, expected, ttl).await
    }

    async fn touch(&self, key: &Key, ttl: Duration) -> Result<bool, StoreError> {
        self.store.touch(key, ttl).await
    }

    async fn delete(&self, key: &Key) -> Result<bool, StoreError> {
        self.store.delete(key).await
    }
}

/// A call of a session outlives its client, also while its state is fetched.
// req: http-disconnect-is-not-cancel
#[tokio::test]
async fn a_call_whose_state_is_fetched_outlives_its_client() {
    let probe = Probe::default();
    let mut config = ServerConfig::default();
    config.limits.max_carried = 0;
    config.store = Some(Arc::new(Slow {
        probe: probe.clone(),
        ..Slow::default()
    }));
    let server = Server::of(curious::with(&probe, config));
    let session = Session::declaring(&server, "2025-03-26", &capable(), &[]).await;
    let params = calling("bulky", json!({}));
    let mut retry = params.clone();
    for text in ["Ada", "Ulm"] {
        let asked = session.ask("tools/call", retry).await;
        let pending = Pending::of(&params, &asked["result"]).unwrap();
        retry = pending.answered(|_| filled(text));
    }
    probe.note("slow");
    let request = session.dressed(Request::post(legacy(9, "tools/call", retry)));
    let reading = tokio::spawn(async move { server.send(&request).await });
    probe.until("looked up").await;
    reading.abort();
    let _ = reading.await;
    // The server has to notice before it may go on; a ping takes the same way.
    assert_eq!(session.status().await, 200);
    tokio::time::sleep(Duration::from_millis(100)).await;
    probe.note("found");
    probe.until("done").await;
}
