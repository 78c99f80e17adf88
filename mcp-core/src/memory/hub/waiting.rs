//! Who waits for the next message of a topic.

use std::{mem, task::Waker};

/// The wakers of those who wait, until all of them are woken.
#[derive(Default)]
pub(super) struct Waiting {
    wakers: Vec<Option<Waker>>,
    free: Vec<usize>,
    /// How often all were woken: no ticket from before is good any more.
    round: u64,
}

/// Where the waker of one who waits is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ticket {
    round: u64,
    at: usize,
}

impl Waiting {
    /// Sees to it that `waker` is woken; gives back the one it stands in for.
    pub(super) fn enter(&mut self, ticket: &mut Option<Ticket>, waker: &Waker) -> Option<Waker> {
        if let Some(place) = self.place(*ticket) {
            return match place {
                Some(present) if present.will_wake(waker) => None,
                _ => place.replace(waker.clone()),
            };
        }
        let at = self.free.pop().unwrap_or(self.wakers.len());
        match self.wakers.get_mut(at) {
            Some(place) => *place = Some(waker.clone()),
            None => self.wakers.push(Some(waker.clone())),
        }
        let round = self.round;
        *ticket = Some(Ticket { round, at });
        None
    }

    /// Forgets the waker of one who waits no more.
    pub(super) fn leave(&mut self, ticket: Option<Ticket>) -> Option<Waker> {
        let waker = self.place(ticket)?.take();
        self.free.extend(ticket.map(|ticket| ticket.at));
        if self.free.len() == self.wakers.len() {
            self.wakers = Vec::new();
            self.free = Vec::new();
            self.round += 1;
        }
        waker
    }

    /// Everyone, to be woken where no lock is held.
    pub(super) fn take(&mut self) -> Woken {
        if self.wakers.is_empty() {
            return Woken(Vec::new());
        }
        self.round += 1;
        self.free = Vec::new();
        Woken(mem::take(&mut self.wakers))
    }

    fn place(&mut self, ticket: Option<Ticket>) -> Option<&mut Option<Waker>> {
        let ticket = ticket.filter(|ticket| ticket.round == self.round)?;
        self.wakers.get_mut(ticket.at)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.wakers.len()
    }
}

/// Those who waited.
#[must_use]
pub(super) struct Woken(Vec<Option<Waker>>);

impl Woken {
    pub(super) fn wake(self) {
        self.0.into_iter().flatten().for_each(Waker::wake);
    }
}
