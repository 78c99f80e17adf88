//! The choices that an enum of unit variants gives.

use mcp_types::{EnumItems, EnumOption, MultiSelectEnumSchema, StringSchema};
use serde_json::{Map, Value};

use super::Reason;
use super::shape::known;

/// What there is to choose.
#[derive(Debug)]
pub(super) enum Choices {
    /// Values alone.
    Plain(Vec<String>),
    /// Values with titles.
    Titled(Vec<EnumOption>),
    /// Values with titles beside them, as revision 2025-06-18 has them.
    Named(Vec<String>, Vec<String>),
}

impl Choices {
    /// Takes the choices out of the schema of a field; `None` if it has none.
    ///
    /// # Errors
    ///
    /// A choice that is no text, or a variant with data.
    pub(super) fn take(members: &mut Map<String, Value>) -> Result<Option<Self>, Reason> {
        let names = members.remove("enumNames");
        if !KEYWORDS.iter().any(|key| members.contains_key(*key)) {
            return match names {
                Some(_) => Err(NAMES_ALONE.into()),
                None => Ok(None),
            };
        }
        let mut listed = listed(members)?;
        if let Some(names) = names {
            let values = listed.into_iter().map(|(value, _)| value).collect();
            let names = serde_json::from_value(names).map_err(|_| NAMES)?;
            return Ok(Some(Self::Named(values, names)));
        }
        if listed.iter().all(|(_, title)| title.is_none()) {
            let values = listed.drain(..).map(|(value, _)| value).collect();
            return Ok(Some(Self::Plain(values)));
        }
        let titled = listed.drain(..).map(|(value, title)| match title {
            Some(title) => EnumOption::new(value, title),
            None => EnumOption::new(value.clone(), value),
        });
        Ok(Some(Self::Titled(titled.collect())))
    }

    /// A field to choose one of them, with what else `members` say.
    pub(super) fn one(self, members: Map<String, Value>) -> Result<StringSchema, Reason> {
        let mut field: StringSchema = known(members, &["title", "description", "default"])?;
        match self {
            Self::Plain(values) => field.enum_values = Some(values),
            Self::Titled(options) => field.one_of = Some(options),
            Self::Named(values, names) => {
                field.enum_values = Some(values);
                field.enum_names = Some(names);
            }
        }
        Ok(field)
    }

    /// A field to choose several of them; `enumNames` have no place in a list.
    pub(super) fn several(self, mut field: MultiSelectEnumSchema) -> MultiSelectEnumSchema {
        let titled = |options: Vec<_>| EnumItems::new().any_of(options);
        field.items = match self {
            Self::Plain(values) => EnumItems::new().items_type("string").enum_values(values),
            Self::Titled(options) => titled(options),
            Self::Named(values, names) => {
                let pairs = values.into_iter().zip(names);
                titled(pairs.map(|(it, name)| EnumOption::new(it, name)).collect())
            }
        };
        field
    }
}

/// Takes out every value, with the title or documentation of its variant.
///
/// `schemars` lists variants that say nothing of themselves first.
fn listed(members: &mut Map<String, Value>) -> Result<Vec<(String, Option<String>)>, Reason> {
    let mut listed: Vec<_> = values(members)?.map(|it| (it, None)).collect();
    for keyword in ["oneOf", "anyOf"] {
        let Some(Value::Array(branches)) = members.remove(keyword) else {
            continue;
        };
        for branch in branches {
            let Value::Object(mut branch) = branch else {
                return Err(DATA.into());
            };
            let mut values: Vec<_> = values(&mut branch)?.collect();
            if values.is_empty() || branch.get("type").is_some_and(|it| it != "string") {
                return Err(DATA.into());
            }
            let title = title(&branch).filter(|_| values.len() == 1);
            listed.extend(values.drain(..).map(|it| (it, title.clone())));
        }
    }
    Ok(listed)
}

/// Takes out what `enum` and `const` allow.
fn values(
    members: &mut Map<String, Value>,
) -> Result<impl Iterator<Item = String> + use<>, Reason> {
    let many = match members.remove("enum") {
        Some(Value::Array(many)) => many,
        Some(_) => return Err(TEXTS.into()),
        None => Vec::new(),
    };
    let all = many.into_iter().chain(members.remove("const"));
    let texts = all.map(|it| match it {
        Value::String(text) => Ok(text),
        _ => Err(Reason::from(TEXTS)),
    });
    Ok(texts.collect::<Result<Vec<_>, _>>()?.into_iter())
}

/// A variant's title, or the first line of its documentation.
fn title(branch: &Map<String, Value>) -> Option<String> {
    let text = |key| branch.get(key).and_then(Value::as_str);
    let title = text("title").or_else(|| text("description")?.lines().next())?;
    Some(title.to_owned())
}

const KEYWORDS: &[&str] = &["enum", "const", "oneOf", "anyOf"];

const TEXTS: &str = "the choices of a form are texts; make it an enum of unit variants without \
    values of another type";

const DATA: &str = "a form has no enums with data, and no unions; make it an enum of unit variants";

const NAMES: &str = "`enumNames` is a list of texts, one for each choice";

const NAMES_ALONE: &str = "`enumNames` belongs beside the choices of an enum";
