//! A reader of JSON, so that xtask needs no dependency that the workspace under test uses.

use anyhow::{Result, bail};

/// One JSON value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Self>),
    Object(Vec<(String, Self)>),
}

impl Json {
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let mut reader = Reader { rest: text };
        let value = reader.value()?;
        match reader.peek() {
            None => Ok(value),
            Some(found) => bail!("{found:?} after the end of the JSON value"),
        }
    }

    /// The member of that name, or null.
    pub(crate) fn get(&self, name: &str) -> &Self {
        let Self::Object(members) = self else {
            return &Self::Null;
        };
        members
            .iter()
            .find(|(key, _)| key == name)
            .map_or(&Self::Null, |(_, value)| value)
    }

    pub(crate) fn list(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn value(&mut self) -> Result<Json> {
        match self.peek() {
            Some('{') => self.object(),
            Some('[') => self.items(),
            Some('"') => Ok(Json::Text(self.string()?)),
            _ => self.word(),
        }
    }

    fn object(&mut self) -> Result<Json> {
        self.expect('{')?;
        let mut members = Vec::new();
        while self.peek() != Some('}') {
            if !members.is_empty() {
                self.expect(',')?;
            }
            let name = self.string()?;
            self.expect(':')?;
            members.push((name, self.value()?));
        }
        self.expect('}')?;
        Ok(Json::Object(members))
    }

    fn items(&mut self) -> Result<Json> {
        self.expect('[')?;
        let mut items = Vec::new();
        while self.peek() != Some(']') {
            if !items.is_empty() {
                self.expect(',')?;
            }
            items.push(self.value()?);
        }
        self.expect(']')?;
        Ok(Json::List(items))
    }

    fn string(&mut self) -> Result<String> {
        self.expect('"')?;
        let mut text = String::new();
        loop {
            match self.next() {
                None => bail!("the JSON ends inside a string"),
                Some('"') => return Ok(text),
                Some('\\') => text.push(self.escape()?),
                Some(other) => text.push(other),
            }
        }
    }

    fn escape(&mut self) -> Result<char> {
        Ok(match self.next() {
            Some('n') => '\n',
            Some('t') => '\t',
            Some('r') => '\r',
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('u') => self.code_point()?,
            Some(other @ ('"' | '\\' | '/')) => other,
            other => bail!("{other:?} after a backslash in a JSON string"),
        })
    }

    fn code_point(&mut self) -> Result<char> {
        let first = self.hex()?;
        if !(0xd800..0xdc00).contains(&first) {
            return Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        let Some(rest) = self.rest.strip_prefix("\\u") else {
            return Ok(char::REPLACEMENT_CHARACTER);
        };
        self.rest = rest;
        let second = self.hex()?;
        let low = second.wrapping_sub(0xdc00) & 0x3ff;
        let whole = 0x10000 + ((first - 0xd800) << 10) + low;
        Ok(char::from_u32(whole).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn hex(&mut self) -> Result<u32> {
        let digits: String = std::iter::from_fn(|| self.next()).take(4).collect();
        Ok(u32::from_str_radix(&digits, 16)?)
    }

    fn word(&mut self) -> Result<Json> {
        let end = self
            .rest
            .find(|at: char| !at.is_ascii_alphanumeric() && !"+-.".contains(at))
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        Ok(match word {
            "null" => Json::Null,
            "true" => Json::Bool(true),
            "false" => Json::Bool(false),
            number if number.parse::<f64>().is_ok() => Json::Number(number.to_owned()),
            other => bail!("{other:?} is no JSON value"),
        })
    }

    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let found = self.rest.chars().next()?;
        self.rest = self.rest.strip_prefix(found)?;
        Some(found)
    }

    fn expect(&mut self, wanted: char) -> Result<()> {
        let found = self.peek();
        if found != Some(wanted) {
            bail!("expected {wanted:?} in the JSON, found {found:?}");
        }
        self.next();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Json;

    #[test]
    fn reads_every_kind_of_value() {
        let value = Json::parse(
            r#" {"a": [1, -2.5e3, "x"], "b": {"c": null}, "d": true, "e": false, "f": [], "g": {}} "#,
        )
        .unwrap();
        assert_eq!(value.get("a").list()[1], Json::Number("-2.5e3".to_owned()));
        assert_eq!(value.get("a").list()[2].text(), Some("x"));
        assert_eq!(value.get("b").get("c"), &Json::Null);
        assert_eq!(value.get("d"), &Json::Bool(true));
        assert_eq!(value.get("missing"), &Json::Null);
    }

    #[test]
    fn reads_escapes() {
        let value = Json::parse(r#""q\" n\n s\/ \u00e9 \ud83e\udd80 é""#).unwrap();
        assert_eq!(value.text(), Some("q\" n\n s/ é 🦀 é"));
    }

    #[test]
    fn refuses_what_is_no_json() {
        for text in [
            "",
            "{",
            "[1 2]",
            "{\"a\" 1}",
            "nil",
            "\"open",
            "1 2",
            "{\"a\":}",
        ] {
            assert!(Json::parse(text).is_err(), "{text}");
        }
    }
}
