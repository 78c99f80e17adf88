//! Forms of every shape that the protocol has.

use std::sync::atomic::{AtomicU64, Ordering};

use mcp_core::{Elicited, Exchange, HandlerError, RegistryBuilder, tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) fn register(builder: RegistryBuilder) -> RegistryBuilder {
    builder
        .tool(
            tool("test_elicitation_sep1034_defaults", defaults)
                .description("Asks with a form that is filled in already."),
        )
        .tool(
            tool("test_elicitation_sep1330_enums", enums)
                .description("Asks with a form of choices."),
        )
        .tool(tool("transfer", transfer).asks())
        .tool(tool("ask", ask).description("Asks for a colour.").asks())
        .tool(
            tool("interview", interview)
                .description("Asks three questions, one after another.")
                .asks(),
        )
}

#[derive(Deserialize, JsonSchema)]
struct Defaults {
    #[schemars(extend("default" = "John Doe"))]
    name: String,
    #[schemars(extend("default" = 30))]
    age: u32,
    #[schemars(extend("default" = 95.5))]
    score: f64,
    #[schemars(extend("default" = "active"))]
    status: Status,
    #[schemars(extend("default" = true))]
    verified: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Status {
    Active,
    Inactive,
    Pending,
}

async fn defaults((): (), exchange: Exchange) -> Result<String, HandlerError> {
    let message = "Please review and update the form fields with defaults";
    let answer = exchange.elicit::<Defaults>("defaults", message).await?;
    Ok(match answer.accepted() {
        Some(Defaults {
            name,
            age,
            score,
            status,
            verified,
        }) => format!("Elicitation completed: {name}, {age}, {score}, {status:?}, {verified}"),
        None => "Elicitation completed: nothing was filled in".to_owned(),
    })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Option_ {
    Option1,
    Option2,
    Option3,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Value {
    #[schemars(title = "First Option")]
    Value1,
    #[schemars(title = "Second Option")]
    Value2,
    #[schemars(title = "Third Option")]
    Value3,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Legacy {
    Opt1,
    Opt2,
    Opt3,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Enums {
    untitled_single: Option<Option_>,
    titled_single: Option<Value>,
    #[schemars(extend("enumNames" = ["Option One", "Option Two", "Option Three"]))]
    legacy_enum: Option<Legacy>,
    untitled_multi: Option<Vec<Option_>>,
    titled_multi: Option<Vec<Value>>,
}

async fn enums((): (), exchange: Exchange) -> Result<String, HandlerError> {
    let message = "Please select options from the enum fields";
    let answer = exchange.elicit::<Enums>("enums", message).await?;
    let Some(chosen) = answer.accepted() else {
        return Ok("Elicitation completed: nothing was chosen".to_owned());
    };
    Ok(format!(
        "Elicitation completed: {:?}, {:?}, {:?}, {:?}, {:?}",
        chosen.untitled_single,
        chosen.titled_single,
        chosen.legacy_enum,
        chosen.untitled_multi,
        chosen.titled_multi,
    ))
}

/// Sends money, if the user agrees.
#[derive(Deserialize, JsonSchema)]
struct Transfer {
    /// How much to send.
    amount: u32,
}

#[derive(Deserialize, JsonSchema)]
struct Confirm {
    /// Send it?
    confirm: bool,
}

async fn transfer(
    Transfer { amount }: Transfer,
    exchange: Exchange,
) -> Result<String, HandlerError> {
    let answer = exchange
        .elicit::<Confirm>("confirm", format!("Send {amount}?"))
        .await?;
    Ok(match answer {
        Elicited::Accepted(Confirm { confirm: true }) => format!("sent {amount}"),
        Elicited::Accepted(Confirm { confirm: false }) => "not sent".to_owned(),
        Elicited::Declined => "declined".to_owned(),
        Elicited::Cancelled => "cancelled".to_owned(),
    })
}

#[derive(Deserialize, JsonSchema)]
struct Color {
    /// The colour you like.
    color: String,
}

async fn ask((): (), exchange: Exchange) -> Result<String, HandlerError> {
    let answer = exchange
        .elicit::<Color>("color", "Which colour do you like?")
        .await?;
    Ok(answer
        .accepted()
        .map_or_else(|| "none".to_owned(), |it| it.color))
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Text {
    text: String,
}

/// How often the step of `interview` has run.
static STEPS: AtomicU64 = AtomicU64::new(0);

async fn interview((): (), exchange: Exchange) -> Result<String, HandlerError> {
    let text = |answer: Elicited<Text>| answer.accepted().map_or_else(String::new, |it| it.text);
    let name = text(
        exchange
            .elicit::<Text>("name", "What is your name?")
            .await?,
    );
    let step = async { Ok(STEPS.fetch_add(1, Ordering::Relaxed) + 1) };
    let number: u64 = exchange.once("number", step).await?;
    let town = text(
        exchange
            .elicit::<Text>("town", format!("Where do you live, {name}?"))
            .await?,
    );
    let trade = text(exchange.elicit::<Text>("trade", "What do you do?").await?);
    Ok(format!("{number}: {name}, {town}, {trade}"))
}
