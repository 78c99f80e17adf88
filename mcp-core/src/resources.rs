//! Resources and resource templates: how they are declared, and the reading of one.

use std::{fmt, future::Future, time::Duration};

use mcp_codec::ServerResult;
use mcp_types::{
    Annotations, CacheHints, CacheScope, Icon, MetaObject, ReadResourceResult, Resource,
    ResourceTemplate,
};
use serde_json::{Value, value::RawValue};

use crate::{
    Exchange, Handler, IntoCompletion, IntoResource, RegisterError,
    answer::HandlerFuture,
    completion::{Completers, CompletionQuery},
    handler::States,
    schema::{ArgumentSchema, ArgumentsError, SchemaError},
    uri_template::{Refusal, UriTemplate, Variables},
};

type ErasedResource =
    Box<dyn Fn(Reading<'_>, Exchange) -> Result<HandlerFuture, ArgumentsError> + Send + Sync>;

/// What the erased handler reads: where, of which type, and with which variables.
struct Reading<'a> {
    schema: &'a ArgumentSchema,
    variables: Option<&'a RawValue>,
    uri: String,
    mime_type: Option<String>,
    hints: Option<CacheHints>,
}

fn erased<M, H>(handler: H) -> ErasedResource
where
    H: Handler<M>,
    H::Output: IntoResource,
{
    Box::new(move |reading, exchange| {
        let arguments = reading.schema.read::<H::Arguments>(reading.variables)?;
        let future = handler.call(arguments, exchange);
        let (uri, mime_type, hints) = (reading.uri, reading.mime_type, reading.hints);
        Ok(Box::pin(async move {
            let mut result: ReadResourceResult =
                future.await?.into_resource(&uri, mime_type.as_deref())?;
            if let Some(hints) = hints {
                result.ttl_ms.get_or_insert(hints.ttl_ms);
                result.cache_scope.get_or_insert(hints.cache_scope);
            }
            Ok(ServerResult::ReadResource(result))
        }))
    })
}

/// A resource as it is declared; see [`resource()`].
#[must_use = "a resource does nothing until it is registered"]
pub struct ResourceSpec {
    resource: Resource,
    arguments: Result<ArgumentSchema, SchemaError>,
    read: ErasedResource,
    missing_state: fn(&States) -> Option<&'static str>,
    hints: Option<CacheHints>,
    since: Option<&'static str>,
}

/// A resource at a fixed URI, served by a plain `async fn` without arguments (or with `()`).
///
/// ```
/// use mcp_core::resource;
///
/// async fn motd() -> &'static str {
///     "Be kind."
/// }
///
/// let spec = resource("demo://motd", motd).name("motd").description("Message of the day.");
/// ```
pub fn resource<M, H>(uri: impl Into<String>, handler: H) -> ResourceSpec
where
    H: Handler<M>,
    H::Output: IntoResource,
{
    let uri = uri.into();
    let name = uri
        .rsplit('/')
        .find(|part| !part.is_empty())
        .unwrap_or(&uri)
        .to_owned();
    ResourceSpec {
        resource: Resource::new(uri, name),
        arguments: ArgumentSchema::of::<H::Arguments>(),
        read: erased(handler),
        missing_state: H::missing_state,
        hints: None,
        since: None,
    }
}

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
    }
}

macro_rules! common_setters {
    ($spec:ident, $inner:ident) => {
        impl $spec {
            /// A name, for programs.
            pub fn name(mut self, name: impl Into<String>) -> Self {
                self.$inner.name = name.into();
                self
            }

            /// What it is called, for people.
            pub fn title(mut self, title: impl Into<String>) -> Self {
                self.$inner.title = Some(title.into());
                self
            }

            /// What it holds.
            pub fn description(mut self, description: impl Into<String>) -> Self {
                self.$inner.description = Some(description.into());
                self
            }

            /// The media type of what it holds.
            pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
                self.$inner.mime_type = Some(mime_type.into());
                self
            }

            /// For whom it is, and how important.
            pub fn annotations(mut self, annotations: Annotations) -> Self {
                self.$inner.annotations = Some(annotations);
                self
            }

            /// Pictures to show beside it.
            pub fn icons(mut self, icons: impl Into<Vec<Icon>>) -> Self {
                self.$inner.icons = Some(icons.into());
                self
            }

            /// Whatever else a client may want to know.
            pub fn meta(mut self, meta: MetaObject) -> Self {
                self.$inner.meta = Some(meta);
                self
            }

            /// How long, and by whom, what was read may be kept.
            pub fn cache(mut self, time_to_live: Duration, scope: CacheScope) -> Self {
                let ttl_ms = u64::try_from(time_to_live.as_millis()).unwrap_or(u64::MAX);
                self.hints = Some(CacheHints::new(ttl_ms, scope));
                self
            }

            /// The oldest protocol version whose clients see it; for others it does not exist.
            pub fn since(mut self, version: &'static str) -> Self {
                self.since = Some(version);
                self
            }
        }

        impl fmt::Debug for $spec {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter
                    .debug_struct(stringify!($spec))
                    .field("name", &self.$inner.name)
                    .finish_non_exhaustive()
            }
        }
    };
}

