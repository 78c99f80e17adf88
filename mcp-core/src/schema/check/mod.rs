//! A streaming check of raw JSON against the plain part of JSON Schema, without a tree.
//!
//! It is *sound, not complete*: what it accepts is valid; what it does not accept goes to the
//! full validator, which alone finds and words violations. So it may give up wherever a rule is
//! rare or a comparison inexact, and [`Check::compile`] declines schemas it does not cover.

mod read;
mod types;

use std::collections::{HashMap, HashSet};

use serde::de::DeserializeSeed as _;
use serde_json::{Map, Number, Value};

use self::read::At;
use self::types::Types;
use super::reference::{self, is_annotation};

/// A compiled check; nodes refer to each other by index, so recursive schemas are fine.
#[derive(Debug)]
pub(super) struct Check {
    nodes: Vec<Node>,
}

impl Check {
    /// Compiles a schema of dialect 2020-12, or declines.
    pub(super) fn compile(schema: &Value) -> Option<Self> {
        let mut compiler = Compiler {
            root: schema,
            nodes: Vec::new(),
            references: HashMap::new(),
        };
        compiler.referenced("#", schema)?;
        Some(Self {
            nodes: compiler.nodes,
        })
    }

    /// Whether `text` is JSON that surely satisfies the schema.
    pub(super) fn accepts(&self, text: &str) -> bool {
        let mut reader = serde_json::Deserializer::from_str(text);
        let root = At {
            nodes: &self.nodes,
            node: ROOT,
        };
        root.deserialize(&mut reader).is_ok() && reader.end().is_ok()
    }
}

/// What is allowed at one place.
#[derive(Debug)]
enum Node {
    Any,
    /// `$ref`, or `anyOf` of the node and null.
    Alias {
        to: usize,
        or_null: bool,
    },
    Plain(Box<Plain>),
}

/// The default allows nothing.
#[derive(Debug, Default)]
struct Plain {
    types: Types,
    minimum: Option<Number>,
    maximum: Option<Number>,
    strings: Option<Vec<String>>,
    length: Range,
    count: Range,
    items: Option<usize>,
    /// Sorted by name.
    properties: Vec<(String, Property)>,
    /// One bit for each required property.
    required: u64,
    additional: Additional,
}

/// From `minLength` to `maxLength`, or `minItems` to `maxItems`.
#[derive(Debug, Default)]
struct Range {
    min: u64,
    max: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Property {
    node: usize,
    /// 0 if the property is optional.
    bit: u64,
}

#[derive(Clone, Copy, Debug, Default)]
enum Additional {
    #[default]
    Any,
    Forbidden,
    Node(usize),
}

struct Compiler<'s> {
    root: &'s Value,
    nodes: Vec<Node>,
    references: HashMap<&'s str, usize>,
}

impl<'s> Compiler<'s> {
    /// The node of what `reference` names: compiled once, and known before it is finished.
    fn referenced(&mut self, reference: &'s str, schema: &'s Value) -> Option<usize> {
        if let Some(&known) = self.references.get(reference) {
            return Some(known);
        }
        let index = self.reserve()?;
        self.references.insert(reference, index);
        self.fill(index, schema)
    }

    fn schema(&mut self, schema: &'s Value) -> Option<usize> {
        let index = self.reserve()?;
        self.fill(index, schema)
    }

    fn reserve(&mut self) -> Option<usize> {
        self.nodes.push(Node::Any);
        (self.nodes.len() <= MAX_NODES).then(|| self.nodes.len() - 1)
    }

    fn fill(&mut self, index: usize, schema: &'s Value) -> Option<usize> {
        let node = match schema {
            Value::Bool(true) => Node::Any,
            Value::Object(schema) => self.object(schema)?,
            _ => return None,
        };
        *self.nodes.get_mut(index)? = node;
        Some(index)
    }

    fn object(&mut self, schema: &'s Map<String, Value>) -> Option<Node> {
        self.annotations(schema)?;
        if schema.contains_key("type") {
            let plain = self.plain(schema)?;
            return Some(Node::Plain(Box::new(plain)));
        }
        let mut assertions = assertions(schema);
        match (assertions.next(), assertions.next()) {
            (None, _) => Some(Node::Any),
            (Some("anyOf" | "oneOf"), None) => self.union(schema),
            (Some("$ref"), None) => {
                let name = schema.get("$ref")?.as_str()?;
                let to = self.referenced(name, reference::local(self.root, name)?)?;
                Some(Node::Alias { to, or_null: false })
            }
            _ => None,
        }
    }

    /// What asserts nothing has to be of its type all the same (the meta-schema of 2020-12), and
    /// definitions have to be schemas, used or not.
    fn annotations(&mut self, schema: &'s Map<String, Value>) -> Option<()> {
        for (keyword, value) in schema {
            match keyword.as_str() {
                "$comment" | "$schema" | "title" | "description" | "format" => {
                    value.as_str()?;
                }
                "deprecated" | "readOnly" | "writeOnly" => {
                    value.as_bool()?;
                }
                "examples" => {
                    value.as_array()?;
                }
                "$defs" => {
                    for definition in value.as_object()?.values() {
                        self.schema(definition)?;
                    }
                }
                _ => {}
            }
        }
        Some(())
    }

