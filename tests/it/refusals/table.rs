//! The table as a file.

use std::fmt::Write as _;

use super::site::Row;

pub(crate) type Section = (&'static str, Vec<Row>);

/// How the file is brought up to date.
pub(crate) const HOW: &str = "read what has changed, then UPDATE_REFUSALS=1 cargo test -p mcp-tests --test it refusals::the_table";

pub(crate) fn render(sections: &[Section]) -> String {
    let mut out = HEAD.to_owned();
    for (title, rows) in sections {
        let _ = write!(out, "\n## {title}\n\n{COLUMNS}");
        for row in rows {
            let code = row.code.map(|it| format!("`{it}`")).unwrap_or_default();
            let headers = row
                .headers
                .iter()
                .map(|(name, value)| format!("{name}: {value}"));
            let cells = [
                row.check.to_owned(),
                row.status.to_string(),
                code,
                quoted([&row.body].into_iter().filter(|it| !it.is_empty())),
                quoted(headers),
                log(row),
            ];
            let _ = writeln!(out, "| {} |", cells.join(" | "));
        }
    }
    out
}

fn log(row: &Row) -> String {
    if row.is_of_the_server() {
        return "(the HTTP server itself refuses it)".to_owned();
    }
    quoted(&row.log)
}

/// Texts as code, below one another.
fn quoted<S: AsRef<str>>(texts: impl IntoIterator<Item = S>) -> String {
    let texts = texts.into_iter().map(|text| {
        let text = text.as_ref().replace('|', "\\|");
        if text.contains('`') {
            format!("`` {text} ``")
        } else {
            format!("`{text}`")
        }
    });
    texts.collect::<Vec<_>>().join("<br>")
}

const HEAD: &str = "\
# Refusals

How the HTTP endpoint refuses a request: which check, what the client reads, what the operator reads.
The order of the sections is the order of the checks; nothing is created before all of them have passed.

Written by `tests/it/refusals`, which sends each of these requests. To write it anew:

```sh
UPDATE_REFUSALS=1 cargo test -p mcp-tests --test it refusals::the_table
```
";

const COLUMNS: &str = "\
| Check | Status | Code | Body | Headers | Log |
|---|---|---|---|---|---|
";
