//! A tool for each kind of question.

use mcp_core::{
    Elicited, Exchange, HandlerError, RegistryBuilder, tool,
    types::{
        CreateMessageRequestParams, CreateMessageResult, ElicitRequestUrlParams, IncludeContext,
        ListRootsRequestParams, Role, Root, SamplingContentBlock, SamplingMessage, ToolChoice,
    },
};
use serde_json::{Value, json};

use super::{Text, URL, text};

/// A tool for each kind of question.
pub(super) fn register(builder: RegistryBuilder) -> RegistryBuilder {
    builder
        .tool(tool("model", model))
        .tool(tool("folders", folders))
        .tool(tool("visit", visit))
        .tool(tool("several", several))
        .tool(tool("careful", careful))
        .tool(tool("tooled", tooled))
        .tool(tool("contextual", contextual))
}

/// What the model is asked.
pub(super) fn prompted() -> CreateMessageRequestParams {
    CreateMessageRequestParams::new([SamplingMessage::user("Which colour is the sky?")], 100)
}

/// The same with tools, which a client has to declare.
fn with_tools() -> CreateMessageRequestParams {
    let mut params = prompted();
    params.tools = Some(Vec::new());
    params.tool_choice = Some(ToolChoice::new());
    params
}

/// The first text of what a model said.
pub(super) fn said(answer: &CreateMessageResult) -> String {
    let texts = answer.content.iter().filter_map(|block| match block {
        SamplingContentBlock::Text(text) => Some(text.text.clone()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join(" ")
}

/// What a client's model says, in every revision.
pub(crate) fn sampled(text: &str) -> Value {
    let content = json!({"type": "text", "text": text});
    json!({"role": "assistant", "content": content, "model": "m", "stopReason": "endTurn"})
}

async fn model((): (), exchange: Exchange) -> Result<String, HandlerError> {
    Ok(said(&exchange.sample("model", prompted()).await?))
}

async fn tooled((): (), exchange: Exchange) -> Result<String, HandlerError> {
    Ok(said(&exchange.sample("tooled", with_tools()).await?))
}

async fn contextual((): (), exchange: Exchange) -> Result<String, HandlerError> {
    let mut params = prompted();
    params.include_context = Some(IncludeContext::ThisServer);
    Ok(said(&exchange.sample("model", params).await?))
}

async fn folders((): (), exchange: Exchange) -> Result<String, HandlerError> {
    let roots = exchange.roots("roots").await?;
    Ok(listed(&roots))
}

fn listed(roots: &[Root]) -> String {
    let uris: Vec<&str> = roots.iter().map(|root| root.uri.as_str()).collect();
    uris.join(" ")
}

/// The roots of a client.
pub(crate) fn rooted() -> Value {
    json!({"roots": [{"uri": "file:///a", "name": "A"}, {"uri": "file:///b"}]})
}

async fn visit((): (), exchange: Exchange) -> Result<&'static str, HandlerError> {
    let answer = exchange.elicit_url("visit", "Please pay.", URL).await?;
    Ok(if answer.accepted().is_some() {
        "visited"
    } else {
        "not visited"
    })
}

/// Four questions in one round.
async fn several((): (), exchange: Exchange) -> Result<String, HandlerError> {
    let url = ElicitRequestUrlParams::new("Please pay.", URL);
    let answers = exchange
        .ask()
        .form::<Text>("name", "What is your name?")?
        .question("model", prompted())
        .question("roots", ListRootsRequestParams::new())
        .question("visit", url)
        .await?;
    let name = text(answers.form::<Text>("name")?);
    let answer = |key: &str| answers.get(key).unwrap();
    let model = said(&answer("model").create_message()?);
    let roots = listed(&answer("roots").list_roots()?.roots);
    let visit = answer("visit").elicit()?.action;
    Ok(format!("{name}; {model}; {roots}; {visit:?}"))
}

/// Asks everything, and makes do without an answer.
async fn careful((): (), exchange: Exchange) -> Result<String, HandlerError> {
    let form = exchange.elicit("form", "What is your name?");
    let form = form.default_to(Elicited::Accepted(Text { text: "-".into() }));
    let form = text(form.await?);
    let url = exchange.elicit_url("url", "Please pay.", URL);
    let url = url.default_to(Elicited::Declined).await?;
    let url = if url.accepted().is_some() { "url" } else { "-" };
    let mute = || CreateMessageResult::new(Role::Assistant, [SamplingContentBlock::text("-")], "m");
    let model = exchange.sample("model", prompted()).default_to(mute());
    let model = said(&model.await?);
    let tools = exchange.sample("tools", with_tools()).default_to(mute());
    let tools = said(&tools.await?);
    let roots = exchange.roots("roots").default_to(vec![Root::new("-")]);
    let roots = listed(&roots.await?);
    Ok(format!("{form} {url} {model} {tools} {roots}"))
}
