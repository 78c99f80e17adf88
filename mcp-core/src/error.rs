//! What a handler may fail with, and what a registration may get wrong.

use std::{borrow::Cow, error::Error, fmt};

use serde_json::Value;

use crate::auth::Scopes;

/// Why a handler has no result.
///
/// Any error turns into [`HandlerError::Internal`] by `?`: it is logged, and the client reads
/// "internal error" with an incident id. Text reaches a client only through
/// [`HandlerError::tell`]. This type is therefore no [`Error`] itself.
#[derive(Debug)]
#[non_exhaustive]
pub enum HandlerError {
    /// Something failed that is nobody's business but the operator's.
    Internal(Box<dyn Error + Send + Sync>),
    /// The arguments fit their schema, and still make no sense; the model reads why.
    InvalidArguments(Cow<'static, str>),
    /// There is nothing at the URI that was asked for.
    NotFound,
    /// The model, or whoever called, is to read this.
    Tell(Cow<'static, str>),
    /// The client cannot be asked: it did not declare these capabilities.
    MissingCapability(Value),
    /// The caller may not do this: it lacks these scopes. Over HTTP it is told all that it needs,
    /// and comes back with it ([`Exchange::require_scopes`](crate::Exchange::require_scopes)).
    InsufficientScope(Scopes),
    /// The handler leaves to ask the client, and runs again with the answer: let it through.
    Suspended,
}

impl HandlerError {
    /// A failure whose text the caller is to read.
    pub fn tell(text: impl Into<Cow<'static, str>>) -> Self {
        Self::Tell(text.into())
    }

    /// Arguments that make no sense, and why.
    pub fn invalid(text: impl Into<Cow<'static, str>>) -> Self {
        Self::InvalidArguments(text.into())
    }

    /// A failure for the log alone.
    pub fn internal(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Internal(error.into())
    }

    /// Nothing is at the URI that was asked for.
    #[must_use]
    pub fn not_found() -> Self {
        Self::NotFound
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for HandlerError {
    fn from(error: E) -> Self {
        Self::Internal(Box::new(error))
    }
}

/// What is wrong with the registrations of a server; `build()` reports the first.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// Two entries of a kind have one name.
    #[error("{kind} {name:?} is registered twice")]
    Duplicate {
        /// `tool`, `prompt`, `resource` or `template`.
        kind: &'static str,
        /// The name or URI.
        name: String,
    },
    /// An entry cannot work as it is.
    #[error("{kind} {name:?}: {problem}")]
    Invalid {
        /// `tool`, `prompt`, `resource` or `template`.
        kind: &'static str,
        /// The name or URI.
        name: String,
        /// What is wrong, and what would be right.
        problem: String,
    },
    /// A handler takes `State<T>` and no such state was given.
    #[error("{kind} {name:?} takes `State<{state}>`, but `.state(…)` was not given a value of it")]
    MissingState {
        /// `tool`, `prompt`, `resource` or `template`.
        kind: &'static str,
        /// The name or URI.
        name: String,
        /// The type that is missing.
        state: &'static str,
    },
}

impl RegisterError {
    pub(crate) fn invalid(
        kind: &'static str,
        name: impl Into<String>,
        problem: impl fmt::Display,
    ) -> Self {
        Self::Invalid {
            kind,
            name: name.into(),
            problem: problem.to_string(),
        }
    }
}
