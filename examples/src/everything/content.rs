//! Tools that answer with each kind of content.

use mcp_core::{
    HandlerError, Json, RegistryBuilder, tool,
    types::{Annotations, ContentBlock, ResourceContents, ResourceLink, Role, ToolAnnotations},
};

pub(crate) fn register(builder: RegistryBuilder) -> RegistryBuilder {
    builder
        .tool(tool("test_simple_text", simple_text).description("Answers with text."))
        .tool(tool("test_image_content", image).description("Answers with a picture."))
        .tool(tool("test_audio_content", audio).description("Answers with a sound."))
        .tool(
            tool("test_embedded_resource", embedded_resource)
                .description("Answers with the contents of a resource."),
        )
        .tool(
            tool("test_multiple_content_types", multiple)
                .description("Answers with text, a picture and a resource."),
        )
        .tool(tool("test_error_handling", failing).description("Fails, and says so."))
        .tool(tool("linked", linked).description("Answers with links to two resources."))
        .tool(
            tool("numbers", numbers)
                .description("Answers with an array, where older revisions know objects alone."),
        )
        .tool(decorated())
}

async fn simple_text() -> &'static str {
    "This is a simple text response for testing."
}

async fn image() -> ContentBlock {
    ContentBlock::image(PNG, "image/png")
}

async fn audio() -> ContentBlock {
    ContentBlock::audio(WAV, "audio/wav")
}

async fn embedded_resource() -> ContentBlock {
    let text = "This is an embedded resource content.";
    let contents = ResourceContents::text("test://embedded-resource", text);
    ContentBlock::resource(contents.mime_type("text/plain"))
}

async fn multiple() -> Vec<ContentBlock> {
    let text = r#"{"test":"data","value":123}"#;
    let contents = ResourceContents::text("test://mixed-content-resource", text);
    vec![
        ContentBlock::text("Multiple content types test:"),
        ContentBlock::image(PNG, "image/png"),
        ContentBlock::resource(contents.mime_type("application/json")),
    ]
}

async fn failing() -> Result<String, HandlerError> {
    let text = "This tool intentionally returns an error for testing";
    Err(HandlerError::tell(text))
}

async fn linked() -> Vec<ContentBlock> {
    let listed = ResourceLink::new("test://static-text", "static-text")
        .title("Static text")
        .description("A resource that is listed.")
        .mime_type("text/plain")
        .icons([crate::picture()])
        .size(48)
        .annotations(Annotations::new().audience([Role::User]).priority(0.5));
    let unlisted = ResourceLink::new("test://template/7/data", "7");
    vec![listed.into(), unlisted.into()]
}

async fn numbers() -> Json<Vec<i64>> {
    Json(vec![1, 2, 3])
}

/// What a client shows of a tool: name, title, picture, hints.
fn decorated() -> mcp_core::ToolSpec {
    let hints = ToolAnnotations::new()
        .title("Decorated")
        .read_only_hint(true)
        .destructive_hint(false)
        .idempotent_hint(true)
        .open_world_hint(false);
    tool("decorated", async || "Nothing was changed.")
        .title("Decorated")
        .description("Has a title, a picture and hints.")
        .icons([crate::picture()])
        .annotations(hints)
}

/// One red pixel.
pub(crate) const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC";

/// Half a millisecond of silence.
const WAV: &str = "UklGRigAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQQAAACAgICA";
