//! Resource templates: how they are declared, and the reading of what fits one.

use std::{fmt, future::Future, time::Duration};

use mcp_types::{Annotations, CacheHints, CacheScope, Icon, MetaObject, ResourceTemplate};
use serde_json::{Value, value::RawValue};

use crate::{
    Exchange, Handler, IntoCompletion, IntoResource, RegisterError,
    answer::HandlerFuture,
    auth::{Needs, Scopes},
    completion::{Completers, CompletionQuery},
    handler::States,
    registering::Registering,
    resources::{ErasedResource, Reading, common_setters, erased},
    schema::{ArgumentSchema, ArgumentsError, SchemaError},
    uri_template::{Refusal, UriTemplate, Variables},
};

/// A resource template as it is declared; see [`template()`].
#[must_use = "a template does nothing until it is registered"]
pub struct TemplateSpec {
    template: ResourceTemplate,
    unsafe_paths: bool,
    arguments: Result<ArgumentSchema, SchemaError>,
    read: ErasedResource,
    missing_state: fn(&States) -> Option<&'static str>,
    completers: Completers,
    hints: Option<CacheHints>,
    since: Option<&'static str>,
    subscribable: bool,
    needs: Needs,
}

/// Resources at every URI that fits an RFC 6570 template, served by one plain `async fn`.
///
/// The variables are the fields of the argument type, decoded once. A value that would leave its
/// place in a path (`..`, a separator, NUL) never reaches the handler.
///
/// ```
/// use mcp_core::{HandlerError, template};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Doc {
///     name: String,
/// }
///
/// async fn read(Doc { name }: Doc) -> Result<String, HandlerError> {
///     if name == "hello.txt" { Ok("Hello.".into()) } else { Err(HandlerError::not_found()) }
/// }
///
/// let spec = template("file:///docs/{name}", read).name("docs");
/// ```
pub fn template<M, H>(uri_template: impl Into<String>, handler: H) -> TemplateSpec
where
    H: Handler<M>,
    H::Output: IntoResource,
{
    let uri_template = uri_template.into();
    TemplateSpec {
        template: ResourceTemplate::new(uri_template.clone(), uri_template),
        unsafe_paths: false,
        arguments: ArgumentSchema::of::<H::Arguments>(),
        read: erased(handler),
        missing_state: H::missing_state,
        completers: Completers::default(),
        hints: None,
        since: None,
        subscribable: false,
        needs: Needs {
            principal: H::needs_principal(),
            ..Needs::default()
        },
    }
}

common_setters!(TemplateSpec, template);

impl TemplateSpec {
    /// Lets separators, dot segments and NUL through to the handler, which then has to refuse
    /// what would leave the place it serves.
    pub fn allow_unsafe_paths(mut self) -> Self {
        self.unsafe_paths = true;
        self
    }

    /// Suggestions for a variable, most fitting first.
    pub fn complete<F, Fut>(mut self, variable: impl Into<String>, completer: F) -> Self
    where
        F: Fn(CompletionQuery, Exchange) -> Fut + Send + Sync + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: IntoCompletion,
    {
        self.completers.insert(variable.into(), completer);
        self
    }

    /// Fixed suggestions for a variable; those that begin with what was typed are given.
    pub fn suggest<S: Into<String>>(
        mut self,
        variable: impl Into<String>,
        values: impl IntoIterator<Item = S>,
    ) -> Self {
        let values = values.into_iter().map(Into::into).collect();
        self.completers.insert_fixed(variable.into(), values);
        self
    }

    pub(crate) fn prepare(self, states: &States) -> Result<TemplateEntry, RegisterError> {
        let text = &self.template.uri_template;
        let entry = Registering::new("template", text);
        let mut pattern = UriTemplate::parse(text).map_err(|it| entry.invalid(it))?;
        if self.unsafe_paths {
            pattern = pattern.allow_unsafe_paths();
        }
        let mut arguments = entry.arguments(self.arguments, (self.missing_state)(states))?;
        let has = |name: &str| pattern.variables().any(|variable| variable == name);
        let schema = arguments.take_published();
        let required = schema.get("required").and_then(Value::as_array);
        let missing = |name: &&str| !has(name);
        if let Some(missing) = required
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .find(missing)
        {
            let problem = format!("the handler needs {missing:?}, which is no variable of it");
            return Err(entry.invalid(problem));
        }
        self.completers.check(&entry, "variable", has)?;
        Ok(TemplateEntry {
            template: self.template,
            pattern,
            schema: Value::Object(schema),
            arguments,
            read: self.read,
            completers: self.completers,
            hints: self.hints,
            since: self.since,
            subscribable: self.subscribable,
            needs: self.needs.check(&entry)?,
        })
    }
}

/// A template that is registered.
pub(crate) struct TemplateEntry {
    pub(crate) template: ResourceTemplate,
    pattern: UriTemplate,
    arguments: ArgumentSchema,
    /// The same as a value, to tell which texts are numbers.
    schema: Value,
    read: ErasedResource,
    pub(crate) completers: Completers,
    hints: Option<CacheHints>,
    pub(crate) since: Option<&'static str>,
    pub(crate) subscribable: bool,
    pub(crate) needs: Needs,
}

impl TemplateEntry {
    /// The variables of a URI that fits.
    pub(crate) fn matches(&self, uri: &str) -> Result<Option<Variables>, Refusal> {
        self.pattern.matches(uri)
    }

    pub(crate) fn has_variable(&self, name: &str) -> bool {
        self.pattern.variables().any(|variable| variable == name)
    }

    pub(crate) fn read(
        &self,
        uri: &str,
        variables: &Variables,
        exchange: Exchange,
    ) -> Result<HandlerFuture, ArgumentsError> {
        let text = variables.to_json(&self.schema);
        let raw = RawValue::from_string(text).map_err(|_| ArgumentsError::NotAnObject)?;
        let reading = Reading {
            schema: &self.arguments,
            variables: Some(&raw),
            uri: uri.to_owned(),
            mime_type: self.template.mime_type.clone(),
            hints: self.hints,
        };
        (self.read)(reading, exchange)
    }
}
