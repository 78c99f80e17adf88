//! Requests that do not come to their end.

use tokio::{io::AsyncWriteExt as _, net::TcpStream};

use super::http::{Live, Request, Response, Server};

impl Server {
    /// A request whose last bytes never come, and the answer to it; the client stays.
    pub(crate) async fn unfinished(&self, request: &Request, missing: usize) -> Response {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let bytes = request.bytes();
        let end = bytes.len() - missing;
        stream.write_all(&bytes[..end]).await.unwrap();
        Live::read(stream).await.rest().await
    }
}
