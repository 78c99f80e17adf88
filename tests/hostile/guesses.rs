//! Guessing what only others know: nothing is won, and nothing is learnt.

use crate::{
    raw::Answer,
    siege::Siege,
    words::{self, MALLORY},
};

/// Texts that look like `real`, or not at all; none of them is it.
fn guesses(real: &str) -> Vec<String> {
    let mut guesses: Vec<String> = ["", "0", "-1", "null", "../../etc/passwd", "%00", "é"]
        .map(str::to_owned)
        .to_vec();
    for at in 0..real.len() {
        let mut changed = real.as_bytes().to_vec();
        changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
        guesses.push(String::from_utf8(changed).unwrap());
    }
    guesses.push(real[..real.len() - 1].to_owned());
    guesses.push(format!("{real}A"));
    guesses.push("A".repeat(real.len()));
    guesses.push("A".repeat(8000));
    guesses
}

fn ask(siege: &Siege, request: impl AsRef<[u8]>) -> Answer {
    siege.saying(request).answer().expect("no answer")
}

/// A session of Mallory's, ready for use.
fn session(siege: &Siege) -> String {
    let request = words::post(MALLORY, words::initialize("2025-11-25"));
    let answer = ask(siege, request);
    let id = answer.header("mcp-session-id").unwrap().to_owned();
    let headers = words::in_session(&id) + MALLORY;
    assert_eq!(
        ask(siege, words::post(&headers, words::INITIALIZED)).status,
        202
    );
    id
}

#[test]
fn session_ids_that_were_guessed_get_404() {
    let siege = Siege::begin();
    let id = session(&siege);
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let mut wrong: Vec<_> = guesses(&id).into_iter().map(|id| (id, MALLORY)).collect();
    // The right one, in the wrong hands.
    wrong.push((id.clone(), ""));
    for (guess, headers) in wrong {
        let headers = words::in_session(&guess) + headers;
        let answer = ask(&siege, words::post(&headers, ping));
        assert!(matches!(answer.status, 400 | 404), "{guess:?}: {answer:?}");
        assert!(!answer.body.contains(&id), "{answer:?}");
        let stream = siege.saying(words::get(&headers)).head().unwrap();
        assert!(matches!(stream.status, 400 | 404), "{guess:?}: {stream:?}");
        let end = words::get(&headers).replacen("GET", "DELETE", 1);
        assert!(matches!(ask(&siege, end).status, 400 | 404), "{guess:?}");
    }
    let headers = words::in_session(&id) + MALLORY;
    assert_eq!(ask(&siege, words::post(&headers, ping)).status, 200);
    siege.lift();
}

/// A place in a stream is the session's that it was given to; any other is no place at all.
#[test]
fn event_ids_that_were_guessed_replay_nothing() {
    let siege = Siege::begin();
    let (id, other) = (session(&siege), session(&siege));
    let headers = words::in_session(&id) + MALLORY;
    let params = r#""name":"talk","arguments":{"millis":50},"_meta":{"progressToken":1}"#;
    let call = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{{params}}}}}"#);
    let mut stream = siege.saying(words::post(&headers, call));
    assert_eq!(stream.head().unwrap().status, 200);
    stream.hear("id: ");
    let place = stream.line();
    let replayed = |session: &str, place: &str| {
        let headers = words::in_session(session) + MALLORY;
        let get = words::get(&format!("{headers}Last-Event-ID: {place}\r\n"));
        let mut stream = siege.saying(get);
        assert_eq!(stream.head().unwrap().status, 200, "{place}");
        // Either what was said in the call, or what the server says by itself: nothing for long.
        stream.hears("xxxxxxxx", ": keep-alive")
    };
    assert!(replayed(&id, &place), "the right one replays");
    assert!(!replayed(&other, &place), "of another session");
    for guess in guesses(&place).into_iter().step_by(25) {
        if guess.is_ascii() {
            assert!(!replayed(&id, &guess), "{guess}");
        }
    }
    siege.lift();
}

#[test]
fn request_state_that_was_guessed_opens_nothing() {
    let siege = Siege::begin();
    let answer = ask(&siege, words::call(MALLORY, "ask", "{}"));
    let state = between(&answer.body, r#""requestState":""#);
    let retry = |headers: &str, state: &str| {
        let answer = r#""inputResponses":{"name":{"action":"accept","content":{"name":"Eve"}}}"#;
        let params = format!(r#""name":"ask","arguments":{{}},"requestState":"{state}",{answer}"#);
        ask(
            &siege,
            words::modern(headers, "tools/call", Some("ask"), &params),
        )
    };
    for guess in guesses(&state) {
        let answer = retry(MALLORY, &guess);
        assert!(
            answer.body.contains("invalid_request_state"),
            "{guess:?}: {answer:?}"
        );
    }
    let stolen = retry("", &state);
    assert!(stolen.body.contains("invalid_request_state"), "{stolen:?}");
    let own = retry(MALLORY, &state);
    assert!(own.body.contains("Eve"), "{own:?}");
    siege.lift();
}

#[test]
fn cursors_that_were_guessed_get_32602() {
    let siege = Siege::begin();
    let answer = ask(&siege, words::modern(MALLORY, "tools/list", None, ""));
    let cursor = between(&answer.body, r#""nextCursor":""#);
    let page = |headers: &str, method: &str, cursor: &str| {
        let cursor = format!(r#""cursor":"{cursor}""#);
        ask(&siege, words::modern(headers, method, None, &cursor))
    };
    for guess in guesses(&cursor) {
        let answer = page(MALLORY, "tools/list", &guess);
        assert!(answer.body.contains("-32602"), "{guess:?}: {answer:?}");
    }
    let other = page(MALLORY, "resources/list", &cursor);
    assert!(other.body.contains("-32602"), "{other:?}");
    let own = page(MALLORY, "tools/list", &cursor);
    assert_eq!(own.status, 200, "{own:?}");
    siege.lift();
}

#[test]
fn tokens_that_were_guessed_get_401() {
    let siege = Siege::begin();
    for guess in guesses("the-token-of-mallory") {
        for scheme in ["Bearer", "bearer", "Basic"] {
            let headers = format!("Authorization: {scheme} {guess}\r\n");
            let answer = ask(&siege, words::call(&headers, "echo", r#"{"text":"in"}"#));
            assert!(matches!(answer.status, 400 | 401), "{guess:?}: {answer:?}");
            assert!(
                answer.header("www-authenticate").is_some(),
                "{guess:?}: {answer:?}"
            );
            assert!(!answer.body.contains("the-token"), "{answer:?}");
        }
    }
    // In the address it grants nothing.
    let request = words::call("", "echo", r#"{"text":"in"}"#);
    let request = String::from_utf8(request).unwrap();
    let request = request.replacen("/mcp", "/mcp?access_token=the-token-of-mallory", 1);
    assert_eq!(ask(&siege, request).status, 200, "as a stranger");
    siege.lift();
}

fn between(text: &str, before: &str) -> String {
    let at = text
        .find(before)
        .unwrap_or_else(|| panic!("no {before} in {text}"));
    let rest = &text[at + before.len()..];
    rest[..rest.find('"').unwrap()].to_owned()
}
