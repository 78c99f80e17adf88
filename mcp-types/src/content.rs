//! Content blocks and what they carry, from the [Tools] page of the specification.
//!
//! [Tools]: https://modelcontextprotocol.io/specification/2026-07-28/server/tools

use crate::meta::MetaObject;
use crate::resources::{Resource, ResourceContents};
use crate::wire::setters;
use serde::{Deserialize, Serialize};

/// One block of content in a tool result or a prompt message.
///
/// ```
/// use mcp_types::ContentBlock;
///
/// let block = ContentBlock::text("It rains.");
/// assert_eq!(serde_json::to_string(&block).unwrap(), r#"{"type":"text","text":"It rains."}"#);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(
    clippy::exhaustive_enums,
    reason = "a new kind of block has to be looked at in every adapter"
)]
pub enum ContentBlock {
    /// Text.
    Text(TextContent),
    /// A picture.
    Image(ImageContent),
    /// A sound.
    Audio(AudioContent),
    /// Where a resource is to be read.
    ResourceLink(Box<ResourceLink>),
    /// A resource with its contents.
    Resource(Box<EmbeddedResource>),
}

impl ContentBlock {
    /// Text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        TextContent::new(text).into()
    }

    /// A picture, in base64.
    #[must_use]
    pub fn image(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        ImageContent::new(data, mime_type).into()
    }

    /// A sound, in base64.
    #[must_use]
    pub fn audio(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        AudioContent::new(data, mime_type).into()
    }

    /// Where a resource is to be read.
    #[must_use]
    pub fn resource_link(uri: impl Into<String>, name: impl Into<String>) -> Self {
        ResourceLink::new(uri, name).into()
    }

    /// A resource with its contents.
    #[must_use]
    pub fn resource(resource: ResourceContents) -> Self {
        EmbeddedResource::new(resource).into()
    }
}

impl From<TextContent> for ContentBlock {
    fn from(content: TextContent) -> Self {
        Self::Text(content)
    }
}

impl From<ImageContent> for ContentBlock {
    fn from(content: ImageContent) -> Self {
        Self::Image(content)
    }
}

impl From<AudioContent> for ContentBlock {
    fn from(content: AudioContent) -> Self {
        Self::Audio(content)
    }
}

impl From<ResourceLink> for ContentBlock {
    fn from(link: ResourceLink) -> Self {
        Self::ResourceLink(Box::new(link))
    }
}

impl From<EmbeddedResource> for ContentBlock {
    fn from(resource: EmbeddedResource) -> Self {
        Self::Resource(Box::new(resource))
    }
}

/// Text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TextContent {
    /// The text.
    pub text: String,
    /// Whom it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Whatever else, by reserved or prefixed key.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl TextContent {
    /// The required members.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    setters! {
        value annotations: Annotations,
        value meta: MetaObject,
    }
}

/// A picture.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ImageContent {
    /// The picture in base64.
    pub data: String,
    /// Its media type.
    pub mime_type: String,
    /// Whom it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Whatever else, by reserved or prefixed key.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl ImageContent {
    /// The required members.
    #[must_use]
    pub fn new(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self {
            data: data.into(),
            mime_type: mime_type.into(),
            ..Self::default()
        }
    }

    setters! {
        value annotations: Annotations,
        value meta: MetaObject,
    }
}

/// A sound.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AudioContent {
    /// The sound in base64.
    pub data: String,
    /// Its media type.
    pub mime_type: String,
    /// Whom it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Whatever else, by reserved or prefixed key.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl AudioContent {
    /// The required members.
    #[must_use]
    pub fn new(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self {
            data: data.into(),
            mime_type: mime_type.into(),
            ..Self::default()
        }
    }

    setters! {
        value annotations: Annotations,
        value meta: MetaObject,
    }
}

/// A content block that says where a resource is to be read.
///
/// It need not be one that `resources/list` shows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourceLink {
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

impl ResourceLink {
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

impl From<Resource> for ResourceLink {
    fn from(resource: Resource) -> Self {
        Self {
            uri: resource.uri,
            name: resource.name,
            title: resource.title,
            description: resource.description,
            icons: resource.icons,
            mime_type: resource.mime_type,
            annotations: resource.annotations,
            size: resource.size,
            meta: resource.meta,
        }
    }
}

/// A resource with its contents, inside a message.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct EmbeddedResource {
    /// The contents.
    pub resource: ResourceContents,
    /// Whom it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Whatever else, by reserved or prefixed key.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl EmbeddedResource {
    /// The required members.
    #[must_use]
    pub fn new(resource: ResourceContents) -> Self {
        Self {
            resource,
            ..Self::default()
        }
    }

