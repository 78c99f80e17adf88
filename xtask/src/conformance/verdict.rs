//! What the suite found, and whether it is what the baseline expects.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};

use super::baseline::{self, Entry};
use crate::json::Json;

/// Every scenario of one run of the suite.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) set: String,
    pub(crate) scenarios: BTreeMap<String, Scenario>,
}

/// The checks of one scenario.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Scenario {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) warned: usize,
    pub(crate) skipped: usize,
    /// The checks that failed or warned, and the first thing each had to say.
    pub(crate) complaints: BTreeMap<String, String>,
}

impl Scenario {
    /// Reads a `checks.json`.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let mut scenario = Self::default();
        for check in Json::parse(text)?.list() {
            let id = check.get("id").text().context("a check without an id")?;
            let status = check.get("status").text().unwrap_or_default();
            match status {
                "SUCCESS" => scenario.passed += 1,
                "SKIPPED" => scenario.skipped += 1,
                "INFO" => {}
                "WARNING" => scenario.warned += 1,
                _ => scenario.failed += 1,
            }
            if !["SUCCESS", "SKIPPED", "INFO"].contains(&status) {
                let message = check.get("errorMessage").text().unwrap_or("no message");
                let message: String = message.chars().take(MESSAGE_CHARS).collect();
                let said = format!("{status}: {message}");
                scenario.complaints.entry(id.to_owned()).or_insert(said);
            }
        }
        Ok(scenario)
    }
}

/// The scenario's name in that of a result folder, `server-NAME-2026-11-29T17-59-10-034Z`.
pub(crate) fn scenario_name(folder: &str) -> Option<&str> {
    let rest = folder.strip_prefix("server-")?;
    let (name, stamp) = rest.split_at_checked(rest.len().checked_sub(STAMP.len())?)?;
    let fits = stamp
        .chars()
        .zip(STAMP.chars())
        .all(|(found, wanted)| found == wanted || (wanted == '0' && found.is_ascii_digit()));
    (fits && !name.is_empty()).then_some(name)
}

/// Everything that is not as the baseline says, as sentences.
pub(crate) fn judge(outcomes: &[Outcome], baseline: &[Entry]) -> Vec<String> {
    let mut problems = Vec::new();
    for outcome in outcomes {
        for (name, scenario) in &outcome.scenarios {
            for (check, said) in &scenario.complaints {
                if !baseline
                    .iter()
                    .any(|it| it.covers(&outcome.set, name, check))
                {
                    let set = &outcome.set;
                    problems.push(format!("{set} | {name} | {check}: {said}"));
                }
            }
        }
    }
    for entry in baseline {
        problems.extend(
            entry
                .sets
                .iter()
                .filter_map(|set| stale(outcomes, entry, set)),
        );
    }
    problems
}

/// Why an entry has no place in the baseline, if it has none.
fn stale(outcomes: &[Outcome], entry: &Entry, set: &str) -> Option<String> {
    let what = match &entry.check {
        Some(check) => format!("{set} | {} | {check}", entry.scenario),
        None => format!("{set} | {}", entry.scenario),
    };
    let Some(outcome) = outcomes.iter().find(|outcome| outcome.set == set) else {
        return Some(format!("{what}: stale, there is no such set"));
    };
    let Some(scenario) = outcome.scenarios.get(&entry.scenario) else {
        return Some(format!("{what}: stale, the set has no such scenario"));
    };
    let mut complaints = scenario.complaints.keys();
    let fails = complaints.any(|check| entry.covers(set, &entry.scenario, check));
    (!fails).then(|| format!("{what}: stale, it does not fail"))
}

/// The scenarios of a run that fail as the baseline says they do.
pub(crate) fn baselined(outcome: &Outcome, baseline: &[Entry]) -> usize {
    let expected = |(name, scenario): &(&String, &Scenario)| {
        let mut complaints = scenario.complaints.keys();
        complaints.any(|check| {
            baseline
                .iter()
                .any(|it| it.covers(&outcome.set, name, check))
        })
    };
    outcome.scenarios.iter().filter(expected).count()
}

/// The baseline that these outcomes would pass: entries that still hold, and new ones by check.
pub(crate) fn bless(outcomes: &[Outcome], old: &[Entry]) -> Vec<Entry> {
    let mut sets: BTreeMap<(String, Option<String>), BTreeSet<usize>> = BTreeMap::new();
    for (at, outcome) in outcomes.iter().enumerate() {
        for (name, scenario) in &outcome.scenarios {
            for check in scenario.complaints.keys() {
                let whole = old
                    .iter()
                    .any(|it| it.check.is_none() && it.scenario == *name);
                let check = (!whole).then(|| check.clone());
                sets.entry((name.clone(), check)).or_default().insert(at);
            }
        }
    }
    let entry = |((scenario, check), at): ((String, Option<String>), BTreeSet<usize>)| {
        let reason = old
            .iter()
            .find(|it| it.scenario == scenario && (it.check == check || it.check.is_none()))
            .map_or(baseline::NO_REASON, |it| &it.reason)
            .to_owned();
        let sets = at.iter().filter_map(|at| outcomes.get(*at));
        Entry {
            scenario,
            check,
            sets: sets.map(|outcome| outcome.set.clone()).collect(),
            reason,
        }
    };
    sets.into_iter().map(entry).collect()
}

