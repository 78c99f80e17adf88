//! The `type` of a schema.

use std::collections::HashSet;

use serde_json::{Map, Value};

#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "a set of JSON types")]
pub(super) struct Types {
    pub(super) null: bool,
    pub(super) boolean: bool,
    pub(super) integer: bool,
    pub(super) number: bool,
    pub(super) string: bool,
    pub(super) array: bool,
    pub(super) object: bool,
}

impl Types {
    pub(super) fn read(schema: &Map<String, Value>) -> Option<Self> {
        let mut types = Self::default();
        let names = match schema.get("type")? {
            Value::Array(names) => names.as_slice(),
            one => std::slice::from_ref(one),
        };
        let distinct: HashSet<_> = names.iter().filter_map(Value::as_str).collect();
        if names.is_empty() || distinct.len() != names.len() {
            return None;
        }
        for name in names {
            match name.as_str()? {
                "null" => types.null = true,
                "boolean" => types.boolean = true,
                "integer" => types.integer = true,
                "number" => types.number = true,
                "string" => types.string = true,
                "array" => types.array = true,
                "object" => types.object = true,
                _ => return None,
            }
        }
        Some(types)
    }

    pub(super) fn only_string_or_null(self) -> bool {
        self.string && !(self.boolean || self.integer || self.number || self.array || self.object)
    }
}
