//! Asking the client in the middle of a call: one way for the handler, three on the wire.
//!
//! Source: `client/elicitation`, `client/sampling`, `client/roots` of each revision;
//! `basic/patterns/mrtr` of 2026-07-28.

mod answers;
mod digest;
mod exchange;
pub(crate) mod in_arguments;
mod progress;
mod pushed;
pub(crate) mod single_use;
mod suspended;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use bytes::Bytes;
use mcp_types::{InputRequest, InputRequests, RawJson, RequestId};
use serde::de::DeserializeOwned;
use tokio::sync::{Notify, oneshot};

pub use answers::{Answers, Ask, Elicit, ElicitUrl, Elicited, Roots, Sample};
pub(crate) use digest::Digest;
use progress::Answered;
pub(crate) use progress::Progress;
pub(crate) use pushed::Question;
pub(crate) use suspended::{Carried, Origin, Restored, Seen, suspend};

use crate::HandlerError;

/// How often a call may ask before it is given up.
pub(crate) const MAX_ROUNDS: u8 = 8;

/// What one call asks, has asked and was answered.
#[derive(Default)]
pub(crate) struct Asking {
    state: Mutex<State>,
    hearing: Notify,
}

#[derive(Default)]
struct State {
    progress: Progress,
    /// The keys that this run of the handler has used.
    used: BTreeSet<String>,
    /// What this run of the handler asks, to be put into its result.
    questions: InputRequests,
    /// The digests of those.
    asked: BTreeMap<String, u64>,
    /// Who waits for the answer to a question on the stream.
    waiting: HashMap<RequestId, oneshot::Sender<Bytes>>,
}

/// What is known of a question when the handler puts it.
pub(crate) enum Known {
    /// It was answered in an earlier round.
    Answered(RawJson),
    /// It is to be asked.
    Open,
}

impl Asking {
    /// A call that goes on where an earlier round left it.
    pub(crate) fn resumed(progress: Progress) -> Self {
        let state = State {
            progress,
            ..State::default()
        };
        Self {
            state: Mutex::new(state),
            ..Self::default()
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Uses a key, which a handler may do once in each run.
    fn use_key(&self, key: &str) -> Result<(), HandlerError> {
        if self.lock().used.insert(key.to_owned()) {
            return Ok(());
        }
        let problem = format!(
            "the key {key:?} is used twice in one call: each question and step needs its own"
        );
        Err(HandlerError::internal(problem))
    }

    /// What is known of a question.
    fn known(&self, key: &str, question: u64) -> Result<Known, HandlerError> {
        let mut state = self.lock();
        // What came without a state is looked at only where it is asked for.
        if let Some(response) = state.progress.loose.remove(key) {
            let answered = Answered { question, response };
            state.progress.answers.insert(key.to_owned(), answered);
        }
        let Some(answered) = state.progress.answers.get(key) else {
            return Ok(Known::Open);
        };
        if answered.question != question {
            let problem =
                format!("the question {key:?} is another one than the client has answered");
            return Err(HandlerError::internal(problem));
        }
        Ok(Known::Answered(answered.response.clone()))
    }

    /// Keeps an answer that came on the stream, in case the handler runs again.
    fn record(&self, key: &str, question: u64, response: RawJson) {
        let answered = Answered { question, response };
        self.lock()
            .progress
            .answers
            .insert(key.to_owned(), answered);
    }

    /// An answer that is none is forgotten, and asked for again.
    fn forget(&self, key: &str) {
        self.lock().progress.answers.remove(key);
    }

    /// Asks with the result of this run.
    fn pend(&self, key: &str, question: InputRequest, digest: u64) {
        let mut state = self.lock();
        state.questions.insert(key.to_owned(), question);
        state.asked.insert(key.to_owned(), digest);
    }

    fn once(&self, key: &str) -> Option<RawJson> {
        self.lock().progress.once.get(key).cloned()
    }

    fn done(&self, key: &str, result: RawJson) {
        self.lock().progress.once.insert(key.to_owned(), result);
    }

    fn recall<T: DeserializeOwned>(&self) -> serde_json::Result<Option<T>> {
        let state = self.lock();
        state.progress.memory.as_ref().map(RawJson::to).transpose()
    }

    fn remember(&self, memory: RawJson) {
        self.lock().progress.memory = Some(memory);
    }

    /// Ends this run: what is asked, and what is to be known in the next one.
    fn suspend(&self) -> (InputRequests, Progress) {
        let mut state = self.lock();
        let questions = std::mem::take(&mut state.questions);
        let mut progress = std::mem::take(&mut state.progress);
        progress.round = progress.round.saturating_add(1);
        progress.asked = std::mem::take(&mut state.asked);
        (questions, progress)
    }

    /// From now on the client's answers are heard of.
    pub(crate) fn hears(&self) {
        self.hearing.notify_waiters();
    }

    /// Waits until the client's answers are heard of, so that none is missed.
    pub(crate) async fn until_heard(&self, heard: &AtomicBool) {
        let hearing = self.hearing.notified();
        if !heard.load(Ordering::Acquire) {
            hearing.await;
        }
    }

    fn wait_for(&self, id: RequestId) -> oneshot::Receiver<Bytes> {
        let (sender, receiver) = oneshot::channel();
        self.lock().waiting.insert(id, sender);
        receiver
    }

    fn give_up(&self, id: &RequestId) {
        self.lock().waiting.remove(id);
    }

    /// Hands over the client's answer to a question on the stream; false where it is not ours.
    pub(crate) fn deliver(&self, id: &RequestId, answer: &Bytes) -> bool {
        let waiting = self.lock().waiting.remove(id);
        waiting.is_some_and(|waiting| waiting.send(answer.clone()).is_ok())
    }
}

/// The client's answers by key, as they travel in `inputResponses`.
pub(crate) type Responses = BTreeMap<String, RawJson>;
