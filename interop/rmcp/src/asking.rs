//! What the server asks in the middle of a call, by each way that its question can travel.

use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use rmcp::ServiceError;
use rmcp::model::{CallToolResult, GetPromptRequestParams, InputRequest, InputRequests};
use serde_json::{Value, json};

use crate::peer::{Peer, call, refused, same, text, text_of};
use crate::person::{NAME, Person, TOWN, TRADE};
use crate::proxy::Proxy;
use crate::report;
use crate::target::{Era, Target};

/// Runs every check that the target is for and gives the number of those that failed.
pub(crate) async fn run(target: &Target) -> usize {
    let mut failures = 0;
    macro_rules! checks {
        ($($check:ident if $applies:expr;)*) => {$(
            if $applies {
                failures += report(stringify!($check), $check(target)).await;
            }
        )*};
    }
    let forms = target.forms() && target.asks();
    checks! {
        interview if forms;
        transfers if forms;
        misfit if forms;
        sampling_and_roots if target.asks();
        several_at_once if forms;
        asking_prompt if forms;
        broken_handler if forms;
        broken_question if forms && target.resumes();
        nobody_to_ask if forms;
        no_way_to_ask if target.forms() && !target.asks();
        sealed_state if target.carries_state_over_http();
        answers_in_arguments if !target.forms();
    }
    failures
}

async fn interview(target: &Target) -> Result<()> {
    let (peer, person) = asked(target).await?;
    let first = number_of(&text(&peer, "interview", json!({})).await?)?;
    let second = number_of(&text(&peer, "interview", json!({})).await?)?;
    same(second, first + 1)?;
    person.was_asked(&INTERVIEW.repeat(2))
}

async fn transfers(target: &Target) -> Result<()> {
    let (peer, person) = asked(target).await?;
    let send = async |amount: usize| {
        let answer = text(&peer, "transfer", json!({ "amount": amount })).await?;
        same(Some(answer.as_str()), SENT.get(amount - 1).copied())
    };
    for amount in 1..=SENT.len() {
        send(amount).await?;
    }
    person.was_asked(&["Send 1?", "Send 2?", "Send 3?", "Send 4?"])?;
    tokio::try_join!(send(1), send(2), send(3), send(4))?;
    Ok(())
}

async fn misfit(target: &Target) -> Result<()> {
    let (peer, person) = asked(target).await?;
    same(text(&peer, "ask", json!({})).await?.as_str(), "mauve")?;
    person.was_asked(&[COLOR, COLOR])
}

async fn sampling_and_roots(target: &Target) -> Result<()> {
    let (peer, person) = asked(target).await?;
    let answer = text(&peer, "test_sampling", json!({ "prompt": "Who is there?" })).await?;
    same(answer.as_str(), "LLM response: heard: Who is there?")?;
    let roots = text(&peer, "test_input_required_result_list_roots", json!({})).await?;
    same(roots.as_str(), "Roots: file:///one, file:///two")?;
    person.was_asked(&["sampling", "roots"])
}

async fn several_at_once(target: &Target) -> Result<()> {
    let (peer, person) = asked(target).await?;
    let tool = "test_input_required_result_multiple_inputs";
    let answer = text(&peer, tool, json!({})).await?;
    let wanted = format!("{NAME}: heard: Write a greeting. (2 roots)");
    same(answer, wanted)?;
    let mut questions = person.asked();
    questions.sort();
    same(
        questions.join(" ").as_str(),
        "What is your name? roots sampling",
    )
}

async fn asking_prompt(target: &Target) -> Result<()> {
    let (peer, _) = asked(target).await?;
    let params = GetPromptRequestParams::new("test_input_required_result_prompt");
    let got = peer.client.get_prompt(params).await?;
    let message = got.messages.first().context("no message")?;
    let text = message.content.as_text().context("no text")?;
    same(text.text.as_str(), "Write about this: looms")
}

/// A handler that fails does so by its error: rmcp answers nothing where one panics.
async fn broken_handler(target: &Target) -> Result<()> {
    let (peer, person) = asked(target).await?;
    let answer = call(&peer, "transfer", json!({ "amount": 5 })).await;
    match (&peer.era, answer) {
        (Era::Handshake(_), answer) => same(answer?.is_error, Some(true))?,
        // The client gives up by itself, and the server never hears of it.
        (Era::Modern, Err(ServiceError::McpError(error))) => {
            same(error.message.as_ref(), "what a question")?;
        }
        (Era::Modern, other) => bail!("an answer: {other:?}"),
    }
    person.was_asked(&["Send 5?"])?;
    let answer = text(&peer, "transfer", json!({ "amount": 1 })).await?;
    same(answer.as_str(), "sent 1")
}

/// The call's stream breaks while the person thinks.
async fn broken_question(target: &Target) -> Result<()> {
    let proxy = Arc::new(Proxy::before(&target.address).await?);
    let person = Person::who_breaks(Arc::clone(&proxy));
    let peer = target.connect_with(target.http(&proxy.url), Some(person.clone()));
    let peer = peer.await?;
    proxy.streams(1).await?;
    let answer = text(&peer, "transfer", json!({ "amount": 1 })).await?;
    same(answer.as_str(), "sent 1")?;
    person.was_asked(&["Send 1?"])?;
    ensure!(proxy.resumptions() > 0, "the client did not come back");
    Ok(())
}

