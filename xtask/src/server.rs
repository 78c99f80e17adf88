//! The server under test, as a child process that ends with its owner.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};

/// A server that listens.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    pub(crate) url: String,
}

impl Server {
    /// Starts a program with the flags of `everything` on a free port, its standard error going to
    /// `log`, and waits for the line that tells its address.
    pub(crate) fn start(program: &Path, arguments: &[&str], log: &Path) -> Result<Self> {
        let bind = ["--bind", "127.0.0.1:0"];
        let arguments: Vec<&OsStr> = bind.iter().chain(arguments).map(OsStr::new).collect();
        Self::run(program, &arguments, log)
    }

    /// The same with any program that tells its address like that, and with these arguments alone.
    pub(crate) fn run(program: &Path, arguments: &[&OsStr], log: &Path) -> Result<Self> {
        let file = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
        let mut child = Command::new(program)
            .args(arguments)
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let (sender, address) = channel();
        if let Some(errors) = child.stderr.take() {
            thread::spawn(move || copy(errors, file, &sender));
        }
        let mut server = Self {
            child,
            url: String::new(),
        };
        server.url = address.recv_timeout(START).with_context(|| {
            let name = program.display();
            format!(
                "{name} told no http://… on standard error; see {}",
                log.display()
            )
        })?;
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Neither can fail in a way that matters: the process is gone or going.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port of loopback that nobody listens on now, for a server that has to know its address before.
pub(crate) fn free_port() -> Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0").context("no port is free")?;
    Ok(listener.local_addr()?.port())
}

/// Copies the server's words to the log until they end, telling the first address among them.
fn copy(errors: ChildStderr, mut log: File, found: &Sender<String>) {
    for line in BufReader::new(errors).split(b'\n') {
        let Ok(line) = line else { return };
        let line = String::from_utf8_lossy(&line);
        if writeln!(log, "{line}").is_err() {
            return;
        }
        if let Some(url) = address(&line) {
            // Later addresses have no receiver any more, and need none.
            let _ = found.send(url.to_owned());
        }
    }
}

fn address(line: &str) -> Option<&str> {
    let (at, _) = line.match_indices("http://").next()?;
    let (_, rest) = line.split_at(at);
    let end = rest.find(|at: char| !at.is_ascii_alphanumeric() && !":/.-_[]".contains(at));
    let (url, _) = rest.split_at(end.unwrap_or(rest.len()));
    let (_, path) = url.trim_start_matches("http://").split_once('/')?;
    (!path.is_empty()).then_some(url.trim_end_matches('.'))
}

const START: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::address;

    #[test]
    fn finds_the_address_in_a_line() {
        let url = Some("http://127.0.0.1:39001/mcp");
        for line in [
            "http://127.0.0.1:39001/mcp",
            "listening on http://127.0.0.1:39001/mcp (Ctrl-C stops it)",
            "INFO everything: ready url=\"http://127.0.0.1:39001/mcp\"",
            "curl `http://127.0.0.1:39001/mcp`.",
            "It is http://127.0.0.1:39001/mcp.",
        ] {
            assert_eq!(address(line), url, "{line}");
        }
        assert_eq!(address("see http://localhost"), None);
        assert_eq!(address("nothing here"), None);
        assert_eq!(
            address("http://[::1]:80/mcp x"),
            Some("http://[::1]:80/mcp")
        );
    }
}
