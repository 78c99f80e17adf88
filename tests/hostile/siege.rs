//! A server in a process of its own, what it held before it was attacked, and what is left after.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    net::SocketAddr,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::{
    honest::{self, Honest},
    raw::{PATIENCE, Socket},
};

/// A server under attack, and an honest client beside.
pub(crate) struct Siege {
    pub(crate) address: SocketAddr,
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    idle: Held,
    honest: Option<Honest>,
}

/// What the server says that it is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) calls: u64,
    pub(crate) streams: u64,
    pub(crate) sessions: u64,
    pub(crate) refused: u64,
}

impl Usage {
    fn is_idle(self) -> bool {
        (self.calls, self.streams, self.sessions) == (0, 0, 0)
    }
}

/// What a process holds.
#[derive(Debug, Clone, Copy)]
struct Held {
    kib: u64,
    files: usize,
}

impl Siege {
    /// Starts the server, and the honest client once the server is warm.
    pub(crate) fn begin() -> Self {
        more_files();
        let mut child = Command::new(env!("CARGO_BIN_EXE_besieged"))
            .env_remove("RUST_LOG")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut url = String::new();
        output.read_line(&mut url).unwrap();
        let address = url
            .trim()
            .trim_start_matches("http://")
            .trim_end_matches("/mcp");
        let address = address.parse().unwrap();
        let mut siege = Self {
            address,
            child,
            input,
            output,
            idle: Held { kib: 0, files: 0 },
            honest: None,
        };
        siege.warm();
        siege.honest = Some(Honest::begin(address));
        siege
    }

    /// What the first requests cost is nobody's fault.
    fn warm(&mut self) {
        let mut sockets: Vec<_> = (0..8).map(|_| self.socket()).collect();
        for turn in 0..80 {
            honest::call(&mut sockets[turn % 8], Instant::now());
        }
        drop(sockets);
        // Files are closed when the server has noticed that their clients have gone.
        let mut files = usize::MAX;
        while self.held().files < files {
            files = self.held().files;
            thread::sleep(Duration::from_millis(100));
        }
        self.idle = self.held();
    }

    /// What the server says that it is at.
    pub(crate) fn usage(&mut self) -> Usage {
        writeln!(self.input).unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let numbers: Vec<u64> = line
            .split_whitespace()
            .map(|it| it.parse().unwrap())
            .collect();
        let [calls, streams, sessions, refused] = numbers[..] else {
            panic!("{line}")
        };
        Usage {
            calls,
            streams,
            sessions,
            refused,
        }
    }

    /// A new connection to the server.
    pub(crate) fn socket(&self) -> Socket {
        Socket::connect(self.address)
    }

    /// A new connection, over which that was sent.
    pub(crate) fn saying(&self, bytes: impl AsRef<[u8]>) -> Socket {
        Socket::saying(self.address, bytes)
    }

    /// The attack is over: the honest client was served, and nothing is left.
    pub(crate) fn lift(mut self) {
        let served = self.honest.take().unwrap().end();
        let deadline = Instant::now() + PATIENCE;
        loop {
            let (usage, held) = (self.usage(), self.held());
            if usage.is_idle() && held.files <= self.idle.files {
                break;
            }
            assert!(
                Instant::now() < deadline,
                "left over: {usage:?}, {held:?}; idle it was {:?}",
                self.idle
            );
            thread::sleep(Duration::from_millis(50));
        }
        let grown = memory_kib(self.child.id(), "VmHWM:").saturating_sub(self.idle.kib);
        let what = thread::current().name().unwrap_or_default().to_owned();
        println!(
            "{what}: {grown} KiB above idle at most; {} honest calls, median {:?}, worst {:?}",
            served.calls, served.median, served.worst
        );
        assert!(grown < MAX_GROWTH_KIB, "{grown} KiB above idle");
        assert!(served.calls >= 20, "{} honest calls", served.calls);
        assert!(served.median < MAX_MEDIAN, "{:?}", served.median);
    }

    fn held(&self) -> Held {
        let id = self.child.id();
        Held {
            kib: memory_kib(id, "VmRSS:"),
            files: fs::read_dir(format!("/proc/{id}/fd")).unwrap().count(),
        }
    }
}

impl Drop for Siege {
    fn drop(&mut self) {
        // It may have ended by itself, which the test has noticed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn more_files() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).unwrap();
}

fn memory_kib(process: u32, kind: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|it| it.starts_with(kind)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// By how much the largest memory ever may exceed that of an idle server.
const MAX_GROWTH_KIB: u64 = 64 << 10;
const MAX_MEDIAN: Duration = Duration::from_millis(100);