    /// `anyOf` with null, or a choice of strings.
    fn union(&mut self, schema: &'s Map<String, Value>) -> Option<Node> {
        let any_of = schema.get("anyOf");
        let branches = any_of.or_else(|| schema.get("oneOf"))?.as_array()?;
        if let ([inner, null], Some(_)) = (branches.as_slice(), any_of)
            && null.as_object()?.len() == 1
            && null.get("type").and_then(Value::as_str) == Some("null")
        {
            return self
                .schema(inner)
                .map(|to| Node::Alias { to, or_null: true });
        }
        if branches.is_empty() {
            return None;
        }
        let mut strings = Vec::new();
        for branch in branches {
            let branch = branch.as_object()?;
            self.annotations(branch)?;
            let plain = self.plain(branch)?;
            strings.extend(plain.only_strings()?);
        }
        // A string in two branches of `oneOf` satisfies neither.
        let distinct = strings.iter().collect::<HashSet<_>>().len() == strings.len();
        let types = Types {
            string: true,
            ..Types::default()
        };
        distinct.then(|| {
            Node::Plain(Box::new(Plain {
                types,
                strings: Some(strings),
                ..Plain::default()
            }))
        })
    }

    /// A schema of nothing but [`PLAIN`] keywords.
    fn plain(&mut self, schema: &'s Map<String, Value>) -> Option<Plain> {
        if !assertions(schema).all(|key| PLAIN.contains(&key)) {
            return None;
        }
        let types = Types::read(schema)?;
        let strings = match (schema.get("enum"), schema.get("const")) {
            (None, None) => None,
            (Some(Value::Array(values)), None) => Some(only_strings(values, types)?),
            (None, Some(Value::String(one))) if !types.null => Some(vec![one.clone()]),
            _ => return None,
        };
        let limit = |key| match schema.get(key) {
            Some(limit) => limit.as_number().cloned().map(Some),
            None => Some(None),
        };
        let mut plain = Plain {
            types,
            minimum: limit("minimum")?,
            maximum: limit("maximum")?,
            strings,
            length: Range::read(schema, "minLength", "maxLength")?,
            count: Range::read(schema, "minItems", "maxItems")?,
            items: None,
            properties: Vec::new(),
            required: 0,
            additional: Additional::Any,
        };
        if plain.strings.is_some() && !types.only_string_or_null() {
            return None;
        }
        if let Some(items) = schema.get("items") {
            plain.items = Some(self.schema(items)?);
        }
        self.members(schema, &mut plain)?;
        Some(plain)
    }

    fn members(&mut self, schema: &'s Map<String, Value>, plain: &mut Plain) -> Option<()> {
        plain.additional = match schema.get("additionalProperties") {
            None | Some(Value::Bool(true)) => Additional::Any,
            Some(Value::Bool(false)) => Additional::Forbidden,
            Some(schema) => Additional::Node(self.schema(schema)?),
        };
        if let Some(properties) = schema.get("properties") {
            for (name, schema) in properties.as_object()? {
                let node = self.schema(schema)?;
                plain
                    .properties
                    .push((name.clone(), Property { node, bit: 0 }));
            }
            plain
                .properties
                .sort_by(|(left, _), (right, _)| left.cmp(right));
        }
        let required = schema
            .get("required")
            .map_or(Some([].as_slice()), |it| it.as_array().map(Vec::as_slice))?;
        for (at, name) in required.iter().enumerate() {
            // Not among the properties, or more than the bits can count: for the validator.
            let found = find(&plain.properties, name.as_str()?)?;
            let (_, property) = plain.properties.get_mut(found)?;
            if property.bit != 0 {
                return None;
            }
            property.bit = 1_u64.checked_shl(u32::try_from(at).ok()?)?;
            plain.required |= property.bit;
        }
        Some(())
    }
}

impl Plain {
    /// The strings of a branch that allows nothing else.
    fn only_strings(self) -> Option<Vec<String>> {
        let plain = self.types.only_string_or_null() && !self.types.null && self.length.is_full();
        self.strings.filter(|_| plain)
    }
}

impl Range {
    fn read(schema: &Map<String, Value>, min: &str, max: &str) -> Option<Self> {
        let bound = |key| match schema.get(key) {
            Some(limit) => limit.as_u64().map(Some),
            None => Some(None),
        };
        Some(Self {
            min: bound(min)?.unwrap_or(0),
            max: bound(max)?,
        })
    }

    fn is_full(&self) -> bool {
        self.min == 0 && self.max.is_none()
    }
}

/// Where a property is among the sorted ones.
fn find(properties: &[(String, Property)], name: &str) -> Option<usize> {
    properties
        .binary_search_by(|(known, _)| known.as_str().cmp(name))
        .ok()
}

/// The keywords of a schema that assert something.
fn assertions(schema: &Map<String, Value>) -> impl Iterator<Item = &str> {
    schema
        .keys()
        .map(String::as_str)
        .filter(|key| !is_annotation(key))
}

/// The strings of an `enum`; null in it is for `type` to allow.
fn only_strings(values: &[Value], types: Types) -> Option<Vec<String>> {
    // `enum` without null forbids the null that `type` would allow.
    if types.null != values.contains(&Value::Null) {
        return None;
    }
    let strings = values.iter().filter(|value| !value.is_null());
    strings
        .map(|value| value.as_str().map(str::to_owned))
        .collect()
}

const ROOT: usize = 0;

/// Larger schemas are left to the validator.
const MAX_NODES: usize = 1000;

/// What goes with `type`.
const PLAIN: &[&str] = &[
    "type",
    "enum",
    "const",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "items",
    "minItems",
    "maxItems",
    "properties",
    "required",
    "additionalProperties",
];
