//! Listings: rendered once for each revision, cut into pages.

use bytes::{BufMut, Bytes, BytesMut};
use mcp_codec::{Revision, ServerResult, adapter_set, outcome::Page};
use mcp_types::{CacheHints, CacheScope};

use crate::{ServerConfig, auth::Needs, caller::Caller, cursor::Cursors};

/// One listing in one revision's words.
pub(crate) struct Listing {
    key: &'static str,
    listed: Vec<Listed>,
    entries: Vec<Bytes>,
    /// The whole listing, where one page holds it.
    whole: Option<Bytes>,
    /// Whether any entry is not for everybody.
    restricted: bool,
    page_size: usize,
    hints: CacheHints,
}

/// What is known of an entry besides its text.
pub(crate) struct Listed {
    pub(crate) name: String,
    pub(crate) needs: Needs,
}

/// Who reads a listing, and which entries that one may see, where it is not all of them.
pub(crate) struct Reader<'a, P> {
    pub(crate) cursors: &'a Cursors,
    pub(crate) caller: &'a Caller,
    pub(crate) permitted: Option<P>,
}

impl Listing {
    /// Renders what `revision` may see: `listed` for each entry of `result`, in order.
    pub(crate) fn render(
        revision: Revision,
        key: &'static str,
        listed: Vec<Listed>,
        result: ServerResult,
        config: &ServerConfig,
    ) -> Self {
        let entries = adapter_set::render_entries(revision, result);
        let page_size = config.page_size.get();
        let whole = (entries.len() <= page_size).then(|| member(key, entries.iter()));
        Self {
            key,
            restricted: listed.iter().any(|it| !it.needs.is_nothing()),
            listed,
            entries,
            whole,
            page_size,
            hints: config.listing_hints,
        }
    }

    /// The page behind a cursor, or `None` for a cursor that is not one of ours.
    pub(crate) fn page<P: Fn(&Needs) -> bool>(
        &self,
        cursor: Option<&str>,
        reader: &Reader<'_, P>,
    ) -> Option<Page> {
        let start = match cursor {
            None => 0,
            Some(cursor) => {
                let last = reader.cursors.open(reader.caller, self.key, cursor)?;
                self.position(&last)
            }
        };
        let permitted = reader.permitted.as_ref().filter(|_| self.restricted);
        if let (0, Some(whole), None) = (start, &self.whole, permitted) {
            return Some(Page::new(whole.clone(), None, self.hints));
        }
        let mut hints = self.hints;
        if permitted.is_some() {
            hints.cache_scope = CacheScope::Private;
        }
        let all = self.listed.iter().zip(&self.entries).enumerate();
        let mut visible = all
            .skip(start)
            .filter(|(_, (listed, _))| permitted.is_none_or(|permitted| permitted(&listed.needs)));
        let page: Vec<_> = visible.by_ref().take(self.page_size).collect();
        let last = page.last().filter(|_| visible.next().is_some());
        let next_cursor = match last {
            Some((at, (Listed { name, .. }, _))) => {
                let place = format!("{}:{name}", at + 1);
                Some(reader.cursors.after(reader.caller, self.key, &place)?)
            }
            None => None,
        };
        let member = member(self.key, page.iter().map(|(_, (_, entry))| *entry));
        Some(Page::new(member, next_cursor, hints))
    }

    /// Where to go on: behind the named entry, or, if it is gone, at its old place.
    fn position(&self, last: &str) -> usize {
        let (place, name) = last.split_once(':').unwrap_or(("0", last));
        let found = self.listed.iter().position(|it| it.name == name);
        found
            .map_or_else(|| place.parse().unwrap_or(0), |at| at + 1)
            .min(self.entries.len())
    }
}

/// `"key":[entry,entry]`.
fn member<'a>(key: &str, entries: impl Iterator<Item = &'a Bytes> + Clone) -> Bytes {
    let size: usize = entries.clone().map(|entry| entry.len() + 1).sum();
    let mut out = BytesMut::with_capacity(size + key.len() + 6);
    out.put_u8(b'"');
    out.put(key.as_bytes());
    out.put(&b"\":["[..]);
    for (at, entry) in entries.enumerate() {
        if at > 0 {
            out.put_u8(b',');
        }
        out.put_slice(entry);
    }
    out.put_u8(b']');
    out.freeze()
}
