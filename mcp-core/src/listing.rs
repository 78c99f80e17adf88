//! Listings: rendered once for each revision, cut into pages.

use bytes::{BufMut, Bytes, BytesMut};
use mcp_codec::{Revision, ServerResult, adapter_set, outcome::Page};
use mcp_types::CacheHints;

use crate::{ServerConfig, cursor::Cursors};

/// One listing in one revision's words.
pub(crate) struct Listing {
    key: &'static str,
    names: Vec<String>,
    entries: Vec<Bytes>,
    /// The whole listing, where one page holds it.
    whole: Option<Bytes>,
    page_size: usize,
    hints: CacheHints,
}

impl Listing {
    /// Renders what `revision` may see: `(name, since)` for each entry of `result`, in order.
    pub(crate) fn render(
        revision: Revision,
        key: &'static str,
        names: Vec<String>,
        result: ServerResult,
        config: &ServerConfig,
    ) -> Self {
        let entries = adapter_set::render_entries(revision, result);
        let page_size = config.page_size.get();
        let whole = (entries.len() <= page_size).then(|| member(key, &entries));
        Self {
            key,
            names,
            entries,
            whole,
            page_size,
            hints: config.listing_hints,
        }
    }

    /// The page behind a cursor, or `None` for a cursor that is not one of ours.
    pub(crate) fn page(&self, cursor: Option<&str>, cursors: &Cursors) -> Option<Page> {
        let start = match cursor {
            None => 0,
            Some(cursor) => self.position(&cursors.open(self.key, cursor)?),
        };
        if let (0, Some(whole)) = (start, &self.whole) {
            return Some(Page::new(whole.clone(), None, self.hints));
        }
        let end = start.saturating_add(self.page_size).min(self.entries.len());
        let member = member(self.key, self.entries.get(start..end).unwrap_or_default());
        let last = self
            .names
            .get(end.wrapping_sub(1))
            .filter(|_| end < self.entries.len());
        let next_cursor = match last {
            Some(name) => Some(cursors.after(self.key, &format!("{end}:{name}"))?),
            None => None,
        };
        Some(Page::new(member, next_cursor, self.hints))
    }

    /// Where to go on: behind the named entry, or, if it is gone, at its old place.
    fn position(&self, last: &str) -> usize {
        let (place, name) = last.split_once(':').unwrap_or(("0", last));
        let found = self.names.iter().position(|it| it == name).map(|at| at + 1);
        found
            .unwrap_or_else(|| place.parse().unwrap_or(0))
            .min(self.entries.len())
    }
}

/// `"key":[entry,entry]`.
fn member(key: &str, entries: &[Bytes]) -> Bytes {
    let size: usize = entries.iter().map(|entry| entry.len() + 1).sum();
    let mut out = BytesMut::with_capacity(size + key.len() + 6);
    out.put_u8(b'"');
    out.put(key.as_bytes());
    out.put(&b"\":["[..]);
    for (at, entry) in entries.iter().enumerate() {
        if at > 0 {
            out.put_u8(b',');
        }
        out.put(entry.clone());
    }
    out.put_u8(b']');
    out.freeze()
}
