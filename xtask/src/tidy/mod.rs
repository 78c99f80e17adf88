//! The rules of the code that no compiler knows.

mod dependencies;
mod rust;

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Result, bail};
use xshell::Shell;

use crate::workspace::Workspace;
use rust::Source;

/// Reports long files and functions, and fails where a rule is broken.
pub(crate) fn run(shell: &Shell, workspace: &Workspace) -> Result<()> {
    let mut errors = dependencies::check(&workspace.metadata)?;
    let sources = sources(shell, workspace)?;
    let dates = dates(&sources);
    for source in &sources {
        errors.extend(check(source, &dates));
    }
    for line in sources.iter().flat_map(long_parts) {
        println!("long: {line}");
    }
    for error in &errors {
        println!("error: {error}");
    }
    if !errors.is_empty() {
        bail!("tidy: {} rules broken", errors.len());
    }
    println!("tidy: {} files in order", sources.len());
    Ok(())
}

/// Every Rust file of the members, by its path from the root.
fn sources(shell: &Shell, workspace: &Workspace) -> Result<Vec<Source>> {
    let mut sources = Vec::new();
    for folder in shell.read_dir(&workspace.root)? {
        if folder.join("Cargo.toml").exists() {
            walk(shell, &workspace.root, &folder, &mut sources)?;
        }
    }
    Ok(sources)
}

fn walk(shell: &Shell, root: &Path, folder: &Path, sources: &mut Vec<Source>) -> Result<()> {
    for path in shell.read_dir(folder)? {
        if path.is_dir() {
            if !path.ends_with("target") && !path.join("Cargo.toml").exists() {
                walk(shell, root, &path, sources)?;
            }
        } else if path.extension().is_some_and(|end| end == "rs") {
            let name = path.strip_prefix(root)?.display().to_string();
            sources.push(Source::new(&name, &shell.read_file(&path)?));
        }
    }
    Ok(())
}

/// The protocol dates: one for each revision file of the codec, and those there always were.
fn dates(sources: &[Source]) -> BTreeSet<String> {
    let names = sources.iter().filter_map(|source| {
        let name = source.path.strip_prefix("mcp-codec/src/v")?;
        name.split(['.', '/']).next()
    });
    let found = names.map(|name| name.replace('_', "-"));
    found.chain(KNOWN_DATES.map(str::to_owned)).collect()
}

fn check(source: &Source, dates: &BTreeSet<String>) -> Vec<String> {
    let mut errors = Vec::new();
    let start = source.text.trim_start();
    let says = start.starts_with("//!") || start.starts_with("#![doc = include_str!(");
    if is_module(&source.path) && !says {
        errors.push(format!("{}: no `//!` line says what it is", source.path));
    }
    for (number, line) in source.bare.lines().enumerate() {
        for word in FORBIDDEN.iter().filter(|word| line.contains(**word)) {
            errors.push(format!("{}:{}: {word}", source.path, number + 1));
        }
    }
    if !may_name_dates(&source.path) {
        errors.extend(dated_lines(source, dates));
    }
    errors
}

fn dated_lines(source: &Source, dates: &BTreeSet<String>) -> Vec<String> {
    let mut errors = Vec::new();
    for (number, line) in source.strings.lines().enumerate() {
        for date in dates {
            let as_name = line.contains(&date.replace('-', "_")) && !line.starts_with("mod ");
            if line.contains(date) || as_name {
                let number = number + 1;
                errors.push(format!(
                    "{}:{number}: names the protocol {date}",
                    source.path
                ));
            }
        }
    }
    errors
}

fn is_module(path: &str) -> bool {
    path.contains("/src/") && !path.ends_with("/tests.rs")
}

/// Revision files, the table of them, and everything that is no source of a crate or example.
fn may_name_dates(path: &str) -> bool {
    let is_source = path.contains("/src/") && !path.ends_with("/tests.rs");
    let is_ours = path.starts_with("mcp-") || path.starts_with("examples/");
    let is_revision = path
        .strip_prefix("mcp-codec/src/")
        .is_some_and(|name| name == "adapter_set.rs" || name.starts_with("v20"));
    !(is_source && is_ours) || is_revision
}

/// Files and functions over the budget: a report, for some have a reason.
fn long_parts(source: &Source) -> Vec<String> {
    let mut found = Vec::new();
    let length = source.length();
    if is_module(&source.path) && length > FILE_LINES {
        found.push(format!("{}: {length} lines without tests", source.path));
    }
    let functions = source.functions();
    let is_test = source.path.ends_with("/tests.rs");
    let long = functions
        .iter()
        .filter(|it| it.2 > FUNCTION_LINES && !is_test);
    for (name, line, length) in long {
        found.push(format!(
            "{}:{line}: fn {name} has {length} lines",
            source.path
        ));
    }
    found
}

