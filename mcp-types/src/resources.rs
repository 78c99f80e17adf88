//! Resources, from the [Resources] page of the specification.
//!
//! [Resources]: https://modelcontextprotocol.io/specification/2026-07-28/server/resources

use crate::content::{Annotations, Icon};
use crate::input::InputResponses;
use crate::meta::MetaObject;
use crate::result::CacheScope;
use crate::wire::setters;
use serde::{Deserialize, Serialize};

/// Something a server lets be read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Resource {
    /// Its URI.
    pub uri: String,
    /// Its name, for programs.
    pub name: String,
    /// Its name, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is, for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Pictures of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icons: Option<Vec<Icon>>,
    /// Its media type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Whom it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Its size in bytes, before any encoding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Whatever else, by reserved or prefixed key.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl Resource {
    /// The required members.
    #[must_use]
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            name: name.into(),
            ..Self::default()
        }
    }

    setters! {
        into title: String,
        into description: String,
        into icons: Vec<Icon>,
        into mime_type: String,
        value annotations: Annotations,
        value size: u64,
        value meta: MetaObject,
    }
}

/// A family of resources.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourceTemplate {
    /// The URI template of its members (RFC 6570).
    pub uri_template: String,
    /// Its name, for programs.
    pub name: String,
    /// Its name, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is, for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Pictures of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icons: Option<Vec<Icon>>,
    /// Its media type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Whom it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Whatever else, by reserved or prefixed key.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl ResourceTemplate {
    /// The required members.
    #[must_use]
    pub fn new(uri_template: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri_template: uri_template.into(),
            name: name.into(),
            ..Self::default()
        }
    }

    setters! {
        into title: String,
        into description: String,
        into icons: Vec<Icon>,
        into mime_type: String,
        value annotations: Annotations,
        value meta: MetaObject,
    }
}

/// The contents of a resource: `text`, or `blob` where it is not text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourceContents {
    /// The URI of what was read.
    pub uri: String,
    /// Its media type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The contents, when they are text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The contents in base64, when they are not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blob: Option<String>,
    /// Whatever else, by reserved or prefixed key.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl ResourceContents {
    /// Text.
    #[must_use]
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            text: Some(text.into()),
            ..Self::default()
        }
    }

    /// Anything else, in base64.
    #[must_use]
    pub fn blob(uri: impl Into<String>, base64: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            blob: Some(base64.into()),
            ..Self::default()
        }
    }

    setters! {
        into mime_type: String,
        value meta: MetaObject,
    }
}

/// What `resources/read` carries.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ReadResourceRequestParams {
    /// The resource.
    pub uri: String,
    /// The answers to what the server asked, by key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_responses: Option<InputResponses>,
    /// The state that came with the questions, as it came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_state: Option<String>,
    /// Whatever else, by reserved or prefixed key.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl ReadResourceRequestParams {
    /// The required members.
    #[must_use]
    pub fn new(uri: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            ..Self::default()
        }
    }

    setters! {
        value input_responses: InputResponses,
        into request_state: String,
        value meta: MetaObject,
    }
}

/// What `resources/subscribe` and `resources/unsubscribe` carry; revisions up to 2025-11-25.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourceRequestParams {
    /// The resource.
    pub uri: String,
    /// Whatever else, by reserved or prefixed key.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl ResourceRequestParams {
    /// The required members.
    #[must_use]
    pub fn new(uri: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            ..Self::default()
        }
    }

    setters! {
        value meta: MetaObject,
    }
}

/// What a resource holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ReadResourceResult {
    /// The contents; several when the resource has parts.
    pub contents: Vec<ResourceContents>,
    /// For how long the client may take it as fresh.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl_ms: Option<u64>,
    /// Who may keep it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_scope: Option<CacheScope>,
    /// Whatever else, by reserved or prefixed key.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl ReadResourceResult {
    /// The required members.
    #[must_use]
    pub fn new(contents: impl Into<Vec<ResourceContents>>) -> Self {
        Self {
            contents: contents.into(),
            ..Self::default()
        }
    }

    setters! {
        value ttl_ms: u64,
        value cache_scope: CacheScope,
        value meta: MetaObject,
    }
}

/// One page of resources.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListResourcesResult {
    /// The resources.
    pub resources: Vec<Resource>,
    /// Where the next page begins; none at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// For how long the client may take it as fresh.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl_ms: Option<u64>,
    /// Who may keep it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_scope: Option<CacheScope>,
    /// Whatever else, by reserved or prefixed key.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl ListResourcesResult {
    /// The required members.
    #[must_use]
    pub fn new(resources: impl Into<Vec<Resource>>) -> Self {
        Self {
            resources: resources.into(),
            ..Self::default()
        }
    }

    setters! {
        into next_cursor: String,
        value ttl_ms: u64,
        value cache_scope: CacheScope,
        value meta: MetaObject,
    }
}

/// One page of resource templates.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListResourceTemplatesResult {
    /// The templates.
    pub resource_templates: Vec<ResourceTemplate>,
    /// Where the next page begins; none at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// For how long the client may take it as fresh.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl_ms: Option<u64>,
    /// Who may keep it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_scope: Option<CacheScope>,
    /// Whatever else, by reserved or prefixed key.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl ListResourceTemplatesResult {
    /// The required members.
    #[must_use]
    pub fn new(resource_templates: impl Into<Vec<ResourceTemplate>>) -> Self {
        Self {
            resource_templates: resource_templates.into(),
            ..Self::default()
        }
    }

    setters! {
        into next_cursor: String,
        value ttl_ms: u64,
        value cache_scope: CacheScope,
        value meta: MetaObject,
    }
}

#[cfg(test)]
mod tests {
    use super::{
        ListResourceTemplatesResult, ListResourcesResult, ReadResourceRequestParams,
        ReadResourceResult, Resource, ResourceContents, ResourceRequestParams, ResourceTemplate,
    };
    use crate::content::ResourceLink;
    use crate::wire::testing::{check, refuse};

    #[test]
    fn resources_come_back() {
        let json = concat!(
            r#"{"uri":"file:///a","name":"a","title":"A","description":"d","#,
            r#""icons":[{"src":"data:,"}],"mimeType":"text/plain","#,
            r#""annotations":{"priority":1.0},"size":3,"_meta":{"k":1}}"#,
        );
        let resource = check::<Resource>(json);
        assert_eq!(check::<ResourceLink>(json), resource.into());
        check::<ResourceTemplate>(r#"{"uriTemplate":"file:///{a}","name":"a","title":"A"}"#);
        check::<ListResourcesResult>(r#"{"resources":[{"uri":"a:b","name":"a"}],"ttlMs":1}"#);
        check::<ListResourceTemplatesResult>(
            r#"{"resourceTemplates":[],"nextCursor":"c","cacheScope":"public"}"#,
        );
        refuse::<Resource>(r#"{"uri":"file:///a"}"#);
    }

    #[test]
    fn contents_come_back() {
        check::<ReadResourceRequestParams>(
            r#"{"uri":"a:b","inputResponses":{},"requestState":"s","_meta":{}}"#,
        );
        check::<ResourceRequestParams>(r#"{"uri":"a:b"}"#);
        let result = check::<ReadResourceResult>(concat!(
            r#"{"contents":[{"uri":"a:b","mimeType":"text/plain","text":"t","_meta":{}},"#,
            r#"{"uri":"a:c","blob":"AA=="}],"ttlMs":0,"cacheScope":"private"}"#,
        ));
        assert_eq!(result.contents[1], ResourceContents::blob("a:c", "AA=="));
    }
}
