//! Resources at fixed URIs: how they are declared, and the reading of one.

use std::{fmt, time::Duration};

use mcp_codec::ServerResult;
use mcp_types::{
    Annotations, CacheHints, CacheScope, Icon, MetaObject, ReadResourceResult, Resource,
};
use serde_json::value::RawValue;

use crate::{
    Exchange, Handler, IntoResource, RegisterError,
    answer::HandlerFuture,
    auth::{Needs, Scopes},
    handler::States,
    registering::Registering,
    schema::{ArgumentSchema, ArgumentsError, SchemaError},
};

pub(crate) type ErasedResource =
    Box<dyn Fn(Reading<'_>, Exchange) -> Result<HandlerFuture, ArgumentsError> + Send + Sync>;

/// What the erased handler reads: where, of which type, and with which variables.
pub(crate) struct Reading<'a> {
    pub(crate) schema: &'a ArgumentSchema,
    pub(crate) variables: Option<&'a RawValue>,
    pub(crate) uri: String,
    pub(crate) mime_type: Option<String>,
    pub(crate) hints: Option<CacheHints>,
}

pub(crate) fn erased<M, H>(handler: H) -> ErasedResource
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
    subscribable: bool,
    needs: Needs,
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
        subscribable: false,
        needs: Needs {
            principal: H::needs_principal(),
            ..Needs::default()
        },
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

            /// The scopes that whoever reads it or subscribes to it needs (see
            /// [`auth`](crate::auth)). Without them it is refused before anything runs, and told
            /// all that it lacks.
            pub fn scopes(mut self, scopes: impl Into<Scopes>) -> Self {
                self.needs.scopes = scopes.into();
                self
            }

            /// The oldest protocol version whose clients see it; for others it does not exist.
            pub fn since(mut self, version: &'static str) -> Self {
                self.since = Some(version);
                self
            }

            /// Lets clients subscribe to its changes, which
            /// [`Registry::resource_updated`](crate::Registry::resource_updated) announces.
            pub fn subscribable(mut self) -> Self {
                self.subscribable = true;
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

pub(crate) use common_setters;

common_setters!(ResourceSpec, resource);

impl ResourceSpec {
    /// How many bytes it holds.
    pub fn size(mut self, bytes: u64) -> Self {
        self.resource.size = Some(bytes);
        self
    }

    pub(crate) fn prepare(self, states: &States) -> Result<ResourceEntry, RegisterError> {
        let uri = &self.resource.uri;
        let entry = Registering::new("resource", uri);
        if !has_scheme(uri) {
            return Err(entry.invalid("a URI begins with a scheme, as `demo://`"));
        }
        let mut arguments = entry.arguments(self.arguments, (self.missing_state)(states))?;
        if arguments.take_published().get("required").is_some() {
            let problem = "a resource at a fixed URI has no arguments: use a template";
            return Err(entry.invalid(problem));
        }
        Ok(ResourceEntry {
            resource: self.resource,
            arguments,
            read: self.read,
            hints: self.hints,
            since: self.since,
            subscribable: self.subscribable,
            needs: self.needs.check(&entry)?,
        })
    }
}

/// Whether a URI has a scheme (RFC 3986 section 3.1).
pub(crate) fn has_scheme(uri: &str) -> bool {
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
    pub(crate) subscribable: bool,
    pub(crate) needs: Needs,
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
