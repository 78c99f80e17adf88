//! Each fuzz target for a while.

use anyhow::{Context, Result, bail};
use xshell::{Shell, cmd};

use crate::flags;
use crate::json::Json;
use crate::report::{Table, timed};
use crate::workspace::Workspace;

/// Runs the targets of the crate in `fuzz/`, which is no member of the workspace. What they find
/// is kept below `target/fuzz`; the seeds in git are only read.
pub(crate) fn run(shell: &Shell, workspace: &Workspace, flags: &flags::Fuzz) -> Result<()> {
    let folder = workspace.root.join("fuzz");
    // Its own folder, for the flags of its own `.cargo/config.toml`.
    let _folder = shell.push_dir(&folder);
    let metadata = cmd!(shell, "cargo metadata --format-version 1 --no-deps")
        .quiet()
        .read()
        .with_context(|| format!("{} is no crate", folder.display()))?;
    let all = targets(&Json::parse(&metadata)?);
    let wanted = choose(&all, &flags.targets)?;
    let _target = shell.push_env("CARGO_TARGET_DIR", workspace.target.join("fuzz"));
    cmd!(shell, "cargo build --release --bins").run()?;
    let seconds = flags.seconds.unwrap_or(SECONDS);
    let mut table = Table::new(&["target", "seconds", "result"]);
    let mut bad = 0;
    for name in wanted {
        let (result, took) = timed(|| one(shell, workspace, name, seconds));
        if let Err(error) = &result {
            println!("!!! {name}: {error:#}");
        }
        bad += usize::from(result.is_err());
        let result = if result.is_ok() { "ok" } else { "FAILED" };
        let took = format!("{:.1}", took.as_secs_f64());
        table.row(vec![name.to_owned(), took, result.to_owned()]);
    }
    println!("\n{}", table.render());
    if bad > 0 {
        bail!("{bad} fuzz targets failed; the inputs are in target/fuzz/artifacts");
    }
    Ok(())
}

fn one(shell: &Shell, workspace: &Workspace, name: &str, seconds: u32) -> Result<()> {
    let found = workspace.target.join("fuzz/corpus").join(name);
    let artifacts = workspace.target.join("fuzz/artifacts").join(name);
    shell.create_dir(&found)?;
    shell.create_dir(&artifacts)?;
    let seeds = workspace.root.join("fuzz/seeds").join(name);
    let seeds = seeds.exists().then_some(seeds);
    let time = format!("-max_total_time={seconds}");
    let artifacts = format!("-artifact_prefix={}/", artifacts.display());
    let options = [
        &time,
        &artifacts,
        "-timeout=10",
        "-max_len=4096",
        "-verbosity=0",
    ];
    println!("{name}: {seconds} s");
    let run = cmd!(shell, "cargo run --quiet --release --bin {name} --").args(&options);
    let output = run
        .arg(found)
        .args(seeds)
        .quiet()
        .ignore_status()
        .output()?;
    if !output.status.success() {
        println!("{}", String::from_utf8_lossy(&output.stderr));
        bail!("it ended with {}", output.status);
    }
    Ok(())
}

/// The binaries of the crate.
fn targets(metadata: &Json) -> Vec<String> {
    let packages = metadata.get("packages").list().iter();
    let targets = packages.flat_map(|package| package.get("targets").list());
    let is_bin = |target: &&Json| {
        let mut kinds = target.get("kind").list().iter();
        kinds.any(|kind| kind.text() == Some("bin"))
    };
    let names = targets
        .filter(is_bin)
        .filter_map(|target| target.get("name").text());
    names.map(str::to_owned).collect()
}

fn choose<'a>(all: &'a [String], wanted: &[String]) -> Result<Vec<&'a str>> {
    for name in wanted {
        if !all.contains(name) {
            bail!("no fuzz target {name}; there are {}", all.join(", "));
        }
    }
    let chosen = all
        .iter()
        .filter(|name| wanted.is_empty() || wanted.contains(name));
    let chosen: Vec<&str> = chosen.map(String::as_str).collect();
    if chosen.is_empty() {
        bail!("no fuzz targets");
    }
    Ok(chosen)
}

const SECONDS: u32 = 30;

#[cfg(test)]
mod tests {
    use super::{choose, targets};
    use crate::json::Json;

    #[test]
    fn finds_the_binaries() {
        let metadata = r#"{"packages": [{"targets": [
            {"name": "fuzz", "kind": ["lib"]},
            {"name": "decode", "kind": ["bin"]},
            {"name": "open", "kind": ["bin"]}
        ]}]}"#;
        let all = targets(&Json::parse(metadata).unwrap());
        assert_eq!(all, ["decode", "open"]);
        assert_eq!(choose(&all, &[]).unwrap(), ["decode", "open"]);
        assert_eq!(choose(&all, &["open".to_owned()]).unwrap(), ["open"]);
        assert!(choose(&all, &["shut".to_owned()]).is_err());
        assert!(choose(&[], &[]).is_err());
    }
}
