//! Canonical JSON: Python's `json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"))`.

use std::{cmp::Ordering, ops::Range};

use crate::{
    error::JsonError,
    json::{Literal, Number, Sink, scan},
    number,
    text::{compare_escaped, transcribe},
};

/// The canonical form of a JSON text: keys sorted by code point at every depth, the last of a
/// repeated key, no white space, ASCII only, numbers as Python writes them.
///
/// Works on the text, so it neither rounds a number nor depends on any cargo feature, and uses no
/// recursion, so depth costs nothing but memory. Takes time linear in the text, but for sorting.
///
/// `NaN`, `Infinity` and `-Infinity` are accepted as Python accepts them.
///
/// # Errors
///
/// The text is not JSON.
///
/// # Example
///
/// ```
/// let canonical = mcp_state::canonical_json(r#"{"b": 1.0, "a": [-0, 1e5, "é"], "b": 2}"#)?;
/// assert_eq!(canonical, r#"{"a":[0,100000.0,"\u00e9"],"b":2}"#);
/// # Ok::<(), mcp_state::JsonError>(())
/// ```
pub fn canonical_json(text: &str) -> Result<String, JsonError> {
    // What is written is ASCII by construction.
    String::from_utf8(canonical(text)?).map_err(|_| JsonError::new(text.len()))
}

/// [`canonical_json`], as the bytes that are hashed.
pub(crate) fn canonical(text: &str) -> Result<Vec<u8>, JsonError> {
    let mut writer = Writer {
        out: Vec::with_capacity(text.len()),
        ..Writer::default()
    };
    scan(text, &mut writer)?;
    Ok(writer.finish())
}

/// Writes every value in its canonical form but in the order of the text, and notes the objects
/// whose members have to be put into another order afterwards.
#[derive(Default)]
struct Writer {
    out: Vec<u8>,
    objects: Vec<Object>,
    /// The members of all open objects, innermost last.
    members: Vec<Member>,
    unsorted: Vec<Unsorted>,
    /// The members of unsorted objects, in their final order.
    order: Vec<Member>,
}

/// An object that is still open.
struct Object {
    start: usize,
    first_member: usize,
    first_unsorted: usize,
    sorted: bool,
}

/// Where a member begins and ends in the output, and where its key ends.
#[derive(Clone)]
struct Member {
    start: usize,
    key_end: usize,
    end: usize,
    /// Whether the key has no escape.
    plain: bool,
    /// While it is open: how many unsorted objects came before it. Then: how many are in it.
    unsorted: usize,
}

/// An object to reorder: where it is in the output, and its members in `order`.
struct Unsorted {
    place: Range<usize>,
    members: Range<usize>,
    /// How many unsorted objects are inside.
    inside: usize,
}

impl Sink for Writer {
    fn open(&mut self, bracket: u8) {
        if bracket == b'{' {
            self.objects.push(Object {
                start: self.out.len(),
                first_member: self.members.len(),
                first_unsorted: self.unsorted.len(),
                sorted: true,
            });
        }
        self.out.push(bracket);
    }

    fn close(&mut self, bracket: u8) {
        if bracket == b'}'
            && let Some(object) = self.objects.pop()
        {
            self.end_member(object.first_member);
            if !object.sorted {
                self.plan(&object);
            }
            self.members.truncate(object.first_member);
        }
        self.out.push(bracket);
    }

    fn comma(&mut self) {
        self.out.push(b',');
    }

    fn key(&mut self, key: Literal<'_>) {
        let start = self.out.len();
        self.string(key);
        let key_end = self.out.len();
        self.out.push(b':');
        let member = Member {
            start,
            plain: key.plain,
            key_end,
            end: start,
            unsorted: self.unsorted.len(),
        };
        if let Some(object) = self.objects.last_mut()
            && let Some(before) = self
                .members
                .get_mut(object.first_member..)
                .and_then(<[_]>::last_mut)
        {
            object.sorted &= before.compare(&member, &self.out).is_lt();
            before.close(start - 1, self.unsorted.len());
        }
        self.members.push(member);
    }

