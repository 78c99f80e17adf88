//! The server of the vectors that ask.

use mcp_core::{
    Elicited, Exchange, HandlerError, Registry, RegistryBuilder, prompt, resource, tool,
    types::{
        CreateMessageRequestParams, ElicitRequestUrlParams, IncludeContext, JsonObject,
        ListRootsRequestParams, ModelHint, ModelPreferences, SamplingMessage, Tool, ToolChoice,
    },
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

pub(super) fn asking() -> RegistryBuilder {
    Registry::builder("asking", "0.1.0")
        .tool(tool("form", form).asks())
        .tool(tool("choices", choices))
        .tool(tool("url", url))
        .tool(tool("model", model))
        .tool(tool("model-tools", model_tools))
        .tool(tool("roots", roots))
        .tool(tool("several", several))
        .prompt(prompt("form", form))
        .resource(resource("demo://form", form))
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Size {
    #[schemars(title = "As small as can be")]
    Small,
    #[schemars(title = "As large as can be")]
    Large,
}

/// One field of each kind that every revision with forms has.
#[derive(Deserialize, JsonSchema)]
struct Order {
    /// Who is to have it.
    #[schemars(title = "Name", length(min = 1, max = 40))]
    name: String,
    #[schemars(email)]
    email: Option<String>,
    #[schemars(range(min = 1, max = 9), extend("default" = 2))]
    number: u8,
    weight: Option<f64>,
    #[schemars(extend("default" = true))]
    gift: bool,
    size: Size,
}

async fn form((): (), exchange: Exchange) -> Result<String, HandlerError> {
    let answer = exchange.elicit::<Order>("order", "What do you order?");
    Ok(match answer.await? {
        Elicited::Accepted(order) => {
            let Order {
                name,
                email,
                number,
                weight,
                gift,
                size,
            } = order;
            let large = matches!(size, Size::Large);
            format!("{name} {email:?} {number} {weight:?} {gift} {large}")
        }
        Elicited::Declined => "declined".to_owned(),
        Elicited::Cancelled => "cancelled".to_owned(),
    })
}

#[derive(Deserialize, JsonSchema)]
struct Choices {
    #[schemars(length(min = 1))]
    sizes: Vec<Size>,
}

async fn choices((): (), exchange: Exchange) -> Result<String, HandlerError> {
    let answer = exchange.elicit::<Choices>("choices", "Which ones?").await?;
    let sizes = answer.accepted().map_or(0, |it| it.sizes.len());
    Ok(sizes.to_string())
}

async fn url((): (), exchange: Exchange) -> Result<String, HandlerError> {
    let answer = exchange.elicit_url("pay", "Please pay.", "https://example.com/pay");
    Ok(answer.await?.accepted().is_some().to_string())
}

/// A question with everything but tools.
fn question() -> CreateMessageRequestParams {
    let messages = [
        SamplingMessage::user("Which colour is the sky?"),
        SamplingMessage::assistant("Where?"),
        SamplingMessage::user("Here."),
    ];
    let mut hint = ModelHint::new();
    hint.name = Some("small".to_owned());
    let mut preferences = ModelPreferences::new();
    preferences.hints = Some(vec![hint]);
    preferences.cost_priority = Some(1.0);
    preferences.speed_priority = Some(0.5);
    preferences.intelligence_priority = Some(0.0);
    let mut params = CreateMessageRequestParams::new(messages, 100);
    params.model_preferences = Some(preferences);
    params.system_prompt = Some("Be brief.".to_owned());
    params.include_context = Some(IncludeContext::None);
    params.temperature = Some(0.5);
    params.stop_sequences = Some(vec!["\n".to_owned()]);
    params.metadata = Some(JsonObject::new());
    params
}

async fn model((): (), exchange: Exchange) -> Result<String, HandlerError> {
    Ok(exchange.sample("model", question()).await?.model)
}

async fn model_tools((): (), exchange: Exchange) -> Result<String, HandlerError> {
    let mut params = question();
    let schema = serde_json::from_value(json!({"type": "object"}))?;
    params.tools = Some(vec![Tool::new("look", schema)]);
    params.tool_choice = Some(ToolChoice::new());
    Ok(exchange.sample("model", params).await?.model)
}

async fn roots((): (), exchange: Exchange) -> Result<String, HandlerError> {
    Ok(exchange.roots("roots").await?.len().to_string())
}

async fn several((): (), exchange: Exchange) -> Result<String, HandlerError> {
    let url = ElicitRequestUrlParams::new("Please pay.", "https://example.com/pay");
    let questions = exchange
        .ask()
        .form::<Order>("order", "What do you order?")?
        .question("model", question())
        .question("pay", url)
        .question("roots", ListRootsRequestParams::new());
    let answers = questions.await?;
    Ok(answers
        .get("roots")
        .map_or(0, |it| it.raw().get().len())
        .to_string())
}
