//! How a peer's bytes travel.

use std::{
    cell::{Cell, OnceCell, RefCell},
    future::Future,
    sync::Arc,
};

use bytes::Bytes;
use futures_util::FutureExt as _;
use mcp_core::{Connection, Dispatcher, Incoming, Message};
use serde_json::Value;
use tokio::{task::JoinHandle, time::timeout};

use super::{
    events::Events,
    http::{PATIENCE, Request, Response, Server},
    log::Log,
    matrix::{Site, Transport},
    outcome::{Outcome, utf8},
    stdio::Stdio,
    subscription::Reading,
    talk::Talk,
};

/// How a peer's bytes travel.
pub(crate) enum Wire {
    Bytes(Line),
    Http(Http),
    Stdio(Stdio),
}

/// A connection without bytes in between.
pub(crate) struct Line {
    dispatcher: Dispatcher,
    connection: Arc<Connection>,
    unasked: RefCell<Option<Log>>,
}

/// Requests, each to the next worker.
pub(crate) struct Http {
    servers: Vec<Server>,
    turn: Cell<usize>,
    version: &'static str,
    session: OnceCell<String>,
    unasked: RefCell<Option<Log>>,
}

/// A request at work.
pub(crate) enum Work {
    Bytes(JoinHandle<Vec<Message>>),
    Http(JoinHandle<Response>),
    Stdio(usize),
}

/// A request as it goes out.
pub(crate) struct Sent<'a> {
    /// `Mcp-Method` and `Mcp-Name`, where the revision mirrors them.
    pub(crate) mirrored: Option<(&'a str, Option<&'a str>)>,
    pub(crate) body: String,
}

impl Wire {
    pub(crate) fn new(transport: Transport, version: &'static str, site: &Site) -> Self {
        match transport {
            Transport::Bytes => Self::Bytes(Line {
                dispatcher: Dispatcher::new(site.registry.clone()),
                connection: Connection::new(),
                unasked: RefCell::default(),
            }),
            Transport::Stdio => Self::Stdio(Stdio::start(site.registry.clone())),
            Transport::Http | Transport::Stateless | Transport::Workers => Self::Http(Http {
                servers: site.servers.clone(),
                turn: Cell::default(),
                version,
                session: OnceCell::new(),
                unasked: RefCell::default(),
            }),
        }
    }

    /// Later requests belong to that session.
    pub(crate) fn enter(&self, session: Option<String>) {
        if let (Self::Http(http), Some(session)) = (self, session) {
            http.session.set(session).expect("a second session");
        }
    }

    pub(crate) async fn begin(&self, sent: Sent<'_>) -> Work {
        match self {
            Self::Bytes(line) => {
                let mut answer = line.answer(sent.body);
                Work::Bytes(tokio::spawn(async move {
                    let mut messages = Vec::new();
                    while let Some(message) = answer.next().await {
                        messages.push(message);
                    }
                    messages
                }))
            }
            Self::Http(http) => {
                let (server, request) = (http.next().clone(), http.dressed(sent));
                Work::Http(tokio::spawn(async move { server.send(&request).await }))
            }
            Self::Stdio(stdio) => {
                let from = stdio.len();
                stdio.send(&sent.body).await;
                Work::Stdio(from)
            }
        }
    }

    /// Sends a request whose messages are read as they come.
    pub(crate) async fn talk(&self, id: Value, sent: Sent<'_>) -> Talk {
        match self {
            Self::Bytes(line) => Talk::on_line(id, line.answer(sent.body)),
            Self::Http(http) => {
                Talk::over_http(id, http.next().open(&http.dressed(sent)).await).await
            }
            Self::Stdio(stdio) => {
                let from = stdio.len();
                stdio.send(&sent.body).await;
                Talk::in_lines(id, stdio.output.clone(), from)
            }
        }
    }

    /// A message that gets no answer.
    pub(crate) async fn tell(&self, body: &str) {
        match self {
            Self::Bytes(line) => {
                let mut answer = line.answer(body.to_owned());
                while let Some(message) = answer.next().await {
                    let Message::Reply(reply) = message else {
                        panic!("{message:?}")
                    };
                    assert_eq!(reply.body, None, "{body}");
                }
            }
            Self::Http(http) => {
                let request = http.request(Request::post(body));
                let response = http.next().send(&request).await;
                assert_eq!((response.status, response.text()), (202, ""), "{body}");
            }
            Self::Stdio(stdio) => stdio.send(body).await,
        }
    }

