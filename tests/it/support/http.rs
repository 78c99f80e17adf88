//! HTTP written by hand, so that a request can be as wrong as it likes.

use std::{net::SocketAddr, sync::Arc, thread, time::Duration};

use actix_web::rt::System;
use mcp_core::Registry;
use mcp_http_actix::{Bound, Endpoint, bind};
use serde_json::Value;
use socket2::SockRef;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    sync::watch,
    time::timeout,
};

use super::parse;

/// A server on a port of its own, for as long as somebody holds it.
#[derive(Debug, Clone)]
pub(crate) struct Server {
    pub(super) address: SocketAddr,
    _held: Option<Arc<watch::Sender<()>>>,
}

impl Server {
    pub(crate) fn of(registry: Registry) -> Self {
        Self::start(Endpoint::new(registry))
    }

    pub(crate) fn start(endpoint: Endpoint) -> Self {
        Self::run(bind(endpoint, "127.0.0.1:0", "/mcp").unwrap())
    }

    /// A server with settings of its own.
    pub(crate) fn run(bound: Bound) -> Self {
        Self::under("/mcp", bound)
    }

    /// The same at another path.
    pub(crate) fn under(path: &str, bound: Bound) -> Self {
        let address = address(bound.url().trim_end_matches(path));
        let (held, gone) = watch::channel(());
        let stop = async move || {
            let mut gone = gone.clone();
            let _ = gone.changed().await;
        };
        let bound = bound.workers(1);
        thread::spawn(move || System::new().block_on(bound.run_until(stop)));
        Self {
            address,
            _held: Some(Arc::new(held)),
        }
    }

    /// A server that somebody else runs.
    pub(crate) fn at(url: &str) -> Self {
        Self {
            address: address(url),
            _held: None,
        }
    }

    /// Whether a request is answered with 200.
    pub(crate) async fn serves(&self) -> bool {
        let Ok(mut stream) = TcpStream::connect(self.address).await else {
            return false;
        };
        let ping = super::modern(1, "server/discover", serde_json::json!({}));
        let request = Request::modern("server/discover", ping);
        let mut answer = Vec::new();
        if stream.write_all(&request.bytes()).await.is_ok() {
            // Half a second is long for an answer, and short for a server that ends.
            let wait = Duration::from_millis(500);
            let _ = timeout(wait, stream.read_buf(&mut answer)).await;
        }
        answer.starts_with(b"HTTP/1.1 200")
    }

    /// Some bytes and no more, and whatever comes back.
    pub(crate) async fn mangled(&self, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut answer = Vec::new();
        let read = timeout(PATIENCE, stream.read_to_end(&mut answer)).await;
        // A connection that is reset was closed as well.
        let _ = read.expect("the connection stays open");
        String::from_utf8(answer).unwrap()
    }

    /// One request, and its answer up to the end.
    pub(crate) async fn send(&self, request: &Request) -> Response {
        self.open(request).await.rest().await
    }

    /// One request, and its answer up to the headers.
    pub(crate) async fn open(&self, request: &Request) -> Live {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        // A server may refuse before it has read everything.
        let _ = stream.write_all(&request.bytes()).await;
        Live::read(stream).await
    }
}

fn address(url: &str) -> SocketAddr {
    let address = url.trim_start_matches("http://").trim_end_matches("/mcp");
    address.parse().unwrap()
}

/// One request: `POST /mcp` unless it says otherwise.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    method: &'static str,
    target: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    chunked: bool,
}

impl Request {
    /// A request with no header but `Host`.
    pub(crate) fn bare(method: &'static str) -> Self {
        Self {
            method,
            target: "/mcp".to_owned(),
            headers: vec![("Host".to_owned(), "127.0.0.1".to_owned())],
            body: Vec::new(),
            chunked: false,
        }
    }

    /// A POST of JSON whose client takes both kinds of answer.
    pub(crate) fn post(body: impl Into<Vec<u8>>) -> Self {
        Self::bare("POST")
            .body(body)
            .header("Content-Type", "application/json")
            .header("Accept", "application/json, text/event-stream")
    }

    /// A GET of a stream.
    pub(crate) fn get() -> Self {
        Self::bare("GET").header("Accept", "text/event-stream")
    }

    /// `LEGACY` of the field cases, without a session.
    pub(crate) fn legacy(body: impl Into<Vec<u8>>) -> Self {
        Self::post(body).header("MCP-Protocol-Version", "2025-11-25")
    }

    /// `MODERN(method)` of the field cases.
    pub(crate) fn modern(method: &str, body: impl Into<Vec<u8>>) -> Self {
        Self::post(body)
            .header("MCP-Protocol-Version", "2026-07-28")
            .header("Mcp-Method", method)
    }

    pub(crate) fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    pub(crate) fn target(mut self, target: &str) -> Self {
        target.clone_into(&mut self.target);
        self
    }

    /// One more header, whether there is one of that name or not.
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// That header instead of the ones of that name.
    pub(crate) fn with(self, name: &str, value: &str) -> Self {
        self.without(name).header(name, value)
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers
            .retain(|(it, _)| !it.eq_ignore_ascii_case(name));
        self
    }

    /// A body of no declared length.
    pub(crate) fn chunked(mut self) -> Self {
        self.chunked = true;
        self
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut out = format!("{} {} HTTP/1.1\r\n", self.method, self.target).into_bytes();
        for (name, value) in &self.headers {
            out.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
        }
        if self.chunked {
            out.extend_from_slice(b"Transfer-Encoding: chunked\r\n\r\n");
            for chunk in self.body.chunks(1000) {
                out.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
                out.extend_from_slice(chunk);
                out.extend_from_slice(b"\r\n");
            }
            out.extend_from_slice(b"0\r\n\r\n");
        } else {
            out.extend_from_slice(
                format!("Content-Length: {}\r\n\r\n", self.body.len()).as_bytes(),
            );
            out.extend_from_slice(&self.body);
        }
        out
    }
}

