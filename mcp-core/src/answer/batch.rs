//! The calls of one batch.

use std::task::{Context, Poll};

use bytes::{BufMut, Bytes, BytesMut};
use mcp_codec::Reply;

use super::{Answer, Step};

/// The calls of one batch, answered together.
pub(super) struct Batch {
    pub(super) waiting: Vec<Answer>,
    pub(super) done: Vec<Bytes>,
}

impl Batch {
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Step>> {
        let mut at = 0;
        while let Some(answer) = self.waiting.get_mut(at) {
            match answer.poll_step(context) {
                Poll::Pending => at += 1,
                Poll::Ready(Some(Step::Reply(reply))) => {
                    self.done.extend(reply.body);
                    self.waiting.remove(at);
                }
                Poll::Ready(Some(step)) => return Poll::Ready(Some(step)),
                Poll::Ready(None) => {
                    self.waiting.remove(at);
                }
            }
        }
        if self.waiting.is_empty() {
            Poll::Ready(Some(self.reply()))
        } else {
            Poll::Pending
        }
    }

    /// All the replies in one array; 202 where nothing was asked.
    fn reply(&mut self) -> Step {
        if self.done.is_empty() {
            return Step::Reply(Reply::bare(202));
        }
        let size: usize = self.done.iter().map(|body| body.len() + 1).sum();
        let mut body = BytesMut::with_capacity(size + 1);
        for (at, reply) in self.done.drain(..).enumerate() {
            body.put_u8(if at == 0 { b'[' } else { b',' });
            body.put(reply);
        }
        body.put_u8(b']');
        Step::Reply(Reply::new(200, body.freeze()))
    }
}
