//! The process's own streams, kept for the protocol alone.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A stream of the process: polled where the system can, read on a thread otherwise.
pub(crate) enum Stream<T> {
    #[cfg(unix)]
    Reader(tokio::net::unix::pipe::Receiver),
    #[cfg(unix)]
    Writer(tokio::net::unix::pipe::Sender),
    #[cfg(unix)]
    Socket(tokio::net::UnixStream),
    Thread(T),
}

/// The real standard input and output.
///
/// On Unix the descriptors are moved away first: descriptor 0 becomes empty and descriptor 1
/// becomes standard error, so that what a handler prints cannot end up among the messages
/// (`basic/transports`, stdio: the server writes nothing to stdout that is no message).
#[cfg(unix)]
pub(crate) fn standard() -> io::Result<(Stream<tokio::fs::File>, Stream<tokio::fs::File>)> {
    use rustix::{
        fs::{Mode, OFlags},
        io::fcntl_dupfd_cloexec,
        stdio,
    };
    use std::fs::File;

    let input = fcntl_dupfd_cloexec(stdio::stdin(), 3)?;
    let output = fcntl_dupfd_cloexec(stdio::stdout(), 3)?;
    let nothing = rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    stdio::dup2_stdin(&nothing)?;
    stdio::dup2_stdout(stdio::stderr())?;
    let input = match Kind::of(&input)? {
        Kind::Pipe => Stream::Reader(tokio::net::unix::pipe::Receiver::from_owned_fd(input)?),
        Kind::Socket => Stream::Socket(socket(input)?),
        Kind::Other => Stream::Thread(tokio::fs::File::from_std(File::from(input))),
    };
    let output = match Kind::of(&output)? {
        Kind::Pipe => Stream::Writer(tokio::net::unix::pipe::Sender::from_owned_fd(output)?),
        Kind::Socket => Stream::Socket(socket(output)?),
        Kind::Other => Stream::Thread(tokio::fs::File::from_std(File::from(output))),
    };
    Ok((input, output))
}

#[cfg(unix)]
fn socket(descriptor: std::os::fd::OwnedFd) -> io::Result<tokio::net::UnixStream> {
    let stream = std::os::unix::net::UnixStream::from(descriptor);
    stream.set_nonblocking(true)?;
    tokio::net::UnixStream::from_std(stream)
}

#[cfg(unix)]
enum Kind {
    Pipe,
    Socket,
    Other,
}

#[cfg(unix)]
impl Kind {
    fn of(descriptor: &std::os::fd::OwnedFd) -> io::Result<Self> {
        use rustix::fs::FileType;
        let stat = rustix::fs::fstat(descriptor)?;
        Ok(match FileType::from_raw_mode(stat.st_mode) {
            FileType::Fifo => Self::Pipe,
            FileType::Socket => Self::Socket,
            _ => Self::Other,
        })
    }
}

/// The real standard input and output.
#[cfg(not(unix))]
pub(crate) fn standard() -> io::Result<(Stream<tokio::io::Stdin>, Stream<tokio::io::Stdout>)> {
    Ok((
        Stream::Thread(tokio::io::stdin()),
        Stream::Thread(tokio::io::stdout()),
    ))
}

impl<T: AsyncRead + Unpin> AsyncRead for Stream<T> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            #[cfg(unix)]
            Self::Reader(pipe) => Pin::new(pipe).poll_read(context, buffer),
            #[cfg(unix)]
            Self::Writer(_) => Poll::Ready(Err(io::ErrorKind::Unsupported.into())),
            #[cfg(unix)]
            Self::Socket(socket) => Pin::new(socket).poll_read(context, buffer),
            Self::Thread(file) => Pin::new(file).poll_read(context, buffer),
        }
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Stream<T> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            #[cfg(unix)]
            Self::Reader(_) => Poll::Ready(Err(io::ErrorKind::Unsupported.into())),
            #[cfg(unix)]
            Self::Writer(pipe) => Pin::new(pipe).poll_write(context, bytes),
            #[cfg(unix)]
            Self::Socket(socket) => Pin::new(socket).poll_write(context, bytes),
            Self::Thread(file) => Pin::new(file).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            #[cfg(unix)]
            Self::Reader(_) => Poll::Ready(Ok(())),
            #[cfg(unix)]
            Self::Writer(pipe) => Pin::new(pipe).poll_flush(context),
            #[cfg(unix)]
            Self::Socket(socket) => Pin::new(socket).poll_flush(context),
            Self::Thread(file) => Pin::new(file).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            #[cfg(unix)]
            Self::Reader(_) => Poll::Ready(Ok(())),
            #[cfg(unix)]
            Self::Writer(pipe) => Pin::new(pipe).poll_shutdown(context),
            #[cfg(unix)]
            Self::Socket(socket) => Pin::new(socket).poll_shutdown(context),
            Self::Thread(file) => Pin::new(file).poll_shutdown(context),
        }
    }
}
