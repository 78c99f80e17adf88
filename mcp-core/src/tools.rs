//! Tools: how they are declared, and the call of one.

use std::{collections::HashSet, fmt, future::Future, sync::Arc, time::Duration};

use mcp_codec::{MirroredParameter, ServerResult, mirrored_parameters, outcome::OutputShape};
use mcp_types::{
    CallToolResult, ContentBlock, Icon, JsonObject, MetaObject, RawJson, Tool, ToolAnnotations,
};
use serde_json::{Map, Value, value::RawValue};

use crate::{
    Arguments, Exchange, Handler, HandlerError, IntoToolResult, RegisterError,
    answer::HandlerFuture,
    asking::in_arguments,
    auth::{Needs, Scopes},
    handler::States,
    registering::Registering,
    schema::{ArgumentSchema, ArgumentsError, OutputSchema, SchemaError},
};

type ErasedTool = Box<
    dyn Fn(&ArgumentSchema, Option<&RawValue>, Exchange) -> Result<HandlerFuture, ArgumentsError>
        + Send
        + Sync,
>;
type MissingState = fn(&States) -> Option<&'static str>;

/// A tool as it is declared; see [`tool()`].
#[must_use = "a tool does nothing until it is registered"]
pub struct ToolSpec {
    tool: Tool,
    arguments: Result<ArgumentSchema, SchemaError>,
    output: Option<Value>,
    call: ErasedTool,
    missing_state: MissingState,
    timeout: Option<Duration>,
    since: Option<&'static str>,
    asks: bool,
    single_use: bool,
    needs: Needs,
}

/// A tool served by a plain `async fn`.
///
/// The doc comment of the argument type becomes the description, the type itself `inputSchema`,
/// and `Json<T>` as the return type `outputSchema`.
///
/// ```
/// use mcp_core::tool;
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// /// Add two numbers.
/// #[derive(Deserialize, JsonSchema)]
/// struct Add {
///     a: i64,
///     b: i64,
/// }
///
/// async fn add(Add { a, b }: Add) -> String {
///     (a + b).to_string()
/// }
///
/// let spec = tool("add", add).title("Add");
/// ```
pub fn tool<M, H>(name: impl Into<String>, handler: H) -> ToolSpec
where
    H: Handler<M>,
    H::Output: IntoToolResult,
{
    let call: ErasedTool = Box::new(move |schema, arguments, exchange| {
        let arguments = schema.read::<H::Arguments>(arguments)?;
        let future = handler.call(arguments, exchange);
        Ok(Box::pin(async move { finished(future.await?) }))
    });
    let output = H::Output::output_schema();
    let mut spec = ToolSpec::new(
        name.into(),
        ArgumentSchema::of::<H::Arguments>(),
        output,
        call,
        H::missing_state,
    );
    spec.needs.principal = H::needs_principal();
    spec
}

/// A tool served by a function that blocks: it runs on a thread of its own.
///
/// A call that is cancelled is no longer waited for, but the function runs to its end.
pub fn blocking_tool<A, R>(
    name: impl Into<String>,
    handler: impl Fn(A) -> R + Send + Sync + 'static,
) -> ToolSpec
where
    A: Arguments,
    R: IntoToolResult + Send + 'static,
{
    let handler = Arc::new(handler);
    let call: ErasedTool = Box::new(move |schema, arguments, _exchange| {
        let arguments = schema.read::<A>(arguments)?;
        let handler = Arc::clone(&handler);
        Ok(Box::pin(async move {
            match tokio::task::spawn_blocking(move || handler(arguments)).await {
                Ok(result) => finished(result),
                Err(error) => match error.try_into_panic() {
                    Ok(panic) => std::panic::resume_unwind(panic),
                    Err(error) => Err(error.into()),
                },
            }
        }))
    });
    ToolSpec::new(
        name.into(),
        ArgumentSchema::of::<A>(),
        R::output_schema(),
        call,
        |_| None,
    )
}

