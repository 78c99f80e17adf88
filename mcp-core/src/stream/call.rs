//! The stream of one call.

use std::{
    future::poll_fn,
    task::{Context, Poll},
};

use super::{
    Event,
    journal::{Entry, Journal},
};
use crate::{Answer, answer::Step};

/// The stream of one call, with ids where it can be taken up again.
pub(crate) struct CallStream {
    answer: Answer,
    first: Option<Step>,
    journal: Option<Journal>,
    /// Nobody reads any more: what is said goes to the journal alone.
    detached: bool,
    ended: bool,
}

impl CallStream {
    pub(crate) fn new(answer: Answer, first: Option<Step>) -> Self {
        let journal = answer
            .resumable()
            .and_then(|(registry, session, how)| Journal::new(registry, session, how));
        Self {
            answer,
            first,
            journal,
            detached: false,
            ended: false,
        }
    }

    pub(crate) fn outlives_client(&self) -> bool {
        let unsaid = self.first.is_some() || !self.answer.is_done();
        unsaid && !self.answer.disconnect_cancels()
    }

    pub(crate) async fn detach(mut self: Box<Self>) {
        self.detached = true;
        self.ended = false;
        while poll_fn(|context| self.poll_next(context)).await.is_some() {}
    }

    pub(crate) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Event>> {
        loop {
            if let Some(journal) = &mut self.journal {
                match journal.poll(context) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(Some(event)) => return Poll::Ready(Some(event)),
                    Poll::Ready(None) => {}
                }
            }
            if !self.detached && self.answer.is_overdue() {
                tracing::warn!("a stream was cut off: its reader is too slow");
                self.ended = true;
            }
            if self.ended {
                return Poll::Ready(None);
            }
            let step = match self.first.take() {
                Some(step) => Some(step),
                None => match self.answer.poll_step(context) {
                    Poll::Ready(step) => step,
                    Poll::Pending => {
                        if let Some(journal) = &mut self.journal {
                            journal.poll_heartbeat(context);
                        }
                        return Poll::Pending;
                    }
                },
            };
            if let Some(event) = self.take(step) {
                return Poll::Ready(Some(event));
            }
        }
    }

    /// Makes an event of a step, at once or by way of the journal.
    fn take(&mut self, step: Option<Step>) -> Option<Event> {
        let entry = match step {
            None => {
                self.ended = true;
                return None;
            }
            Some(Step::Notification(message)) => Entry::Message(message),
            Some(Step::Reply(reply)) => Entry::Reply(reply.body?),
            Some(Step::Pause(after)) => {
                if !self.journal.as_ref().is_some_and(Journal::may_pause) {
                    return None;
                }
                self.ended = !self.detached;
                Entry::Paused(after)
            }
            Some(Step::Taken(stream, writer)) => {
                let ours = self.journal.as_ref();
                let ours = ours.is_some_and(|it| it.stream == stream && it.writer != writer);
                self.ended = ours && !self.detached;
                return None;
            }
        };
        match &mut self.journal {
            Some(journal) => {
                journal.publish(entry);
                None
            }
            None => entry.event(None, std::time::Duration::ZERO),
        }
    }
}