async fn nobody_to_ask(target: &Target) -> Result<()> {
    let peer = target.connect().await?;
    let answer = call(&peer, "transfer", json!({ "amount": 1 })).await;
    match peer.era {
        Era::Handshake(_) => cannot_be_asked(&answer?)?,
        Era::Modern => refused(answer, MISSING_CAPABILITY)?,
    }
    let answer = text(&peer, "echo", json!({ "text": "x" })).await?;
    same(answer.as_str(), "x")
}

async fn no_way_to_ask(target: &Target) -> Result<()> {
    let (peer, person) = asked(target).await?;
    cannot_be_asked(&call(&peer, "transfer", json!({ "amount": 1 })).await?)?;
    person.was_asked(&[])
}

fn cannot_be_asked(result: &CallToolResult) -> Result<()> {
    same(result.is_error, Some(true))?;
    let text = text_of(result)?;
    ensure!(text.contains("elicitation"), "what is missing? {text}");
    Ok(())
}

async fn sealed_state(target: &Target) -> Result<()> {
    let proxy = Proxy::before(&target.address).await?;
    let person = Person::default();
    let peer = target.connect_with(target.http(&proxy.url), Some(person.clone()));
    let peer = peer.await?;
    let answer = if target.forms() {
        text(&peer, "interview", json!({})).await?
    } else {
        insist(&peer, &person, "interview", json!({})).await?
    };
    number_of(&answer)?;
    unreadable(&proxy.sent(), 3)
}

async fn answers_in_arguments(target: &Target) -> Result<()> {
    let (peer, person) = (target.connect().await?, Person::default());
    let tools = peer.client.list_all_tools().await?;
    let tool = tools.iter().find(|it| it.name == "interview");
    let schema = &tool.context("no interview")?.input_schema;
    let properties = schema.get("properties").context("no arguments")?;
    for name in ["_answers", "_state"] {
        ensure!(properties.get(name).is_some(), "{name} is not listed");
    }
    let first = number_of(&insist(&peer, &person, "interview", json!({})).await?)?;
    let second = number_of(&insist(&peer, &person, "interview", json!({})).await?)?;
    same(second, first + 1)?;
    person.was_asked(&INTERVIEW.repeat(2))?;
    for (amount, wanted) in (1..).zip(SENT) {
        let arguments = json!({ "amount": amount });
        let answer = insist(&peer, &person, "transfer", arguments).await?;
        same(answer.as_str(), wanted)?;
    }
    let answer = insist(&peer, &person, "ask", json!({})).await?;
    same(answer.as_str(), "mauve")
}

/// A peer whose person answers the server.
async fn asked(target: &Target) -> Result<(Peer, Person)> {
    let person = Person::default();
    let peer = target.connect_with(target.http(&target.address), Some(person.clone()));
    Ok((peer.await?, person))
}

/// Calls a tool, answers what it asks for, and calls it again with that; gives its text.
async fn insist(
    peer: &Peer,
    person: &Person,
    tool: &'static str,
    mut arguments: Value,
) -> Result<String> {
    for _ in 0..10 {
        let result = call(peer, tool, arguments.clone()).await?;
        ensure!(result.is_error != Some(true), "{tool}: {result:?}");
        let meta = result.meta.as_ref().map(|meta| &meta.0);
        let Some(asked) = meta.and_then(|meta| meta.get("inputRequests")) else {
            return Ok(text_of(&result)?.to_owned());
        };
        let mut answers = json!({});
        for (key, question) in serde_json::from_value::<InputRequests>(asked.clone())? {
            let InputRequest::Elicitation(question) = question else {
                bail!("{key} is no form: {question:?}");
            };
            answers[key] = serde_json::to_value(person.elicit(&question.params).await?)?;
        }
        arguments["_answers"] = answers;
        arguments["_state"] = meta.and_then(|it| it.get("requestState")).cloned().into();
    }
    bail!("{tool} asks for ever")
}

/// How often the step between the questions of an interview has run by now.
fn number_of(answer: &str) -> Result<u64> {
    let (number, words) = answer.split_once(": ").context("no number")?;
    same(words, format!("{NAME}, {TOWN}, {TRADE}").as_str())?;
    Ok(number.parse()?)
}

/// Whether that many states went back, and none shows an answer, be it in base64.
fn unreadable(sent: &str, wanted: usize) -> Result<()> {
    let states = ["\"requestState\":\"", "\"_state\":\""].map(|start| sent.split(start).skip(1));
    let states = states.into_iter().flatten();
    let states: Vec<&str> = states.filter_map(|it| it.split('"').next()).collect();
    same(states.len(), wanted)?;
    for state in states {
        let parts = state
            .split('.')
            .filter_map(|part| BASE64_URL_SAFE_NO_PAD.decode(part).ok());
        let parts = parts.map(|part| String::from_utf8_lossy(&part).into_owned());
        let shown = parts
            .chain([state.to_owned()])
            .any(|it| it.contains(NAME) || it.contains(TOWN));
        ensure!(!shown, "{state} shows an answer");
    }
    Ok(())
}

const INTERVIEW: [&str; 3] = [
    "What is your name?",
    "Where do you live, Ada Lovelace?",
    "What do you do?",
];
const COLOR: &str = "Which colour do you like?";
const SENT: [&str; 4] = ["sent 1", "declined", "cancelled", "not sent"];
const MISSING_CAPABILITY: i32 = -32021;
