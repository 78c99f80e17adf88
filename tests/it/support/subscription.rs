//! An open subscription, as its client reads it.

use serde_json::Value;
use tokio::task::JoinHandle;

use super::log::Log;

/// Messages that are read in the background.
pub(crate) struct Reading {
    pub(crate) log: Log,
    task: Option<JoinHandle<()>>,
}

impl Reading {
    pub(crate) fn new(log: Log, task: Option<JoinHandle<()>>) -> Self {
        Self { log, task }
    }

    /// Reads as `read` does, in the background.
    pub(crate) fn begin<F>(read: impl FnOnce(Log) -> F) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let log = Log::default();
        let reading = read(log.clone());
        let written = log.clone();
        let task = tokio::spawn(async move {
            reading.await;
            written.end();
        });
        Self::new(log, Some(task))
    }
}

/// An open subscription.
pub(crate) struct Subscription {
    pub(crate) id: Value,
    reading: Reading,
}

impl Subscription {
    pub(crate) fn new(id: Value, reading: Reading) -> Self {
        Self { id, reading }
    }

    /// Everything that has come of it.
    pub(crate) fn messages(&self) -> Vec<Value> {
        let mut messages = self.reading.log.messages();
        messages.retain(|it| self.has(it));
        messages
    }

    /// Whether a message is one of its own; on stdio others come in between.
    fn has(&self, message: &Value) -> bool {
        let params = &message["params"];
        message.get("id") == Some(&self.id)
            || params.get("requestId") == Some(&self.id)
            || tag(params) == &self.id
    }

    /// Waits for the first notification of that method.
    pub(crate) async fn heard(&self, method: &str) -> Value {
        let wanted = |it: &Value| it["method"] == method && self.has(it);
        self.reading.log.first(wanted).await
    }

    /// Waits for the result, after which nothing comes.
    pub(crate) async fn result(&self) -> Value {
        let wanted = |it: &Value| it.get("id") == Some(&self.id);
        self.reading.log.first(wanted).await["result"].clone()
    }

    /// Waits until nothing more will come.
    pub(crate) async fn ended(&self) {
        self.reading.log.ended().await;
    }

    /// Closes the stream that it has to itself.
    pub(crate) fn leave(&self) {
        if let Some(task) = &self.reading.task {
            task.abort();
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.leave();
    }
}

/// The subscription that `params` or a result belongs to.
pub(crate) fn tag(params: &Value) -> &Value {
    &params["_meta"]["io.modelcontextprotocol/subscriptionId"]
}
