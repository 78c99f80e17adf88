//! What every entry has to be, of whatever kind, before it is registered.

use std::fmt;

use crate::{
    RegisterError,
    schema::{ArgumentSchema, SchemaError},
};

/// An entry on its way into the registry: what is wrong with it is told of its kind and its name.
pub(crate) struct Registering {
    kind: &'static str,
    name: String,
}

impl Registering {
    pub(crate) fn new(kind: &'static str, name: &str) -> Self {
        let name = name.to_owned();
        Self { kind, name }
    }

    /// The entry cannot work as it is.
    pub(crate) fn invalid(&self, problem: impl fmt::Display) -> RegisterError {
        RegisterError::invalid(self.kind, &*self.name, problem)
    }

    pub(crate) fn check_name(&self) -> Result<(), RegisterError> {
        if self.name.is_empty() {
            return Err(self.invalid("a name is not empty"));
        }
        Ok(())
    }

    /// The schema of what its handler takes, of which no state may be `missing`.
    pub(crate) fn arguments(
        &self,
        arguments: Result<ArgumentSchema, SchemaError>,
        missing: Option<&'static str>,
    ) -> Result<ArgumentSchema, RegisterError> {
        match missing {
            Some(state) => Err(RegisterError::MissingState {
                kind: self.kind,
                name: self.name.clone(),
                state,
            }),
            None => arguments.map_err(|error| self.invalid(error)),
        }
    }
}
