//! More of everything than there may be.

use std::{
    thread,
    time::{Duration, Instant},
};

use crate::{
    raw::{Answer, Socket},
    siege::Siege,
    words::{self, MALLORY},
};

/// Whether there is no room, and the client hears when to come back.
fn is_refused(answer: &Answer) -> bool {
    matches!(answer.status, 429 | 503) && answer.retry_after()
}

/// Opens streams until no more are opened: those that are open, and how the next were refused.
fn open_streams(siege: &Siege, request: impl AsRef<[u8]>, attempts: usize) -> (Vec<Socket>, usize) {
    let (mut open, mut refused) = (Vec::new(), 0);
    for _ in 0..attempts {
        let mut socket = siege.saying(&request);
        let answer = socket.head().unwrap();
        if answer.status == 200 {
            open.push(socket);
        } else {
            assert!(is_refused(&answer), "{answer:?}");
            refused += 1;
        }
    }
    (open, refused)
}

#[test]
fn streams_above_the_limits_are_refused() {
    let mut siege = Siege::begin();
    let (of_mallory, refused) = open_streams(&siege, words::listen(MALLORY), 50);
    assert_eq!((of_mallory.len(), refused), (20, 30), "of one principal");
    let (of_strangers, refused) = open_streams(&siege, words::listen(""), 50);
    assert_eq!((of_strangers.len(), refused), (20, 30), "of one address");
    let mut elsewhere = Vec::new();
    for host in 1..=13 {
        let from = format!("X-Real-IP: 192.0.2.{host}\r\n");
        elsewhere.push(open_streams(&siege, words::listen(&from), 25));
    }
    let open: usize = elsewhere.iter().map(|(open, _)| open.len()).sum();
    assert_eq!(open, 260, "in all");
    assert_eq!(siege.usage().streams, 300);
    let (none, refused) = open_streams(&siege, words::listen("X-Real-IP: 192.0.2.14\r\n"), 20);
    assert_eq!((none.len(), refused), (0, 20), "in all");
    drop((of_mallory, of_strangers, elsewhere));
    siege.lift();
}

/// The id of a session that was opened just now.
fn open_session(siege: &Siege, headers: &str) -> Result<String, Answer> {
    let mut socket = siege.saying(words::post(headers, words::initialize("2025-11-25")));
    let answer = socket.answer().unwrap();
    match answer.header("mcp-session-id") {
        Some(id) => Ok(id.to_owned()),
        None => Err(answer),
    }
}

#[test]
fn a_session_has_so_many_streams() {
    let mut siege = Siege::begin();
    let id = open_session(&siege, "").unwrap();
    let headers = words::in_session(&id);
    let mut socket = siege.saying(words::post(&headers, words::INITIALIZED));
    assert_eq!(socket.answer().unwrap().status, 202);
    // Each takes the place of the one before, however many there are.
    let mut streams: Vec<_> = (0..100)
        .map(|_| siege.saying(words::get(&headers)))
        .collect();
    let last = streams.last_mut().unwrap().head().unwrap();
    assert!(last.status == 200 || is_refused(&last), "{last:?}");
    let deadline = Instant::now() + Duration::from_secs(5);
    while siege.usage().streams > 16 {
        assert!(Instant::now() < deadline, "{:?}", siege.usage());
        thread::sleep(Duration::from_millis(20));
    }
    drop(streams);
    siege.lift();
}

#[test]
fn sessions_above_the_limit_are_refused_and_all_run_out() {
    let mut siege = Siege::begin();
    let mut opened = 0;
    // More than 200 a second are too many of one source, whoever it is.
    let deadline = Instant::now() + Duration::from_secs(12);
    let mut full = None;
    while full.is_none() {
        assert!(Instant::now() < deadline, "{opened} sessions, and no end");
        match open_session(&siege, "") {
            Ok(id) => {
                opened += 1;
                // Some go on as clients do, some introduce themselves again, most do nothing.
                if opened % 3 == 0 {
                    let headers = words::in_session(&id);
                    siege
                        .saying(words::post(&headers, words::INITIALIZED))
                        .answer()
                        .unwrap();
                    let again = words::post(&headers, words::initialize("2025-11-25"));
                    let answer = siege.saying(again).answer().unwrap();
                    assert!(answer.status >= 400 || answer.status == 200, "{answer:?}");
                }
            }
            Err(answer) if answer.status == 503 => full = Some(answer),
            Err(answer) => {
                assert!(is_refused(&answer), "{answer:?}");
                thread::sleep(Duration::from_millis(50));
            }
        }
    }
    assert!(full.is_some_and(|it| is_refused(&it)));
    assert!(siege.usage().sessions >= 400, "{:?}", siege.usage());
    siege.lift();
}

#[test]
fn messages_above_the_rate_get_429() {
    let siege = Siege::begin();
    for headers in [MALLORY, ""] {
        let request = words::call(headers, "echo", r#"{"text":"x"}"#);
        let mut socket = siege.socket();
        let (mut served, mut refused) = (0, 0);
        let begun = Instant::now();
        for _ in 0..1500 {
            socket.send(&request).unwrap();
            let answer = socket.answer().unwrap();
            match answer.status {
                200 => served += 1,
                429 if answer.retry_after() => refused += 1,
                _ => panic!("{answer:?}"),
            }
        }
        // What the burst lets through, and 200 a second.
        let most = 401.0 + 200.0 * begun.elapsed().as_secs_f64();
        assert!(
            refused > 0 && f64::from(served) <= most,
            "{served} were served"
        );
        assert!(served >= 400, "{served} were served");
    }
    siege.lift();
}

#[test]
fn calls_above_the_limits_get_429() {
    let mut siege = Siege::begin();
    let mut sockets = Vec::new();
    for headers in [MALLORY, ""] {
        let slow = words::call(headers, "sleep", r#"{"millis":20000}"#);
        for _ in 0..50 {
            sockets.push(siege.saying(&slow));
        }
    }
    let deadline = Instant::now() + Duration::from_secs(5);
    while siege.usage().calls < 100 {
        assert!(Instant::now() < deadline, "{:?}", siege.usage());
        thread::sleep(Duration::from_millis(10));
    }
    for headers in [MALLORY, ""] {
        let mut socket = siege.saying(words::call(headers, "sleep", r#"{"millis":1}"#));
        let answer = socket.answer().unwrap();
        assert!(answer.status == 429 && answer.retry_after(), "{answer:?}");
    }
    // A disconnect cancels them.
    drop(sockets);
    siege.lift();
}