    fn string(&mut self, string: Literal<'_>) {
        self.out.push(b'"');
        if string.plain {
            self.out.extend_from_slice(string.raw.as_bytes());
        } else {
            transcribe(&mut self.out, string.raw);
        }
        self.out.push(b'"');
    }

    fn number(&mut self, number: Number<'_>) {
        number::canonical(&mut self.out, number);
    }

    fn word(&mut self, word: &'static str) {
        self.out.extend_from_slice(word.as_bytes());
    }
}

impl Writer {
    /// Notes the end of the last member of an object, if it has one.
    fn end_member(&mut self, first_member: usize) {
        if let Some(last) = self
            .members
            .get_mut(first_member..)
            .and_then(<[_]>::last_mut)
        {
            last.close(self.out.len(), self.unsorted.len());
        }
    }

    /// Sorts the members of an object that is about to be closed; of equal keys the last stays.
    fn plan(&mut self, object: &Object) {
        let (first, out) = (self.order.len(), &self.out);
        // Stable, and reversed first, so that the last of equal keys comes before the others.
        let members = self.members.get(object.first_member..).unwrap_or_default();
        self.order.extend(members.iter().rev().cloned());
        let sorted = self.order.get_mut(first..).unwrap_or_default();
        sorted.sort_by(|left, right| left.compare(right, out));
        let is_repeated =
            |pair: &[Member]| matches!(pair, [kept, next] if kept.key(out) == next.key(out));
        if sorted.windows(2).any(is_repeated) {
            let mut sorted = self.order.split_off(first);
            sorted.dedup_by(|next, kept| next.key(out) == kept.key(out));
            self.order.append(&mut sorted);
        }
        self.unsorted.push(Unsorted {
            place: object.start..out.len() + 1,
            members: first..self.order.len(),
            inside: self.unsorted.len() - object.first_unsorted,
        });
    }

    fn finish(mut self) -> Vec<u8> {
        if self.unsorted.is_empty() {
            return self.out;
        }
        self.unsorted
            .sort_unstable_by_key(|object| object.place.start);
        self.reorder()
    }

    /// Copies the output once more, each unsorted object's members in their order.
    fn reorder(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.out.len());
        let mut todo = vec![Todo::Copy {
            place: 0..self.out.len(),
            next: 0,
        }];
        while let Some(top) = todo.last_mut() {
            let inner = match top {
                Todo::Copy { place, next } => self.copy(&mut out, place, next),
                Todo::Members { members, inside } => self.copy_members(&mut out, members, inside),
            };
            if let Some(inner) = inner {
                todo.push(inner);
            } else {
                todo.pop();
            }
        }
        out
    }

    /// Copies a place up to its first unsorted object, whose members are to follow, or its end.
    fn copy(&self, out: &mut Vec<u8>, place: &mut Range<usize>, next: &mut usize) -> Option<Todo> {
        let object = self
            .unsorted
            .get(*next)
            .filter(|it| it.place.start < place.end);
        let end = object.map_or(place.end, |it| it.place.start);
        out.extend_from_slice(self.out.get(place.start..end).unwrap_or_default());
        let object = object?;
        out.push(b'{');
        place.start = object.place.end;
        let inside = *next + 1..*next + 1 + object.inside;
        *next = inside.end;
        Some(Todo::Members {
            members: object.members.clone(),
            inside,
        })
    }

    /// Copies members up to the first that has unsorted objects in it, or the end of the object.
    fn copy_members(
        &self,
        out: &mut Vec<u8>,
        members: &mut Range<usize>,
        inside: &Range<usize>,
    ) -> Option<Todo> {
        for member in members.map_while(|at| self.order.get(at)) {
            if out.last() != Some(&b'{') {
                out.push(b',');
            }
            let place = member.start..member.end;
            if member.unsorted > 0 {
                let objects = self.unsorted.get(inside.clone()).unwrap_or_default();
                let before = objects.partition_point(|it| it.place.start < place.start);
                return Some(Todo::Copy {
                    place,
                    next: inside.start + before,
                });
            }
            out.extend_from_slice(self.out.get(place).unwrap_or_default());
        }
        out.push(b'}');
        None
    }
}