/// A tool that is known at run time alone: a name, a schema, and a closure over raw JSON.
///
/// The arguments have been validated against the schema when the closure runs.
pub fn dynamic_tool<F, Fut>(name: impl Into<String>, input_schema: Value, handler: F) -> ToolSpec
where
    F: Fn(RawJson, Exchange) -> Fut + Send + Sync + 'static,
    Fut: Future + Send + 'static,
    Fut::Output: IntoToolResult,
{
    let call: ErasedTool = Box::new(move |schema, arguments, exchange| {
        schema.validate(arguments)?;
        let arguments =
            arguments.map_or_else(|| RawJson::from(Value::Object(Map::new())), RawJson::from);
        let future = handler(arguments, exchange);
        Ok(Box::pin(async move { finished(future.await) }))
    });
    let arguments = by_hand(input_schema);
    ToolSpec::new(name.into(), arguments, None, call, |_| None)
}

fn by_hand(schema: Value) -> Result<ArgumentSchema, SchemaError> {
    match schema {
        Value::Object(schema) => ArgumentSchema::by_hand(schema),
        _ => Err(SchemaError::NotAnObject(
            "the schema is no JSON object".to_owned(),
        )),
    }
}

fn finished(result: impl IntoToolResult) -> Result<ServerResult, HandlerError> {
    let mut result = result.into_tool_result()?;
    with_text_copy(&mut result);
    Ok(ServerResult::CallTool(result.into()))
}

impl ToolSpec {
    fn new(
        name: String,
        arguments: Result<ArgumentSchema, SchemaError>,
        output: Option<Value>,
        call: ErasedTool,
        missing_state: MissingState,
    ) -> Self {
        Self {
            tool: Tool::new(name, JsonObject::new()),
            arguments,
            output,
            call,
            missing_state,
            timeout: None,
            since: None,
            asks: false,
            single_use: false,
            needs: Needs::default(),
        }
    }

    /// What the tool does, for a model; by default the doc comment of its argument type.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.tool.description = Some(description.into());
        self
    }

    /// What the tool is called, for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.tool.title = Some(title.into());
        self
    }

    /// Hints on what the tool does to the world.
    pub fn annotations(mut self, annotations: ToolAnnotations) -> Self {
        self.tool.annotations = Some(annotations);
        self
    }

    /// Pictures to show beside the tool.
    pub fn icons(mut self, icons: impl Into<Vec<Icon>>) -> Self {
        self.tool.icons = Some(icons.into());
        self
    }

    /// Whatever else a client may want to know.
    pub fn meta(mut self, meta: MetaObject) -> Self {
        self.tool.meta = Some(meta);
        self
    }

    /// A schema of your own instead of the argument type's; every call is validated against it.
    pub fn input_schema(mut self, schema: Value) -> Self {
        self.arguments = by_hand(schema);
        self
    }

    /// A schema that every structured result has to keep to.
    pub fn output_schema(mut self, schema: Value) -> Self {
        self.output = Some(schema);
        self
    }

    /// How long a call may take; afterwards it is stopped and the caller told.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }

    /// Declares that the tool asks the user: then clients whose revision has no forms (before
    /// 2025-06-18) are asked as well, by a result that a model can follow and two more arguments.
    ///
    /// Elsewhere it changes nothing.
    pub fn asks(mut self) -> Self {
        self.asks = true;
        self
    }

    /// Has a retry that brings answers back count once: sent again, it gets the same answer, and
    /// the handler does not run.
    ///
    /// For what must not happen twice by accident: a payment, an order. The reservation is in the
    /// session store, so that it holds across workers.
    pub fn single_use(mut self) -> Self {
        self.single_use = true;
        self
    }

    /// The scopes that whoever calls it needs (see [`auth`](crate::auth)). Without them it is
    /// refused before anything runs, and told all that it lacks.
    pub fn scopes(mut self, scopes: impl Into<Scopes>) -> Self {
        self.needs.scopes = scopes.into();
        self
    }

    /// The oldest protocol version whose clients see the tool; for others it does not exist.
    pub fn since(mut self, version: &'static str) -> Self {
        self.since = Some(version);
        self
    }

    pub(crate) fn prepare(self, states: &States) -> Result<ToolEntry, RegisterError> {
        let mut tool = self.tool;
        let entry = Registering::new("tool", &tool.name);
        entry.check_name()?;
        warn_of_name(&tool.name);
        let mut arguments = entry.arguments(self.arguments, (self.missing_state)(states))?;
        if let Some(comment) = arguments.description() {
            tool.description.get_or_insert_with(|| comment.to_owned());
        }
        tool.input_schema = arguments.take_published();
        let mirrored = mirrored_parameters(&tool.input_schema).map_err(|it| entry.invalid(it))?;
        tool.output_schema = self.output.clone();
        let output = self.output.map(OutputSchema::by_hand).transpose();
        let output = output.map_err(|it| entry.invalid(format!("output schema: {it}")))?;
        let shape = OutputShape::of(tool.output_schema.as_ref());
        if self.asks && in_arguments::is_taken(&tool.input_schema) {
            let problem = "a tool that asks has no arguments `_answers` and `_state`";
            return Err(entry.invalid(problem));
        }
        Ok(ToolEntry {
            tool,
            arguments,
            output,
            call: self.call,
            timeout: self.timeout,
            since: self.since,
            asks: self.asks,
            single_use: self.single_use,
            needs: self.needs.check(&entry)?,
            mirrored,
            shape,
        })
    }
}

