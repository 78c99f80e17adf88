//! An authorization server of this machine, as small as one can be.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

/// What comes of asking for a path.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: String,
    pub(crate) body: String,
    pub(crate) after: Duration,
}

impl Answer {
    pub(crate) fn ok(body: impl Into<String>) -> Self {
        Self {
            status: 200,
            headers: String::new(),
            body: body.into(),
            after: Duration::ZERO,
        }
    }

    pub(crate) fn status(status: u16) -> Self {
        Self {
            status,
            ..Self::ok("")
        }
    }

    pub(crate) fn header(mut self, line: &str) -> Self {
        self.headers = format!("{}{line}\r\n", self.headers);
        self
    }

    pub(crate) fn after(mut self, time: Duration) -> Self {
        self.after = time;
        self
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) path: String,
    pub(crate) head: String,
    pub(crate) body: String,
}

#[derive(Debug, Default)]
struct Shared {
    answers: Mutex<HashMap<String, Answer>>,
    asked: Mutex<Vec<Asked>>,
}

/// Gone when it is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    shared: Arc<Shared>,
    url: String,
    task: JoinHandle<()>,
}

impl Server {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let shared = Arc::<Shared>::default();
        let server = Arc::clone(&shared);
        #[expect(clippy::disallowed_methods, reason = "a server of the test")]
        let task = tokio::task::spawn(async move {
            // Whatever it still has to say is dropped with it.
            let mut answering = tokio::task::JoinSet::new();
            while let Ok((socket, _)) = listener.accept().await {
                let server = Arc::clone(&server);
                answering.spawn(async move { server.answer(socket).await });
            }
        });
        Self { shared, url, task }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.url)
    }

    /// From now on that is what comes of asking for the path.
    pub(crate) fn on(&self, path: &str, answer: Answer) {
        let mut answers = self.shared.answers.lock().unwrap();
        answers.insert(path.to_owned(), answer);
    }

    /// What was asked for since the last time.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        std::mem::take(&mut self.shared.asked.lock().unwrap())
    }

    pub(crate) fn asked_for(&self) -> Vec<String> {
        self.asked().into_iter().map(|it| it.path).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Shared {
    async fn answer(&self, socket: TcpStream) -> Option<()> {
        let mut socket = BufReader::new(socket);
        let asked = read(&mut socket).await?;
        let path = asked.path.clone();
        self.asked.lock().unwrap().push(asked);
        let answer = self.answers.lock().unwrap().get(&path).cloned();
        let answer = answer.unwrap_or_else(|| Answer::status(404));
        tokio::time::sleep(answer.after).await;
        let Answer {
            status,
            headers,
            body,
            ..
        } = answer;
        let len = body.len();
        let text = format!(
            "HTTP/1.1 {status} x\r\nconnection: close\r\ncontent-length: {len}\r\n{headers}\r\n{body}"
        );
        socket.write_all(text.as_bytes()).await.ok()
    }
}

async fn read(socket: &mut BufReader<TcpStream>) -> Option<Asked> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if socket.read_line(&mut head).await.ok()? == 0 {
            return None;
        }
    }
    let lower = head.to_ascii_lowercase();
    let len = lower.split("content-length: ").nth(1);
    let len = len.and_then(|it| it.lines().next()?.parse().ok());
    let mut body = vec![0; len.unwrap_or(0)];
    socket.read_exact(&mut body).await.ok()?;
    Some(Asked {
        path: head.split(' ').nth(1)?.to_owned(),
        body: String::from_utf8(body).ok()?,
        head,
    })
}