    /// Waits for what comes of a request.
    pub(crate) async fn outcome(&self, id: &Value, work: Work) -> Outcome {
        match (work, self) {
            (Work::Bytes(task), _) => Outcome::of(done(task).await),
            (Work::Http(task), _) => Outcome::of_response(&done(task).await),
            (Work::Stdio(from), Self::Stdio(stdio)) => {
                let reply = stdio.answer(id).await;
                let messages = stdio.messages();
                let between = messages.iter().skip(from).take_while(|it| **it != reply);
                let notes = between.filter(|it| it.get("method").is_some());
                Outcome {
                    notes: notes.cloned().collect(),
                    reply: Some(reply),
                    status: None,
                    session: None,
                }
            }
            _ => panic!("no stdio"),
        }
    }

    /// Opens a subscription, whose messages are read as they come.
    pub(crate) async fn subscribe(&self, sent: Sent<'_>) -> Reading {
        match self {
            Self::Bytes(line) => {
                let mut answer = line.answer(sent.body);
                Reading::begin(|log| async move {
                    while let Some(message) = answer.next().await {
                        let body = match message {
                            Message::Notification(body) => Some(body),
                            Message::Reply(reply) => reply.body,
                        };
                        body.iter().for_each(|body| log.push(utf8(body)));
                    }
                })
            }
            Self::Http(http) => {
                let request = http.dressed(sent);
                let (log, task) = Events::open(http.next(), &request).await.log();
                Reading::new(log, Some(task))
            }
            Self::Stdio(stdio) => {
                stdio.send(&sent.body).await;
                Reading::new(stdio.output.clone(), None)
            }
        }
    }

    /// Hears from now on what comes unasked.
    pub(crate) async fn attend(&self) {
        match self {
            Self::Bytes(line) => {
                let mut unasked = line.dispatcher.unasked(&line.connection);
                assert_eq!(unasked.next().now_or_never(), None);
                let reading = Reading::begin(|log| async move {
                    loop {
                        log.push(utf8(&unasked.next().await));
                    }
                });
                *line.unasked.borrow_mut() = Some(reading.log);
            }
            Self::Http(http) => {
                let request = http.request(Request::get());
                let (log, _) = Events::open(http.next(), &request).await.log();
                *http.unasked.borrow_mut() = Some(log);
            }
            Self::Stdio(_) => {}
        }
    }

    /// What has come unasked, and on stdio everything else.
    pub(crate) fn unasked(&self) -> Log {
        let unasked = match self {
            Self::Bytes(line) => line.unasked.borrow().clone(),
            Self::Http(http) => http.unasked.borrow().clone(),
            Self::Stdio(stdio) => Some(stdio.output.clone()),
        };
        unasked.expect("nobody attends")
    }
}

impl Line {
    fn answer(&self, body: String) -> mcp_core::Answer {
        let incoming = Incoming::new(Bytes::from(body)).connection(&self.connection);
        self.dispatcher.answer(&incoming)
    }
}

impl Http {
    /// The worker whose turn it is.
    fn next(&self) -> &Server {
        let turn = self.turn.get();
        self.turn.set(turn + 1);
        &self.servers[turn % self.servers.len()]
    }

    fn request(&self, request: Request) -> Request {
        let request = request.header("MCP-Protocol-Version", self.version);
        match self.session.get() {
            Some(session) => request.header("Mcp-Session-Id", session),
            None => request,
        }
    }

    fn dressed(&self, sent: Sent<'_>) -> Request {
        let request = self.request(Request::post(sent.body));
        let Some((method, name)) = sent.mirrored else {
            return request;
        };
        let request = request.header("Mcp-Method", method);
        match name {
            Some(name) => request.header("Mcp-Name", &mcp_codec::headers::encode(name)),
            None => request,
        }
    }
}

async fn done<T>(task: impl Future<Output = Result<T, tokio::task::JoinError>>) -> T {
    timeout(PATIENCE, task).await.expect("no answer").unwrap()
}
