//! Servers to put a load on, in this process and in one of their own.

use std::{
    fs,
    net::SocketAddr,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use actix_web::rt::System;
use mcp_core::{Registry, ServerConfig, tool};
use mcp_http_actix::{Endpoint, bind};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::Child,
    time::timeout,
};

/// A server of one tool.
pub(crate) fn registry(config: ServerConfig) -> Registry {
    let builder = Registry::builder("load", "1.0.0").tool(tool("now", async || "It is now."));
    builder.build(config).unwrap()
}

/// A server on a thread of this process; it goes on until the tests end.
pub(crate) struct InProcess {
    pub(crate) registry: Registry,
    pub(crate) address: SocketAddr,
}

impl InProcess {
    pub(crate) fn start(keep_alive: Duration) -> Self {
        let registry = registry(ServerConfig::default());
        let endpoint = Endpoint::new(registry.clone()).keep_alive(keep_alive);
        let bound = bind(endpoint, "127.0.0.1:0", "/mcp").unwrap().workers(1);
        let address = address_of(&bound.url());
        let never = async || std::future::pending().await;
        thread::spawn(move || System::new().block_on(bound.run_until(never)));
        Self { registry, address }
    }
}

/// The fixture server in a process of its own.
pub(crate) struct Everything {
    child: Child,
    pub(crate) address: SocketAddr,
}

/// Starts the fixture server, built beside this test.
pub(crate) async fn everything() -> Everything {
    let own = std::env::current_exe().unwrap();
    let profile = own.parent().and_then(Path::parent).unwrap();
    let release = profile.ends_with("release").then_some("--release");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .args([
            "build",
            "-q",
            "-p",
            "mcp-examples",
            "--bin",
            "everything",
            "--target-dir",
        ])
        .arg(profile.parent().unwrap())
        .args(release)
        .status();
    assert!(built.unwrap().success(), "`everything` does not build");
    let mut child = tokio::process::Command::new(profile.join("everything"))
        .args(["--bind", "127.0.0.1:0"])
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut errors = BufReader::new(child.stderr.take().unwrap()).lines();
    let line = timeout(Duration::from_secs(10), errors.next_line()).await;
    let line = line.unwrap().unwrap().unwrap();
    let address = address_of(line.trim_start_matches("listening on "));
    // Whatever it says later must not block it.
    tokio::spawn(async move { while let Ok(Some(_)) = errors.next_line().await {} });
    Everything { child, address }
}

impl Everything {
    pub(crate) fn id(&self) -> u32 {
        self.child.id().unwrap()
    }

    /// Asks it to end, and waits for that.
    pub(crate) async fn end(mut self) {
        let id = self.id().to_string();
        let killed = Command::new("kill").args(["-TERM", &id]).status();
        assert!(killed.unwrap().success());
        let status = timeout(Duration::from_secs(15), self.child.wait()).await;
        assert!(status.expect("it goes on").unwrap().success());
    }
}

fn address_of(url: &str) -> SocketAddr {
    let address = url.trim_start_matches("http://").trim_end_matches("/mcp");
    address.parse().unwrap()
}

/// What a process holds in memory.
pub(crate) fn memory_kib(process: u32) -> i64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|it| it.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
