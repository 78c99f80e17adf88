//! A way to the server that remembers what went through, and that can be cut.

#![expect(
    clippy::disallowed_methods,
    reason = "connections go on while a check does something else"
)]

use std::sync::{Arc, Mutex};

use anyhow::{Context, Result, ensure};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::peer::settled;

pub(crate) struct Proxy {
    pub(crate) url: String,
    open: watch::Sender<bool>,
    wire: Arc<Wire>,
    listener: JoinHandle<()>,
}

#[derive(Default)]
struct Wire {
    sent: Mutex<Vec<u8>>,
    received: Mutex<Vec<u8>>,
}

impl Proxy {
    pub(crate) async fn before(url: &str) -> Result<Self> {
        let (_, rest) = url.split_once("://").unwrap_or(("", url));
        let (server, path) = rest.split_once('/').unwrap_or((rest, ""));
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}/{path}", listener.local_addr()?);
        let (open, is_open) = watch::channel(true);
        let wire = Arc::<Wire>::default();
        let (server, kept) = (server.to_owned(), Arc::clone(&wire));
        let listener = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (server, kept) = (server.clone(), Arc::clone(&kept));
                tokio::spawn(serve(client, server, kept, is_open.clone()));
            }
        });
        Ok(Self {
            url,
            open,
            wire,
            listener,
        })
    }

    /// Breaks every connection, and lets no other through before [`Proxy::mend`].
    pub(crate) fn cut(&self) {
        self.open.send_replace(false);
    }

    pub(crate) fn mend(&self) {
        self.open.send_replace(true);
    }

    pub(crate) fn sent(&self) -> String {
        text(&self.wire.sent)
    }

    pub(crate) fn received(&self) -> String {
        text(&self.wire.received)
    }

    /// The session that was opened first.
    pub(crate) fn session(&self) -> Option<String> {
        let received = self.received();
        let (_, rest) = received.split_once("mcp-session-id: ")?;
        Some(rest.split_whitespace().next()?.to_owned())
    }

    /// How many requests named the event that they go on after.
    pub(crate) fn resumptions(&self) -> usize {
        self.sent().matches("last-event-id: ").count()
    }

    /// Waits for the streams that a client opens by itself: one once it is connected, another
    /// when that has broken.
    pub(crate) async fn streams(&self, wanted: usize) -> Result<()> {
        let asked = || self.sent().matches("GET /mcp").count();
        let given = || self.received().matches("text/event-stream").count();
        settled(|| given() >= wanted).await;
        ensure!(
            asked() >= wanted,
            "the client asked for {} streams",
            asked()
        );
        ensure!(given() >= wanted, "the client has {} streams", given());
        Ok(())
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.listener.abort();
    }
}

fn text(kept: &Mutex<Vec<u8>>) -> String {
    let kept = kept.lock().map(|kept| kept.clone()).unwrap_or_default();
    String::from_utf8_lossy(&kept).into_owned()
}

async fn serve(
    mut client: TcpStream,
    server: String,
    kept: Arc<Wire>,
    mut open: watch::Receiver<bool>,
) -> Result<()> {
    open.wait_for(|open| *open).await?;
    let mut server = TcpStream::connect(server).await.context("no server")?;
    let (from_client, to_client) = client.split();
    let (from_server, to_server) = server.split();
    tokio::select! {
        _ = copy(from_client, to_server, &kept.sent) => {}
        _ = copy(from_server, to_client, &kept.received) => {}
        _ = open.changed() => {}
    }
    Ok(())
}

async fn copy(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    kept: &Mutex<Vec<u8>>,
) -> Result<()> {
    let mut bytes = vec![0; 1 << 16];
    loop {
        let read = from.read(&mut bytes).await?;
        let Some(read) = bytes.get(..read).filter(|read| !read.is_empty()) else {
            return Ok(());
        };
        if let Ok(mut kept) = kept.lock() {
            kept.extend_from_slice(read);
        }
        to.write_all(read).await?;
    }
}
