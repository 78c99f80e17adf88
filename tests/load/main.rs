//! How much a server holds: many streams, many sessions, clients that vanish or never read.
//!
//! Bounded in count and time. The limits are those of a debug build; `cargo xtask bench` has the
//! figures of a release.
#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking, and says what it has measured"
)]

mod client;
mod server;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use mcp_core::{
    Change, Dispatcher, HeaderValue, Headers, Incoming, MemoryStore, Message, ServerConfig,
};

use crate::{
    client::{Listener, listen_all},
    server::{InProcess, everything, memory_kib, registry},
};

/// One test at a time: each measures the machine.
static ALONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

fn more_files() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_streams_are_open_at_once() {
    const STREAMS: usize = 10_000;
    let _alone = ALONE.lock().await;
    more_files();
    let server = everything().await;
    // What the first requests cost is not a stream's.
    drop(listen_all(server.address, 200).await);
    let before = memory_kib(server.id());
    let mut listeners = listen_all(server.address, STREAMS).await;
    let each = (memory_kib(server.id()) - before) as f64 / STREAMS as f64;
    println!("{each:.1} KiB for each of {STREAMS} open streams");
    // Two buffers of actix-http, half of them touched, are 8 of it.
    assert!(each < 12.0, "{each:.1} KiB for each open stream");

    let begun = Instant::now();
    client::call(server.address, "test_trigger_tool_change").await;
    for listener in &mut listeners {
        listener.hear("notifications/tools/list_changed").await;
    }
    let took = begun.elapsed();
    println!("a change reached {STREAMS} streams within {took:?}");
    assert!(took < Duration::from_secs(20), "{took:?}");
    server.end().await;
}

/// The headers of a client that has just come.
struct NoHeaders;

impl Headers for NoHeaders {
    fn value(&self, _: &str) -> HeaderValue<'_> {
        HeaderValue::Absent
    }
}

#[tokio::test]
async fn a_hundred_thousand_sessions_idle() {
    const SESSIONS: usize = 100_000;
    let _alone = ALONE.lock().await;
    let store = Arc::new(MemoryStore::new().max_entries(SESSIONS));
    let mut config = ServerConfig::default();
    config.store = Some(store.clone());
    let dispatcher = Dispatcher::new(registry(config));
    let body = Bytes::from(
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",
            "capabilities":{"elicitation":{},"sampling":{},"roots":{"listChanged":true}},
            "clientInfo":{"name":"an ordinary client","title":"Client","version":"1.2.3"}}}"#,
    );
    let open = async || {
        let incoming = Incoming::new(body.clone()).headers(&NoHeaders);
        let Some(Message::Reply(reply)) = dispatcher.answer(&incoming).next().await else {
            panic!("no reply");
        };
        reply
    };
    assert!(open().await.session.is_some());
    let before = memory_kib(std::process::id());
    for _ in 1..SESSIONS {
        assert_eq!(open().await.status, 200);
    }
    let each = (memory_kib(std::process::id()) - before) as f64 * 1024.0 / SESSIONS as f64;
    println!("{each:.0} bytes for each of {SESSIONS} idle sessions");
    assert!(each < 1024.0, "{each:.0} bytes for each session");
    let refused = open().await;
    assert_eq!((refused.status, refused.session), (503, None));
    assert!(refused.retry_after.is_some());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_to_nowhere_are_gone_within_three_intervals() {
    const STREAMS: usize = 1000;
    let _alone = ALONE.lock().await;
    more_files();
    let interval = Duration::from_secs(2);
    let server = InProcess::start(interval);
    let listeners = listen_all(server.address, STREAMS).await;
    assert_eq!(server.registry.open_streams(), STREAMS);
    for listener in &listeners {
        listener.vanish();
    }
    let begun = Instant::now();
    // The one more second is for a machine that is busy with a thousand timers.
    let limit = interval * 3 + Duration::from_secs(1);
    while server.registry.open_streams() > 0 {
        let left = server.registry.open_streams();
        assert!(
            begun.elapsed() < limit,
            "{left} of {STREAMS} are still open"
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    println!(
        "{STREAMS} dead streams were gone within {:?}",
        begun.elapsed()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_that_never_reads_costs_its_byte_limit_and_nobody_else() {
    const CHANGES: usize = 300_000;
    let _alone = ALONE.lock().await;
    let interval = Duration::from_secs(1);
    let server = InProcess::start(interval);
    let stuck = Listener::open(server.address, Some(4096)).await;
    let mut reader = Listener::open(server.address, None).await;
    assert_eq!(server.registry.open_streams(), 2);
    let before = memory_kib(std::process::id());
    let begun = Instant::now();
    let heard = tokio::spawn(async move {
        // The last change of all is told, whether each one before it was or not.
        let mut heard = 0;
        while reader.more("list_changed").await {
            heard += 1;
        }
        (heard, reader)
    });
    for change in 0..CHANGES {
        server.registry.announce(Change::Tools);
        if change % 1000 == 0 {
            tokio::task::yield_now().await;
        }
    }
    let published = begun.elapsed();
    let grown = memory_kib(std::process::id()) - before;
    println!("{CHANGES} changes were published within {published:?}; memory grew by {grown} KiB");
    assert!(grown < 16 << 10, "memory grew by {grown} KiB");
    let (heard, _reader) = heard.await.unwrap();
    assert!(heard > 0, "the reader heard nothing");
    // The stuck one is given up, the other goes on.
    let limit = Instant::now() + Duration::from_secs(10);
    while server.registry.open_streams() > 1 {
        assert!(Instant::now() < limit, "the stuck stream is still open");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(server.registry.open_streams(), 1);
    drop(stuck);
}
