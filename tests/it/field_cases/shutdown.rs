//! A20: the end of a server while streams are open.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::{
    calling,
    events::Events,
    http::{Request, Server},
    legacy, modern,
    process::{Process, everything},
    session::Session,
    text,
};

/// `everything`, once it serves.
async fn serving() -> (Process, Server) {
    let mut process = Process::start(everything(), &["--bind", "127.0.0.1:0"], &[]);
    let line = process.error_line().await;
    let url = line.strip_prefix("listening on ").expect("another line");
    (process, Server::at(url))
}

/// A call that takes its time, and has said something already.
async fn slow(session: &Session, ms: u32) -> Events {
    let mut call = session.call(1, "slow", json!({"ms": ms})).await;
    call.message().await;
    call
}

// req: subscriptions-graceful-close
#[cfg(unix)]
#[tokio::test]
async fn a20_idle_streams_end_at_once_and_calls_within_the_grace_time() {
    let (process, server) = serving().await;
    let session = Session::open(&server).await;
    let stream = session.listen().await;
    let method = "subscriptions/listen";
    let filter = json!({"notifications": {"toolsListChanged": true}});
    let listen = Request::modern(method, modern("l", method, filter));
    let mut listening = Events::open(&server, &listen).await;
    listening.message().await;
    let call = slow(&session, 1500).await;
    let params = calling("slow", json!({"ms": 1500}));
    let plain = session.dressed(Request::post(legacy(2, "tools/call", params)));
    let plain = {
        let server = server.clone();
        tokio::spawn(async move { server.send(&plain).await })
    };

    // That one is running too, as far as anybody can tell.
    tokio::time::sleep(Duration::from_millis(100)).await;
    process.terminate();
    let began = Instant::now();
    assert!(stream.rest().await.iter().all(|it| it.is_empty()));
    let last = listening.message().await;
    assert_eq!(last["id"], "l");
    assert_eq!(last["result"]["resultType"], "complete");
    assert!(listening.rest().await.is_empty());
    let idle = began.elapsed();
    assert!(idle < Duration::from_millis(1200), "{idle:?}");

    let events = call.rest().await;
    let answer = events.last().unwrap().message();
    assert_eq!(text(&answer["result"]), "1500");
    let answer = plain.await.unwrap().message();
    assert_eq!(text(&answer["result"]), "1500");
    let ended = process.ended().await;
    assert_eq!(ended.status.code(), Some(0), "{:?}", ended.status);
    assert!(began.elapsed() < Duration::from_secs(5 + 2));
}

#[cfg(unix)]
#[tokio::test]
async fn a20_what_takes_longer_than_the_grace_time_is_not_waited_for() {
    let (process, server) = serving().await;
    let session = Session::open(&server).await;
    let _call = slow(&session, 60_000).await;
    process.terminate();
    let began = Instant::now();
    let ended = process.ended().await;
    assert_eq!(ended.status.code(), Some(0), "{:?}", ended.status);
    assert!(began.elapsed() < Duration::from_secs(5 + 2));
    assert!(began.elapsed() > Duration::from_secs(3), "it had its time");
}

#[cfg(unix)]
#[tokio::test]
async fn a20_a_second_signal_ends_it_at_once() {
    let (process, server) = serving().await;
    let session = Session::open(&server).await;
    let stream = session.listen().await;
    let _call = slow(&session, 60_000).await;
    process.terminate();
    // The first one was heard.
    stream.rest().await;
    process.terminate();
    let began = Instant::now();
    let ended = process.ended().await;
    assert_eq!(ended.status.code(), Some(0), "{:?}", ended.status);
    let took = began.elapsed();
    assert!(took < Duration::from_secs(2), "{took:?}");
}

#[cfg(unix)]
#[tokio::test]
async fn a20_nothing_new_is_accepted_meanwhile() {
    let (process, server) = serving().await;
    let session = Session::open(&server).await;
    let stream = session.listen().await;
    let call = slow(&session, 900).await;
    process.terminate();
    stream.rest().await;
    assert!(!server.serves().await, "a request is served");
    let events = call.rest().await;
    assert_eq!(text(&events.last().unwrap().message()["result"]), "900");
    assert!(process.ended().await.status.success());
}
