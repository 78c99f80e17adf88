//! Server-sent events, as a client reads them.

use serde_json::Value;

use super::{
    http::{Live, Request, Server},
    log::Log,
    parse,
};

/// One event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Event {
    pub(crate) name: Option<String>,
    pub(crate) id: Option<String>,
    pub(crate) retry: Option<u64>,
    pub(crate) data: String,
}

impl Event {
    fn read(text: &str) -> Self {
        let mut event = Self::default();
        for line in text.lines() {
            let (field, value) = line.split_once(": ").unwrap_or((line, ""));
            match field {
                "event" => event.name = Some(value.to_owned()),
                "id" => event.id = Some(value.to_owned()),
                "retry" => event.retry = Some(value.parse().unwrap()),
                "data" => value.clone_into(&mut event.data),
                other => panic!("no field of an event: {other:?} in {text:?}"),
            }
        }
        event
    }

    pub(crate) fn message(&self) -> Value {
        parse(&self.data)
    }

    /// The id by which the stream is taken up behind it.
    pub(crate) fn place(&self) -> &str {
        self.id
            .as_deref()
            .unwrap_or_else(|| panic!("{self:?} has no id"))
    }

    /// Whether it has only an id to tell.
    pub(crate) fn is_empty(&self) -> bool {
        self.data.is_empty()
    }
}

/// An open stream of events; dropped, the connection is closed.
pub(crate) struct Events {
    live: Live,
    text: String,
}

impl Events {
    /// The stream that a request opens.
    pub(crate) async fn open(server: &Server, request: &Request) -> Self {
        let live = server.open(request).await;
        let kind = live.header("content-type").map(str::to_owned);
        if live.status() != 200 || kind.as_deref() != Some("text/event-stream") {
            panic!("no stream: {:?}", live.rest().await);
        }
        Self::of(live)
    }

    /// The stream that a response is.
    pub(crate) fn of(live: Live) -> Self {
        Self {
            live,
            text: String::new(),
        }
    }

    /// The next event; `None` at the end of the stream.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        loop {
            while let Some((event, rest)) = self.text.split_once("\n\n") {
                let (event, rest) = (event.to_owned(), rest.to_owned());
                self.text = rest;
                if !event.starts_with(':') {
                    return Some(Event::read(&event));
                }
            }
            let Some(piece) = self.live.piece().await else {
                assert_eq!(self.text, "", "the stream ends within an event");
                return None;
            };
            self.text.push_str(&piece);
        }
    }

    /// Waits for a comment.
    pub(crate) async fn comment(&mut self) {
        while !self.text.contains(": keep-alive\n\n") {
            let piece = self.live.piece().await.expect("the stream has ended");
            self.text.push_str(&piece);
        }
        self.text = self.text.replacen(": keep-alive\n\n", "", 1);
    }

    /// Goes away without a farewell.
    pub(crate) fn reset(self) {
        self.live.reset();
    }

    /// The next event, which is there.
    pub(crate) async fn event(&mut self) -> Event {
        self.next().await.expect("the stream has ended")
    }

    /// The next message, whatever has only an id to tell before it.
    pub(crate) async fn message(&mut self) -> Value {
        loop {
            let event = self.event().await;
            if !event.is_empty() {
                return event.message();
            }
        }
    }

    /// The next question.
    pub(crate) async fn question(&mut self) -> Value {
        let message = self.message().await;
        assert!(super::is_question(&message), "no question: {message}");
        message
    }

    /// All events up to the end of the stream.
    pub(crate) async fn rest(mut self) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            events.push(event);
        }
        events
    }

    /// Reads on in the background for as long as the test runs.
    pub(crate) fn log(mut self) -> (Log, tokio::task::JoinHandle<()>) {
        let log = Log::default();
        let written = log.clone();
        // A silence is none of the server's faults.
        self.live.wait_for_ever();
        let task = tokio::spawn(async move {
            while let Some(event) = self.next().await {
                if !event.is_empty() {
                    written.push(event.data);
                }
            }
            written.end();
        });
        (log, task)
    }
}

/// The messages of events.
pub(crate) fn messages(events: &[Event]) -> Vec<Value> {
    let told = events.iter().filter(|it| !it.is_empty());
    told.map(Event::message).collect()
}
