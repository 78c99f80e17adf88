//! The checks that are known to fail, each with the reason.

use anyhow::{Context, Result, bail};

use crate::entries;

/// One scenario, or one check of it, that fails in some sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) scenario: String,
    /// `None` stands for whatever fails in the scenario.
    pub(crate) check: Option<String>,
    pub(crate) sets: Vec<String>,
    pub(crate) reason: String,
}

impl Entry {
    pub(crate) fn covers(&self, set: &str, scenario: &str, check: &str) -> bool {
        self.scenario == scenario
            && self.sets.iter().any(|own| own == set)
            && self.check.as_deref().is_none_or(|own| own == check)
    }
}

/// Reads the file; every entry has a scenario, its sets and a reason.
pub(crate) fn parse(text: &str) -> Result<Vec<Entry>> {
    let mut found = Vec::new();
    for entry in entries::parse(text, "expected")? {
        let scenario = entry
            .string("scenario")
            .context("an entry without a scenario")?;
        let sets = entry.strings("sets").to_vec();
        let reason = entry.string("reason").unwrap_or_default();
        if sets.is_empty() {
            bail!("{scenario}: no `sets`");
        }
        if reason.trim().is_empty() || reason == NO_REASON {
            bail!("{scenario}: no `reason`; say why it is expected to fail");
        }
        found.push(Entry {
            scenario: scenario.to_owned(),
            check: entry.string("check").map(str::to_owned),
            sets,
            reason: reason.to_owned(),
        });
    }
    refuse_doubles(&found)?;
    Ok(found)
}

fn refuse_doubles(found: &[Entry]) -> Result<()> {
    for (at, one) in found.iter().enumerate() {
        for other in found.iter().skip(at + 1) {
            let same_scenario = one.scenario == other.scenario;
            let overlap = one.check == other.check || one.check.is_none() || other.check.is_none();
            let shared = one.sets.iter().find(|set| other.sets.contains(set));
            if let (true, true, Some(set)) = (same_scenario, overlap, shared) {
                bail!("{} is listed twice for the set {set}", one.scenario);
            }
        }
    }
    Ok(())
}

/// The file's text.
pub(crate) fn render(entries: &[Entry]) -> String {
    let mut text = HEADER.to_owned();
    for entry in entries {
        let sets: Vec<String> = entry.sets.iter().map(|set| entries::quote(set)).collect();
        text.push_str("\n[[expected]]\n");
        text.push_str(&format!("scenario = {}\n", entries::quote(&entry.scenario)));
        if let Some(check) = &entry.check {
            text.push_str(&format!("check = {}\n", entries::quote(check)));
        }
        text.push_str(&format!("sets = [{}]\n", sets.join(", ")));
        text.push_str(&format!("reason = {}\n", entries::quote(&entry.reason)));
    }
    text
}

/// What `--bless` writes where nobody has said why yet; the next run refuses it.
pub(crate) const NO_REASON: &str = "?";

const HEADER: &str = "\
# What the conformance suite is known to fail, read by `cargo xtask conformance`.
# A failure or warning outside this list fails the run, and so does an entry that passes.
# `check` is left out where every failure of the scenario is meant; `sets` are the runs it is for.
# `cargo xtask conformance --bless` writes the list anew and keeps the reasons.
";

#[cfg(test)]
mod tests {
    use super::{parse, render};

    const FILE: &str = r#"
        [[expected]]
        scenario = "a"
        sets = ["all"]
        reason = "no \"a\" yet"
        [[expected]]
        scenario = "b"
        check = "b-one"
        sets = ["all", "2026-07-28"]
        reason = "later"
    "#;

    #[test]
    fn reads_what_it_writes() {
        let entries = parse(FILE).unwrap();
        assert_eq!(parse(&render(&entries)).unwrap(), entries);
        assert!(entries[0].covers("all", "a", "anything"));
        assert!(!entries[0].covers("2026-07-28", "a", "anything"));
        assert!(entries[1].covers("2026-07-28", "b", "b-one"));
        assert!(!entries[1].covers("all", "b", "b-two"));
    }

    #[test]
    fn every_entry_has_a_reason_and_stands_alone() {
        for wrong in [
            FILE.replace("later", ""),
            FILE.replace("later", "?"),
            FILE.replace("sets = [\"all\"]\n", ""),
            FILE.replace("scenario = \"a\"", ""),
            FILE.replace("scenario = \"b\"", "scenario = \"a\""),
            format!("{FILE}{FILE}"),
        ] {
            assert!(parse(&wrong).is_err(), "{wrong}");
        }
    }
}
