//! Compressed answers, as a client reads them.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use std::{
    future::poll_fn,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::Poll,
    time::Duration,
};

use actix_web::{
    App,
    body::{BoxBody, MessageBody},
    dev::ServiceResponse,
    http::header::HeaderMap,
    rt::time::timeout,
    test::{TestRequest, call_service, init_service, read_body},
};
use flate2::{Decompress, FlushDecompress, Status};
use mcp_core::{Exchange, HandlerError, Registry, ServerConfig, SessionMode, State, tool};
use mcp_http_actix::Endpoint;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// How many steps the test allows the tool.
#[derive(Clone, Default)]
struct Gate(Arc<AtomicUsize>);

impl Gate {
    fn open(&self, steps: usize) {
        self.0.store(steps, Ordering::SeqCst);
    }

    async fn wait(&self, step: usize) {
        poll_fn(|context| {
            if self.0.load(Ordering::SeqCst) >= step {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }
}

async fn walk(
    _: Nothing,
    exchange: Exchange,
    State(gate): State<Gate>,
) -> Result<&'static str, HandlerError> {
    for step in 1..=3_u8 {
        gate.wait(step.into()).await;
        exchange
            .progress_message(step.into(), 3.0, format!("step {step}"))
            .await;
    }
    gate.wait(4).await;
    Ok("arrived")
}

/// An endpoint with a listing above the limit.
fn endpoint(gate: &Gate) -> Endpoint {
    let mut registry = Registry::builder("walks", "1.0.0")
        .state(gate.clone())
        .tool(tool("walk", walk));
    for number in 0..20 {
        registry = registry.tool(tool(format!("walk_{number}"), walk));
    }
    let mut config = ServerConfig::default();
    config.sessions.mode = SessionMode::Optional;
    let registry = registry.build(config).unwrap();
    Endpoint::new(registry).compress(true)
}

async fn post(endpoint: Endpoint, body: &'static str, accept_encoding: &str) -> ServiceResponse {
    let service = init_service(App::new().service(endpoint.at("/mcp"))).await;
    let request = TestRequest::post()
        .uri("/mcp")
        .insert_header(("content-type", "application/json"))
        .insert_header(("accept", "application/json, text/event-stream"))
        .insert_header(("accept-encoding", accept_encoding))
        .set_payload(body);
    let response = call_service(&service, request.to_request()).await;
    assert!(response.status().is_success());
    response
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// A stream that a client has begun to read.
struct Reading {
    body: Pin<Box<BoxBody>>,
    inflate: Decompress,
    begun: bool,
    ended: bool,
}

impl Reading {
    fn of(response: ServiceResponse) -> Self {
        Self {
            body: Box::pin(response.into_body()),
            inflate: Decompress::new(false),
            begun: false,
            ended: false,
        }
    }

    /// What the next piece says.
    async fn next(&mut self) -> Option<String> {
        let piece = poll_fn(|context| self.body.as_mut().poll_next(context));
        let piece = timeout(PATIENCE, piece).await.unwrap()?;
        let mut piece = &*piece.unwrap();
        if !self.begun {
            self.begun = true;
            assert_eq!(piece[..3], [0x1f, 0x8b, 8]);
            piece = &piece[10..];
        }
        let mut read = Vec::with_capacity(64 << 10);
        let status = self
            .inflate
            .decompress_vec(piece, &mut read, FlushDecompress::None);
        self.ended = status.unwrap() == Status::StreamEnd;
        Some(String::from_utf8(read).unwrap())
    }

    /// Reads on until that is said; the rest has to follow later.
    async fn until(&mut self, said: &str) -> String {
        let mut read = String::new();
        while !read.contains(said) {
            read += &self.next().await.unwrap();
        }
        read
    }
}

#[actix_web::test]
async fn a_listing() {
    let plain = post(endpoint(&Gate::default()), LIST, "identity").await;
    assert_eq!(header(plain.headers(), "content-encoding"), None);
    assert_eq!(header(plain.headers(), "vary"), Some("Accept-Encoding"));
    let plain = read_body(plain).await;

    let response = post(endpoint(&Gate::default()), LIST, "br, gzip;q=0.8").await;
    assert_eq!(header(response.headers(), "content-encoding"), Some("gzip"));
    assert_eq!(header(response.headers(), "vary"), Some("Accept-Encoding"));
    assert_eq!(
        header(response.headers(), "content-type"),
        Some("application/json")
    );
    let body = read_body(response).await;
    assert!(
        body.len() < plain.len() / 4,
        "{} of {}",
        body.len(),
        plain.len()
    );
    let mut read = Vec::with_capacity(plain.len() + 1);
    let mut inflate = Decompress::new(false);
    let status = inflate.decompress_vec(&body[10..], &mut read, FlushDecompress::Finish);
    assert_eq!(status.unwrap(), Status::StreamEnd);
    assert!(read == plain);
}

#[actix_web::test]
async fn a_short_answer_is_left_alone() {
    let response = post(endpoint(&Gate::default()), PING, "gzip").await;
    assert_eq!(header(response.headers(), "content-encoding"), None);
    assert_eq!(header(response.headers(), "vary"), None);
}

/// Both codings and origins choose the answer, and a cache has to know of both.
#[actix_web::test]
async fn a_page_reads_compressed_answers_too() {
    let endpoint = endpoint(&Gate::default());
    let endpoint = endpoint.allow_origin("https://app.example.com").unwrap();
    let service = init_service(App::new().service(endpoint.at("/mcp"))).await;
    for (body, kind) in [(LIST, "application/json"), (CALL, "text/event-stream")] {
        let request = TestRequest::post()
            .uri("/mcp")
            .insert_header(("content-type", "application/json"))
            .insert_header(("accept", kind))
            .insert_header(("accept-encoding", "gzip"))
            .insert_header(("origin", "https://app.example.com"))
            .set_payload(body);
        let response = call_service(&service, request.to_request()).await;
        let headers = response.headers();
        assert_eq!(header(headers, "content-encoding"), Some("gzip"), "{kind}");
        let allowed = header(headers, "access-control-allow-origin");
        assert_eq!(allowed, Some("https://app.example.com"));
        assert!(header(headers, "access-control-expose-headers").is_some());
        let vary: Vec<&str> = headers
            .get_all("vary")
            .map(|it| it.to_str().unwrap())
            .collect();
        let vary = vary.join(", ");
        assert!(
            vary.contains("Accept-Encoding") && vary.contains("Origin"),
            "{vary}"
        );
    }
}

#[actix_web::test]
async fn off_by_default() {
    let endpoint = endpoint(&Gate::default()).compress(false);
    let response = post(endpoint, LIST, "gzip").await;
    assert_eq!(header(response.headers(), "content-encoding"), None);
    assert_eq!(header(response.headers(), "vary"), None);
}

#[actix_web::test]
async fn progress_is_read_as_it_is_made() {
    let gate = Gate::default();
    gate.open(1);
    let response = post(endpoint(&gate), CALL, "gzip").await;
    assert_eq!(header(response.headers(), "content-encoding"), Some("gzip"));
    assert_eq!(header(response.headers(), "vary"), Some("Accept-Encoding"));
    assert_eq!(
        header(response.headers(), "content-type"),
        Some("text/event-stream")
    );
    let mut reading = Reading::of(response);
    for step in 1..=3 {
        gate.open(step);
        let read = reading.until(&format!("step {step}")).await;
        assert!(read.ends_with("\n\n"), "{read}");
        assert!(!read.contains("arrived"));
    }
    gate.open(4);
    reading.until("arrived").await;
    while reading.next().await.is_some() {}
    assert!(reading.ended);
}

#[actix_web::test]
async fn a_silent_call_is_kept_alive() {
    let gate = Gate::default();
    let endpoint = endpoint(&gate).keep_alive(Duration::from_millis(1));
    let mut reading = Reading::of(post(endpoint, CALL, "gzip").await);
    for _ in 0..3 {
        assert_eq!(reading.next().await.unwrap(), ": keep-alive\n\n");
    }
    gate.open(4);
    reading.until("arrived").await;
    while reading.next().await.is_some() {}
    assert!(reading.ended);
}

#[actix_web::test]
async fn a_connection_of_the_old_transport() {
    let endpoint = endpoint(&Gate::default()).at_sse("/sse", "/messages");
    let service = init_service(App::new().service(endpoint)).await;
    let request = TestRequest::get()
        .uri("/sse")
        .insert_header(("accept-encoding", "gzip"));
    let response = call_service(&service, request.to_request()).await;
    assert_eq!(header(response.headers(), "content-encoding"), Some("gzip"));
    let mut reading = Reading::of(response);
    assert!(
        reading
            .next()
            .await
            .unwrap()
            .contains("/messages?session_id=")
    );
}

/// How long a piece may take; one that never comes is a failure.
const PATIENCE: Duration = Duration::from_secs(10);
const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}"#;
const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{
    "name":"walk","arguments":{},"_meta":{"progressToken":"p"}}}"#;