/// An answer whose body is still on its way; dropped, the connection is closed.
pub(crate) struct Live {
    stream: TcpStream,
    raw: Vec<u8>,
    length: Length,
    response: Response,
    patience: Duration,
}

#[derive(Debug, Clone, Copy)]
enum Length {
    Known(usize),
    Chunked,
    Done,
}

impl Live {
    pub(super) async fn read(stream: TcpStream) -> Self {
        let mut live = Self {
            stream,
            raw: Vec::new(),
            length: Length::Done,
            response: Response::default(),
            patience: PATIENCE,
        };
        let end = loop {
            let found = live.raw.windows(4).position(|it| it == b"\r\n\r\n");
            if let Some(end) = found {
                break end;
            }
            assert!(live.fill().await, "closed before the headers");
        };
        let head = String::from_utf8(live.raw.drain(..end + 4).collect()).unwrap();
        let mut lines = head.trim_end().lines();
        let status = lines.next().unwrap_or_default();
        live.response.status = status.split(' ').nth(1).unwrap().parse().unwrap();
        live.response.headers = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        let length = live.response.header("content-length");
        let length = length.and_then(|length| length.parse().ok());
        live.length = match live.response.header("transfer-encoding") {
            Some("chunked") => Length::Chunked,
            _ => Length::Known(length.unwrap_or(0)),
        };
        live
    }

    async fn fill(&mut self) -> bool {
        let read = timeout(self.patience, self.stream.read_buf(&mut self.raw)).await;
        read.expect("the server is silent")
            .is_ok_and(|read| read > 0)
    }

    /// A silence is none of the server's faults.
    pub(crate) fn wait_for_ever(&mut self) {
        self.patience = Duration::MAX;
    }

    /// Closes the connection so that the server is told at once and once only.
    pub(crate) fn reset(self) {
        let socket = SockRef::from(&self.stream);
        socket.set_linger(Some(Duration::ZERO)).unwrap();
    }

    pub(crate) fn status(&self) -> u16 {
        self.response.status
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.response.header(name)
    }

    /// The next piece of the body as it was written.
    pub(crate) async fn piece(&mut self) -> Option<String> {
        let piece = match self.length {
            Length::Done | Length::Known(0) => return None,
            Length::Known(length) => {
                while self.raw.len() < length {
                    assert!(self.fill().await, "closed within the body");
                }
                self.length = Length::Done;
                self.raw.drain(..length).collect()
            }
            Length::Chunked => self.chunk().await?,
        };
        self.response.body.extend_from_slice(&piece);
        Some(String::from_utf8(piece).unwrap())
    }

    async fn chunk(&mut self) -> Option<Vec<u8>> {
        let line = loop {
            if let Some(end) = self.raw.windows(2).position(|it| it == b"\r\n") {
                break end;
            }
            assert!(self.fill().await, "closed within the body");
        };
        let size = std::str::from_utf8(&self.raw[..line]).unwrap().to_owned();
        let size = usize::from_str_radix(&size, 16).unwrap();
        while self.raw.len() < line + 2 + size + 2 {
            assert!(self.fill().await, "closed within a chunk");
        }
        self.raw.drain(..line + 2);
        let chunk: Vec<u8> = self.raw.drain(..size).collect();
        self.raw.drain(..2);
        if size == 0 {
            self.length = Length::Done;
            return None;
        }
        Some(chunk)
    }

    /// Everything up to the end of the answer.
    pub(crate) async fn rest(mut self) -> Response {
        while self.piece().await.is_some() {}
        self.response
    }
}

/// An answer.
#[derive(Debug, Default, Clone)]
pub(crate) struct Response {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Response {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(it, _)| it == name);
        found.map(|(_, value)| value.as_str())
    }

    /// All headers of that name, in order.
    pub(crate) fn all(&self, name: &str) -> Vec<&str> {
        let found = self.headers.iter().filter(|(it, _)| it == name);
        found.map(|(_, value)| value.as_str()).collect()
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub(crate) fn is_stream(&self) -> bool {
        self.header("content-type") == Some("text/event-stream")
    }

    /// The one message of a JSON body.
    pub(crate) fn message(&self) -> Value {
        assert_eq!(
            self.header("content-type"),
            Some("application/json"),
            "{self:?}"
        );
        parse(self.text())
    }

    /// The messages of an event stream or a JSON body.
    pub(crate) fn messages(&self) -> Vec<Value> {
        if self.body.is_empty() {
            return Vec::new();
        }
        if !self.is_stream() {
            return vec![self.message()];
        }
        assert!(self.text().ends_with("\n\n"), "{self:?}");
        let events = self.text().split_terminator("\n\n");
        let data = events.filter_map(|event| {
            let mut lines = event.lines().filter_map(|line| line.strip_prefix("data: "));
            let data = lines.next();
            assert_eq!(lines.next(), None, "an event of two lines: {event}");
            // An event without data has only an id to tell.
            data.filter(|data| !data.is_empty())
        });
        data.map(parse).collect()
    }

    /// The error's code.
    pub(crate) fn code(&self) -> i64 {
        let message = self.message();
        message["error"]["code"]
            .as_i64()
            .unwrap_or_else(|| panic!("no error: {message}"))
    }
}

/// How long a test waits before it says that nothing comes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
