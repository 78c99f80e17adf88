//! The golden request and reply pairs.

use anyhow::Result;
use xshell::{Shell, cmd};

use crate::flags;
use crate::workspace::{self, Workspace};

/// Compares the vectors with what the code answers, or writes them anew.
pub(crate) fn run(shell: &Shell, workspace: &Workspace, flags: &flags::Vectors) -> Result<()> {
    workspace::schemas(workspace, shell)?;
    let mut command = cmd!(shell, "cargo test -p mcp-tests --test it vectors");
    if flags.bless {
        command = command.env("MCP_BLESS", "1");
    }
    Ok(command.run()?)
}
