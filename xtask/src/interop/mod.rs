//! The official clients against the example server `everything`.

mod servers;

use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use xshell::{Shell, cmd};

use crate::fetch;
use crate::flags;
use crate::report::{Table, timed};
use crate::workspace::Workspace;
use servers::{AuthorizationServer, Servers};

/// Runs every client by every way, prints one table, and fails where a check does.
pub(crate) fn run(shell: &Shell, workspace: &Workspace, flags: &flags::Interop) -> Result<()> {
    let folder = workspace.target.join("interop");
    shell.create_dir(&folder)?;
    let wanted = |name: &str| name.contains(flags.only.as_deref().unwrap_or(""));
    let state = wanted(STATE).then(|| state(shell, workspace, &folder));
    let state = state.transpose()?;
    let program = workspace.everything(shell, flags.server.as_deref())?;
    let authorization = AuthorizationServer {
        python: interpreter(shell, workspace, &folder)?,
        script: workspace
            .root
            .join("interop/python/authorization_server.py"),
    };
    let servers = Servers::start(program, &authorization, &folder)?;
    let mut results = Results::default();
    thread::scope(|scope| {
        // It shares no server with the clients, and runs beside them; they run one by one.
        let state = state.map(|check| scope.spawn(check));
        for client in CLIENTS.iter().filter(|client| wanted(client.name)) {
            let command = (client.install)(shell, workspace, &folder)
                .with_context(|| format!("cannot install {}", client.name))?;
            client.run(shell, &command, &servers, &mut results)?;
        }
        if let Some(state) = state {
            let line = state.join();
            results.add(line.map_err(|_| anyhow!("{STATE}: panicked"))?);
        }
        anyhow::Ok(())
    })?;
    results.finish()
}

/// How a client reaches the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Http,
    /// HTTP without sessions: of interest to handshake eras alone, the others have none.
    Stateless,
    /// The HTTP+SSE transport of 2024-11-05.
    Sse,
    /// HTTP with a server that wants a token, which the client has to log in for.
    Auth,
    /// HTTP+SSE with such a server.
    AuthSse,
    Stdio,
}

impl Way {
    /// What the table says, and, after `--`, the client's flag.
    fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Stateless => "stateless",
            Self::Sse => "sse",
            Self::Auth => "auth",
            Self::AuthSse => "auth-sse",
            Self::Stdio => "stdio",
        }
    }
}

/// The sealed tokens of the Python SDK against ours, in both directions: a check ready to run.
fn state(
    shell: &Shell,
    workspace: &Workspace,
    folder: &Path,
) -> Result<impl FnOnce() -> Line + Send + use<>> {
    let python = interpreter(shell, workspace, folder)?;
    let probe = workspace.program(shell, "mcp-state", "--example", "probe")?;
    let script = workspace.root.join("mcp-state/tests/interop.py");
    let (shell, rounds) = (shell.clone(), STATE_ROUNDS.to_string());
    Ok(move || {
        let command = cmd!(shell, "{python} {script} {probe} {rounds}");
        let (result, took) = timed(|| command.run());
        let tally = Tally {
            passed: if result.is_ok() { STATE_ROUNDS } else { 0 },
            failed: usize::from(result.is_err()),
            ended_well: result.is_ok(),
        };
        Line::new([STATE, "tokens", "both ways"], tally, took)
    })
}

/// What was run, and how it ended.
struct Line {
    cells: Vec<String>,
    good: bool,
}

impl Line {
    fn new(names: [&str; 3], tally: Tally, took: Duration) -> Self {
        let mut cells: Vec<String> = names.map(str::to_owned).into();
        cells.push(tally.passed.to_string());
        cells.push(tally.failed.to_string());
        cells.push(format!("{:.1}", took.as_secs_f64()));
        Self {
            cells,
            good: tally.good(),
        }
    }
}

#[derive(Default)]
struct Results {
    lines: Vec<Line>,
}

impl Results {
    fn add(&mut self, line: Line) {
        self.lines.push(line);
    }

    /// Prints the table; an empty one is no success.
    fn finish(self) -> Result<()> {
        if self.lines.is_empty() {
            bail!("no client has that name");
        }
        let mut table = Table::new(&["client", "transport", "era", "passed", "failed", "seconds"]);
        let bad = self.lines.iter().filter(|line| !line.good).count();
        for line in self.lines {
            table.row(line.cells);
        }
        println!("\n{}", table.render());
        if bad > 0 {
            bail!("{bad} runs failed; the servers' own words are in target/interop/*.log");
        }
        Ok(())
    }
}

/// One client by one way in one era.
struct Run<'a> {
    client: &'a str,
    way: Way,
    era: &'a str,
}

impl Run<'_> {
    fn execute(&self, shell: &Shell, command: &[PathBuf], target: &Path) -> Result<Line> {
        let (program, arguments) = command.split_first().context("no command")?;
        let (era, way) = (self.era, self.way.name());
        let command = cmd!(
            shell,
            "{program} {arguments...} --era {era} --{way} {target}"
        )
        .ignore_status()
        .quiet();
        let (output, took) = timed(|| command.output());
        let output = output?;
        let said = String::from_utf8_lossy(&output.stdout);
        let tally = Tally::parse(&said, output.status.success());
        let names = [self.client, way, era];
        if !tally.good() {
            println!("\n{}:\n{said}", names.join(", "));
            println!("{}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(Line::new(names, tally, took))
    }
}

/// What a client's lines say: `ok NAME` or `FAIL NAME: why`, one for each check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Tally {
    passed: usize,
    failed: usize,
    ended_well: bool,
}

