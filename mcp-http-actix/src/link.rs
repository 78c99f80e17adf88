//! A connection that does not wait for ever: neither for the head of a request, nor with more bytes
//! in hand than anybody has asked for.

use std::{
    cell::{Cell, RefCell},
    future::Future,
    io,
    net::SocketAddr,
    pin::Pin,
    rc::Rc,
    task::{Context, Poll, ready},
    time::Duration,
};

use actix_server::GracefulShutdownSignal;
use actix_web::{
    body::{BodySize, MessageBody},
    dev::{Service, ServiceRequest, ServiceResponse},
    rt::net::{ActixStream, Ready, TcpStream},
};
use bytes::Bytes;
use mcp_core::Registry;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Instant, Sleep, sleep_until},
};

use crate::socket;

/// A TCP connection with the limits that actix-web's own lack.
///
/// actix-web times the first head of a connection alone (RFC 9112 section 9.5 leaves it to the
/// server); this times each: from the end of one request, the head of the next has to arrive
/// within a limit.
pub(crate) struct Link {
    stream: TcpStream,
    work: Rc<Work>,
    /// Bytes that were read without a pause.
    burst: usize,
}

/// What all connections of one worker have in common.
#[derive(Debug)]
pub(crate) struct Terms {
    /// How long the head of a request may be waited for.
    pub(crate) limit: Duration,
    /// How long what was sent may go without acknowledgement.
    pub(crate) patience: Duration,
    /// The end of the server, of which the registry knows first.
    pub(crate) ending: GracefulShutdownSignal,
    pub(crate) registry: Registry,
}

/// What a connection is at.
pub(crate) struct Work {
    terms: Rc<Terms>,
    requests: Cell<usize>,
    idle_since: Cell<Instant>,
    /// What ends a connection at which no request is at work.
    ends: RefCell<Ends>,
}

/// Made when it is first waited for, and kept from request to request.
#[derive(Default)]
struct Ends {
    timer: Option<Pin<Box<Sleep>>>,
    ending: Option<Pin<Box<dyn Future<Output = ()>>>>,
}

/// One request of a connection at work.
pub(crate) struct AtWork(Rc<Work>);

impl Link {
    /// A connection that has just been made, and who made it.
    pub(crate) fn accept(
        stream: TcpStream,
        terms: &Rc<Terms>,
    ) -> io::Result<(Self, Option<SocketAddr>)> {
        socket::give_up_after(&stream, terms.patience);
        stream.set_nodelay(true)?;
        let peer = stream.peer_addr().ok();
        let work = Work {
            terms: Rc::clone(terms),
            requests: Cell::new(0),
            idle_since: Cell::new(Instant::now()),
            ends: RefCell::default(),
        };
        let link = Self {
            stream,
            work: Rc::new(work),
            burst: 0,
        };
        Ok((link, peer))
    }

    pub(crate) fn work(&self) -> Rc<Work> {
        Rc::clone(&self.work)
    }
}

impl Work {
    /// Whether no request is at work.
    fn is_idle(&self) -> bool {
        self.requests.get() == 0
    }

    /// Whether the server is about to end.
    fn poll_ending(&self, context: &mut Context<'_>) -> Poll<()> {
        let mut ends = self.ends.borrow_mut();
        if ends.ending.is_some() && !self.terms.registry.is_shut_down() {
            // It was polled, as the timer was.
            return Poll::Pending;
        }
        let ending = ends.ending.get_or_insert_with(|| {
            let terms = Rc::clone(&self.terms);
            Box::pin(async move { terms.ending.notified().await })
        });
        ready!(ending.as_mut().poll(context));
        // The next one resolves as well.
        ends.ending = None;
        Poll::Ready(())
    }

    /// Whether the head of a request has been waited for long enough.
    fn poll_limit(&self, context: &mut Context<'_>) -> Poll<()> {
        if !self.is_idle() {
            return Poll::Pending;
        }
        self.poll_until(self.idle_since.get() + self.terms.limit, context)
    }

