//! Room for the bodies of requests: how much all of them may take up at once.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use bytes::Bytes;

use crate::{Dispatcher, Failure, FailureKind, Limits};

/// How much the bodies of one process take up.
#[derive(Debug, Default)]
pub(crate) struct Room {
    taken: AtomicUsize,
}

/// The room of one body while it arrives.
///
/// Attacker controlled: how much comes, how fast, and whether it ever ends.
#[derive(Debug)]
#[must_use = "the room is given back when it is dropped"]
pub struct Receiving {
    room: Arc<Room>,
    max_body: usize,
    max_bodies: usize,
    size: usize,
    taken: usize,
}

impl Room {
    pub(crate) fn taken(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }

    fn receiving(self: &Arc<Self>, limits: &Limits) -> Receiving {
        Receiving {
            room: Arc::clone(self),
            max_body: limits.max_body,
            // One body alone finds room, however large it may be.
            max_bodies: limits.max_bodies.max(limits.max_body.saturating_mul(2)),
            size: 0,
            taken: 0,
        }
    }

    /// Takes more, if a body of `size` bytes is not larger than what is left then.
    fn take(&self, more: usize, size: usize, max: usize) -> bool {
        let fits = |taken: usize| {
            let all = taken.saturating_add(more);
            (all.saturating_add(size) <= max).then_some(all)
        };
        let relaxed = Ordering::Relaxed;
        self.taken.fetch_update(relaxed, relaxed, fits).is_ok()
    }
}

impl Receiving {
    /// Judges a body by the size that it is said to have.
    ///
    /// # Errors
    ///
    /// [`FailureKind::TooLarge`] where it is larger than [`Limits::max_body`].
    pub fn judge(&self, size: usize) -> Result<(), Failure> {
        if size <= self.max_body {
            return Ok(());
        }
        let message = format!("the body is larger than {} bytes", self.max_body);
        Err(Failure::new(FailureKind::TooLarge, message))
    }

    /// Makes room for so many bytes more.
    ///
    /// # Errors
    ///
    /// [`FailureKind::TooLarge`] where the body is larger than [`Limits::max_body`],
    /// [`FailureKind::Overloaded`] where it finds no room beside others.
    pub fn grow(&mut self, bytes: usize) -> Result<(), Failure> {
        self.size = self.size.saturating_add(bytes);
        self.judge(self.size)?;
        if self.size <= SMALL {
            return Ok(());
        }
        let more = self.size - self.taken;
        if !self.room.take(more, self.size, self.max_bodies) {
            tracing::warn!("a body was refused: others take up `Limits::max_bodies`");
            let message = "too many large requests arrive at once";
            return Err(Failure::new(FailureKind::Overloaded, message));
        }
        self.taken = self.size;
        Ok(())
    }

    /// The body that has arrived. Its room is given back when nobody holds any part of it.
    #[must_use]
    pub fn hold(self, body: Bytes) -> Bytes {
        if self.taken == 0 {
            return body;
        }
        Bytes::from_owner(Held { body, _room: self })
    }
}

impl Drop for Receiving {
    fn drop(&mut self) {
        self.room.taken.fetch_sub(self.taken, Ordering::Relaxed);
    }
}

impl Dispatcher {
    /// Room for a body that is about to arrive.
    pub fn receiving(&self) -> Receiving {
        let registry = self.registry();
        registry
            .backplane()
            .room
            .receiving(&registry.config().limits)
    }
}

/// A body with its room.
struct Held {
    body: Bytes,
    _room: Receiving,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.body
    }
}

/// What any body may have: it costs less than its connection does.
const SMALL: usize = 16 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: usize = 1 << 10;

    fn limits() -> Limits {
        Limits {
            max_body: 100 * KIB,
            max_bodies: 300 * KIB,
            ..Limits::default()
        }
    }

    #[test]
    fn no_body_is_larger_than_what_is_left() {
        let (room, limits) = (Arc::new(Room::default()), limits());
        let mut first = room.receiving(&limits);
        first.grow(100 * KIB).unwrap();
        assert_eq!(first.grow(1).unwrap_err().kind, FailureKind::TooLarge);
        let mut second = room.receiving(&limits);
        second.grow(99 * KIB).unwrap();
        let mut third = room.receiving(&limits);
        third.grow(50 * KIB).unwrap();
        let refused = third.grow(KIB).unwrap_err();
        assert_eq!(refused.kind, FailureKind::Overloaded);
        // What is small has never to wait.
        let mut small = room.receiving(&limits);
        small.grow(16 * KIB).unwrap();
        drop((first, second, third, small));
        assert_eq!(room.taken(), 0);
    }

    #[test]
    fn room_is_given_back_with_the_last_part_of_a_body() {
        let (room, limits) = (Arc::new(Room::default()), limits());
        let mut receiving = room.receiving(&limits);
        receiving.grow(20 * KIB).unwrap();
        let body = receiving.hold(Bytes::from(vec![b'x'; 20 * KIB]));
        let part = body.slice(5..10);
        drop(body);
        assert_eq!((room.taken(), &*part), (20 * KIB, &b"xxxxx"[..]));
        drop(part);
        assert_eq!(room.taken(), 0);
    }

    #[test]
    fn one_body_alone_always_finds_room() {
        let room = Arc::new(Room::default());
        let limits = Limits {
            max_bodies: 0,
            ..limits()
        };
        room.receiving(&limits).grow(100 * KIB).unwrap();
    }
}
