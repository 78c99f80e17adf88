//! Clients that do as little as they can.

use std::{net::SocketAddr, time::Duration};

use socket2::{Domain, SockRef, Socket, Type};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    task::JoinSet,
    time::timeout,
};

const PATIENCE: Duration = Duration::from_secs(60);
const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

/// An open `subscriptions/listen`.
pub(crate) struct Listener {
    stream: TcpStream,
    read: Vec<u8>,
}

fn request(method: &str, name: Option<&str>, params: &str) -> Vec<u8> {
    let body =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params}{META}}}}}"#);
    let name = name.map_or_else(String::new, |name| format!("Mcp-Name: {name}\r\n"));
    format!(
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
         Mcp-Method: {method}\r\n{name}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

async fn connect(address: SocketAddr, buffer: Option<usize>) -> TcpStream {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None).unwrap();
    if let Some(bytes) = buffer {
        socket.set_recv_buffer_size(bytes).unwrap();
    }
    socket.connect(&address.into()).unwrap();
    socket.set_nonblocking(true).unwrap();
    TcpStream::from_std(socket.into()).unwrap()
}

impl Listener {
    pub(crate) async fn open(address: SocketAddr, buffer: Option<usize>) -> Self {
        let mut stream = connect(address, buffer).await;
        let wish = r#""notifications":{"toolsListChanged":true},"#;
        let request = request("subscriptions/listen", None, wish);
        stream.write_all(&request).await.unwrap();
        let mut listener = Self {
            stream,
            read: Vec::new(),
        };
        listener.hear("subscriptions/acknowledged").await;
        listener
    }

    /// Reads until `text` has come.
    pub(crate) async fn hear(&mut self, text: &str) {
        let found = |read: &[u8]| {
            read.windows(text.len())
                .position(|it| it == text.as_bytes())
        };
        let at = timeout(PATIENCE, async {
            loop {
                if let Some(at) = found(&self.read) {
                    return at;
                }
                let read = self.stream.read_buf(&mut self.read).await.unwrap();
                assert!(read > 0, "closed before {text}");
            }
        });
        let at = at.await.unwrap_or_else(|_| panic!("never heard {text}"));
        self.read.drain(..at + text.len());
        self.read.shrink_to_fit();
    }

    /// Reads a piece in which `text` is; false where none comes for a while.
    pub(crate) async fn more(&mut self, text: &str) -> bool {
        let read = timeout(Duration::from_secs(3), async {
            loop {
                self.read.clear();
                let read = self.stream.read_buf(&mut self.read).await.unwrap();
                assert!(read > 0, "the stream has ended");
                if self
                    .read
                    .windows(text.len())
                    .any(|it| it == text.as_bytes())
                {
                    return;
                }
            }
        });
        read.await.is_ok()
    }

    /// From now on nothing that is sent to this client arrives, and nobody learns of it: the
    /// kernel drops every segment before it is acknowledged.
    pub(crate) fn vanish(&self) {
        const RETURN: u16 = 0x06;
        let nothing = socket2::SockFilter::new(RETURN, 0, 0, 0);
        SockRef::from(&self.stream)
            .attach_filter(&[nothing])
            .unwrap();
    }
}

/// Opens that many streams, some at a time.
pub(crate) async fn listen_all(address: SocketAddr, count: usize) -> Vec<Listener> {
    let mut tasks = JoinSet::new();
    for share in 0..8 {
        let count = count / 8 + usize::from(share < count % 8);
        tasks.spawn(async move {
            let mut listeners = Vec::with_capacity(count);
            for _ in 0..count {
                listeners.push(Listener::open(address, None).await);
            }
            listeners
        });
    }
    tasks.join_all().await.into_iter().flatten().collect()
}

/// Calls a tool without arguments.
pub(crate) async fn call(address: SocketAddr, tool: &str) {
    let mut stream = connect(address, None).await;
    let params = format!(r#""name":"{tool}","#);
    let request = request("tools/call", Some(tool), &params);
    stream.write_all(&request).await.unwrap();
    let mut answer = vec![0; 4096];
    let read = timeout(PATIENCE, stream.read(&mut answer))
        .await
        .unwrap()
        .unwrap();
    let answer = String::from_utf8_lossy(&answer[..read]);
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}