impl Tally {
    fn parse(said: &str, ended_well: bool) -> Self {
        let count = |start: &str| said.lines().filter(|line| line.starts_with(start)).count();
        Self {
            passed: count("ok "),
            failed: count("FAIL "),
            ended_well,
        }
    }

    /// A client that checked nothing, or broke off, did not pass.
    fn good(&self) -> bool {
        self.ended_well && self.failed == 0 && self.passed > 0
    }
}

/// A client: how to install it, and what it speaks.
struct Client {
    name: &'static str,
    eras: &'static [&'static str],
    /// Whether it still has the HTTP+SSE transport; rmcp has given it up.
    sse: bool,
    install: fn(&Shell, &Workspace, &Path) -> Result<Vec<PathBuf>>,
}

impl Client {
    /// Runs it by every way in every era.
    fn run(
        &self,
        shell: &Shell,
        command: &[PathBuf],
        servers: &Servers,
        results: &mut Results,
    ) -> Result<()> {
        for era in self.eras {
            for way in self.ways(era) {
                let run = Run {
                    client: self.name,
                    way,
                    era,
                };
                results.add(run.execute(shell, command, &servers.target(way))?);
            }
        }
        Ok(())
    }

    fn ways(&self, era: &str) -> Vec<Way> {
        let handshake = !["modern", "pinned"].contains(&era);
        let mut ways = vec![Way::Http];
        if handshake {
            ways.push(Way::Stateless);
        }
        let sse = handshake && self.sse;
        ways.extend(sse.then_some(Way::Sse));
        ways.push(Way::Auth);
        ways.extend(sse.then_some(Way::AuthSse));
        ways.push(Way::Stdio);
        ways
    }
}

const CLIENTS: &[Client] = &[
    Client {
        name: "python mcp 2.3.0",
        eras: &["legacy", "modern", "pinned"],
        sse: true,
        install: python,
    },
    Client {
        name: "typescript client 2.4.0",
        eras: &["legacy", "modern", "pinned"],
        sse: true,
        install: |shell, workspace, folder| script(shell, workspace, folder, "client.mjs"),
    },
    Client {
        name: "typescript sdk 1.32.2",
        eras: &["legacy"],
        sse: true,
        install: |shell, workspace, folder| script(shell, workspace, folder, "sdk.mjs"),
    },
    Client {
        name: "rmcp 3.11.0",
        eras: &[
            "2024-11-05",
            "2025-03-26",
            "2025-06-18",
            "2025-11-25",
            "modern",
        ],
        sse: false,
        install: rmcp,
    },
];

fn python(shell: &Shell, workspace: &Workspace, folder: &Path) -> Result<Vec<PathBuf>> {
    let script = workspace.root.join("interop/python/client.py");
    // `-B` leaves no compiled files among the sources.
    Ok(vec![
        interpreter(shell, workspace, folder)?,
        "-B".into(),
        script,
    ])
}

fn interpreter(shell: &Shell, workspace: &Workspace, folder: &Path) -> Result<PathBuf> {
    let requirements = workspace.root.join("interop/python/requirements.txt");
    fetch::venv(shell, &requirements, &folder.join("venv"))
}

fn script(shell: &Shell, workspace: &Workspace, folder: &Path, name: &str) -> Result<Vec<PathBuf>> {
    let target = folder.join("js");
    fetch::npm(shell, &workspace.root.join("interop/js"), &target)?;
    Ok(vec!["node".into(), target.join(name)])
}

fn rmcp(shell: &Shell, workspace: &Workspace, folder: &Path) -> Result<Vec<PathBuf>> {
    let source = workspace.root.join("interop/rmcp");
    let target = folder.join("cargo");
    Ok(vec![fetch::program(
        shell,
        &source,
        "interop-rmcp",
        &target,
    )?])
}

const STATE: &str = "python mcp 2.3.0 state";
const STATE_ROUNDS: usize = 1000;

#[cfg(test)]
mod tests {
    use super::{CLIENTS, Tally, Way};

    #[test]
    fn a_client_passes_when_all_its_checks_do() {
        let lines = "ok one\nnoise ok\nok two\n";
        assert!(Tally::parse(lines, true).good());
        assert!(!Tally::parse(lines, false).good());
        assert!(!Tally::parse("ok one\nFAIL two: why\n", true).good());
        assert!(!Tally::parse("", true).good());
    }

    #[test]
    fn old_ways_are_for_old_eras() {
        let [python, .., rmcp] = CLIENTS else {
            panic!("no clients")
        };
        let all = ["http", "stateless", "sse", "auth", "auth-sse", "stdio"];
        assert_eq!(
            python
                .ways("legacy")
                .into_iter()
                .map(Way::name)
                .collect::<Vec<_>>(),
            all
        );
        assert_eq!(python.ways("pinned"), [Way::Http, Way::Auth, Way::Stdio]);
        let without_sse = [Way::Http, Way::Stateless, Way::Auth, Way::Stdio];
        assert_eq!(rmcp.ways("2024-11-05"), without_sse);
    }
}
