//! What a handler says on its way to whoever reads it.

use std::{
    collections::VecDeque,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    task::{Poll, Waker},
    time::Duration,
};

use bytes::Bytes;
use tokio::{sync::Notify, time::Instant};

/// Notifications on their way from a handler to its answer, bounded in bytes.
pub(crate) struct Outbox {
    queue: Mutex<Queue>,
    room: Notify,
    max_bytes: usize,
}

/// What a handler has said.
pub(crate) enum Said {
    /// A notification.
    Notification(Bytes),
    /// The stream is to end here, and the client to come back after a while.
    Pause(Duration),
}

impl Said {
    fn len(&self) -> usize {
        match self {
            Self::Notification(message) => message.len(),
            Self::Pause(_) => 0,
        }
    }
}

struct Queue {
    messages: VecDeque<(Instant, Said)>,
    bytes: usize,
    reader: Option<Waker>,
    progress: f64,
    open: bool,
}

impl Queue {
    fn push(&mut self, said: Said) {
        self.bytes += said.len();
        self.messages.push_back((Instant::now(), said));
        if let Some(reader) = self.reader.take() {
            reader.wake();
        }
    }

    fn register(&mut self, waker: &Waker) {
        let known = self.reader.as_ref();
        if !known.is_some_and(|reader| reader.will_wake(waker)) {
            self.reader = Some(waker.clone());
        }
    }
}

/// Notifications that were not sent because the client takes none.
static UNDELIVERED: AtomicU64 = AtomicU64::new(0);

/// How many notifications were not sent because their client takes none, since the start.
#[must_use]
pub fn undelivered_notifications() -> u64 {
    UNDELIVERED.load(Ordering::Relaxed)
}

impl Outbox {
    /// An outbox of that many bytes, or one that drops everything.
    pub(crate) fn new(max_bytes: usize, open: bool) -> Self {
        let queue = Queue {
            messages: VecDeque::new(),
            bytes: 0,
            reader: None,
            progress: f64::NEG_INFINITY,
            open,
        };
        Self {
            queue: Mutex::new(queue),
            room: Notify::new(),
            max_bytes,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether `progress` is larger than all before; then it is the largest.
    pub(crate) fn rises(&self, progress: f64) -> bool {
        let mut queue = self.lock();
        let rises = progress.is_finite() && progress > queue.progress;
        if rises {
            queue.progress = progress;
        }
        rises
    }

    pub(crate) async fn push(&self, message: Bytes) {
        let mut message = Some(message);
        while let Some(it) = message.take() {
            let room = self.room.notified();
            message = self.try_push(it);
            if message.is_some() {
                room.await;
            }
        }
    }

    /// Queues the message, or gives it back where there is no room.
    fn try_push(&self, message: Bytes) -> Option<Bytes> {
        let mut queue = self.lock();
        if !queue.open {
            UNDELIVERED.fetch_add(1, Ordering::Relaxed);
            tracing::debug!("a notification was dropped: its client takes none");
            return None;
        }
        if !queue.messages.is_empty() && queue.bytes + message.len() > self.max_bytes {
            return Some(message);
        }
        queue.push(Said::Notification(message));
        None
    }

    /// Has the stream end here; false where there is none.
    pub(crate) fn pause(&self, after: Duration) -> bool {
        let mut queue = self.lock();
        let open = queue.open;
        if open {
            queue.push(Said::Pause(after));
        }
        open
    }

    /// Whether what is said is delivered.
    pub(crate) fn is_open(&self) -> bool {
        self.lock().open
    }

    /// How long the oldest message has been waiting for its reader.
    pub(crate) fn age(&self) -> Option<Duration> {
        let queue = self.lock();
        queue.messages.front().map(|(since, _)| since.elapsed())
    }

    /// Has `waker` woken when something is said, or when nothing more is to be.
    pub(crate) fn register(&self, waker: &Waker) {
        self.lock().register(waker);
    }

    /// The next message, if one is queued.
    pub(crate) fn pop(&self) -> Option<Said> {
        let mut queue = self.lock();
        let (_, message) = queue.messages.pop_front()?;
        queue.bytes -= message.len();
        drop(queue);
        self.room.notify_waiters();
        Some(message)
    }

    /// As [`Outbox::pop`]; where nothing is queued, `waker` is woken when something is.
    pub(crate) fn poll_pop(&self, waker: &Waker) -> Poll<Said> {
        if let Some(message) = self.pop() {
            return Poll::Ready(message);
        }
        let mut queue = self.lock();
        if queue.messages.is_empty() {
            queue.register(waker);
            return Poll::Pending;
        }
        drop(queue);
        self.pop().map_or(Poll::Pending, Poll::Ready)
    }

    /// Takes no more messages, and drops what is queued.
    pub(crate) fn close(&self) {
        let mut queue = self.lock();
        queue.open = false;
        queue.messages.clear();
        queue.bytes = 0;
        let reader = queue.reader.take();
        drop(queue);
        if let Some(reader) = reader {
            reader.wake();
        }
        self.room.notify_waiters();
    }
}
