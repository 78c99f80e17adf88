//! Suggestions for an argument of a prompt or a variable of a template.

use mcp_codec::call::{Complete, RequestContext};
use mcp_types::CompletionReference;

use super::Request;
use crate::{Answer, CompletionQuery, auth::Needs, completion::Completers, outcome::Target};

/// An entry whose argument is to be completed.
struct Completed {
    name: String,
    completers: Completers,
    /// Whether it has the argument.
    known: bool,
    needs: Needs,
}

impl Request<'_, '_> {
    pub(super) fn complete(self, complete: Complete<'_>, context: RequestContext<'_>) -> Answer {
        if self.catalog.manifest.capabilities.completions.is_none() {
            return self.no_such_method("completion/complete");
        }
        let argument = &*complete.argument;
        let completed = match self.completed(&complete.reference, argument) {
            Ok(completed) => completed,
            Err((kind, name)) => return self.unknown(kind, name),
        };
        if let Some(denied) = self.denial(&completed.needs) {
            return self.deny(denied);
        }
        if !completed.known {
            return self.unknown("argument", argument);
        }
        let value = complete.value.into_owned();
        let query = CompletionQuery {
            value,
            arguments: complete.context,
        };
        let target = Target::Completion(completed.name);
        self.start(context, None, target, None, |exchange| {
            Ok(completed.completers.complete(argument, query, exchange))
        })
    }

    /// What a reference refers to; kind and name of what is unknown otherwise.
    fn completed<'r>(
        &self,
        reference: &'r CompletionReference,
        argument: &str,
    ) -> Result<Completed, (&'static str, &'r str)> {
        match reference {
            CompletionReference::Prompt(reference) => {
                let found = self.catalog.prompt(&reference.name, self.revision);
                let prompt = found.ok_or(("prompt", &*reference.name))?;
                Ok(Completed {
                    name: reference.name.clone(),
                    completers: prompt.completers.clone(),
                    known: prompt.has_argument(argument),
                    needs: prompt.needs.clone(),
                })
            }
            CompletionReference::Resource(reference) => {
                let found = self.catalog.template_named(&reference.uri, self.revision);
                let template = found.ok_or(("resource template", &*reference.uri))?;
                Ok(Completed {
                    name: reference.uri.clone(),
                    completers: template.completers.clone(),
                    known: template.has_variable(argument),
                    needs: template.needs.clone(),
                })
            }
            _ => Err(("reference", "")),
        }
    }
}
