//! States in a store that takes its time, and clients that do not wait for it.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use mcp_core::{BoxError, Key, ServerConfig};
use serde_json::json;

use crate::support::{
    calling,
    curious::{self, capable, filled},
    http::{Request, Server},
    legacy,
    pending::Pending,
    probe::Probe,
    session::Session,
    watched::{Operation, Watch, WatchedStore},
};

/// A watch that lets a store find nothing before the test notes `found`, once it notes `slow`.
#[derive(Debug)]
struct Slow(Probe);

#[async_trait]
impl Watch for Slow {
    async fn before(&self, operation: Operation, _key: &Key) -> Result<(), BoxError> {
        if operation == Operation::Get && self.0.has("slow") {
            self.0.note("looked up");
            while !self.0.has("found") {
                tokio::time::sleep(Duration::from_millis(3)).await;
            }
        }
        Ok(())
    }
}

/// A call of a session outlives its client, also while its state is fetched.
// req: http-disconnect-is-not-cancel
#[tokio::test]
async fn a_call_whose_state_is_fetched_outlives_its_client() {
    let probe = Probe::default();
    let mut config = ServerConfig::default();
    config.limits.max_carried = 0;
    config.store = Some(Arc::new(WatchedStore::by(Slow(probe.clone()))));
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