const MESSAGE_CHARS: usize = 240;
const STAMP: &str = "-0000-00-00T00-00-00-000Z";

#[cfg(test)]
mod tests {
    use super::{Entry, Outcome, Scenario, baselined, bless, judge, scenario_name};

    const CHECKS: &str = r#"[
        {"id": "one", "status": "SUCCESS"},
        {"id": "two", "status": "FAILURE", "errorMessage": "no such tool"},
        {"id": "two", "status": "FAILURE", "errorMessage": "again"},
        {"id": "three", "status": "WARNING"},
        {"id": "four", "status": "SKIPPED"},
        {"id": "five", "status": "INFO"}
    ]"#;

    fn outcomes() -> [Outcome; 2] {
        ["2026-07-28", "all"].map(|set| {
            let mut outcome = Outcome {
                set: set.to_owned(),
                ..Outcome::default()
            };
            let scenarios = [("good", "[]"), ("bad", CHECKS)];
            for (name, checks) in scenarios {
                let scenario = Scenario::parse(checks).unwrap();
                outcome.scenarios.insert(name.to_owned(), scenario);
            }
            outcome
        })
    }

    fn entry(scenario: &str, check: Option<&str>, sets: &[&str]) -> Entry {
        Entry {
            scenario: scenario.to_owned(),
            check: check.map(str::to_owned),
            sets: sets.iter().map(|set| (*set).to_owned()).collect(),
            reason: "later".to_owned(),
        }
    }

    #[test]
    fn counts_checks() {
        let scenario = Scenario::parse(CHECKS).unwrap();
        let counts = [
            scenario.passed,
            scenario.failed,
            scenario.warned,
            scenario.skipped,
        ];
        assert_eq!(counts, [1, 2, 1, 1]);
        assert_eq!(scenario.complaints["two"], "FAILURE: no such tool");
        assert!(Scenario::parse("{").is_err());
    }

    #[test]
    fn reads_scenario_names() {
        let name = scenario_name("server-server-sse-polling-2026-11-29T17-59-06-054Z");
        assert_eq!(name, Some("server-sse-polling"));
        let dated = scenario_name("server-json-schema-2020-12-2026-11-29T17-59-06-054Z");
        assert_eq!(dated, Some("json-schema-2020-12"));
        for other in [
            "server-x",
            "summary.json",
            "server--2026-11-29T17-59-06-054Z",
            "é",
        ] {
            assert_eq!(scenario_name(other), None, "{other}");
        }
    }

    #[test]
    fn what_fails_is_listed() {
        let both: &[&str] = &["2026-07-28", "all"];
        assert_eq!(judge(&outcomes(), &[]).len(), 4);
        assert_eq!(judge(&outcomes(), &[entry("bad", None, both)]).len(), 0);
        assert_eq!(judge(&outcomes(), &[entry("bad", None, &["all"])]).len(), 2);
        assert_eq!(
            judge(&outcomes(), &[entry("bad", Some("two"), both)]).len(),
            2
        );
    }

    #[test]
    fn what_is_listed_fails() {
        let sure = entry("bad", None, &["2026-07-28", "all"]);
        for stale in [
            entry("good", None, &["all"]),
            entry("gone", None, &["all"]),
            entry("bad", Some("one"), &["all"]),
            entry("bad", Some("four"), &["all"]),
            entry("bad", None, &["2025-11-25"]),
        ] {
            let problems = judge(&outcomes(), &[sure.clone(), stale]);
            assert_eq!(problems.len(), 1, "{problems:?}");
            assert!(problems[0].contains("stale"), "{problems:?}");
        }
    }

    #[test]
    fn a_blessed_baseline_passes_once_it_has_reasons() {
        let old = [
            entry("bad", Some("two"), &["all"]),
            entry("good", None, &["all"]),
        ];
        let new = bless(&outcomes(), &old);
        assert!(judge(&outcomes(), &new).is_empty());
        let reasons: Vec<&str> = new.iter().map(|it| it.reason.as_str()).collect();
        assert_eq!(reasons, ["?", "later"]);
        assert_eq!(new[1].sets, ["2026-07-28", "all"]);
        let whole = bless(&outcomes(), &[entry("bad", None, &["all"])]);
        assert_eq!(whole, [entry("bad", None, &["2026-07-28", "all"])]);
        assert_eq!(baselined(&outcomes()[0], &whole), 1);
    }
}
