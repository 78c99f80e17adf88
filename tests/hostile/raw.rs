//! Sockets that say anything at all, and what comes back.

use std::{
    io::{self, ErrorKind, Read as _, Write as _},
    net::{Shutdown, SocketAddr, TcpStream},
    time::{Duration, Instant},
};

use socket2::SockRef;

/// One connection.
pub(crate) struct Socket {
    stream: TcpStream,
    read: Vec<u8>,
}

/// What a server answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// Whether the client is told when to come back.
    pub(crate) fn retry_after(&self) -> bool {
        let seconds = self
            .header("retry-after")
            .and_then(|it| it.parse::<u32>().ok());
        seconds.is_some_and(|seconds| seconds > 0)
    }
}

impl Socket {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self {
            stream,
            read: Vec::new(),
        }
    }

    /// A connection that takes in as little as it can.
    pub(crate) fn narrow(address: SocketAddr) -> Self {
        let socket = Self::connect(address);
        SockRef::from(&socket.stream)
            .set_recv_buffer_size(4096)
            .unwrap();
        socket
    }

    /// A connection over which that was sent.
    pub(crate) fn saying(address: SocketAddr, bytes: impl AsRef<[u8]>) -> Self {
        let mut socket = Self::connect(address);
        socket.send(bytes).unwrap();
        socket
    }

    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) -> io::Result<()> {
        self.stream.write_all(bytes.as_ref())
    }

    /// Sends what the server takes at once, and says how much that was.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_nonblocking(true)?;
        let mut sent = 0;
        let pushed = loop {
            match self.stream.write(&bytes[sent..]) {
                Ok(0) => break Ok(sent),
                Ok(written) => sent += written,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break Ok(sent),
                Err(error) => break Err(error),
            }
            if sent == bytes.len() {
                break Ok(sent);
            }
        };
        self.stream.set_nonblocking(false)?;
        pushed
    }

    /// Says that nothing more comes.
    pub(crate) fn half_close(&self) {
        // A server that is quicker has closed it already.
        let _ = self.stream.shutdown(Shutdown::Write);
    }

    /// Leaves without a word, as a process does that is killed.
    pub(crate) fn reset(self) {
        SockRef::from(&self.stream)
            .set_linger(Some(Duration::ZERO))
            .unwrap();
    }

    /// Reads the next answer, or nothing where the connection ends instead.
    pub(crate) fn answer(&mut self) -> Option<Answer> {
        let mut answer = self.head()?;
        let length = answer
            .header("content-length")
            .and_then(|it| it.parse().ok());
        if answer.status == 100 {
            return Some(answer);
        }
        let length: usize = length.unwrap_or_default();
        while self.read.len() < length {
            if !self.more() {
                return None;
            }
        }
        let body = self.read.drain(..length).collect::<Vec<u8>>();
        answer.body = String::from_utf8_lossy(&body).into_owned();
        Some(answer)
    }

    /// Reads the head of the next answer.
    pub(crate) fn head(&mut self) -> Option<Answer> {
        let end = loop {
            if let Some(end) = find(&self.read, b"\r\n\r\n") {
                break end + 4;
            }
            if !self.more() {
                return None;
            }
        };
        let head = self.read.drain(..end).collect::<Vec<u8>>();
        let head = String::from_utf8(head).unwrap();
        let status = head.split(' ').nth(1).and_then(|it| it.parse().ok());
        Some(Answer {
            status: status.unwrap_or_else(|| panic!("no status: {head}")),
            head,
            body: String::new(),
        })
    }

    /// The only answer of a connection that then ends, however it ends; 0 where there was none.
    pub(crate) fn last_status(&mut self) -> u16 {
        let status = self.answer().map_or(0, |it| it.status);
        self.ends();
        status
    }

    /// Reads until `text` has come.
    pub(crate) fn hear(&mut self, text: &str) {
        loop {
            if let Some(at) = find(&self.read, text.as_bytes()) {
                self.read.drain(..at + text.len());
                return;
            }
            assert!(self.more(), "it ended before {text}");
        }
    }

    /// Reads until one of the two has come: whether it was the first.
    pub(crate) fn hears(&mut self, text: &str, other: &str) -> bool {
        loop {
            if find(&self.read, text.as_bytes()).is_some() {
                return true;
            }
            if find(&self.read, other.as_bytes()).is_some() {
                return false;
            }
            assert!(self.more(), "it ended before {text} and {other}");
        }
    }

    /// Reads the rest of a line.
    pub(crate) fn line(&mut self) -> String {
        loop {
            if let Some(end) = find(&self.read, b"\n") {
                let line = self.read.drain(..=end).collect::<Vec<u8>>();
                return String::from_utf8(line).unwrap().trim().to_owned();
            }
            assert!(self.more(), "it ended within a line");
        }
    }

    /// Waits until the server has closed the connection, and says how long that took.
    pub(crate) fn ends(&mut self) -> Duration {
        let begun = Instant::now();
        while self.more() {
            self.read.clear();
        }
        begun.elapsed()
    }

    /// Whether the server has closed the connection by now.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.stream.set_nonblocking(true).unwrap();
        let mut piece = [0; 16 << 10];
        let ended = loop {
            match self.stream.read(&mut piece) {
                Ok(0) => break true,
                Ok(read) => self.read.extend_from_slice(&piece[..read]),
                Err(error) => break error.kind() != ErrorKind::WouldBlock,
            }
        };
        self.stream.set_nonblocking(false).unwrap();
        ended
    }

    /// Whether the server has given the connection up, without reading anything of it.
    pub(crate) fn is_cut_off(&mut self) -> bool {
        let sent = self.push(b" ");
        sent.is_err() || self.stream.take_error().unwrap().is_some()
    }

    /// Reads some more; false where the connection has ended.
    fn more(&mut self) -> bool {
        let mut piece = [0; 16 << 10];
        match self.stream.read(&mut piece) {
            Ok(read) => {
                self.read.extend_from_slice(&piece[..read]);
                read > 0
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                panic!("nothing came within {PATIENCE:?}");
            }
            Err(_) => false,
        }
    }
}

/// How many of them the server has closed.
pub(crate) fn ended(sockets: &mut [Socket]) -> usize {
    sockets
        .iter_mut()
        .map(|it| usize::from(it.has_ended()))
        .sum()
}

fn find(bytes: &[u8], text: &[u8]) -> Option<usize> {
    bytes.windows(text.len()).position(|it| it == text)
}

/// How long a server may take for anything.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