    /// Resolves at the deadline, for whoever is the last to ask: the one timer of a connection is
    /// set for an earlier one rather than anew for each.
    pub(crate) fn poll_until(&self, deadline: Instant, context: &mut Context<'_>) -> Poll<()> {
        let timer = &mut self.ends.borrow_mut().timer;
        let set = timer.as_ref().filter(|it| !it.is_elapsed());
        if set.is_some_and(|it| it.deadline() <= deadline) {
            // It was polled, by the one task that a connection has.
            return Poll::Pending;
        }
        let timer = timer.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        if timer.deadline() > deadline {
            timer.as_mut().reset(deadline);
        }
        ready!(timer.as_mut().poll(context));
        if timer.deadline() < deadline {
            timer.as_mut().reset(deadline);
            return timer.as_mut().poll(context);
        }
        Poll::Ready(())
    }

    /// Keeps nothing that is not needed before the request at work ends, which will be long.
    fn settle(&self) {
        self.ends.take();
    }
}

impl AsyncRead for Link {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.burst >= BURST {
            // Whoever reads takes care of what it has, and comes back.
            this.burst = 0;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let before = buffer.filled().len();
        let read = Pin::new(&mut this.stream).poll_read(context, buffer);
        this.burst += buffer.filled().len() - before;
        if read.is_ready() {
            return read;
        }
        this.burst = 0;
        if this.work.is_idle() && this.work.poll_ending(context).is_ready() {
            // As if the client had closed it: no request will come.
            return Poll::Ready(Ok(()));
        }
        this.work.poll_limit(context).map(|()| {
            let message = "the head of a request did not arrive in time";
            Err(io::Error::new(io::ErrorKind::TimedOut, message))
        })
    }
}

impl AsyncWrite for Link {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

impl ActixStream for Link {
    fn poll_read_ready(&self, context: &mut Context<'_>) -> Poll<io::Result<Ready>> {
        ActixStream::poll_read_ready(&self.stream, context)
    }

    fn poll_write_ready(&self, context: &mut Context<'_>) -> Poll<io::Result<Ready>> {
        ActixStream::poll_write_ready(&self.stream, context)
    }
}

impl AtWork {
    fn begin(work: &Rc<Work>) -> Self {
        work.requests.set(work.requests.get() + 1);
        Self(Rc::clone(work))
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        self.0.requests.set(self.0.requests.get().saturating_sub(1));
        self.0.idle_since.set(Instant::now());
    }
}

/// Says for how long a request of a [`Link`] is at work: until its response has been sent.
pub(crate) fn attend<S, B>(
    request: ServiceRequest,
    service: &S,
) -> impl Future<Output = Result<ServiceResponse<Attended<B>>, actix_web::Error>> + use<S, B>
where
    S: Service<ServiceRequest, Response = ServiceResponse<B>, Error = actix_web::Error>,
    B: MessageBody,
{
    let at_work = request.conn_data::<Rc<Work>>().map(AtWork::begin);
    let response = service.call(request);
    async move {
        let response = response.await?;
        Ok(response.map_body(|_, body| {
            if let (Some(AtWork(work)), BodySize::Stream) = (&at_work, body.size()) {
                work.settle();
            }
            Attended {
                body,
                _at_work: at_work,
            }
        }))
    }
}

/// The body of a response, while its request is at work.
pub(crate) struct Attended<B> {
    body: B,
    _at_work: Option<AtWork>,
}

impl<B: MessageBody + Unpin> MessageBody for Attended<B> {
    type Error = B::Error;

    fn size(&self) -> BodySize {
        self.body.size()
    }

    fn poll_next(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Self::Error>>> {
        Pin::new(&mut self.body).poll_next(context)
    }
}

/// How much is read before it is looked at.
const BURST: usize = 32 << 10;
