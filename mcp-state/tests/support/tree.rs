//! Generated JSON values, with a model of the canonical form to compare with.

use std::{collections::BTreeMap, fmt::Write};

use proptest::{collection::vec, prelude::*};

/// A JSON value, and the two ways to write it: as the specification of the canonical form says,
/// and as a client may.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Tree {
    Null,
    Bool(bool),
    Integer(i128),
    Text(String),
    Array(Vec<Self>),
    Object(BTreeMap<String, Self>),
}

pub(crate) fn trees() -> impl Strategy<Value = Tree> {
    let text = || {
        prop_oneof![
            "[a-c]{0,2}",
            any::<String>(),
            "[\"\\\\/\u{7f}\u{80}😀\u{ffff}\n]{0,3}"
        ]
    };
    let leaf = prop_oneof![
        Just(Tree::Null),
        any::<bool>().prop_map(Tree::Bool),
        prop_oneof![-2..2_i128, any::<i128>()].prop_map(Tree::Integer),
        text().prop_map(Tree::Text),
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Tree::Array),
            prop::collection::btree_map(text(), inner, 0..6).prop_map(Tree::Object),
        ]
    })
}

impl Tree {
    /// The canonical form, straight from its description. `BTreeMap` orders text by code point.
    pub(crate) fn canonical(&self) -> String {
        match self {
            Self::Array(items) => {
                let items: Vec<_> = items.iter().map(Self::canonical).collect();
                format!("[{}]", items.join(","))
            }
            Self::Object(members) => {
                let member = |(key, value): (&String, &Self)| {
                    format!("{}:{}", canonical_text(key), value.canonical())
                };
                let members: Vec<_> = members.iter().map(member).collect();
                format!("{{{}}}", members.join(","))
            }
            Self::Text(text) => canonical_text(text),
            other => other.spell(0),
        }
    }

    /// Some spelling: members rotated, one of them repeated, white space, other escapes.
    pub(crate) fn spell(&self, seed: u64) -> String {
        let space = match seed >> 7 & 3 {
            0 => "",
            1 => " ",
            2 => "\n\t",
            _ => "\r\n",
        };
        let next = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        match self {
            Self::Null => "null".to_owned(),
            Self::Bool(it) => it.to_string(),
            Self::Integer(0) if seed % 3 == 1 => "-0".to_owned(),
            Self::Integer(it) => it.to_string(),
            Self::Text(text) => spell_text(text, seed),
            Self::Array(items) => {
                let items: Vec<_> = items.iter().map(|item| item.spell(next)).collect();
                format!(
                    "[{space}{}{space}]",
                    items.join(&format!("{space},{space}"))
                )
            }
            Self::Object(members) => {
                let mut spelled: Vec<_> = members
                    .iter()
                    .map(|(key, it)| format!("{}{space}:{}", spell_text(key, next), it.spell(next)))
                    .collect();
                let len = spelled.len().max(1);
                spelled.rotate_left(usize::try_from(seed >> 9).unwrap() % len);
                // An earlier member of the same name is overruled, whatever it was.
                if let (Some((key, _)), 0) = (members.iter().next(), seed % 5) {
                    spelled.insert(0, format!(r#"{}:{{"b":1,"a":[]}}"#, canonical_text(key)));
                }
                format!("{{{space}{}}}", spelled.join(","))
            }
        }
    }
}

fn canonical_text(text: &str) -> String {
    let mut out = String::from('"');
    for unit in text.encode_utf16() {
        match u8::try_from(unit).map(char::from) {
            Ok(it @ ('"' | '\\')) => out.extend(['\\', it]),
            Ok('\n') => out.push_str("\\n"),
            Ok('\r') => out.push_str("\\r"),
            Ok('\t') => out.push_str("\\t"),
            Ok('\u{8}') => out.push_str("\\b"),
            Ok('\u{c}') => out.push_str("\\f"),
            Ok(it @ ' '..='~') => out.push(it),
            _ => write!(out, "\\u{unit:04x}").unwrap(),
        }
    }
    out.push('"');
    out
}

fn spell_text(text: &str, seed: u64) -> String {
    match seed % 3 {
        0 => canonical_text(text),
        1 => serde_json::to_string(text).unwrap(),
        _ => {
            text.encode_utf16().fold(String::from('"'), |out, unit| {
                out + &format!("\\u{unit:04X}")
            }) + "\""
        }
    }
}