common_setters!(ResourceSpec, resource);
common_setters!(TemplateSpec, template);

impl ResourceSpec {
    /// How many bytes it holds.
    pub fn size(mut self, bytes: u64) -> Self {
        self.resource.size = Some(bytes);
        self
    }

    pub(crate) fn prepare(self, states: &States) -> Result<ResourceEntry, RegisterError> {
        let uri = self.resource.uri.clone();
        let invalid =
            |problem: &dyn fmt::Display| RegisterError::invalid("resource", uri.clone(), problem);
        if !has_scheme(&uri) {
            return Err(invalid(&"a URI begins with a scheme, as `demo://`"));
        }
        if let Some(state) = (self.missing_state)(states) {
            return Err(RegisterError::MissingState {
                kind: "resource",
                name: uri,
                state,
            });
        }
        let arguments = self.arguments.map_err(|it| invalid(&it))?;
        if arguments.published().get("required").is_some() {
            return Err(invalid(
                &"a resource at a fixed URI has no arguments: use a template",
            ));
        }
        let (resource, read, hints, since) = (self.resource, self.read, self.hints, self.since);
        Ok(ResourceEntry {
            resource,
            arguments,
            read,
            hints,
            since,
        })
    }
}

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
        let text = self.template.uri_template.clone();
        let invalid =
            |problem: &dyn fmt::Display| RegisterError::invalid("template", text.clone(), problem);
        let mut pattern = UriTemplate::parse(&text).map_err(|it| invalid(&it))?;
        if self.unsafe_paths {
            pattern = pattern.allow_unsafe_paths();
        }
        if let Some(state) = (self.missing_state)(states) {
            return Err(RegisterError::MissingState {
                kind: "template",
                name: text,
                state,
            });
        }
        let arguments = self.arguments.map_err(|it| invalid(&it))?;
        let has = |name: &str| pattern.variables().any(|variable| variable == name);
        let required = arguments
            .published()
            .get("required")
            .and_then(Value::as_array);
        let missing = |name: &&str| !has(name);
        if let Some(missing) = required
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .find(missing)
        {
            let problem = format!("the handler needs {missing:?}, which is no variable of it");
            return Err(invalid(&problem));
        }
        if let Some(unknown) = self.completers.arguments().find(|name| !has(name)) {
            return Err(invalid(&format!(
                "there is no variable {unknown:?} to complete"
            )));
        }
        Ok(TemplateEntry {
            template: self.template,
            pattern,
            schema: Value::Object(arguments.published().clone()),
            arguments,
            read: self.read,
            completers: self.completers,
            hints: self.hints,
            since: self.since,
        })
    }
}

/// Whether a URI has a scheme (RFC 3986 section 3.1).
fn has_scheme(uri: &str) -> bool {
    let Some((scheme, _)) = uri.split_once(':') else {
        return false;
    };
    let mut bytes = scheme.bytes();
    bytes
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// A resource that is registered.
pub(crate) struct ResourceEntry {
    pub(crate) resource: Resource,
    arguments: ArgumentSchema,
    read: ErasedResource,
    hints: Option<CacheHints>,
    pub(crate) since: Option<&'static str>,
}

impl ResourceEntry {
    pub(crate) fn read(&self, exchange: Exchange) -> Result<HandlerFuture, ArgumentsError> {
        let reading = Reading {
            schema: &self.arguments,
            variables: None,
            uri: self.resource.uri.clone(),
            mime_type: self.resource.mime_type.clone(),
            hints: self.hints,
        };
        (self.read)(reading, exchange)
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
