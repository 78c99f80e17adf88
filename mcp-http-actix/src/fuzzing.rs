//! Ways in for the targets in `fuzz/`, to what is read of a request and written to a stream.

use std::task::{Context, Waker};

use actix_web::http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use bytes::Bytes;
use mcp_core::EventStream;

use crate::{negotiate, sse::Events};

/// Whether a client takes JSON and events, by the values of its `Accept` headers.
#[must_use]
pub fn accepts(values: &[&[u8]]) -> (bool, bool) {
    let accepted = negotiate::accepted(&headers(&ACCEPT, values));
    (accepted.json, accepted.events)
}

/// Whether a body is declared as JSON.
#[must_use]
pub fn is_json(values: &[&[u8]]) -> bool {
    negotiate::is_json(&headers(&CONTENT_TYPE, values))
}

/// All that is written of a stream which waits for nothing.
#[must_use]
pub fn written(stream: EventStream) -> Option<Bytes> {
    let mut events = Events::new(stream);
    events.collect(&mut Context::from_waker(Waker::noop()));
    events.complete()
}

fn headers(name: &HeaderName, values: &[&[u8]]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for value in values {
        // What is no value reaches nobody: the parser refuses it.
        if let Ok(value) = HeaderValue::from_bytes(value) {
            headers.append(name.clone(), value);
        }
    }
    headers
}
