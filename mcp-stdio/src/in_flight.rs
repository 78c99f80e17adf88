//! Calls whose handlers are still at work, polled only when they are woken.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use futures_util::{Stream, stream::FuturesUnordered};
use mcp_core::{Answer, Message};

/// The calls in flight.
#[derive(Default)]
pub(crate) struct InFlight {
    calls: FuturesUnordered<Next>,
}

/// A call until its next message.
struct Next {
    answer: Option<Answer>,
}

impl Future for Next {
    type Output = (Option<Message>, Option<Answer>);

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(answer) = &mut self.answer else {
            return Poll::Ready((None, None));
        };
        match answer.poll_next(context) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(message) => Poll::Ready((message, self.answer.take())),
        }
    }
}

impl InFlight {
    pub(crate) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    pub(crate) fn push(&self, answer: Answer) {
        self.calls.push(Next {
            answer: Some(answer),
        });
    }

    /// The next message of any call; `None` when no call is in flight.
    pub(crate) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Message>> {
        loop {
            match Pin::new(&mut self.calls).poll_next(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Ready(Some((None, _))) => {}
                Poll::Ready(Some((Some(message), answer))) => {
                    if let (Message::Notification(_), Some(answer)) = (&message, answer) {
                        self.push(answer);
                    }
                    return Poll::Ready(Some(message));
                }
            }
        }
    }
}
