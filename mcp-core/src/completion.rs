//! Suggestions for the arguments of prompts and templates.

use std::{collections::BTreeMap, fmt, future::Future, pin::Pin, sync::Arc};

use mcp_codec::ServerResult;
use mcp_types::{CompleteResult, Completion};

use crate::{
    Exchange, HandlerError, IntoCompletion, RegisterError, answer::HandlerFuture,
    registering::Registering,
};

/// What is to be completed: an argument's value so far, and the arguments settled already.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct CompletionQuery {
    /// What has been typed.
    pub value: String,
    /// The other arguments, as far as the client knows them; empty from older clients.
    pub arguments: BTreeMap<String, String>,
}

type ErasedCompleter = Arc<dyn Fn(CompletionQuery, Exchange) -> CompletionFuture + Send + Sync>;
type CompletionFuture = Pin<Box<dyn Future<Output = Result<Completion, HandlerError>> + Send>>;

/// Completers by argument.
#[derive(Clone, Default)]
pub(crate) struct Completers {
    by_argument: BTreeMap<String, ErasedCompleter>,
}

impl Completers {
    pub(crate) fn insert<F, Fut>(&mut self, argument: String, completer: F)
    where
        F: Fn(CompletionQuery, Exchange) -> Fut + Send + Sync + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: IntoCompletion,
    {
        let erased: ErasedCompleter = Arc::new(move |query, exchange| {
            let future = completer(query, exchange);
            Box::pin(async move { future.await.into_completion() })
        });
        self.by_argument.insert(argument, erased);
    }

    /// Fixed suggestions, of which those that begin with what was typed are given.
    pub(crate) fn insert_fixed(&mut self, argument: String, values: Vec<String>) {
        self.insert(argument, move |query: CompletionQuery, _| {
            let fits = |value: &&String| value.starts_with(&query.value);
            let found: Vec<String> = values.iter().filter(fits).cloned().collect();
            async move { found }
        });
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_argument.is_empty()
    }

    /// Whether an entry has all that they complete; what that is called is `part`.
    pub(crate) fn check(
        &self,
        entry: &Registering,
        part: &str,
        has: impl Fn(&str) -> bool,
    ) -> Result<(), RegisterError> {
        match self.by_argument.keys().find(|name| !has(name)) {
            Some(unknown) => {
                Err(entry.invalid(format!("there is no {part} {unknown:?} to complete")))
            }
            None => Ok(()),
        }
    }

    /// Suggestions for one argument; none at all for one without a completer.
    pub(crate) fn complete(
        &self,
        argument: &str,
        query: CompletionQuery,
        exchange: Exchange,
    ) -> HandlerFuture {
        let future = self.by_argument.get(argument).map(|it| it(query, exchange));
        Box::pin(async move {
            let completion = match future {
                Some(future) => bounded(future.await?),
                None => Completion::new(Vec::<String>::new()),
            };
            Ok(ServerResult::Complete(CompleteResult::new(completion)))
        })
    }
}

impl fmt::Debug for Completers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_set()
            .entries(self.by_argument.keys())
            .finish()
    }
}

/// At most 100 values (`server/utilities/completion`, every revision); the rest is counted.
fn bounded(mut completion: Completion) -> Completion {
    let found = completion.values.len();
    if found > Completion::MAX_VALUES {
        completion.values.truncate(Completion::MAX_VALUES);
        completion.total.get_or_insert(found as u64);
        completion.has_more = Some(true);
    }
    completion
}
