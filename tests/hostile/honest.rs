//! A client that does nothing wrong, and measures how it is served.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use crate::{raw::Socket, words};

/// A client at work.
pub(crate) struct Honest {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Vec<Duration>>,
}

/// How it was served.
pub(crate) struct Served {
    pub(crate) calls: usize,
    pub(crate) median: Duration,
    pub(crate) worst: Duration,
}

impl Honest {
    /// Calls every few milliseconds from now on, over connections of twenty calls.
    pub(crate) fn begin(address: SocketAddr) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let mut took = Vec::new();
            while !stopped.load(Ordering::Relaxed) {
                let begun = Instant::now();
                let mut socket = Socket::connect(address);
                took.push(call(&mut socket, begun));
                for _ in 0..19 {
                    thread::sleep(PAUSE);
                    took.push(call(&mut socket, Instant::now()));
                }
            }
            took
        });
        Self { stop, thread }
    }

    /// Stops, once it has called often enough to tell.
    pub(crate) fn end(self) -> Served {
        self.stop.store(true, Ordering::Relaxed);
        let mut took = self
            .thread
            .join()
            .expect("a call of the honest client failed");
        took.sort_unstable();
        Served {
            calls: took.len(),
            median: took[took.len() / 2],
            worst: took[took.len() - 1],
        }
    }
}

/// One call, which succeeds.
pub(crate) fn call(socket: &mut Socket, begun: Instant) -> Duration {
    let request = words::call(HONEST, "echo", r#"{"text":"all is well"}"#);
    socket.send(request).expect("the honest client cannot send");
    let answer = socket.answer().expect("the honest client got no answer");
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(answer.body.contains("all is well"), "{answer:?}");
    begun.elapsed()
}

const PAUSE: Duration = Duration::from_millis(8);
const HONEST: &str = "Authorization: Bearer the-token-of-the-honest-client\r\n";
