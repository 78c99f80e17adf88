//! Retries that count once: reserved before the handler runs, their answer kept.

use std::{any::Any, panic::AssertUnwindSafe, sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::FutureExt as _;
use mcp_codec::{Outcome, ServerResult, outcome::CalledTool};
use mcp_types::{CallToolResult, InputRequiredResult};
use serde::{Deserialize, Serialize};

use super::{Seen, suspend};
use crate::{
    HandlerError, Key, Registry, StoreError, Stored,
    answer::HandlerFuture,
    backplane::Backplane,
    exchange::CallState,
    outcome::{self, Target},
};

type Panic = Box<dyn Any + Send>;

/// What is kept of a retry: nothing while it runs, then its answer.
#[derive(Serialize, Deserialize)]
enum Kept {
    #[serde(rename = "running")]
    Running,
    #[serde(rename = "result")]
    Result(CallToolResult),
    #[serde(rename = "asked")]
    Asked(InputRequiredResult),
    /// It was answered, and there was no room to keep the answer.
    #[serde(rename = "lost")]
    Lost,
}

/// Runs a handler only if the retry was not answered before; the same retry again, on any worker,
/// gets the same answer.
///
/// A worker that dies at work gives the reservation back when its lease ends.
pub(crate) fn once(
    seen: Seen,
    call: &Arc<CallState>,
    target: Target,
    handler: HandlerFuture,
) -> HandlerFuture {
    let call = Arc::clone(call);
    Box::pin(async move {
        let registry = call.registry.clone();
        let key = Backplane::retry_key(&call.caller, seen.id().as_str());
        if let Some(result) = registry.reserve_or_recall(&key, &target).await? {
            return Ok(result);
        }
        let outcome = match registry.leased(&key, handler).await {
            Ok(Err(HandlerError::Suspended)) => {
                outcome::of_handler(suspend(&call).await, &target, call.revision.era())
            }
            Ok(Err(
                error @ (HandlerError::MissingCapability(_) | HandlerError::InsufficientScope(_)),
            )) => {
                // The client was not asked, and nothing was done: the retry may come again.
                registry.backplane().store.delete(&key).await?;
                return Err(error);
            }
            Ok(result) => outcome::of_handler(result, &target, call.revision.era()),
            Err(panic) => outcome::of_panic(&*panic, &target),
        };
        registry.settle(&key, outcome, seen.remaining).await
    })
}

fn called(result: CallToolResult, target: &Target) -> CalledTool {
    match target {
        Target::Tool(tool) => CalledTool::new(result, tool.shape),
        _ => result.into(),
    }
}

impl Registry {
    /// Keeps what the handler came to, and gives it.
    async fn settle(
        &self,
        key: &Key,
        outcome: Outcome,
        keep: Duration,
    ) -> Result<ServerResult, HandlerError> {
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
                let problem = "a tool came to what is no result of a tool";
                return Err(HandlerError::internal(problem));
            }
        };
        self.keep(key, &kept, keep).await?;
        Ok(result)
    }

    /// What the retry was answered with; nothing once it is ours to run.
    async fn reserve_or_recall(
        &self,
        key: &Key,
        target: &Target,
    ) -> Result<Option<ServerResult>, HandlerError> {
        while !self.reserve(key).await? {
            match self.kept(key).await? {
                Some(Kept::Result(result)) => {
                    return Ok(Some(ServerResult::CallTool(called(result, target))));
                }
                Some(Kept::Asked(asked)) => return Ok(Some(ServerResult::InputRequired(asked))),
                Some(Kept::Lost) => {
                    let text = "this was done already, and its answer could not be kept";
                    return Err(HandlerError::tell(text));
                }
                // Somebody else is at it; or was, until just now.
                Some(Kept::Running) => tokio::time::sleep(AGAIN).await,
                None => {}
            }
        }
        Ok(None)
    }

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

    /// Keeps the answer for as long as its state can come back; at least that there was one.
    async fn keep(&self, key: &Key, kept: &Kept, ttl: Duration) -> Result<(), HandlerError> {
        let store = &self.backplane().store;
        let value = Bytes::from(serde_json::to_vec(kept)?);
        let Some(stored) = store.get(key).await? else {
            tracing::error!("a lease ran out while its call was at work: it may have run twice");
            let _ = store.create(key, value, ttl).await?;
            return Ok(());
        };
        match store.save(key, value, stored.stamp, ttl).await {
            Err(StoreError::Full) => {
                tracing::error!("there is no room for the answer to a retry that counts once");
                let lost = Bytes::from(serde_json::to_vec(&Kept::Lost)?);
                store.save(key, lost, stored.stamp, ttl).await?;
            }
            Ok(None) => tracing::error!("a retry that counts once was answered twice"),
            saved => drop(saved?),
        }
        Ok(())
    }

    /// Runs the handler, and renews the reservation meanwhile.
    async fn leased(
        &self,
        key: &Key,
        handler: HandlerFuture,
    ) -> Result<Result<ServerResult, HandlerError>, Panic> {
        let mut handler = AssertUnwindSafe(handler).catch_unwind();
        let mut renew = tokio::time::interval(LEASE / 3);
        renew.tick().await;
        loop {
            tokio::select! {
                result = &mut handler => return result,
                _ = renew.tick() => {
                    if let Err(error) = self.backplane().store.touch(key, LEASE).await {
                        tracing::warn!(%error, "a retry that counts once may lose its lease");
                    }
                }
            }
        }
    }
}

/// How long a reservation outlives the worker that made it.
const LEASE: Duration = Duration::from_secs(30);
/// How often a retry looks whether another one has finished.
const AGAIN: Duration = Duration::from_millis(50);
