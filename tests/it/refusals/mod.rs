//! Every way in which the HTTP endpoint refuses a request, as one table: `tests/refusals.md`.

mod credentials;
mod limits;
mod messages;
mod sessions;
mod site;
mod sources;
mod table;

use std::{collections::BTreeSet, fs};

use mcp_core::FailureKind;

use site::Row;
use table::Section;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/refusals.md");

async fn sections() -> Vec<Section> {
    vec![
        (
            "Where it comes from, and in which form",
            sources::rows().await,
        ),
        ("Credentials and scopes", credentials::rows().await),
        ("Messages", messages::rows().await),
        ("Methods and parameters", messages::calls().await),
        ("Sessions and streams", sessions::rows().await),
        ("Limits", limits::rows().await),
    ]
}

// req: security-2026-header-limits
#[tokio::test]
async fn the_table_says_how_everything_is_refused() {
    let sections = sections().await;
    let rows = || sections.iter().flat_map(|(_, rows)| rows);
    let odd: Vec<&Row> = rows().filter(|row| !row.is_in_order()).collect();
    assert!(odd.is_empty(), "no refusals, or nobody heard: {odd:#?}");
    every_kind_is_there(rows());
    let table = table::render(&sections);
    if std::env::var_os("UPDATE_REFUSALS").is_some() {
        fs::write(FILE, table).unwrap();
        return;
    }
    let committed = fs::read_to_string(FILE).unwrap_or_default();
    for (committed, now) in committed.lines().zip(table.lines()) {
        assert_eq!(committed, now, "{}", table::HOW);
    }
    assert_eq!(
        committed.lines().count(),
        table.lines().count(),
        "{}",
        table::HOW
    );
}

fn every_kind_is_there<'a>(rows: impl Iterator<Item = &'a Row>) {
    let log: Vec<&str> = rows.flat_map(|row| &row.log).map(String::as_str).collect();
    let missing: BTreeSet<String> = KINDS
        .iter()
        .filter(|kind| met_over_http(**kind))
        .map(|kind| format!("kind={kind:?} "))
        .filter(|kind| !log.iter().any(|line| line.contains(&**kind)))
        .collect();
    assert!(missing.is_empty(), "no row for {missing:?}");
}

/// Whether a request over HTTP can be refused for that reason. A new reason has to be added here
/// and to [`KINDS`].
fn met_over_http(kind: FailureKind) -> bool {
    match kind {
        // A request comes before the handshake only where there is a connection.
        FailureKind::NotInitialized
        // A failure of the server's own is no refusal.
        | FailureKind::Internal => false,
        FailureKind::Parse
        | FailureKind::InvalidRequest
        | FailureKind::MethodNotFound
        | FailureKind::InvalidParams
        | FailureKind::UnknownName
        | FailureKind::InvalidCursor
        | FailureKind::ResourceNotFound
        | FailureKind::MissingMeta
        | FailureKind::HeaderMismatch
        | FailureKind::UnsupportedVersion
        | FailureKind::MissingCapability
        | FailureKind::InvalidRequestState
        | FailureKind::Forbidden
        | FailureKind::Unauthorized
        | FailureKind::InsufficientScope
        | FailureKind::SessionRequired
        | FailureKind::SessionNotFound
        | FailureKind::MethodNotAllowed
        | FailureKind::NotAcceptable
        | FailureKind::TooLarge
        | FailureKind::HeadersTooLarge
        | FailureKind::TooSlow
        | FailureKind::UnsupportedMediaType
        | FailureKind::TooManyRequests
        | FailureKind::Overloaded => true,
    }
}

const KINDS: [FailureKind; 27] = [
    FailureKind::Parse,
    FailureKind::InvalidRequest,
    FailureKind::NotInitialized,
    FailureKind::MethodNotFound,
    FailureKind::InvalidParams,
    FailureKind::UnknownName,
    FailureKind::InvalidCursor,
    FailureKind::ResourceNotFound,
    FailureKind::MissingMeta,
    FailureKind::HeaderMismatch,
    FailureKind::UnsupportedVersion,
    FailureKind::MissingCapability,
    FailureKind::InvalidRequestState,
    FailureKind::Internal,
    FailureKind::Forbidden,
    FailureKind::Unauthorized,
    FailureKind::InsufficientScope,
    FailureKind::SessionRequired,
    FailureKind::SessionNotFound,
    FailureKind::MethodNotAllowed,
    FailureKind::NotAcceptable,
    FailureKind::TooLarge,
    FailureKind::HeadersTooLarge,
    FailureKind::TooSlow,
    FailureKind::UnsupportedMediaType,
    FailureKind::TooManyRequests,
    FailureKind::Overloaded,
];
