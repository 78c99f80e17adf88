//! What has to hold before a change lands, and everything that can be tested at all.

use anyhow::Result;
use xshell::{Shell, cmd};

use crate::flags;
use crate::report::Steps;
use crate::workspace::{self, Workspace};
use crate::{conformance, fuzz, interop, requirements, tidy};

/// Format, clippy, tests, documentation and tidy.
pub(crate) fn run(shell: &Shell, workspace: &Workspace) -> Result<()> {
    let mut steps = Steps::default();
    check(shell, workspace, &mut steps)?;
    steps.finish()
}

/// The same, then the official suite and clients, and the fuzz targets for a moment.
pub(crate) fn test(shell: &Shell, workspace: &Workspace) -> Result<()> {
    let mut steps = Steps::default();
    if check(shell, workspace, &mut steps)? {
        beyond(shell, workspace, &mut steps);
    }
    steps.finish()
}

/// Says whether the workspace compiles; without that nothing else can run.
fn check(shell: &Shell, workspace: &Workspace, steps: &mut Steps) -> Result<bool> {
    workspace::schemas(workspace, shell)?;
    steps.run("fmt", || {
        cmd!(shell, "cargo fmt --all --check").run()?;
        let outsider = "interop/rmcp/Cargo.toml";
        Ok(cmd!(shell, "cargo fmt --check --manifest-path {outsider}").run()?)
    });
    steps.run("tidy", || tidy::run(shell, workspace));
    // One build for the tests and for the servers under test.
    let built = steps.run("build", || workspace.build(shell));
    if !built {
        return Ok(false);
    }
    steps.run("test", || Ok(cmd!(shell, "cargo test --workspace").run()?));
    // `mcp-state` once more, as a dependent sees it that switches on features of serde_json; and
    // what is switched off otherwise.
    steps.run("features", || {
        let package = "mcp-state/tests/features/Cargo.toml";
        let target = workspace.target.join("features");
        let command = cmd!(shell, "cargo test --quiet --manifest-path {package}");
        command.env("CARGO_TARGET_DIR", target).run()?;
        let command = cmd!(shell, "cargo test --quiet -p mcp-http-actix --all-features");
        Ok(command.run()?)
    });
    steps.run("clippy", || {
        for packages in ["--workspace", "-pmcp-http-actix"] {
            let features = (packages != "--workspace").then_some("--all-features");
            let command = cmd!(shell, "cargo clippy {packages} --all-targets");
            let command = command.args(features);
            command.args(["--", "-D", "warnings"]).run()?;
        }
        Ok(())
    });
    steps.run("doc", || {
        let command = cmd!(shell, "cargo doc --workspace --no-deps");
        Ok(command.env("RUSTDOCFLAGS", "-D warnings").run()?)
    });
    if has_deny(shell) {
        steps.run("deny", || Ok(cmd!(shell, "cargo deny check").run()?));
    }
    Ok(true)
}

/// Whether the machine has cargo-deny; it is large, so nothing installs it.
fn has_deny(shell: &Shell) -> bool {
    let version = cmd!(shell, "cargo deny --version").quiet();
    version.ignore_stdout().ignore_stderr().run().is_ok()
}

fn beyond(shell: &Shell, workspace: &Workspace, steps: &mut Steps) {
    steps.run("requirements", || {
        let flags = flags::Requirements { open: None };
        requirements::run(shell, workspace, &flags)
    });
    steps.run("conformance", || {
        let flags = flags::Conformance {
            url: None,
            server: None,
            bless: false,
        };
        conformance::run(shell, workspace, &flags)
    });
    steps.run("interop", || {
        let flags = flags::Interop {
            server: None,
            only: None,
        };
        interop::run(shell, workspace, &flags)
    });
    if !workspace.root.join("fuzz").exists() {
        return;
    }
    steps.run("fuzz", || {
        let flags = flags::Fuzz {
            seconds: Some(FUZZ_SECONDS),
            targets: Vec::new(),
        };
        fuzz::run(shell, workspace, &flags)
    });
}

const FUZZ_SECONDS: u32 = 5;