const FILE_LINES: usize = 400;
const FUNCTION_LINES: usize = 40;
const FORBIDDEN: [&str; 3] = ["todo!(", "unimplemented!(", "#[ignore"];
const KNOWN_DATES: [&str; 5] = [
    "2024-11-05",
    "2025-03-26",
    "2025-06-18",
    "2025-11-25",
    "2026-07-28",
];

#[cfg(test)]
mod tests {
    use super::{Source, check, dates, long_parts};

    fn errors(path: &str, text: &str) -> usize {
        let source = Source::new(path, text);
        let dates = dates(&[Source::new("mcp-codec/src/v2027_01_31.rs", "")]);
        check(&source, &dates).len()
    }

    #[test]
    fn dates_stay_in_their_files() {
        let text = "//! 2025-11-25\nconst X: &str = \"2025-11-25\"; // 2025-11-25\n";
        assert_eq!(errors("mcp-core/src/a.rs", text), 1);
        assert_eq!(errors("examples/src/a.rs", text), 1);
        assert_eq!(errors("mcp-codec/src/legacy.rs", text), 1);
        assert_eq!(errors("mcp-codec/src/v2025_11_25.rs", text), 0);
        assert_eq!(errors("mcp-codec/src/v2025_11_25/tables.rs", text), 0);
        assert_eq!(errors("mcp-codec/src/adapter_set.rs", text), 0);
        assert_eq!(errors("mcp-core/src/a/tests.rs", text), 0);
        assert_eq!(errors("tests/it/main.rs", text), 0);
        let test = "//! .\n#[cfg(test)]\nmod tests {\n    const X: &str = \"2025-11-25\";\n}\n";
        assert_eq!(errors("mcp-core/src/a.rs", test), 0);
    }

    #[test]
    fn dates_in_names_and_dates_to_come_count_too() {
        let name = "//! .\nuse mcp_codec::V2025_11_25;\n";
        assert_eq!(errors("mcp-core/src/a.rs", name), 1);
        assert_eq!(
            errors("mcp-codec/src/lib.rs", "//! .\nmod v2025_11_25;\n"),
            0
        );
        let next = "//! .\nconst X: &str = \"2027-01-31\";\n";
        assert_eq!(errors("mcp-core/src/a.rs", next), 1);
    }

    #[test]
    fn modules_say_what_they_are() {
        assert_eq!(errors("mcp-core/src/a.rs", "use x;\n"), 1);
        assert_eq!(errors("mcp-core/src/a.rs", "\n//! A thing.\nuse x;\n"), 0);
        let read = "#![doc = include_str!(\"../README.md\")]\nuse x;\n";
        assert_eq!(errors("mcp-core/src/lib.rs", read), 0);
        assert_eq!(errors("mcp-core/src/a/tests.rs", "use x;\n"), 0);
        assert_eq!(errors("tests/it/a.rs", "use x;\n"), 0);
    }

    #[test]
    fn nothing_is_left_for_later() {
        let later = "//! .\nfn a() {\n    todo!()\n}\n";
        assert_eq!(errors("mcp-core/src/a.rs", later), 1);
        let ignored = "//! .\n#[cfg(test)]\nmod tests {\n    #[ignore = \"slow\"]\n}\n";
        assert_eq!(errors("mcp-core/src/a.rs", ignored), 1);
        assert_eq!(errors("tests/it/a.rs", "fn a() { unimplemented!() }\n"), 1);
        assert_eq!(
            errors(
                "mcp-core/src/a.rs",
                "//! todo!(\nconst X: &str = \"todo!(\";\n"
            ),
            0
        );
    }

    #[test]
    fn long_parts_are_reported() {
        let function = format!("//! .\nfn long() {{\n{}}}\n", "    x();\n".repeat(40));
        let source = Source::new("mcp-core/src/a.rs", &function);
        assert_eq!(
            long_parts(&source),
            ["mcp-core/src/a.rs:2: fn long has 42 lines"]
        );
        let file = Source::new("mcp-core/src/a.rs", &"\n".repeat(401));
        assert_eq!(
            long_parts(&file),
            ["mcp-core/src/a.rs: 401 lines without tests"]
        );
    }
}
