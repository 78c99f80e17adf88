//! What becomes of a handler's end: its result, its error, its panic, its delay.

use std::{any::Any, sync::Arc, time::Duration};

use mcp_codec::{Era, Failure, FailureKind, Outcome, ServerResult, outcome::CalledTool};
use mcp_types::CallToolResult;

use crate::{HandlerError, auth::Problem, tools::ToolEntry};

/// What a call is for, which decides how its failures look.
#[derive(Clone)]
pub(crate) enum Target {
    /// A tool: a failure is a result with `isError`.
    Tool(Arc<ToolEntry>),
    /// A prompt by name.
    Prompt(String),
    /// A resource by URI.
    Resource(String),
    /// A completion.
    Completion(String),
}

impl Target {
    /// Whether a retry of the call counts once.
    pub(crate) fn is_single_use(&self) -> bool {
        matches!(self, Self::Tool(tool) if tool.single_use)
    }

    fn name(&self) -> &str {
        match self {
            Self::Tool(tool) => tool.name(),
            Self::Prompt(name) | Self::Completion(name) => name,
            Self::Resource(uri) => uri,
        }
    }
}

/// The outcome of a handler that came to its end.
pub(crate) fn of_handler(
    result: Result<ServerResult, HandlerError>,
    target: &Target,
    era: Era,
) -> Outcome {
    match result {
        Ok(ServerResult::CallTool(called)) => checked(called.result, target),
        Ok(result) => Outcome::Result(result),
        Err(HandlerError::Tell(text) | HandlerError::InvalidArguments(text)) => match target {
            Target::Tool(_) => told(text.into_owned()),
            _ => Failure::new(FailureKind::InvalidParams, text).into(),
        },
        Err(HandlerError::NotFound) => nothing_there(target),
        Err(HandlerError::MissingCapability(required)) => match (era, target) {
            (Era::Legacy, Target::Tool(_)) => told(format!(
                "this needs {required}, and the client cannot be asked for it"
            )),
            _ => Failure::missing_capability(&required).into(),
        },
        Err(HandlerError::InsufficientScope(_)) => {
            let message = Problem::InsufficientScope.description();
            Failure::new(FailureKind::InsufficientScope, message).into()
        }
        Err(HandlerError::Suspended) => {
            let error = HandlerError::internal("a handler left to ask without asking");
            of_handler(Err(error), target, era)
        }
        Err(HandlerError::Internal(error)) => {
            let incident = incident();
            tracing::error!(
                incident,
                target = target.name(),
                error = &*error as &dyn std::error::Error,
                "a handler failed"
            );
            internal(&incident, target)
        }
    }
}

/// The outcome of a handler that has nothing by the name it was called with.
fn nothing_there(target: &Target) -> Outcome {
    match target {
        Target::Tool(_) => told("not found".to_owned()),
        Target::Resource(uri) => Failure::resource_not_found(uri).into(),
        Target::Prompt(_) | Target::Completion(_) => {
            Failure::new(FailureKind::UnknownName, "not found").into()
        }
    }
}

/// The outcome of a handler that panicked; its text goes to the log alone.
pub(crate) fn of_panic(panic: &(dyn Any + Send), target: &Target) -> Outcome {
    let incident = incident();
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let panic = text.unwrap_or("a panic without text");
    tracing::error!(
        incident,
        target = target.name(),
        panic,
        "a handler panicked"
    );
    internal(&incident, target)
}

/// The outcome of a handler that took too long.
pub(crate) fn of_timeout(limit: Duration, target: &Target) -> Outcome {
    tracing::warn!(
        target = target.name(),
        ?limit,
        "a handler took too long and was stopped"
    );
    let text = format!("stopped after {limit:?}: the call took too long");
    match target {
        Target::Tool(_) => told(text),
        _ => Failure::new(FailureKind::Internal, text).into(),
    }
}

/// A tool's result, if it keeps to the tool's own output schema.
fn checked(result: CallToolResult, target: &Target) -> Outcome {
    let Target::Tool(tool) = target else {
        return Outcome::Result(ServerResult::CallTool(result.into()));
    };
    if let Err(violations) = tool.check_output(&result) {
        let incident = incident();
        tracing::error!(
            incident,
            tool = tool.name(),
            violations,
            "a result misses its schema"
        );
        return internal(&incident, target);
    }
    let mut result = result;
    if result.is_error == Some(true) {
        // It would be judged by the schema of success.
        result.structured_content = None;
    }
    Outcome::Result(ServerResult::CallTool(CalledTool::new(result, tool.shape)))
}

fn internal(incident: &str, target: &Target) -> Outcome {
    match target {
        Target::Tool(_) => told(format!("internal error (incident {incident})")),
        _ => Failure::internal(incident).into(),
    }
}

fn told(text: String) -> Outcome {
    Outcome::Result(ServerResult::CallTool(CallToolResult::error(text).into()))
}

/// A name for one failure, to find it in the log.
pub(crate) fn incident() -> String {
    format!("{:016x}", rand::random::<u64>())
}
