//! A reader of the TOML subset that our lists are written in: tables of one kind, one after the
//! other, whose members are strings and lists of strings.

use anyhow::{Context, Result, bail};

/// One `[[table]]`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    members: Vec<(String, Vec<String>)>,
}

impl Entry {
    /// The strings of a member: one, or those of a list; none where it is absent.
    pub(crate) fn strings(&self, name: &str) -> &[String] {
        self.members
            .iter()
            .find(|(key, _)| key == name)
            .map_or(&[], |(_, values)| values.as_slice())
    }

    pub(crate) fn string(&self, name: &str) -> Option<&str> {
        self.strings(name).first().map(String::as_str)
    }
}

/// Every `[[table]]` of a text.
pub(crate) fn parse(text: &str, table: &str) -> Result<Vec<Entry>> {
    let header = format!("[[{table}]]");
    let mut entries: Vec<Entry> = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if line == header {
            entries.push(Entry::default());
            continue;
        }
        let at = at + 1;
        let (name, value) = line
            .split_once('=')
            .with_context(|| format!("line {at}: neither {header} nor `name = value`"))?;
        let mut value = value.trim().to_owned();
        while value.starts_with('[') && !value.ends_with(']') {
            let (_, more) = lines
                .next()
                .with_context(|| format!("line {at}: the list has no end"))?;
            value.push_str(more.trim());
        }
        let values = strings(&value).with_context(|| format!("line {at}"))?;
        let entry = entries
            .last_mut()
            .with_context(|| format!("line {at}: before the first {header}"))?;
        entry.members.push((name.trim().to_owned(), values));
    }
    Ok(entries)
}

/// A string as TOML writes it.
pub(crate) fn quote(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{escaped}\"")
}

fn strings(value: &str) -> Result<Vec<String>> {
    let inner = value
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .unwrap_or(value);
    let mut found = Vec::new();
    let mut rest = inner.trim();
    while !rest.is_empty() {
        let (text, after) = string(rest)?;
        found.push(text);
        let after = after.trim_start();
        rest = match after.strip_prefix(',') {
            Some(more) => more.trim_start(),
            None if after.is_empty() || after.starts_with('#') => "",
            None => bail!("expected a comma before {after}"),
        };
    }
    Ok(found)
}

fn string(text: &str) -> Result<(String, &str)> {
    let mut rest = text
        .strip_prefix('"')
        .with_context(|| format!("expected a string at {text}"))?
        .chars();
    let mut found = String::new();
    loop {
        match rest.next() {
            Some('"') => return Ok((found, rest.as_str())),
            Some('\\') => match rest.next() {
                Some('n') => found.push('\n'),
                Some(escaped @ ('"' | '\\')) => found.push(escaped),
                other => bail!("{other:?} after a backslash"),
            },
            Some(other) => found.push(other),
            None => bail!("the string has no end: {text}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{parse, quote};

    #[test]
    fn reads_tables_of_strings_and_lists() {
        let entries = parse(
            r#"
            # a comment
            [[rule]]
            id = "one" # why
            text = "say \"x\" = 1, [y]"
            [[rule]]
            id = "two"
            sets = ["a", "b"]
            more = [
                "c",
                "d",
            ]
            "#,
            "rule",
        )
        .unwrap();
        assert_eq!(entries.len(), 2);
        assert_eq!(entries[0].string("id"), Some("one"));
        assert_eq!(entries[0].string("text"), Some("say \"x\" = 1, [y]"));
        assert_eq!(entries[1].strings("sets"), ["a", "b"]);
        assert_eq!(entries[1].strings("more"), ["c", "d"]);
        assert!(entries[1].strings("absent").is_empty());
    }

    #[test]
    fn refuses_what_it_cannot_read() {
        for text in [
            "id = \"before any table\"",
            "[[rule]]\nid = one",
            "[[rule]]\nid = \"open",
            "[[rule]]\nids = [\"a\" \"b\"]",
            "[[rule]]\nids = [\"a\",",
            "[[other]]",
        ] {
            assert!(parse(text, "rule").is_err(), "{text}");
        }
    }

    #[test]
    fn quotes_what_it_reads() {
        let text = "a \"b\" \\ c";
        let entries = parse(&format!("[[x]]\ny = {}", quote(text)), "x").unwrap();
        assert_eq!(entries[0].string("y"), Some(text));
    }
}
