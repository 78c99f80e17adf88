//! One topic: what is kept of it, and who waits for more.

use std::{collections::VecDeque, mem, sync::Mutex};

use bytes::Bytes;

use super::waiting::{Waiting, Woken};
use crate::{
    Delivery, HubError, Position,
    memory::{clock::Moment, shards::is_roomy},
};

/// A topic behind its lock.
///
/// A holder of this lock never waits for another one, whereas it may be taken under the lock of
/// the map of topics.
pub(super) struct Topic {
    pub(super) state: Mutex<State>,
}

impl Topic {
    /// A topic that has lost all up to `floor`.
    pub(super) fn new(floor: Position) -> Self {
        let state = State {
            kept: VecDeque::new(),
            bytes: 0,
            floor,
            subscribers: 0,
            waiting: Waiting::default(),
            standing: Standing::Open,
        };
        Self {
            state: Mutex::new(state),
        }
    }
}

pub(super) struct State {
    kept: VecDeque<Kept>,
    /// What is kept, as [`cost`] and [`TOPIC_COST`] count; 0 where nothing is.
    bytes: usize,
    /// Everything after it is kept.
    floor: Position,
    pub(super) subscribers: usize,
    pub(super) waiting: Waiting,
    standing: Standing,
}

struct Kept {
    position: Position,
    message: Bytes,
    expires: Moment,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    Open,
    /// Nobody needed it, and it is in the map no more.
    Removed,
    Deleted,
}

/// How a message fits in: how many older ones leave for it, and what is kept with it then.
pub(super) struct Room {
    oldest: usize,
    pub(super) bytes: usize,
}

impl State {
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Where the newest message stands, or stood.
    pub(super) fn last(&self) -> Position {
        self.kept.back().map_or(self.floor, |it| it.position)
    }

    /// What is kept after a position.
    pub(super) fn after(
        &self,
        position: Position,
    ) -> Result<impl Iterator<Item = Delivery>, HubError> {
        if position < self.floor {
            return Err(HubError::Trimmed);
        }
        let read = self.kept.partition_point(|it| it.position <= position);
        let rest = self.kept.range(read..);
        Ok(rest.map(|it| Delivery::new(it.position, it.message.clone())))
    }

    /// What has to leave so that a message of `size` fits into `max` bytes.
    pub(super) fn room_for(&self, size: usize, max: usize) -> Room {
        let mut room = Room {
            oldest: 0,
            bytes: self.bytes.max(TOPIC_COST) + cost(size),
        };
        for kept in &self.kept {
            if room.bytes <= max {
                break;
            }
            room.oldest += 1;
            room.bytes -= cost(kept.message.len());
        }
        room
    }

    /// Keeps every message until then, or as long as it is kept anyway.
    pub(super) fn keep_until(&mut self, moment: Moment) {
        for kept in &mut self.kept {
            kept.expires = kept.expires.max(moment);
        }
    }

    /// Keeps a message in the room that was found for it.
    pub(super) fn push(
        &mut self,
        room: &Room,
        position: Position,
        message: Bytes,
        expires: Moment,
    ) {
        self.drop_oldest(room.oldest);
        self.bytes = room.bytes;
        self.kept.push_back(Kept {
            position,
            message,
            expires,
        });
    }

    /// Drops expired messages and says how many bytes that frees.
    ///
    /// They leave in their order: what expires behind one that is kept longer stays as long, for a
    /// reader could not tell a gap from what never was.
    pub(super) fn expire(&mut self, clock: impl FnOnce() -> Moment) -> usize {
        if self.kept.is_empty() {
            return 0;
        }
        let now = clock();
        let expired = self.kept.iter().take_while(|it| it.expires <= now).count();
        let before = self.bytes;
        self.drop_oldest(expired);
        before - self.bytes
    }

    fn drop_oldest(&mut self, count: usize) {
        for dropped in self.kept.drain(..count) {
            self.floor = dropped.position;
            self.bytes -= cost(dropped.message.len());
        }
        if self.kept.is_empty() {
            self.bytes = 0;
            self.kept = VecDeque::new();
        } else if is_roomy(self.kept.len(), self.kept.capacity()) {
            self.kept.shrink_to(self.kept.len() * 2);
        }
    }

    /// Whether it was taken out of the map.
    pub(super) fn is_gone(&self) -> bool {
        self.standing != Standing::Open
    }

    pub(super) fn is_deleted(&self) -> bool {
        self.standing == Standing::Deleted
    }

    /// Removes it if nobody needs it: no message is kept, and nobody is subscribed.
    pub(super) fn remove_if_idle(&mut self) -> bool {
        let idle = self.kept.is_empty() && self.subscribers == 0;
        if idle {
            self.standing = Standing::Removed;
        }
        idle
    }

    /// Deletes it; says how many bytes that frees, and whom to tell.
    pub(super) fn delete(&mut self) -> (usize, Woken) {
        self.standing = Standing::Deleted;
        self.kept = VecDeque::new();
        (mem::take(&mut self.bytes), self.waiting.take())
    }

    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.kept.capacity()
    }
}

/// What a message of `size` bytes takes.
fn cost(size: usize) -> usize {
    size.saturating_add(MESSAGE_COST)
}

/// What keeping a message takes besides its bytes.
const MESSAGE_COST: usize = 64;

/// What keeping the first message of a topic takes besides.
const TOPIC_COST: usize = 512;
