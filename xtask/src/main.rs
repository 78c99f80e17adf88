//! Everything CI does, as one program: `cargo xtask --help`.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program of the terminal"
)]

mod bench;
mod ci;
mod conformance;
mod entries;
mod fetch;
mod flags;
mod fuzz;
mod interop;
mod json;
mod report;
mod requirements;
mod server;
mod tidy;
mod vectors;
mod workspace;

use std::process::ExitCode;

use anyhow::Result;
use xshell::Shell;

use flags::{Xtask, XtaskCmd};
use workspace::Workspace;

fn main() -> ExitCode {
    match run(&Xtask::from_env_or_exit().subcommand) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Without the backtrace: it leads into this program, not to what is wrong.
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(word: &XtaskCmd) -> Result<()> {
    let shell = Shell::new()?;
    let workspace = Workspace::load(&shell)?;
    match word {
        XtaskCmd::Ci(_) => ci::run(&shell, &workspace),
        XtaskCmd::Test(_) => ci::test(&shell, &workspace),
        XtaskCmd::Tidy(_) => tidy::run(&shell, &workspace),
        XtaskCmd::Conformance(flags) => conformance::run(&shell, &workspace, flags),
        XtaskCmd::Interop(flags) => interop::run(&shell, &workspace, flags),
        XtaskCmd::Requirements(flags) => requirements::run(&shell, &workspace, flags),
        XtaskCmd::Bench(flags) => bench::run(&shell, &workspace, flags),
        XtaskCmd::Fuzz(flags) => fuzz::run(&shell, &workspace, flags),
        XtaskCmd::Vectors(flags) => vectors::run(&shell, &workspace, flags),
    }
}
