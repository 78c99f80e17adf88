//! Where things are: the workspace, its target folder, and the folder shared with it.

use std::cell::Cell;
use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use xshell::{Shell, cmd};

use crate::json::Json;

/// The workspace, as `cargo metadata` tells it.
#[derive(Debug)]
pub(crate) struct Workspace {
    pub(crate) metadata: Json,
    pub(crate) root: PathBuf,
    pub(crate) target: PathBuf,
    /// Set once every target is built in the dev profile, so that nothing builds them again with
    /// the features of one package alone.
    pub(crate) built: Cell<bool>,
}

impl Workspace {
    /// Asks cargo, and makes the root the shell's folder.
    pub(crate) fn load(shell: &Shell) -> Result<Self> {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        shell.change_dir(here.parent().context("xtask lies in no folder")?);
        let metadata = cmd!(shell, "cargo metadata --format-version 1 --no-deps")
            .quiet()
            .read()?;
        let metadata = Json::parse(&metadata).context("cargo metadata")?;
        let path = |name: &str| {
            let text = metadata.get(name).text();
            text.map(PathBuf::from)
                .with_context(|| format!("cargo metadata has no {name}"))
        };
        Ok(Self {
            root: path("workspace_root")?,
            target: path("target_directory")?,
            metadata,
            built: Cell::new(false),
        })
    }

    /// A file or folder of the shared folder, or of the place that a variable names; `None` where
    /// there is no shared folder.
    pub(crate) fn shared(&self, variable: &str, default: &str) -> Result<Option<PathBuf>> {
        if let Some(given) = env::var_os(variable).filter(|value| !value.is_empty()) {
            let given = self.root.join(given);
            if !given.exists() {
                bail!("{variable} names {}, which does not exist", given.display());
            }
            return Ok(Some(given));
        }
        Ok(self
            .root
            .join("../shared")
            .join(default)
            .canonicalize()
            .ok())
    }

    /// Builds every target that tests and servers under test need.
    pub(crate) fn build(&self, shell: &Shell) -> Result<()> {
        cmd!(shell, "cargo build --workspace --all-targets").run()?;
        self.built.set(true);
        Ok(())
    }

    /// A program in the dev profile: `kind` is `--bin` or `--example`.
    pub(crate) fn program(
        &self,
        shell: &Shell,
        package: &str,
        kind: &str,
        name: &str,
    ) -> Result<PathBuf> {
        if !self.built.get() {
            cmd!(shell, "cargo build -p {package} {kind} {name}").run()?;
        }
        let folder = match kind {
            "--example" => "debug/examples",
            _ => "debug",
        };
        Ok(self.target.join(folder).join(name))
    }

    /// The fixture server, or the program that stands in for it.
    pub(crate) fn everything(&self, shell: &Shell, given: Option<&Path>) -> Result<PathBuf> {
        match given {
            Some(program) => Ok(self.root.join(program)),
            None => self.program(shell, "mcp-examples", "--bin", "everything"),
        }
    }
}

/// Tells the tests where the official schemas are, or the reader that they are not.
pub(crate) fn schemas(workspace: &Workspace, shell: &Shell) -> Result<()> {
    if let Some(path) = workspace.shared("MCP_SCHEMAS", "schemas")? {
        println!("official schemas: {}", path.display());
        shell.set_var("MCP_SCHEMAS", path);
    } else {
        println!("OFFICIAL SCHEMAS ABSENT: replies are not validated; name them with MCP_SCHEMAS");
    }
    Ok(())
}