impl fmt::Debug for ToolSpec {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ToolSpec")
            .field("name", &self.tool.name)
            .finish_non_exhaustive()
    }
}

/// A tool that is registered.
pub(crate) struct ToolEntry {
    pub(crate) tool: Tool,
    arguments: ArgumentSchema,
    output: Option<OutputSchema>,
    call: ErasedTool,
    pub(crate) timeout: Option<Duration>,
    pub(crate) since: Option<&'static str>,
    /// Whether it asks with a form, also clients that know none.
    pub(crate) asks: bool,
    /// Whether a retry of it counts once.
    pub(crate) single_use: bool,
    pub(crate) needs: Needs,
    pub(crate) mirrored: Vec<MirroredParameter>,
    /// How its structured content travels to older peers.
    pub(crate) shape: OutputShape,
}

impl ToolEntry {
    pub(crate) fn name(&self) -> &str {
        &self.tool.name
    }

    pub(crate) fn call(
        &self,
        arguments: Option<&RawValue>,
        exchange: Exchange,
    ) -> Result<HandlerFuture, ArgumentsError> {
        (self.call)(&self.arguments, arguments, exchange)
    }

    /// Whether a result keeps to the output schema; the text of what does not is for the log.
    pub(crate) fn check_output(&self, result: &CallToolResult) -> Result<(), String> {
        let Some(schema) = &self.output else {
            return Ok(());
        };
        if result.is_error == Some(true) {
            return Ok(());
        }
        let Some(structured) = &result.structured_content else {
            return Err("there is an output schema and no structured content".to_owned());
        };
        schema
            .validate_text(structured.get())
            .map_err(|violations| {
                let violations: Vec<String> = violations.iter().map(ToString::to_string).collect();
                violations.join("; ")
            })
    }
}

/// Appends the text copy of structured content that clients without it read.
fn with_text_copy(result: &mut CallToolResult) {
    let Some(structured) = &result.structured_content else {
        return;
    };
    let said = |block: &ContentBlock| matches!(block, ContentBlock::Text(text) if text.text == structured.get());
    if !result.content.iter().any(said) {
        let copy = ContentBlock::text(structured.get());
        result.content.push(copy);
    }
}

fn warn_of_name(name: &str) {
    if !is_conventional(name) {
        tracing::warn!(
            tool = name,
            "clients may refuse this name: use 1 to 128 of A-Z a-z 0-9 _ - ."
        );
    }
}

/// 1 to 128 characters of `A-Z a-z 0-9 _ - .` (2025-11-25 and newer, `server/tools`, Tool Names).
fn is_conventional(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    name.len() <= 128 && name.bytes().all(allowed)
}

/// The first name that comes twice.
pub(crate) fn repeated<'a>(names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut seen = HashSet::new();
    let mut names = names;
    names.find(|name| !seen.insert(*name))
}
