//! A client on the other end of a pair of pipes in memory.

use mcp_core::Registry;
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, duplex},
    task::JoinHandle,
    time::timeout,
};

use super::{INITIALIZED, http::PATIENCE, init, log::Log};

/// A server on pipes, and everything it has written.
pub(crate) struct Stdio {
    input: tokio::sync::Mutex<DuplexStream>,
    pub(crate) output: Log,
    server: JoinHandle<std::io::Result<()>>,
    reader: JoinHandle<()>,
}

impl Stdio {
    pub(crate) fn start(registry: Registry) -> Self {
        Self::on_pipes(|reader, writer| tokio::spawn(mcp_stdio::serve_io(registry, reader, writer)))
    }

    /// A server with settings of its own.
    pub(crate) fn run(server: mcp_stdio::Server) -> Self {
        let never = std::future::pending();
        Self::on_pipes(|reader, writer| tokio::spawn(server.run(reader, writer, never)))
    }

    fn on_pipes(
        serve: impl FnOnce(DuplexStream, DuplexStream) -> JoinHandle<std::io::Result<()>>,
    ) -> Self {
        let (input, from_client) = duplex(1 << 20);
        let (to_client, output) = duplex(1 << 20);
        let server = serve(from_client, to_client);
        let seen = Log::default();
        let writes = seen.clone();
        let reader = tokio::spawn(async move {
            let mut lines = BufReader::new(output).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                writes.push(line);
            }
            writes.end();
        });
        Self {
            input: tokio::sync::Mutex::new(input),
            output: seen,
            server,
            reader,
        }
    }

    /// A server with which a handshake is made already; its answer is not kept.
    pub(crate) async fn shaken(registry: Registry, version: &str) -> Self {
        let stdio = Self::start(registry);
        stdio.send(&init(version)).await;
        let answer = stdio.answer(&"i".into()).await;
        assert_eq!(answer["result"]["protocolVersion"], version, "{answer}");
        stdio.send(INITIALIZED).await;
        stdio.output.clear();
        stdio
    }

    pub(crate) async fn send(&self, line: &str) {
        self.write(format!("{line}\n").as_bytes()).await;
    }

    pub(crate) async fn write(&self, bytes: &[u8]) {
        self.input.lock().await.write_all(bytes).await.unwrap();
    }

    /// How many lines have come.
    pub(crate) fn len(&self) -> usize {
        self.output.len()
    }

    /// Everything that has come.
    pub(crate) fn messages(&self) -> Vec<Value> {
        self.output.messages()
    }

    /// Waits for the answer to `id`.
    pub(crate) async fn answer(&self, id: &Value) -> Value {
        self.first(|it| it.get("id") == Some(id)).await
    }

    /// Waits for the first message of that kind.
    pub(crate) async fn first(&self, wanted: impl Fn(&Value) -> bool) -> Value {
        self.output.first(wanted).await
    }

    /// Stops reading, and waits for what the server makes of that.
    pub(crate) async fn leave(self) -> std::io::Result<()> {
        self.reader.abort();
        let _ = self.reader.await;
        // The server notices when it writes.
        let ping = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
        let _ = self.input.lock().await.write_all(ping).await;
        timeout(PATIENCE, self.server).await.unwrap().unwrap()
    }

    /// Ends the input, waits for the end, and gives everything that has come.
    pub(crate) async fn finish(self) -> Vec<Value> {
        let Self {
            input,
            output,
            server,
            reader,
        } = self;
        drop(input);
        timeout(PATIENCE, server).await.unwrap().unwrap().unwrap();
        reader.await.unwrap();
        output.messages()
    }
}
