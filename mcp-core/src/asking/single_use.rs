//! Retries that count once: reserved before the handler runs, their answer kept.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use mcp_codec::{Outcome, ServerResult, outcome::CalledTool};
use mcp_types::{CallToolResult, InputRequiredResult};
use serde::{Deserialize, Serialize};

use super::suspend;
use crate::{
    HandlerError, Key, Registry, Stored,
    answer::HandlerFuture,
    exchange::CallState,
    outcome::{self, Target},
};

/// What is kept of a retry: nothing while it runs, then its answer.
#[derive(Serialize, Deserialize)]
enum Kept {
    #[serde(rename = "running")]
    Running,
    #[serde(rename = "result")]
    Result(CallToolResult),
    #[serde(rename = "asked")]
    Asked(InputRequiredResult),
}

/// Runs a handler only if the retry was not answered before; the same retry again, on any worker,
/// gets the same answer.
///
/// A worker that dies at work gives the reservation back when its lease ends.
pub(crate) fn once(
    key: Key,
    call: &Arc<CallState>,
    target: Target,
    handler: HandlerFuture,
) -> HandlerFuture {
    let call = Arc::clone(call);
    Box::pin(async move {
        let registry = call.registry.clone();
        loop {
            if registry.reserve(&key).await? {
                break;
            }
            match registry.kept(&key).await? {
                Some(Kept::Result(result)) => {
                    return Ok(ServerResult::CallTool(called(result, &target)));
                }
                Some(Kept::Asked(asked)) => return Ok(ServerResult::InputRequired(asked)),
                // Somebody else is at it; or was, until just now.
                Some(Kept::Running) => tokio::time::sleep(AGAIN).await,
                None => {}
            }
        }
        let result = registry.leased(&key, handler).await;
        let result = match result {
            Err(HandlerError::Suspended) => suspend(&call).await,
            result => result,
        };
        settle(&registry, &key, result, &call, &target).await
    })
}

fn called(result: CallToolResult, target: &Target) -> CalledTool {
    match target {
        Target::Tool(tool) => CalledTool::new(result, tool.shape),
        _ => result.into(),
    }
}

/// Keeps what the handler came to, and gives it.
async fn settle(
    registry: &Registry,
    key: &Key,
    result: Result<ServerResult, HandlerError>,
    call: &CallState,
    target: &Target,
) -> Result<ServerResult, HandlerError> {
    if let Err(HandlerError::MissingCapability(required)) = result {
        // The client was not asked, and nothing was done: the retry may come again.
        registry.backplane().store.delete(key).await?;
        return Err(HandlerError::MissingCapability(required));
    }
    let outcome = outcome::of_handler(result, target, call.revision.era());
    let (kept, result) = match outcome {
        Outcome::Result(ServerResult::CallTool(called)) => (
            Kept::Result(called.result.clone()),
            ServerResult::CallTool(called),
        ),
        Outcome::Result(ServerResult::InputRequired(asked)) => (
            Kept::Asked(asked.clone()),
            ServerResult::InputRequired(asked),
        ),
        // A tool comes to nothing else.
        _ => {
            return Err(HandlerError::internal(
                "a tool came to what is no result of a tool",
            ));
        }
    };
    registry.keep(key, &kept).await?;
    Ok(result)
}

impl Registry {
    /// Whether the retry is ours to run.
    async fn reserve(&self, key: &Key) -> Result<bool, HandlerError> {
        let running = Bytes::from(serde_json::to_vec(&Kept::Running)?);
        Ok(self.backplane().store.create(key, running, LEASE).await?)
    }

    async fn kept(&self, key: &Key) -> Result<Option<Kept>, HandlerError> {
        let stored = self.backplane().store.get(key).await?;
        let kept = stored.map(|it: Stored| serde_json::from_slice(&it.value));
        Ok(kept.transpose()?)
    }

    /// Keeps the answer for as long as its state can come back.
    async fn keep(&self, key: &Key, kept: &Kept) -> Result<(), HandlerError> {
        let value = Bytes::from(serde_json::to_vec(kept)?);
        let (store, ttl) = (&self.backplane().store, self.config().asking.ttl);
        let stored = store.get(key).await?;
        let saved = match stored {
            Some(stored) => store
                .save(key, value.clone(), stored.stamp, ttl)
                .await?
                .is_some(),
            None => false,
        };
        if !saved && !store.create(key, value, ttl).await? {
            tracing::error!("a lease ran out while its call was at work: it may have run twice");
        }
        Ok(())
    }

    /// Runs the handler, and renews the reservation meanwhile.
    async fn leased(
        &self,
        key: &Key,
        handler: HandlerFuture,
    ) -> Result<ServerResult, HandlerError> {
        let mut handler = handler;
        let mut renew = tokio::time::interval(LEASE / 3);
        renew.tick().await;
        loop {
            tokio::select! {
                result = &mut handler => return result,
                _ = renew.tick() => {
                    self.backplane().store.touch(key, LEASE).await?;
                }
            }
        }
    }
}

/// How long a reservation outlives the worker that made it.
const LEASE: Duration = Duration::from_secs(30);
/// How often a retry looks whether another one has finished.
const AGAIN: Duration = Duration::from_millis(50);
