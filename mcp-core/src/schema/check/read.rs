//! Reading JSON past the nodes of a [`super::Check`].

use std::cmp::Ordering;
use std::fmt;

use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

use super::{Additional, Node, Plain, Property, Range, find};

/// Reads and forgets the value at one node.
#[derive(Clone, Copy)]
pub(super) struct At<'c> {
    pub(super) nodes: &'c [Node],
    pub(super) node: usize,
}

impl<'de> DeserializeSeed<'de> for At<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        let mut or_null = false;
        let mut node = self.node;
        // A longer chain of aliases is a cycle.
        for _ in 0..=self.nodes.len() {
            match self.nodes.get(node) {
                Some(Node::Alias { to, or_null: null }) => {
                    or_null |= null;
                    node = *to;
                }
                Some(Node::Plain(plain)) => {
                    return reader.deserialize_any(Place {
                        nodes: self.nodes,
                        plain,
                        or_null,
                    });
                }
                Some(Node::Any) => return reader.deserialize_ignored_any(IgnoredAny).map(drop),
                None => break,
            }
        }
        Err(D::Error::custom(NO))
    }
}

struct Place<'c> {
    nodes: &'c [Node],
    plain: &'c Plain,
    or_null: bool,
}

impl<'de> Visitor<'de> for Place<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NO)
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        allow(self.or_null || self.plain.types.null)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        allow(self.plain.types.boolean)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        allow::<E>(self.plain.types.integer || self.plain.types.number)?;
        self.plain.in_range(&value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        allow::<E>(self.plain.types.integer || self.plain.types.number)?;
        self.plain.in_range(&value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        // Whole numbers written as 30.0 are integers (JSON Schema validation 6.1.1).
        let types = self.plain.types;
        allow::<E>(types.number || types.integer && value.fract() == 0.0)?;
        self.plain
            .in_range(&Number::from_f64(value).ok_or_else(|| E::custom(NO))?)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        let known = |strings: &Vec<String>| strings.iter().any(|it| it == value);
        allow(
            self.plain.types.string
                && self.plain.strings.as_ref().is_none_or(known)
                && (self.plain.length.is_full()
                    || self.plain.length.contains(value.chars().count())),
        )
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        allow::<A::Error>(self.plain.types.array)?;
        let mut count = 0;
        loop {
            let item = match self.plain.items {
                Some(node) => items.next_element_seed(At {
                    nodes: self.nodes,
                    node,
                })?,
                None => items.next_element::<IgnoredAny>()?.map(drop),
            };
            if item.is_none() {
                return allow(self.plain.count.contains(count));
            }
            count += 1;
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        allow::<A::Error>(self.plain.types.object)?;
        let mut seen = 0;
        while let Some(found) = members.next_key_seed(Key(&self.plain.properties))? {
            let node = match (found, self.plain.additional) {
                (Some(property), _) => {
                    seen |= property.bit;
                    Some(property.node)
                }
                (None, Additional::Node(node)) => Some(node),
                (None, Additional::Any) => None,
                (None, Additional::Forbidden) => return allow(false),
            };
            match node {
                Some(node) => members.next_value_seed(At {
                    nodes: self.nodes,
                    node,
                })?,
                None => drop(members.next_value::<IgnoredAny>()?),
            }
        }
        allow(seen == self.plain.required)
    }
}

/// Looks a member's name up without copying it.
struct Key<'c>(&'c [(String, Property)]);

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = Option<Property>;

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = Option<Property>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a member's name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(find(self.0, name)
            .and_then(|at| self.0.get(at))
            .map(|(_, property)| *property))
    }
}

impl Plain {
    fn in_range<E: Error>(&self, number: &Number) -> Result<(), E> {
        let above = |limit: &Number| matches!(compare(number, limit), Some(Ordering::Greater));
        let below = |limit: &Number| matches!(compare(number, limit), Some(Ordering::Less));
        let equal = |limit: &Number| matches!(compare(number, limit), Some(Ordering::Equal));
        let fits = self
            .minimum
            .as_ref()
            .is_none_or(|it| above(it) || equal(it))
            && self
                .maximum
                .as_ref()
                .is_none_or(|it| below(it) || equal(it));
        allow(fits)
    }
}

impl Range {
    fn contains(&self, size: usize) -> bool {
        let size = size as u64;
        size >= self.min && self.max.is_none_or(|max| size <= max)
    }
}

fn allow<E: Error>(fits: bool) -> Result<(), E> {
    if fits { Ok(()) } else { Err(E::custom(NO)) }
}

/// Compares exactly, or not at all.
fn compare(left: &Number, right: &Number) -> Option<Ordering> {
    match (left.as_i128(), right.as_i128()) {
        (Some(left), Some(right)) => Some(left.cmp(&right)),
        _ => exact(left)?.partial_cmp(&exact(right)?),
    }
}

/// The number as a float, if it is one or its integer is exact as one.
fn exact(number: &Number) -> Option<f64> {
    let is_exact = number
        .as_i128()
        .is_none_or(|it| it.unsigned_abs() <= 1 << f64::MANTISSA_DIGITS);
    number.as_f64().filter(|_| is_exact)
}

/// The text of errors nobody reads.
const NO: &str = "not surely valid";
