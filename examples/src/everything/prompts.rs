//! Prompts, with and without arguments, and the completion of those.

use mcp_core::{
    RegistryBuilder, prompt,
    types::{ContentBlock, GetPromptResult, PromptMessage, ResourceContents, Role},
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{content::PNG, field};

pub(crate) fn register(builder: RegistryBuilder) -> RegistryBuilder {
    builder
        .prompt(
            prompt("test_simple_prompt", simple)
                .title("Simple")
                .description("Has no arguments.")
                .icons([crate::picture()]),
        )
        .prompt(
            prompt("test_prompt_with_arguments", with_arguments)
                .suggest("arg1", ["testValue1", "testing", "other"])
                .suggest("arg2", ["testValue2"]),
        )
        .prompt(prompt("test_prompt_with_embedded_resource", with_resource))
        .prompt(prompt("test_prompt_with_image", with_image).description("Shows a picture."))
        .prompt(prompt("greet", greet).suggest("city", (0..250).map(|n| format!("city-{n:03}"))))
        .prompt(field::boom_prompt())
}

async fn simple() -> &'static str {
    "This is a simple prompt for testing."
}

/// Has two arguments.
#[derive(Deserialize, JsonSchema)]
struct Two {
    /// The first one.
    arg1: String,
    /// The second one.
    arg2: String,
}

async fn with_arguments(Two { arg1, arg2 }: Two) -> String {
    format!("Prompt with arguments: arg1='{arg1}', arg2='{arg2}'")
}

/// Carries a resource.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Embedding {
    /// The URI of the resource.
    resource_uri: String,
}

async fn with_resource(Embedding { resource_uri }: Embedding) -> Vec<PromptMessage> {
    let text = "Embedded resource content for testing.";
    let contents = ResourceContents::text(resource_uri, text).mime_type("text/plain");
    vec![
        PromptMessage::new(Role::User, ContentBlock::resource(contents)),
        PromptMessage::user("Please process the embedded resource above."),
    ]
}

async fn with_image() -> Vec<PromptMessage> {
    vec![
        PromptMessage::new(Role::User, ContentBlock::image(PNG, "image/png")),
        PromptMessage::user("Please analyze the image above."),
    ]
}

/// Greets a city.
#[derive(Deserialize, JsonSchema)]
struct Greet {
    /// The city to greet.
    city: String,
}

async fn greet(Greet { city }: Greet) -> GetPromptResult {
    let messages = [
        PromptMessage::user(format!("Write a greeting to {city}.")),
        PromptMessage::assistant(format!("Hello, {city}!")),
    ];
    GetPromptResult::new(messages).description(format!("A greeting to {city}."))
}
