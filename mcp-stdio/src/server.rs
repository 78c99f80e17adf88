//! The loop: read what is there, answer it, write it at once.

use std::{
    future::poll_fn,
    io,
    pin::pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::{BufMut, Bytes, BytesMut};
use mcp_core::{
    Answer, Connection, Dispatcher, Failure, FailureKind, Incoming, Message, Registry, Unasked,
};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

use crate::{
    in_flight::InFlight,
    lines::{Line, Lines},
};

/// Serves a registry on one pair of streams; see [`serve_io`](crate::serve_io).
///
/// The defaults are right for a subprocess of a client.
#[derive(Debug, Clone)]
#[must_use = "nothing is served before `run`"]
pub struct Server {
    registry: Registry,
    drain: Duration,
    local: bool,
}

impl Server {
    /// A server of that registry.
    pub fn new(registry: Registry) -> Self {
        Self {
            registry,
            drain: Duration::from_secs(1),
            local: false,
        }
    }

    /// At the other end is whoever has started this process, who needs no scopes;
    /// [`serve`](crate::serve) says so by itself.
    ///
    /// # Security
    ///
    /// Not for a socket that others can reach.
    pub fn local(mut self) -> Self {
        self.local = true;
        self
    }

    /// How long calls in flight may go on after the end of input; 1 s by default.
    pub fn drain(mut self, limit: Duration) -> Self {
        self.drain = limit;
        self
    }

    /// Serves until the input ends or `stop` resolves, then lets calls in flight finish.
    ///
    /// # Errors
    ///
    /// What reading or writing failed with. A reader that has gone away (a broken pipe) is the
    /// end, and no error.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it cancels every call in flight and loses what is not written.
    pub async fn run(
        self,
        reader: impl AsyncRead + Unpin,
        writer: impl AsyncWrite + Unpin,
        stop: impl Future<Output = ()>,
    ) -> io::Result<()> {
        let lines = Lines::new(self.registry.config().limits.max_line);
        let dispatcher = Dispatcher::new(self.registry);
        let connection = Connection::new();
        let mut session = Session {
            unasked: dispatcher.unasked(&connection),
            dispatcher,
            connection,
            local: self.local,
            in_flight: InFlight::default(),
            out: BytesMut::new(),
            writer,
        };
        let served = session.serve(reader, lines, stop).await;
        match served {
            Ok(()) => {
                // A call that outlives the limit is cancelled by being dropped.
                let drained = tokio::time::timeout(self.drain, session.finish()).await;
                gone_is_fine(drained.unwrap_or(Ok(())))
            }
            Err(error) => gone_is_fine(Err(error)),
        }
    }
}

/// What happened while waiting.
enum Event {
    Read(io::Result<usize>),
    Said(Message),
    Stop,
}

struct Session<W> {
    dispatcher: Dispatcher,
    connection: Arc<Connection>,
    local: bool,
    in_flight: InFlight,
    unasked: Unasked,
    out: BytesMut,
    writer: W,
}

impl<W> Session<W> {
    fn incoming(&self, body: Bytes) -> Incoming<'_> {
        let incoming = Incoming::new(body).connection(&self.connection);
        if self.local {
            incoming.local()
        } else {
            incoming
        }
    }
}

impl<W: AsyncWrite + Unpin> Session<W> {
    async fn serve(
        &mut self,
        mut reader: impl AsyncRead + Unpin,
        mut lines: Lines,
        stop: impl Future<Output = ()>,
    ) -> io::Result<()> {
        let mut stop = pin!(stop);
        let mut housekeeping = pin!(self.dispatcher.registry().housekeeping());
        loop {
            let event = tokio::select! {
                biased;
                () = &mut stop => Event::Stop,
                Some(message) = next(&mut self.in_flight), if !self.in_flight.is_empty() => {
                    Event::Said(message)
                }
                message = self.unasked.next() => Event::Said(Message::Notification(message)),
                read = reader.read_buf(lines.buffer()) => Event::Read(read),
                never = &mut housekeeping => match never {},
            };
            match event {
                Event::Stop => return Ok(()),
                Event::Said(message) => self.queue(message),
                Event::Read(read) => {
                    let ended = read? == 0;
                    while let Some(line) = lines.next() {
                        self.line(line).await?;
                    }
                    if ended {
                        if let Some(line) = lines.rest() {
                            self.line(line).await?;
                        }
                        return Ok(());
                    }
                }
            }
            self.collect().await;
            self.flush().await?;
        }
    }

    /// Answers one line; what is not ready at once joins the calls in flight.
    async fn line(&mut self, line: Line) -> io::Result<()> {
        let body = match line {
            Line::Message(body) => body,
            Line::TooLong => {
                tracing::warn!("a line is longer than the limit and was not read");
                let failure = Failure::new(FailureKind::InvalidRequest, "the line is too long");
                let reply = self.dispatcher.refuse(failure);
                self.queue(Message::Reply(reply));
                return Ok(());
            }
        };
        // Nothing of `Incoming` is held over an `await`, so that the whole server can be spawned.
        let mut answer = self.dispatcher.answer(&self.incoming(body));
        poll_fn(|context| {
            self.advance(&mut answer, context);
            Poll::Ready(())
        })
        .await;
        if !answer.is_done() {
            self.in_flight.push(answer);
        }
        // A client that asks faster than it reads is not buffered for without bound.
        if self.out.len() > WRITE_SIZE {
            self.flush().await
        } else {
            Ok(())
        }
    }

    fn advance(&mut self, answer: &mut Answer, context: &mut Context<'_>) {
        while let Poll::Ready(Some(message)) = answer.poll_next(context) {
            self.queue(message);
        }
    }

    /// Queues whatever calls in flight have to say already.
    async fn collect(&mut self) {
        poll_fn(|context| {
            while self.out.len() <= WRITE_SIZE {
                match self.in_flight.poll_next(context) {
                    Poll::Ready(Some(message)) => self.queue(message),
                    _ => break,
                }
            }
            Poll::Ready(())
        })
        .await;
    }

    fn queue(&mut self, message: Message) {
        let body: Option<Bytes> = match message {
            Message::Notification(body) => Some(body),
            Message::Reply(reply) => reply.body,
        };
        if let Some(body) = body {
            self.out.reserve(body.len() + 1);
            self.out.put(body);
            self.out.put_u8(b'\n');
        }
    }

    async fn flush(&mut self) -> io::Result<()> {
        if self.out.is_empty() {
            return Ok(());
        }
        self.writer.write_all(&self.out).await?;
        self.out.clear();
        self.writer.flush().await
    }

    /// Ends what stays open, and lets the calls in flight finish.
    async fn finish(&mut self) -> io::Result<()> {
        self.connection.close();
        self.flush().await?;
        while let Some(message) = next(&mut self.in_flight).await {
            self.queue(message);
            self.flush().await?;
        }
        Ok(())
    }
}

async fn next(in_flight: &mut InFlight) -> Option<Message> {
    poll_fn(|context| in_flight.poll_next(context)).await
}

/// Nobody reads any more: the end, as the end of input is.
fn gone_is_fine(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

const WRITE_SIZE: usize = 64 << 10;
