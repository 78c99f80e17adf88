//! Real processes: the fixture server `everything`, and whatever else is a binary.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
    sync::OnceLock,
    time::SystemTime,
};

use tokio::{
    io::{AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    process::{Child, ChildStderr, ChildStdin, ChildStdout},
    time::timeout,
};

use super::http::PATIENCE;

/// A process that is spoken to over its streams.
pub(crate) struct Process {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    errors: BufReader<ChildStderr>,
    seen: Vec<String>,
}

/// What is left of a process.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    /// The lines of its standard output.
    pub(crate) output: Vec<String>,
    pub(crate) errors: String,
}

impl Process {
    pub(crate) fn start(program: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut child = tokio::process::Command::new(program)
            .args(arguments)
            .env_remove("RUST_LOG")
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        let errors = BufReader::new(child.stderr.take().unwrap());
        Self {
            child,
            input,
            output,
            errors,
            seen: Vec::new(),
        }
    }

    pub(crate) async fn send(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input
            .write_all(format!("{line}\n").as_bytes())
            .await
            .unwrap();
    }

    /// The next line of its standard output.
    pub(crate) async fn line(&mut self) -> String {
        let line = line(&mut self.output).await;
        self.seen.push(line.clone());
        line
    }

    /// The next line of its standard error.
    pub(crate) async fn error_line(&mut self) -> String {
        line(&mut self.errors).await
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id().unwrap()
    }

    /// Asks it to end.
    pub(crate) fn terminate(&self) {
        let killed = Command::new("kill")
            .args(["-TERM", &self.id().to_string()])
            .status();
        assert!(killed.unwrap().success());
    }

    pub(crate) fn end_input(&mut self) {
        self.input = None;
    }

    /// Waits until it has ended by itself.
    pub(crate) async fn ended(mut self) -> Ended {
        let status = timeout(PATIENCE, self.child.wait()).await;
        let status = status.expect("it goes on").unwrap();
        let (mut rest, mut errors) = (String::new(), String::new());
        self.output.read_to_string(&mut rest).await.unwrap();
        self.errors.read_to_string(&mut errors).await.unwrap();
        let mut output = self.seen;
        output.extend(rest.lines().map(str::to_owned));
        Ended {
            status,
            output,
            errors,
        }
    }
}

async fn line(output: &mut (impl AsyncBufRead + Unpin)) -> String {
    let mut line = String::new();
    let read = timeout(PATIENCE, output.read_line(&mut line)).await;
    assert!(
        read.expect("it says nothing").unwrap() > 0,
        "it said nothing more"
    );
    line.trim_end().to_owned()
}

/// The fixture server of the examples, built if it is missing or older than its sources.
pub(crate) fn everything() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| {
        let own = std::env::current_exe().unwrap();
        let profile = own.parent().and_then(Path::parent).unwrap();
        let binary = profile.join(format!("everything{}", std::env::consts::EXE_SUFFIX));
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let built = fs::metadata(&binary).and_then(|it| it.modified());
        if !built.is_ok_and(|built| built >= newest(root)) {
            build(root, profile);
        }
        binary
    })
}

fn build(root: &Path, profile: &Path) {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .current_dir(root)
        .args(["build", "-p", "mcp-examples", "--bin", "everything"]);
    command.arg("--target-dir").arg(profile.parent().unwrap());
    if profile.ends_with("release") {
        command.arg("--release");
    }
    assert!(
        command.status().unwrap().success(),
        "`everything` does not build"
    );
}

/// When a source of the fixture server was last changed.
fn newest(root: &Path) -> SystemTime {
    let crates = [
        "mcp-types",
        "mcp-codec",
        "mcp-state",
        "mcp-core",
        "mcp-http-actix",
        "mcp-stdio",
        "examples",
    ];
    let sources = crates.iter().map(|it| changed(&root.join(it).join("src")));
    sources.max().unwrap()
}

fn changed(folder: &Path) -> SystemTime {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let times = entries.map(|entry| {
        if entry.file_type().unwrap().is_dir() {
            changed(&entry.path())
        } else {
            entry.metadata().unwrap().modified().unwrap()
        }
    });
    times.max().unwrap_or(SystemTime::UNIX_EPOCH)
}
