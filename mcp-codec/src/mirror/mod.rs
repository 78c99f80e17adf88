//! Tool parameters that are mirrored into HTTP headers.
//!
//! Source: `server/tools` of 2026-07-28, "x-mcp-header", and its `basic/transports/streamable-http`,
//! "Schema Extension". A client drops a tool that breaks these rules, so registering one fails.

#[cfg(test)]
mod tests;

use std::collections::HashSet;

use serde_json::{Map, Value};

/// A parameter that a `tools/call` over HTTP repeats in its `Mcp-Param-{suffix}` header.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MirroredParameter {
    /// What follows `Mcp-Param-`, as the schema spells it.
    pub header_suffix: String,
    /// The names of the members that lead to the argument, outermost first.
    pub path: Vec<String>,
    /// How the argument is written in the header.
    pub kind: MirroredKind,
}

/// The types a mirrored parameter can have ("Value Encoding").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MirroredKind {
    /// As it is.
    String,
    /// `true` or `false`.
    Boolean,
    /// Decimal, within the safe range of a double.
    Integer,
}

/// The mirrored parameters of an `inputSchema`, in the order of the schema.
///
/// # Errors
///
/// Which property breaks which rule:
///
/// - the value of `x-mcp-header` is a token (RFC 9110 section 5.6.2), which has no space, colon,
///   control or non-ASCII character and is not empty;
/// - no two values are equal without regard to case;
/// - the property's `type` is just `string`, `boolean` or `integer`, not a union with null, and an
///   integer declares no limit or value beyond ±(2^53 − 1);
/// - every step from the root to the property is a key of `properties`.
pub fn mirrored_parameters(schema: &Map<String, Value>) -> Result<Vec<MirroredParameter>, String> {
    let mut search = Search::default();
    search.on_chain(schema)?;
    Ok(search.found)
}

#[derive(Default)]
struct Search {
    path: Vec<String>,
    suffixes: HashSet<String>,
    found: Vec<MirroredParameter>,
}

impl Search {
    /// The root, or a property reached from it through `properties` alone.
    fn on_chain(&mut self, schema: &Map<String, Value>) -> Result<(), String> {
        if let Some(suffix) = schema.get(KEYWORD) {
            let parameter = self.parameter(suffix, schema)?;
            self.found.push(parameter);
        }
        for (keyword, value) in schema {
            match (keyword.as_str(), value) {
                (KEYWORD, _) => {}
                ("properties", Value::Object(properties)) => {
                    for (name, property) in properties {
                        self.path.push(name.clone());
                        if let Value::Object(property) = property {
                            self.on_chain(property)?;
                        }
                        self.path.pop();
                    }
                }
                (keyword, value) => self.off_chain(keyword, keyword, value)?,
            }
        }
        Ok(())
    }

    /// Refuses annotations in the value of a keyword other than `properties`; `outer` is the one
    /// that left the chain.
    fn off_chain(&self, outer: &str, keyword: &str, value: &Value) -> Result<(), String> {
        match (keyword, value) {
            // Instances and names, not schemas.
            ("const" | "default" | "dependentRequired" | "enum" | "examples" | "required", _) => {
                Ok(())
            }
            (
                "$defs" | "definitions" | "dependencies" | "dependentSchemas" | "patternProperties"
                | "properties",
                Value::Object(schemas),
            ) => schemas
                .values()
                .try_for_each(|it| self.schema_off_chain(outer, it)),
            _ => self.schema_off_chain(outer, value),
        }
    }

    fn schema_off_chain(&self, outer: &str, value: &Value) -> Result<(), String> {
        match value {
            Value::Array(items) => items
                .iter()
                .try_for_each(|it| self.schema_off_chain(outer, it)),
            Value::Object(schema) if schema.contains_key(KEYWORD) => Err(self.error(&format!(
                "is below `{outer}`, where only `properties` may lead to it (inline a nested \
                 struct instead of referring to it)"
            ))),
            Value::Object(schema) => schema
                .iter()
                .try_for_each(|(keyword, it)| self.off_chain(outer, keyword, it)),
            _ => Ok(()),
        }
    }

    fn parameter(
        &mut self,
        suffix: &Value,
        schema: &Map<String, Value>,
    ) -> Result<MirroredParameter, String> {
        if self.path.is_empty() {
            return Err(self.error("is at the root; it belongs on a property"));
        }
        let suffix = suffix.as_str().unwrap_or_default();
        if !is_token(suffix) {
            return Err(
                self.error("is not a header name: one or more letters, digits or !#$%&'*+-.^_`|~")
            );
        }
        if !self.suffixes.insert(suffix.to_ascii_lowercase()) {
            return Err(self.error(&format!("is `{suffix}`, which another property has too")));
        }
        let kind = match schema.get("type").and_then(Value::as_str) {
            Some("string") => MirroredKind::String,
            Some("boolean") => MirroredKind::Boolean,
            Some("integer") => MirroredKind::Integer,
            _ => {
                return Err(self.error(
                    "needs `type` to be `string`, `boolean` or `integer` and nothing else",
                ));
            }
        };
        if kind == MirroredKind::Integer && !is_safe(schema) {
            return Err(self.error("is on an integer that may be beyond ±(2^53 − 1)"));
        }
        Ok(MirroredParameter {
            header_suffix: suffix.to_owned(),
            path: self.path.clone(),
            kind,
        })
    }

    fn error(&self, problem: &str) -> String {
        match self.path.as_slice() {
            [] => format!("`{KEYWORD}` {problem}"),
            path => format!("property `{}`: `{KEYWORD}` {problem}", path.join(".")),
        }
    }
}

/// `token` of RFC 9110 section 5.6.2.
fn is_token(text: &str) -> bool {
    let is_tchar = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_tchar)
}

/// Whether no limit or value that the schema declares is beyond the safe range.
fn is_safe(schema: &Map<String, Value>) -> bool {
    let one = ["const", "default", "minimum", "maximum"]
        .iter()
        .filter_map(|key| schema.get(*key));
    let many = schema
        .get("enum")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let mut numbers = one.chain(many).filter_map(Value::as_f64);
    numbers.all(|number| number.abs() <= SAFE_INTEGER)
}

const KEYWORD: &str = "x-mcp-header";

/// 2^53 − 1.
const SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;