impl Member {
    /// The escaped key, without its quotes.
    fn key<'a>(&self, out: &'a [u8]) -> &'a [u8] {
        out.get(self.start + 1..self.key_end - 1)
            .unwrap_or_default()
    }

    /// Orders by key.
    fn compare(&self, other: &Self, out: &[u8]) -> Ordering {
        let (left, right) = (self.key(out), other.key(out));
        if self.plain && other.plain {
            left.cmp(right)
        } else {
            compare_escaped(left, right)
        }
    }

    fn close(&mut self, end: usize, unsorted: usize) {
        self.end = end;
        self.unsorted = unsorted - self.unsorted;
    }
}

/// What is still to be copied.
enum Todo {
    /// A place of the output, whose first unsorted object, if any, is number `next`.
    Copy { place: Range<usize>, next: usize },
    /// The rest of an unsorted object: its members, by their place in `order`, and the numbers of
    /// the unsorted objects inside.
    Members {
        members: Range<usize>,
        inside: Range<usize>,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(canonical_json(text).as_deref(), Ok(expected), "{text}");
    }

    #[test]
    fn members_are_sorted_at_every_depth_and_the_last_of_equal_keys_stays() {
        check(" { } ", "{}");
        check(
            r#"{"b":{"d":1,"c":[{"y":1,"x":2}]},"a":0}"#,
            r#"{"a":0,"b":{"c":[{"x":2,"y":1}],"d":1}}"#,
        );
        check(r#"{"a":1,"a":2,"a":3}"#, r#"{"a":3}"#);
        check(
            r#"{"a":{"z":1,"y":2},"a":{"x":1,"w":2}}"#,
            r#"{"a":{"w":2,"x":1}}"#,
        );
        check(r#"{"b":1,"a":2,"\u0062":3}"#, r#"{"a":2,"b":3}"#);
        check(
            r#"{"":{"":{"b":{},"a":[]}}}"#,
            r#"{"":{"":{"a":[],"b":{}}}}"#,
        );
        check(
            r#"[{"b":1,"a":2},{"b":1,"a":2},{"a":1}]"#,
            r#"[{"a":2,"b":1},{"a":2,"b":1},{"a":1}]"#,
        );
    }

    #[test]
    fn lone_surrogates_survive() {
        check(
            r#"{"\ude00":1,"\ud83d":2,"\ud83d\ude00":3}"#,
            r#"{"\ud83d":2,"\ude00":1,"\ud83d\ude00":3}"#,
        );
    }

    #[test]
    fn what_is_not_json_is_refused_where_it_stops() {
        for (text, at) in [
            ("", 0),
            ("{", 1),
            ("[1,]", 3),
            ("{\"a\":1,}", 7),
            ("{\"a\"}", 4),
            ("[1 2]", 3),
            ("01", 1),
            ("-", 1),
            ("1.", 2),
            (".5", 0),
            ("1e", 2),
            ("+1", 0),
            ("tru", 0),
            ("\"\\x\"", 1),
            ("\"\\u12g4\"", 1),
            ("\"\n\"", 1),
            ("\"", 1),
            ("1 1", 2),
            ("[}", 1),
            ("{]", 1),
            ("{1:2}", 1),
            ("-Inf", 0),
            ("\u{feff}1", 0),
            ("\u{a0}1", 0),
        ] {
            assert_eq!(
                canonical_json(text).map_err(|error| error.offset()),
                Err(at),
                "{text:?}"
            );
        }
    }

    #[test]
    fn depth_is_no_danger() {
        let (open, close) = ("{\"b\":[".repeat(100_000), "],\"a\":1}".repeat(100_000));
        let canonical = canonical_json(&format!("{open}{close}")).unwrap();
        assert!(canonical.starts_with(r#"{"a":1,"b":[{"a":1,"b":["#));
        assert!(canonical_json(&"[".repeat(1_000_000)).is_err());
    }
}
