//! Requests that do not come to their end.

use tokio::{io::AsyncWriteExt as _, net::TcpStream};

use super::http::{Live, Request, Response, Server};

impl Server {
    /// A request whose last bytes never come, and the answer to it; the client stays.
    pub(crate) async fn unfinished(&self, request: &Request, missing: usize) -> Response {
        let bytes = request.bytes();
        self.bytes(&bytes[..bytes.len() - missing]).await
    }

    /// Whatever bytes, and the answer to them; the client stays.
    pub(crate) async fn bytes(&self, bytes: &[u8]) -> Response {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        Live::read(stream).await.rest().await
    }
}
