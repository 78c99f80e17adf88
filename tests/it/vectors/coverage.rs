//! Which cases there have to be, and what each of them proves.

use std::collections::BTreeSet;

use super::{
    all,
    cases::{Cases, IN_EVERY_REVISION, IN_ONE_REVISION, OVER_STREAMABLE_HTTP, WITH_A_HANDSHAKE},
    newest_cases::WITHOUT_A_HANDSHAKE,
};

const LEGACY: &[&str] = &["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const STREAMABLE: &[&str] = &["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];
const NEWEST: &[&str] = &["2026-07-28"];

/// A case that was lost proves nothing any more, and one that is not listed has no reviewer.
#[test]
fn every_case_is_there_and_no_other() {
    let mut wanted = BTreeSet::new();
    let mut want = |dates: &[&str], cases: Cases| {
        for date in dates {
            for (method, cases) in cases {
                wanted.extend(cases.iter().map(|case| format!("{date}/{method}/{case}")));
            }
        }
    };
    want(LEGACY, IN_EVERY_REVISION);
    want(NEWEST, IN_EVERY_REVISION);
    want(LEGACY, WITH_A_HANDSHAKE);
    want(STREAMABLE, OVER_STREAMABLE_HTTP);
    want(NEWEST, WITHOUT_A_HANDSHAKE);
    for (date, cases) in IN_ONE_REVISION {
        want(&[date], cases);
    }
    let found: BTreeSet<String> = all().iter().map(super::Found::name).collect();
    let missing: Vec<_> = wanted.difference(&found).collect();
    let unlisted: Vec<_> = found.difference(&wanted).collect();
    assert!(
        missing.is_empty() && unlisted.is_empty(),
        "missing {missing:#?}, unlisted {unlisted:#?}"
    );
}
