//! Messages as they come, for a test to wait for.

use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::Value;
use tokio::{sync::Notify, time::timeout};

use super::{http::PATIENCE, parse};

/// Messages as they come. All clones are one.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Inner>);

#[derive(Default)]
struct Inner {
    state: Mutex<State>,
    written: Notify,
}

#[derive(Default)]
struct State {
    messages: Vec<String>,
    ended: bool,
}

impl Log {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap()
    }

    pub(crate) fn push(&self, message: impl Into<String>) {
        self.lock().messages.push(message.into());
        self.0.written.notify_waiters();
    }

    /// Nothing more will come.
    pub(crate) fn end(&self) {
        self.lock().ended = true;
        self.0.written.notify_waiters();
    }

    pub(crate) fn clear(&self) {
        self.lock().messages.clear();
    }

    /// How many messages have come.
    pub(crate) fn len(&self) -> usize {
        self.lock().messages.len()
    }

    /// Everything that has come.
    pub(crate) fn messages(&self) -> Vec<Value> {
        self.lock().messages.iter().map(|it| parse(it)).collect()
    }

    /// Waits for the first message of that kind.
    pub(crate) async fn first(&self, wanted: impl Fn(&Value) -> bool) -> Value {
        let found = self.until(|log| log.messages().into_iter().find(&wanted));
        found.await
    }

    /// Waits for the message of that number, from 0; `None` where nothing more will come.
    pub(crate) async fn nth(&self, at: usize) -> Option<Value> {
        let found = self.until(|log| {
            let state = log.lock();
            let message = state.messages.get(at).map(|it| parse(it));
            (message.is_some() || state.ended).then_some(message)
        });
        found.await
    }

    /// Waits until nothing more will come.
    pub(crate) async fn ended(&self) {
        self.until(|log| log.lock().ended.then_some(())).await;
    }

    async fn until<T>(&self, found: impl Fn(&Self) -> Option<T>) -> T {
        let waited = timeout(PATIENCE, async {
            loop {
                let mut written = std::pin::pin!(self.0.written.notified());
                written.as_mut().enable();
                let ended = self.lock().ended;
                if let Some(found) = found(self) {
                    return Some(found);
                }
                if ended {
                    return None;
                }
                written.await;
            }
        });
        let waited = waited.await.unwrap_or(None);
        waited.unwrap_or_else(|| panic!("it never came: {:?}", self.messages()))
    }
}
