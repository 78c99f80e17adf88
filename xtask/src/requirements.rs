//! Which requirements of the specification the tests name.
//!
//! A test that proves one says so in a comment of its own, `// req: ID` (`# req: ID` in Python),
//! several ids separated by commas.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result, bail};
use xshell::Shell;

use crate::entries;
use crate::flags;
use crate::report::Table;
use crate::workspace::Workspace;

/// Prints covered and open ids by area; a comment that names no requirement is an error.
pub(crate) fn run(shell: &Shell, workspace: &Workspace, flags: &flags::Requirements) -> Result<()> {
    let Some(path) = workspace.shared("MCP_REQUIREMENTS", "spec/requirements.toml")? else {
        println!("REQUIREMENTS ABSENT: nothing to compare with; name them with MCP_REQUIREMENTS");
        return Ok(());
    };
    let areas = read(&shell.read_file(&path)?).with_context(|| path.display().to_string())?;
    let mut mentions = Vec::new();
    walk(shell, &workspace.root, &workspace.root, &mut mentions)?;
    let (covered, unknown) = split(&areas, &mentions);
    println!("{}", table(&areas, &covered).render());
    if let Some(open) = &flags.open {
        print_open(&areas, &covered, open);
    }
    for (id, place) in &unknown {
        println!("{place}: no requirement is called {id}");
    }
    if !unknown.is_empty() {
        bail!("{} comments name no requirement", unknown.len());
    }
    Ok(())
}

/// The ids of each area.
type Areas = BTreeMap<String, BTreeSet<String>>;

/// An id and the place that names it.
type Mention = (String, String);

fn read(text: &str) -> Result<Areas> {
    let mut areas = Areas::new();
    for entry in entries::parse(text, "requirement")? {
        let id = entry.string("id").context("a requirement without an id")?;
        let area = entry
            .string("area")
            .with_context(|| format!("{id} has no area"))?;
        let new = areas
            .entry(area.to_owned())
            .or_default()
            .insert(id.to_owned());
        if !new {
            bail!("{id} is listed twice");
        }
    }
    Ok(areas)
}

fn walk(shell: &Shell, root: &Path, folder: &Path, mentions: &mut Vec<Mention>) -> Result<()> {
    for path in shell.read_dir(folder)? {
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.unwrap_or_default();
        if path.is_dir() {
            if !SKIPPED.contains(&name) {
                walk(shell, root, &path, mentions)?;
            }
            continue;
        }
        let sign = match path.extension().and_then(|end| end.to_str()) {
            Some("rs" | "js" | "mjs" | "ts") => "//",
            Some("py") => "#",
            _ => continue,
        };
        let place = path.strip_prefix(root)?.display().to_string();
        mentions.extend(scan(&place, &shell.read_file(&path)?, sign));
    }
    Ok(())
}

/// The ids that the comments of a file name.
fn scan(path: &str, text: &str, sign: &str) -> Vec<Mention> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let comment = line.trim_start().strip_prefix(sign);
        let Some(ids) = comment.and_then(|rest| rest.trim_start().strip_prefix("req:")) else {
            continue;
        };
        let ids = ids.split(',').map(str::trim).filter(|id| !id.is_empty());
        found.extend(ids.map(|id| (id.to_owned(), format!("{path}:{}", number + 1))));
    }
    found
}

fn split(areas: &Areas, mentions: &[Mention]) -> (BTreeSet<String>, Vec<Mention>) {
    let known = |(id, _): &&Mention| areas.values().any(|ids| ids.contains(id));
    let (known, unknown): (Vec<&Mention>, Vec<&Mention>) = mentions.iter().partition(known);
    let covered = known.into_iter().map(|(id, _)| id.clone()).collect();
    (covered, unknown.into_iter().cloned().collect())
}

fn table(areas: &Areas, covered: &BTreeSet<String>) -> Table {
    let mut table = Table::new(&["area", "ids", "covered", "open"]);
    let mut row = |name: &str, all: usize, done: usize| {
        let counts = [all, done, all - done].map(|count| count.to_string());
        table.row([name.to_owned()].into_iter().chain(counts).collect());
    };
    let (mut all, mut done) = (0, 0);
    for (area, ids) in areas {
        let here = ids.intersection(covered).count();
        row(area, ids.len(), here);
        all += ids.len();
        done += here;
    }
    row("total", all, done);
    table
}

fn print_open(areas: &Areas, covered: &BTreeSet<String>, wanted: &str) {
    for (area, ids) in areas {
        if wanted == area || wanted == "all" {
            for id in ids.difference(covered) {
                println!("open: {area}: {id}");
            }
        }
    }
}

const SKIPPED: [&str; 4] = [".git", "node_modules", "target", "xtask"];

#[cfg(test)]
mod tests {
    use super::{read, scan, split, table};

    const LIST: &str = r#"
        [[requirement]]
        id = "ping-empty"
        area = "lifecycle"
        revisions = ["2024-11-05", "2025-03-26"]
        [[requirement]]
        id = "tools-list"
        area = "tools"
    "#;

    #[test]
    fn reads_comments_alone() {
        let text = "    // req: ping-empty, tools-list\nlet x = \"// req: no\";\n//req: other\n";
        let found = scan("a.rs", text, "//");
        let ids: Vec<&str> = found.iter().map(|(id, _)| id.as_str()).collect();
        assert_eq!(ids, ["ping-empty", "tools-list", "other"]);
        assert_eq!(found[2].1, "a.rs:3");
        assert_eq!(
            scan("a.py", "# req: ping-empty\n// req: no\n", "#").len(),
            1
        );
    }

    #[test]
    fn tells_covered_from_open_and_unknown() {
        let areas = read(LIST).unwrap();
        let mentions = scan("a.rs", "// req: ping-empty\n// req: ping-full\n", "//");
        let (covered, unknown) = split(&areas, &mentions);
        assert_eq!(covered.len(), 1);
        assert_eq!(unknown, [("ping-full".to_owned(), "a.rs:2".to_owned())]);
        let text = table(&areas, &covered).render();
        assert!(text.contains("total     |   2 |       1 |    1"), "{text}");
    }

    #[test]
    fn refuses_a_broken_list() {
        assert!(read(&format!("{LIST}{LIST}")).is_err());
        assert!(read("[[requirement]]\nid = \"x\"\n").is_err());
    }
}
