//! The yardstick of `shared/bench`, with our `bench` example as one more contestant.

use std::path::Path;

use anyhow::{Context, Result};
use xshell::{Shell, cmd};

use crate::flags;
use crate::workspace::Workspace;

/// Copies the yardstick below `target/`, builds it and ours, and prints its tables.
pub(crate) fn run(shell: &Shell, workspace: &Workspace, flags: &flags::Bench) -> Result<()> {
    let source = workspace.shared("MCP_BENCH", "bench")?;
    let source = source.context("no ../shared/bench; name the yardstick with MCP_BENCH")?;
    let ours = if let Some(program) = &flags.server {
        workspace.root.join(program)
    } else {
        cmd!(shell, "cargo build --release -p mcp-examples --bin bench").run()?;
        workspace.target.join("release/bench")
    };
    let bench = workspace.target.join("bench");
    copy(shell, &source, &bench)?;

    let _built = shell.push_env("CARGO_TARGET_DIR", workspace.target.join("bench-build"));
    let _venv = shell.push_env("BENCH_VENV", workspace.target.join("bench-venv"));
    let _folder = shell.push_dir(&bench);
    cmd!(shell, "bash ./setup.sh").run().context("setup.sh")?;
    let ours = ours.display();
    let http = format!("ours={ours} --port {{port}} --tools {{tools}} --workers {{cores}}");
    let stdio = format!("ours={ours} --stdio");
    let only = flags.only.as_deref().unwrap_or("limit,floor,rmcp,ours");
    let features = flags
        .features
        .as_deref()
        .unwrap_or("legacy,modern,session,listen,mrtr");
    let quick = flags.quick.then_some("--quick");
    let further = &flags.arguments;
    cmd!(
        shell,
        "python3 ./run.py --out ours --only {only} --features {features}"
    )
    .args(["--add", &http, "--add-stdio", &stdio])
    .args(quick)
    .args(further)
    .run()
    .context("run.py")
}

/// Copies a folder that may be read-only; what was built from an older copy stays.
fn copy(shell: &Shell, source: &Path, target: &Path) -> Result<()> {
    shell.create_dir(target)?;
    cmd!(
        shell,
        "cp -R --no-preserve=mode,ownership {source}/. {target}"
    )
    .run()?;
    let scripts = ["setup.sh", "run.py", "seal.py", "wrk.sh"].map(|name| target.join(name));
    Ok(cmd!(shell, "chmod +x {scripts...}").run()?)
}
