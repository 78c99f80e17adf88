//! Walking the parts of a result or a question that several revisions take something out of.

use mcp_types::{
    Annotations, ContentBlock, CreateMessageRequestParams, Icon, JsonObject, Resource,
    ResourceContents, ResourceTemplate, SamplingContentBlock,
};

use crate::ServerResult;

/// Every content block of a tool result or prompt, to look at or to replace.
pub(crate) fn blocks(result: &mut ServerResult, mut change: impl FnMut(&mut ContentBlock)) {
    match result {
        ServerResult::CallTool(called) => called.result.content.iter_mut().for_each(change),
        ServerResult::GetPrompt(result) => {
            result
                .messages
                .iter_mut()
                .for_each(|message| change(&mut message.content));
        }
        _ => {}
    }
}

/// The contents of a resource, in a read result or embedded in a block.
pub(crate) fn contents(result: &mut ServerResult, mut change: impl FnMut(&mut ResourceContents)) {
    match result {
        ServerResult::ReadResource(result) => result.contents.iter_mut().for_each(change),
        other => blocks(other, |block| {
            if let ContentBlock::Resource(embedded) = block {
                change(&mut embedded.resource);
            }
        }),
    }
}

/// Every block of a conversation that the client's model is to go on with.
pub(crate) fn sampled(
    params: &mut CreateMessageRequestParams,
    change: impl FnMut(&mut SamplingContentBlock),
) {
    let messages = params.messages.iter_mut();
    messages
        .flat_map(|message| &mut message.content)
        .for_each(change);
}

/// The annotations of a block.
pub(crate) fn annotations(block: &mut ContentBlock) -> &mut Option<Annotations> {
    match block {
        ContentBlock::Text(text) => &mut text.annotations,
        ContentBlock::Image(image) => &mut image.annotations,
        ContentBlock::Audio(audio) => &mut audio.annotations,
        ContentBlock::ResourceLink(link) => &mut link.annotations,
        ContentBlock::Resource(embedded) => &mut embedded.annotations,
    }
}

/// The `_meta` of a block.
pub(crate) fn meta(block: &mut ContentBlock) -> &mut Option<JsonObject> {
    match block {
        ContentBlock::Text(text) => &mut text.meta,
        ContentBlock::Image(image) => &mut image.meta,
        ContentBlock::Audio(audio) => &mut audio.meta,
        ContentBlock::ResourceLink(link) => &mut link.meta,
        ContentBlock::Resource(embedded) => &mut embedded.meta,
    }
}

/// What resources and templates have in common, as far as revisions differ on it.
pub(crate) struct ListedParts<'a> {
    pub(crate) title: &'a mut Option<String>,
    pub(crate) icons: &'a mut Option<Vec<Icon>>,
    pub(crate) annotations: &'a mut Option<Annotations>,
    pub(crate) meta: &'a mut Option<JsonObject>,
}

impl<'a> From<&'a mut Resource> for ListedParts<'a> {
    fn from(resource: &'a mut Resource) -> Self {
        Self {
            title: &mut resource.title,
            icons: &mut resource.icons,
            annotations: &mut resource.annotations,
            meta: &mut resource.meta,
        }
    }
}

impl<'a> From<&'a mut ResourceTemplate> for ListedParts<'a> {
    fn from(template: &'a mut ResourceTemplate) -> Self {
        Self {
            title: &mut template.title,
            icons: &mut template.icons,
            annotations: &mut template.annotations,
            meta: &mut template.meta,
        }
    }
}

/// Every listed resource and template.
pub(crate) fn listed(result: &mut ServerResult, mut change: impl FnMut(ListedParts<'_>)) {
    match result {
        ServerResult::Resources(resources) => {
            resources
                .iter_mut()
                .for_each(|resource| change(resource.into()));
        }
        ServerResult::ResourceTemplates(templates) => {
            templates
                .iter_mut()
                .for_each(|template| change(template.into()));
        }
        _ => {}
    }
}
