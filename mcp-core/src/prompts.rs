//! Prompts: how they are declared, and the rendering of one.

use std::{collections::BTreeMap, fmt, future::Future};

use mcp_codec::ServerResult;
use mcp_types::{Icon, JsonObject, MetaObject, Prompt, PromptArgument};
use serde_json::{Value, value::RawValue};

use crate::{
    Exchange, Handler, IntoCompletion, IntoPromptResult, RegisterError,
    answer::HandlerFuture,
    auth::{Needs, Scopes},
    completion::{Completers, CompletionQuery},
    handler::States,
    registering::Registering,
    schema::{ArgumentSchema, ArgumentsError, SchemaError, coerce_strings},
};

type ErasedPrompt = Box<
    dyn Fn(&ArgumentSchema, &RawValue, Exchange) -> Result<HandlerFuture, ArgumentsError>
        + Send
        + Sync,
>;

/// A prompt as it is declared; see [`prompt()`].
#[must_use = "a prompt does nothing until it is registered"]
pub struct PromptSpec {
    prompt: Prompt,
    arguments: Result<ArgumentSchema, SchemaError>,
    call: ErasedPrompt,
    missing_state: fn(&States) -> Option<&'static str>,
    completers: Completers,
    since: Option<&'static str>,
    needs: Needs,
}

/// A prompt served by a plain `async fn`.
///
/// Its arguments are the fields of the argument type: a doc comment becomes the description, an
/// `Option` makes it optional. Clients send text; a field that is a number or a boolean is read
/// from it.
///
/// ```
/// use mcp_core::prompt;
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// /// Greet a city.
/// #[derive(Deserialize, JsonSchema)]
/// struct Greet {
///     /// The city to greet.
///     city: String,
/// }
///
/// async fn greet(Greet { city }: Greet) -> String {
///     format!("Write a greeting to {city}.")
/// }
///
/// let spec = prompt("greet", greet).suggest("city", ["Paris", "Rome"]);
/// ```
pub fn prompt<M, H>(name: impl Into<String>, handler: H) -> PromptSpec
where
    H: Handler<M>,
    H::Output: IntoPromptResult,
{
    let call: ErasedPrompt = Box::new(move |schema, arguments, exchange| {
        let arguments = schema.read::<H::Arguments>(Some(arguments))?;
        let future = handler.call(arguments, exchange);
        Ok(Box::pin(async move {
            let result = future.await?.into_prompt_result()?;
            Ok(ServerResult::GetPrompt(result))
        }))
    });
    PromptSpec {
        prompt: Prompt::new(name),
        arguments: ArgumentSchema::of::<H::Arguments>(),
        call,
        missing_state: H::missing_state,
        completers: Completers::default(),
        since: None,
        needs: Needs {
            principal: H::needs_principal(),
            ..Needs::default()
        },
    }
}

impl PromptSpec {
    /// What the prompt is for; by default the doc comment of its argument type.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.prompt.description = Some(description.into());
        self
    }

    /// What the prompt is called, for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.prompt.title = Some(title.into());
        self
    }

    /// Pictures to show beside the prompt.
    pub fn icons(mut self, icons: impl Into<Vec<Icon>>) -> Self {
        self.prompt.icons = Some(icons.into());
        self
    }

    /// Whatever else a client may want to know.
    pub fn meta(mut self, meta: MetaObject) -> Self {
        self.prompt.meta = Some(meta);
        self
    }

    /// Suggestions for an argument, most fitting first.
    pub fn complete<F, Fut>(mut self, argument: impl Into<String>, completer: F) -> Self
    where
        F: Fn(CompletionQuery, Exchange) -> Fut + Send + Sync + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: IntoCompletion,
    {
        self.completers.insert(argument.into(), completer);
        self
    }

    /// Fixed suggestions for an argument; those that begin with what was typed are given.
    pub fn suggest<S: Into<String>>(
        mut self,
        argument: impl Into<String>,
        values: impl IntoIterator<Item = S>,
    ) -> Self {
        let values = values.into_iter().map(Into::into).collect();
        self.completers.insert_fixed(argument.into(), values);
        self
    }

    /// The scopes that whoever gets it, or completes its arguments, needs (see [`auth`](crate::auth)). Without them it is
    /// refused before anything runs, and told all that it lacks.
    pub fn scopes(mut self, scopes: impl Into<Scopes>) -> Self {
        self.needs.scopes = scopes.into();
        self
    }

    /// The oldest protocol version whose clients see the prompt; for others it does not exist.
    pub fn since(mut self, version: &'static str) -> Self {
        self.since = Some(version);
        self
    }

    pub(crate) fn prepare(self, states: &States) -> Result<PromptEntry, RegisterError> {
        let mut prompt = self.prompt;
        let entry = Registering::new("prompt", &prompt.name);
        entry.check_name()?;
        let mut arguments = entry.arguments(self.arguments, (self.missing_state)(states))?;
        if let Some(comment) = arguments.description() {
            prompt.description.get_or_insert_with(|| comment.to_owned());
        }
        let schema = arguments.take_published();
        let listed = listed_arguments(&schema);
        let has = |name: &str| listed.iter().any(|argument| argument.name == name);
        self.completers.check(&entry, "argument", has)?;
        if !listed.is_empty() {
            prompt.arguments = Some(listed);
        }
        Ok(PromptEntry {
            prompt,
            arguments,
            schema: Value::Object(schema),
            call: self.call,
            completers: self.completers,
            since: self.since,
            needs: self.needs.check(&entry)?,
        })
    }
}

impl fmt::Debug for PromptSpec {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut formatter = formatter.debug_struct("PromptSpec");
        formatter
            .field("name", &self.prompt.name)
            .finish_non_exhaustive()
    }
}

/// The fields of an argument type, required ones first, as clients are told of them.
fn listed_arguments(schema: &JsonObject) -> Vec<PromptArgument> {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let properties = schema.get("properties").and_then(Value::as_object);
    let argument = |name: &str, property: &Value| {
        let mut argument = PromptArgument::new(name);
        let text = |key: &str| property.get(key).and_then(Value::as_str).map(str::to_owned);
        argument.title = text("title");
        argument.description = text("description");
        argument.required = Some(required.contains(&name));
        argument
    };
    let mut listed: Vec<PromptArgument> = properties
        .into_iter()
        .flatten()
        .map(|(name, property)| argument(name, property))
        .collect();
    let place = |it: &PromptArgument| required.iter().position(|name| *name == it.name);
    listed.sort_by_key(|it| place(it).unwrap_or(usize::MAX));
    listed
}

/// A prompt that is registered.
pub(crate) struct PromptEntry {
    pub(crate) prompt: Prompt,
    arguments: ArgumentSchema,
    /// The same as a value, to tell which texts are numbers.
    schema: Value,
    call: ErasedPrompt,
    pub(crate) completers: Completers,
    pub(crate) since: Option<&'static str>,
    pub(crate) needs: Needs,
}

impl PromptEntry {
    pub(crate) fn call(
        &self,
        arguments: &BTreeMap<String, String>,
        exchange: Exchange,
    ) -> Result<HandlerFuture, ArgumentsError> {
        let entries = arguments
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()));
        let text = coerce_strings(entries, &self.schema);
        let raw = RawValue::from_string(text).map_err(|_| ArgumentsError::NotAnObject)?;
        (self.call)(&self.arguments, &raw, exchange)
    }

    pub(crate) fn has_argument(&self, name: &str) -> bool {
        self.prompt
            .arguments
            .iter()
            .flatten()
            .any(|argument| argument.name == name)
    }
}