    setters! {
        value annotations: Annotations,
        value meta: MetaObject,
    }
}

/// Hints to the client about content or a resource.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Annotations {
    /// Who should see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audience: Option<Vec<Role>>,
    /// How important it is, from 0 (optional) to 1 (required).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<f64>,
    /// When it last changed, in ISO 8601.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
}

impl Annotations {
    /// No hint.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        into audience: Vec<Role>,
        value priority: f64,
        into last_modified: String,
    }
}

/// Who speaks, or who is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(
    clippy::exhaustive_enums,
    reason = "a conversation has these two sides"
)]
pub enum Role {
    /// The user.
    User,
    /// The model.
    Assistant,
}

/// A picture of a tool, a prompt, a resource, a client or a server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Icon {
    /// Its `https:` or `data:` URI.
    pub src: String,
    /// Its media type, where the source does not say it well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The sizes it is good for, `48x48` or `any`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sizes: Option<Vec<String>>,
    /// The background it is drawn for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub theme: Option<IconTheme>,
}

impl Icon {
    /// The required members.
    #[must_use]
    pub fn new(src: impl Into<String>) -> Self {
        Self {
            src: src.into(),
            ..Self::default()
        }
    }

    setters! {
        into mime_type: String,
        into sizes: Vec<String>,
        value theme: IconTheme,
    }
}

/// The background an icon is drawn for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum IconTheme {
    /// A light one.
    Light,
    /// A dark one.
    Dark,
}

#[cfg(test)]
mod tests {
    use super::{Annotations, ContentBlock, Icon, IconTheme, Role};
    use crate::resources::ResourceContents;
    use crate::wire::testing::{check, refuse};

    fn written(block: &ContentBlock, json: &str) {
        assert_eq!(serde_json::to_string(block).unwrap(), json);
        assert_eq!(check::<ContentBlock>(json), *block);
    }

    #[test]
    fn every_block_is_known_by_its_type() {
        written(&ContentBlock::text("a"), r#"{"type":"text","text":"a"}"#);
        written(
            &ContentBlock::image("AA==", "image/png"),
            r#"{"type":"image","data":"AA==","mimeType":"image/png"}"#,
        );
        written(
            &ContentBlock::audio("AA==", "audio/wav"),
            r#"{"type":"audio","data":"AA==","mimeType":"audio/wav"}"#,
        );
        written(
            &ContentBlock::resource_link("file:///a", "a"),
            r#"{"type":"resource_link","uri":"file:///a","name":"a"}"#,
        );
        written(
            &ContentBlock::resource(ResourceContents::text("file:///a", "b")),
            r#"{"type":"resource","resource":{"uri":"file:///a","text":"b"}}"#,
        );
        written(
            &ContentBlock::resource(ResourceContents::blob("file:///a", "AA==")),
            r#"{"type":"resource","resource":{"uri":"file:///a","blob":"AA=="}}"#,
        );
    }

    #[test]
    fn what_is_no_block_is_refused() {
        refuse::<ContentBlock>(r#"{"text":"a"}"#);
        refuse::<ContentBlock>(r#"{"type":"video","data":"AA=="}"#);
        refuse::<ContentBlock>(r#"{"type":"tool_use","id":"1","name":"a","input":{}}"#);
        refuse::<ContentBlock>(r#"{"type":"image","data":"AA=="}"#);
    }

    #[test]
    fn hints_come_back() {
        check::<ContentBlock>(concat!(
            r#"{"type":"text","text":"a","annotations":{"audience":["user","assistant"],"#,
            r#""priority":0.5,"lastModified":"then"},"_meta":{"k":1}}"#,
        ));
        check::<Icon>(r#"{"src":"data:,","mimeType":"image/png","sizes":["any"],"theme":"dark"}"#);
        let hints = Annotations::new().audience([Role::User]).priority(1.0);
        assert_eq!(hints.audience, Some(vec![Role::User]));
        let icon = Icon::new("data:,")
            .sizes(["any".to_owned()])
            .theme(IconTheme::Light);
        assert_eq!(icon.theme, Some(IconTheme::Light));
    }
}
