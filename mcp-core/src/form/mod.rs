//! Forms: what a handler asks its user for, as a Rust type.
//!
//! A form is a flat object of texts, numbers, yes-or-no fields, choices and lists of choices
//! (`26-07/client/elicitation` § Requested Schema). It is derived from a struct, see [`form_of`],
//! or made at run time, see [`Form::of_schema`]. Either way the schema is the contract: what the
//! user's answer breaks of it never reaches the handler, see [`read`].

mod accept;
mod answer;
mod check;
mod choices;
mod derive;
mod order;
mod shape;
#[cfg(test)]
mod tests;

use std::any::TypeId;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::{Arc, PoisonError, RwLock};

use mcp_types::{ElicitSchema, JsonObject};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

pub(crate) use self::answer::{FormViolations, read};
use crate::asking::{Digest, Question};

/// A form whose answer is read as a `T`.
#[derive(Clone, Debug)]
pub struct Form<T> {
    schema: Arc<ElicitSchema>,
    digest: Digest,
    answer: PhantomData<fn() -> T>,
}

impl<T: JsonSchema + DeserializeOwned + 'static> Form<T> {
    /// The form that `T` describes.
    ///
    /// # Errors
    ///
    /// A field, or `T` itself, is nothing a form can show.
    pub fn of() -> Result<Self, FormError> {
        known::<T>().map(Self::of_known)
    }
}

impl<T: DeserializeOwned> Form<T> {
    /// A form made at run time; `T` is often [`JsonObject`].
    ///
    /// # Errors
    ///
    /// The schema contradicts itself: a required field that is not there, a choice of nothing, a
    /// minimum above the maximum, a default the field does not allow.
    pub fn of_schema(schema: ElicitSchema) -> Result<Self, FormError> {
        check::check(&schema)?;
        Ok(Self::of_known(Known::new(schema)))
    }

    fn of_known(Known { schema, digest }: Known) -> Self {
        Self {
            schema,
            digest,
            answer: PhantomData,
        }
    }

    /// What the client is sent.
    #[must_use]
    pub fn schema(&self) -> &ElicitSchema {
        &self.schema
    }

    /// The question that shows it.
    pub(crate) fn question(&self, message: String) -> Question {
        Question::Form {
            digest: self.digest.then(&message),
            message,
            schema: Arc::clone(&self.schema),
        }
    }

    /// Reads an accepted answer.
    ///
    /// # Errors
    ///
    /// As for [`read`].
    pub(crate) fn read(&self, content: Option<JsonObject>) -> Result<T, FormViolations> {
        read(&self.schema, content)
    }
}

/// A form that makes sense.
#[derive(Clone)]
struct Known {
    schema: Arc<ElicitSchema>,
    digest: Digest,
}

impl Known {
    fn new(schema: ElicitSchema) -> Self {
        Self {
            digest: Digest::of(&schema),
            schema: Arc::new(schema),
        }
    }
}

/// The form that `T` describes, made once per process.
///
/// | In Rust | In the form |
/// |---|---|
/// | `String`, `char` | text; `length`, `email`, `url`, `extend("format" = "date")` |
/// | integers, floats | `integer`, `number`; `range` |
/// | `bool` | `boolean` |
/// | an enum of unit variants | one choice; titled where a variant has a title or a doc comment |
/// | a list or a set of such an enum | several choices; `length` counts them |
/// | `Option`, `serde(default)` | may be left empty |
/// | a doc comment, `title`, `default` | what the user reads, and what the form begins with |
/// | `extend("enumNames" = [..])` | a choice titled as revision 2025-06-18 does |
///
/// Fields keep the order of their declaration; with `serde(flatten)` they are sorted by name.
/// Formats a form does not have, such as `uuid`, are left out and enforced by `T` alone. A default
/// that breaks its own field, such as the empty text of `serde(default)` for an address, is none.
///
/// # Errors
///
/// A field, or `T` itself, is nothing a form can show.
pub(crate) fn form_of<T>() -> Result<Arc<ElicitSchema>, FormError>
where
    T: JsonSchema + DeserializeOwned + 'static,
{
    known::<T>().map(|it| it.schema)
}

fn known<T>() -> Result<Known, FormError>
where
    T: JsonSchema + DeserializeOwned + 'static,
{
    let id = TypeId::of::<T>();
    let known = FORMS
        .read()
        .unwrap_or_else(PoisonError::into_inner)
        .get(&id)
        .cloned();
    if let Some(known) = known {
        return known;
    }
    // Made outside the lock: two threads at once make the same.
    let made = derive::schema_of::<T>().map(Known::new);
    FORMS
        .write()
        .unwrap_or_else(PoisonError::into_inner)
        .entry(id)
        .or_insert(made)
        .clone()
}

/// Why there is no such form; a mistake of the server's author.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FormError {
    /// The type is no flat struct.
    #[error("a form is a struct with named fields, but {0}")]
    Root(Reason),
    /// A field that no form can show, or that contradicts itself.
    #[error("field \"{field}\": {reason}")]
    Field {
        /// Its name.
        field: String,
        /// What is wrong, and what to do instead.
        reason: Reason,
    },
}

impl FormError {
    fn field(field: &str, reason: impl Into<Reason>) -> Self {
        Self::Field {
            field: field.to_owned(),
            reason: reason.into(),
        }
    }
}

/// A text for the server's author.
type Reason = Cow<'static, str>;

/// Every form of a type that was asked for; as many as the program has such types.
static FORMS: RwLock<BTreeMap<TypeId, Result<Known, FormError>>> = RwLock::new(BTreeMap::new());
