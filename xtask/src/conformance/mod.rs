//! The official conformance suite against the example server `everything`.

mod baseline;
mod verdict;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use xshell::{Shell, cmd};

use crate::fetch;
use crate::flags;
use crate::report::Table;
use crate::server::Server;
use crate::workspace::Workspace;
use verdict::{Outcome, Scenario};

/// Runs every set, prints one table, and fails on anything outside the baseline.
pub(crate) fn run(shell: &Shell, workspace: &Workspace, flags: &flags::Conformance) -> Result<()> {
    let suite = Suite::install(shell, workspace)?;
    let mut server = None;
    let url = if let Some(url) = &flags.url {
        url.clone()
    } else {
        let program = workspace.everything(shell, flags.server.as_deref())?;
        let log = suite.folder.join("server.log");
        let started = Server::start(&program, SERVER_FLAGS, &log)?;
        server.insert(started).url.clone()
    };
    let outcomes: Vec<Outcome> = SETS
        .iter()
        .map(|set| suite.run(shell, set, &url))
        .collect::<Result<_>>()?;
    drop(server);
    let path = workspace.root.join("xtask/conformance-baseline.toml");
    if flags.bless {
        return bless(shell, &path, &outcomes);
    }
    let entries = baseline::parse(&shell.read_file(&path)?).context("the baseline")?;
    println!("{}", table(&outcomes, &entries).render());
    let problems = verdict::judge(&outcomes, &entries);
    for problem in &problems {
        println!("{problem}");
    }
    if !problems.is_empty() {
        let name = path.display();
        bail!("{} results are not what {name} expects", problems.len());
    }
    Ok(())
}

/// Writes the baseline anew. A file that does not parse is no source of reasons.
fn bless(shell: &Shell, path: &Path, outcomes: &[Outcome]) -> Result<()> {
    let text = shell.read_file(path).unwrap_or_default();
    let old = baseline::parse(&text).context("mend the old baseline first")?;
    let new = verdict::bless(outcomes, &old);
    shell.write_file(path, baseline::render(&new))?;
    println!("{}", table(outcomes, &new).render());
    let unsaid = new.iter().filter(|it| it.reason == baseline::NO_REASON);
    println!(
        "{} entries, {} of them need a reason",
        new.len(),
        unsaid.count()
    );
    Ok(())
}

/// The suite and the Node it needs, below `target/conformance`.
struct Suite {
    folder: PathBuf,
    node: PathBuf,
    script: PathBuf,
}

impl Suite {
    fn install(shell: &Shell, workspace: &Workspace) -> Result<Self> {
        let folder = workspace.target.join("conformance");
        fetch::npm(shell, &workspace.root.join("xtask/conformance"), &folder)?;
        let modules = folder.join("node_modules");
        let suite = Self {
            node: modules.join("node/bin/node"),
            script: modules.join("@modelcontextprotocol/conformance/dist/index.js"),
            folder,
        };
        let Self { node, script, .. } = &suite;
        let versions = (
            cmd!(shell, "{node} --version").quiet().read()?,
            cmd!(shell, "{node} {script} --version").quiet().read()?,
        );
        println!("conformance {} on node {}", versions.1, versions.0);
        Ok(suite)
    }

    fn run(&self, shell: &Shell, set: &Set, url: &str) -> Result<Outcome> {
        let Self { node, script, .. } = self;
        let results = self.folder.join("results").join(set.name);
        shell.remove_path(&results)?;
        shell.create_dir(&results)?;
        let arguments = set.arguments;
        // Its exit code knows neither warnings nor the baseline: `checks.json` decides.
        let output = cmd!(
            shell,
            "{node} {script} server --url {url} {arguments...} -o {results}"
        )
        .ignore_status()
        .output()?;
        let log = self.folder.join(format!("{}.log", set.name));
        shell.write_file(&log, [output.stdout, output.stderr].concat())?;
        let outcome = collect(shell, set.name, &results)?;
        if outcome.scenarios.len() != set.scenarios {
            let (ran, all) = (outcome.scenarios.len(), set.scenarios);
            bail!(
                "{}: {ran} of {all} scenarios ran; see {}",
                set.name,
                log.display()
            );
        }
        Ok(outcome)
    }
}

/// Reads the folder of one run.
fn collect(shell: &Shell, set: &str, results: &Path) -> Result<Outcome> {
    let mut outcome = Outcome {
        set: set.to_owned(),
        ..Outcome::default()
    };
    for folder in shell.read_dir(results)? {
        let name = folder.file_name().and_then(|name| name.to_str());
        let checks = folder.join("checks.json");
        let scenario = name.and_then(verdict::scenario_name);
        // A scenario that broke off leaves a folder without results.
        if let Some(scenario) = scenario.filter(|_| checks.exists()) {
            let checks = shell.read_file(checks)?;
            let parsed = Scenario::parse(&checks).with_context(|| scenario.to_owned())?;
            outcome.scenarios.insert(scenario.to_owned(), parsed);
        }
    }
    Ok(outcome)
}

fn table(outcomes: &[Outcome], entries: &[baseline::Entry]) -> Table {
    let mut table = Table::new(&[
        "set",
        "scenarios",
        "clean",
        "checks passed",
        "failed",
        "warned",
        "skipped",
        "baselined",
    ]);
    for outcome in outcomes {
        let scenarios = || outcome.scenarios.values();
        let clean = scenarios().filter(|it| it.complaints.is_empty()).count();
        let cells = [
            outcome.scenarios.len(),
            clean,
            scenarios().map(|it| it.passed).sum(),
            scenarios().map(|it| it.failed).sum(),
            scenarios().map(|it| it.warned).sum(),
            scenarios().map(|it| it.skipped).sum(),
            verdict::baselined(outcome, entries),
        ];
        let cells = cells.iter().map(ToString::to_string);
        table.row([outcome.set.clone()].into_iter().chain(cells).collect());
    }
    table
}

/// One run of the suite, and how many scenarios it has in the pinned version.
struct Set {
    name: &'static str,
    arguments: &'static [&'static str],
    scenarios: usize,
}

const SETS: &[Set] = &[
    Set {
        name: "2025-11-25",
        arguments: &["--requirements", "2025-11-25"],
        scenarios: 33,
    },
    Set {
        name: "2026-07-28",
        arguments: &["--requirements", "2026-07-28"],
        scenarios: 50,
    },
    Set {
        name: "all",
        arguments: &["--suite", "all"],
        scenarios: 65,
    },
    Set {
        name: "2025-06-18",
        arguments: &["--suite", "all", "--spec-version", "2025-06-18"],
        scenarios: 27,
    },
    Set {
        name: "2025-03-26",
        arguments: &["--suite", "all", "--spec-version", "2025-03-26"],
        scenarios: 1,
    },
];

const SERVER_FLAGS: &[&str] = &["--key", "conformance-suite-key-0123456789abcdef"];
