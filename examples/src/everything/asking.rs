//! Tools that ask the client in the middle of their work, in the words of the conformance suite.

use mcp_core::{
    Elicited, Exchange, HandlerError, RegistryBuilder, prompt, tool,
    types::{
        CreateMessageRequestParams, CreateMessageResult, ListRootsRequestParams,
        SamplingContentBlock, SamplingMessage,
    },
};
use schemars::JsonSchema;
use serde::Deserialize;

pub(crate) fn register(builder: RegistryBuilder) -> RegistryBuilder {
    let builder = builder
        .tool(tool("test_sampling", sampling).description("Asks the model of the client."))
        .tool(tool("test_elicitation", elicitation).description("Asks the user."))
        .tool(tool("test_missing_capability", missing_capability).description("Needs sampling."))
        .tool(tool("test_streaming_elicitation", streaming).description("Asks the user."));
    rounds(builder)
}

fn rounds(builder: RegistryBuilder) -> RegistryBuilder {
    let ask = |name: &str| format!("test_input_required_result_{name}");
    builder
        .tool(tool(ask("elicitation"), user_name).description("Asks for a name."))
        .tool(tool(ask("sampling"), capital).description("Asks the model of the client."))
        .tool(tool(ask("list_roots"), roots).description("Asks for the roots."))
        .tool(
            tool(ask("request_state"), request_state)
                .description("Asks, and remembers something meanwhile."),
        )
        .tool(tool(ask("multiple_inputs"), several).description("Asks three questions at once."))
        .tool(tool(ask("multi_round"), steps).description("Asks two questions, one after another."))
        .tool(
            tool(ask("tampered_state"), request_state)
                .description("Asks, and believes no state that was tampered with."),
        )
        .tool(tool(ask("capabilities"), capable).description("Asks what the client can be asked."))
        .prompt(prompt(ask("prompt"), context).description("Asks what it is about."))
}

#[derive(Deserialize, JsonSchema)]
struct Prompt {
    /// What to ask the model.
    prompt: String,
}

async fn sampling(Prompt { prompt }: Prompt, exchange: Exchange) -> Result<String, HandlerError> {
    let answer = exchange.sample("sampling", question(prompt)).await?;
    Ok(format!("LLM response: {}", said(&answer)))
}

#[derive(Deserialize, JsonSchema)]
struct Message {
    /// What to ask the user.
    message: String,
}

#[derive(Deserialize, JsonSchema)]
struct User {
    /// User's response.
    username: String,
    /// User's email address.
    email: String,
}

async fn elicitation(
    Message { message }: Message,
    exchange: Exchange,
) -> Result<String, HandlerError> {
    let answer = exchange.elicit::<User>("user", message).await?;
    Ok(match answer {
        Elicited::Accepted(User { username, email }) => {
            format!("User response: {username}, {email}")
        }
        Elicited::Declined => "User response: declined".to_owned(),
        Elicited::Cancelled => "User response: cancelled".to_owned(),
    })
}

async fn missing_capability((): (), exchange: Exchange) -> Result<String, HandlerError> {
    let answer = exchange
        .sample("sampling", question("Are you there?"))
        .await?;
    Ok(said(&answer).to_owned())
}

#[derive(Deserialize, JsonSchema)]
struct Ok_ {
    ok: bool,
}

async fn streaming((): (), exchange: Exchange) -> Result<String, HandlerError> {
    confirmed(&exchange).await.map(|ok| format!("ok: {ok}"))
}

#[derive(Deserialize, JsonSchema)]
struct Name {
    name: String,
}

async fn user_name((): (), exchange: Exchange) -> Result<String, HandlerError> {
    let answer = exchange
        .elicit::<Name>("user_name", "What is your name?")
        .await?;
    let name = answer
        .accepted()
        .map_or_else(|| "stranger".to_owned(), |it| it.name);
    Ok(format!("Hello, {name}!"))
}

async fn capital((): (), exchange: Exchange) -> Result<String, HandlerError> {
    let question = question("What is the capital of France?");
    let answer = exchange.sample("capital_question", question).await?;
    Ok(said(&answer).to_owned())
}

async fn roots((): (), exchange: Exchange) -> Result<String, HandlerError> {
    let roots = exchange.roots("client_roots").await?;
    let uris: Vec<&str> = roots.iter().map(|root| root.uri.as_str()).collect();
    Ok(format!("Roots: {}", uris.join(", ")))
}

async fn confirmed(exchange: &Exchange) -> Result<bool, HandlerError> {
    let answer = exchange.elicit::<Ok_>("confirm", "Is that right?").await?;
    Ok(answer.accepted().is_some_and(|it| it.ok))
}

async fn request_state((): (), exchange: Exchange) -> Result<&'static str, HandlerError> {
    exchange.remember(&"state")?;
    let ok = confirmed(&exchange).await?;
    Ok(if ok { "state-ok" } else { "not confirmed" })
}

async fn several((): (), exchange: Exchange) -> Result<String, HandlerError> {
    let questions = exchange
        .ask()
        .form::<Name>("user_name", "What is your name?")?
        .question("greeting", question("Write a greeting."))
        .question("client_roots", ListRootsRequestParams::new());
    let answers = questions.await?;
    let name = answers.form::<Name>("user_name")?.accepted();
    let greeting = answers
        .get("greeting")
        .and_then(|it| it.create_message().ok());
    let roots = answers
        .get("client_roots")
        .and_then(|it| it.list_roots().ok());
    Ok(format!(
        "{}: {} ({} roots)",
        name.map_or_else(|| "stranger".to_owned(), |it| it.name),
        greeting.as_ref().map_or("", said),
        roots.map_or(0, |it| it.roots.len()),
    ))
}

async fn steps((): (), exchange: Exchange) -> Result<String, HandlerError> {
    let name = exchange
        .elicit::<Name>("step1", "Step 1: what is your name?")
        .await?;
    let color = exchange
        .elicit::<Color>("step2", "Step 2: which colour do you like?")
        .await?;
    let name = name
        .accepted()
        .map_or_else(|| "stranger".to_owned(), |it| it.name);
    let color = color
        .accepted()
        .map_or_else(|| "no colour".to_owned(), |it| it.color);
    Ok(format!("{name} likes {color}"))
}

async fn capable((): (), exchange: Exchange) -> Result<String, HandlerError> {
    let name = exchange.elicit::<Name>("user_name", "What is your name?");
    let name = name.default_to(Elicited::Cancelled).await?;
    let greeting = exchange
        .sample("greeting", question("Write a greeting."))
        .await?;
    let name = name.accepted().map_or_else(String::new, |it| it.name);
    Ok(format!("{} {name}", said(&greeting)))
}

#[derive(Deserialize, JsonSchema)]
struct Color {
    color: String,
}

#[derive(Deserialize, JsonSchema)]
struct Context {
    context: String,
}

async fn context((): (), exchange: Exchange) -> Result<String, HandlerError> {
    let answer = exchange
        .elicit::<Context>("user_context", "What is it about?")
        .await?;
    let context = answer.accepted().map_or_else(String::new, |it| it.context);
    Ok(format!("Write about this: {context}"))
}

fn question(text: impl Into<String>) -> CreateMessageRequestParams {
    CreateMessageRequestParams::new([SamplingMessage::user(text)], 100)
}

/// The first text of what the model said.
fn said(answer: &CreateMessageResult) -> &str {
    let texts = answer.content.iter().filter_map(|block| match block {
        SamplingContentBlock::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    texts.into_iter().next().unwrap_or_default()
}
