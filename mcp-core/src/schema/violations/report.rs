//! From what the validator finds to what is reported.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind as Kind;
use jsonschema::paths::Location;
use serde_json::Value;

use super::words::{self, NO_ALTERNATIVE, one_of};
use super::{Path, Violation};

/// Puts the validator's findings into words, at most [`MAX_VIOLATIONS`] of them.
pub(in crate::schema) fn report<'e>(
    errors: impl Iterator<Item = ValidationError<'e>>,
    schema: &Value,
) -> Vec<Violation> {
    let mut report = Report {
        schema,
        violations: Vec::new(),
        choices: Vec::new(),
    };
    for error in errors {
        report.error(&error, 0);
        if report.violations.len() > MAX_VIOLATIONS {
            break;
        }
    }
    let Report {
        mut violations,
        choices,
        ..
    } = report;
    // A value that is none of a choice need not hear that it is no string either.
    for choice in choices {
        violations.retain(|it| it.path != choice.path || *it == choice);
    }
    if violations.len() > MAX_VIOLATIONS {
        violations.truncate(MAX_VIOLATIONS);
        violations.push(Violation::new(String::new(), "and more"));
    }
    violations
}

struct Report<'s> {
    schema: &'s Value,
    violations: Vec<Violation>,
    /// Those of them that list the values allowed.
    choices: Vec<Violation>,
}

impl Report<'_> {
    fn push(&mut self, path: String, expected: impl Into<String>) {
        let violation = Violation::new(path, expected);
        if !self.violations.contains(&violation) {
            self.violations.push(violation);
        }
    }

    fn push_choice(&mut self, path: String, values: &[&Value]) {
        self.choices
            .push(Violation::new(path.clone(), one_of(values)));
        self.push(path, one_of(values));
    }

    fn error(&mut self, error: &ValidationError<'_>, depth: usize) {
        let path = Path::of(error.instance_path());
        match error.kind() {
            Kind::Required { property } => {
                self.push(path.with(property.as_str().unwrap_or_default()), "required");
            }
            Kind::AdditionalProperties { unexpected }
            | Kind::UnevaluatedProperties { unexpected } => {
                for name in unexpected.iter().take(MAX_VIOLATIONS + 1) {
                    self.push(path.clone().with(name), "not a known member");
                }
            }
            Kind::PropertyNames { error: inner } => {
                let name = inner.instance().as_str().unwrap_or_default();
                let expected = words::expected(inner, self.schema);
                self.push(path.with(name), format!("as a member's name: {expected}"));
            }
            Kind::Constant { expected_value } => {
                self.push_choice(path.finish(), &[expected_value.as_ref()]);
            }
            Kind::Enum { options } => {
                let options: Vec<_> = options.as_array().into_iter().flatten().collect();
                self.push_choice(path.finish(), &options);
            }
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } if depth < MAX_DEPTH => {
                self.alternatives(error, context, depth);
            }
            _ => {
                let expected = words::expected(error, self.schema);
                self.push(path.finish(), expected);
            }
        }
    }

    /// Reports the alternative that was most likely meant, or names them all.
    fn alternatives(
        &mut self,
        error: &ValidationError<'_>,
        branches: &[Vec<ValidationError<'static>>],
        depth: usize,
    ) {
        let at = error.instance_path();
        if let Some(choice) = choice(at, branches) {
            return self.push_choice(Path::of(at).finish(), &choice);
        }
        let of_type = branches
            .iter()
            .filter(|branch| !branch.iter().any(|it| is_type_of(it, at)));
        let mut ranked: Vec<_> = of_type.map(|branch| (misfit(branch, at), branch)).collect();
        ranked.sort_by_key(|(misfit, _)| *misfit);
        if let ([_, _, ..], Some((place, tags))) = (ranked.as_slice(), tags(&ranked)) {
            return self.push_choice(Path::of(place).finish(), &tags);
        }
        match ranked.as_slice() {
            [(_, meant)] => meant.iter().for_each(|it| self.error(it, depth + 1)),
            [(best, meant), (next, _), ..] if best < next => {
                meant.iter().for_each(|it| self.error(it, depth + 1));
            }
            _ => self.push(Path::of(at).finish(), union_of_types(at, branches)),
        }
    }
}

/// The values allowed, if every branch is a choice of values for this very place.
fn choice<'e>(
    at: &Location,
    branches: &'e [Vec<ValidationError<'static>>],
) -> Option<Vec<&'e Value>> {
    let mut values = Vec::new();
    for branch in branches {
        let mut kinds = branch
            .iter()
            .filter(|it| it.instance_path() == at)
            .map(|it| it.kind());
        match kinds.find(|it| matches!(it, Kind::Constant { .. } | Kind::Enum { .. }))? {
            Kind::Constant { expected_value } => values.push(expected_value.as_ref()),
            Kind::Enum { options } => values.extend(options.as_array()?),
            _ => return None,
        }
    }
    Some(values)
}

/// Whether an error says that the value is not even of the type a branch is for.
fn is_type_of(error: &ValidationError<'_>, at: &Location) -> bool {
    matches!(error.kind(), Kind::Type { .. }) && error.instance_path() == at
}

/// How much in a branch speaks against it being meant: another tag, missing or foreign members.
fn misfit(branch: &[ValidationError<'_>], at: &Location) -> usize {
    let weight = |error: &ValidationError<'_>| match error.kind() {
        Kind::Constant { .. } | Kind::Enum { .. } => 100,
        Kind::AdditionalProperties { unexpected } => 1 + unexpected.len(),
        _ if error.instance_path() == at => 1,
        _ => 0,
    };
    branch.iter().map(weight).sum()
}

/// The tags asked for, if the same member of every branch has to be a certain value.
fn tags<'e>(
    branches: &[(usize, &'e Vec<ValidationError<'static>>)],
) -> Option<(&'e Location, Vec<&'e Value>)> {
    let mut place = None;
    let mut tags = Vec::new();
    for (_, branch) in branches {
        let (error, tag) = branch.iter().find_map(|error| match error.kind() {
            Kind::Constant { expected_value } => Some((error, expected_value.as_ref())),
            _ => None,
        })?;
        if place.is_some_and(|place| place != error.instance_path()) {
            return None;
        }
        place = Some(error.instance_path());
        tags.push(tag);
    }
    place.map(|place| (place, tags))
}

/// The types of all branches, if a type is what each of them misses.
fn union_of_types(at: &Location, branches: &[Vec<ValidationError<'static>>]) -> String {
    let mut names: Vec<String> = Vec::new();
    for branch in branches {
        let Some(error) = branch.iter().find(|it| is_type_of(it, at)) else {
            return NO_ALTERNATIVE.to_owned();
        };
        if let Kind::Type { kind } = error.kind() {
            let name = words::nouns(kind);
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    format!("expected {}", names.join(" or "))
}

/// More violations are counted as one.
const MAX_VIOLATIONS: usize = 20;

/// Nested alternatives that are looked into.
const MAX_DEPTH: usize = 8;
