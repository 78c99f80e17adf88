//! Pinned packages from the registries, installed below `target/` once and then left alone.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use xshell::{Shell, cmd};

/// Installs what a `package.json` and its lock file pin, next to copies of the folder's scripts.
pub(crate) fn npm(shell: &Shell, source: &Path, target: &Path) -> Result<()> {
    shell.create_dir(target)?;
    for file in shell.read_dir(source)? {
        if file.is_file() {
            shell.copy_file(&file, target)?;
        }
    }
    let wanted = shell.read_file(source.join("package-lock.json"))?;
    once(shell, &target.join("installed"), &wanted, || {
        let _folder = shell.push_dir(target);
        cmd!(shell, "npm ci --no-audit --no-fund --loglevel=error")
            .run()
            .context("npm ci")
    })
}

/// A virtual environment with what a requirements file pins; gives its interpreter.
pub(crate) fn venv(shell: &Shell, requirements: &Path, target: &Path) -> Result<PathBuf> {
    let python = target.join("bin/python");
    let wanted = shell.read_file(requirements)?;
    once(shell, &target.join("installed"), &wanted, || {
        cmd!(shell, "python3 -m venv --clear {target}").run()?;
        let quiet = ["--quiet", "--disable-pip-version-check"];
        cmd!(
            shell,
            "{python} -m pip install {quiet...} --no-deps -r {requirements}"
        )
        .run()
        .context("pip install")
    })?;
    Ok(python)
}

/// Builds a program that is no member of the workspace; gives the binary.
pub(crate) fn program(shell: &Shell, folder: &Path, name: &str, target: &Path) -> Result<PathBuf> {
    let manifest = folder.join("Cargo.toml");
    cmd!(
        shell,
        "cargo build --quiet --locked --manifest-path {manifest}"
    )
    .env("CARGO_TARGET_DIR", target)
    .run()?;
    Ok(target.join("debug").join(name))
}

/// Does a thing unless the stamp says that the very same was done before.
fn once(shell: &Shell, stamp: &Path, wanted: &str, act: impl FnOnce() -> Result<()>) -> Result<()> {
    if shell.read_file(stamp).is_ok_and(|found| found == wanted) {
        return Ok(());
    }
    shell.remove_path(stamp)?;
    act()?;
    shell.write_file(stamp, wanted)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use xshell::Shell;

    use super::once;

    #[test]
    fn a_thing_is_done_once_for_each_wish() {
        let shell = Shell::new().unwrap();
        let folder = shell.create_temp_dir().unwrap();
        let stamp = folder.path().join("stamp");
        let done = Cell::new(0);
        let act = || {
            done.set(done.get() + 1);
            Ok(())
        };
        once(&shell, &stamp, "one", act).unwrap();
        once(&shell, &stamp, "one", act).unwrap();
        assert_eq!(done.get(), 1);
        assert!(once(&shell, &stamp, "two", || anyhow::bail!("no network")).is_err());
        once(&shell, &stamp, "one", act).unwrap();
        assert_eq!(done.get(), 2, "a failed attempt leaves no stamp");
    }
}
