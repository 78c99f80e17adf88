//! What the server has, asked of one connected peer; each check is named in the table of [`run`].

use anyhow::{Context, Result, bail, ensure};
use rmcp::model::{
    CallToolRequestParams, ContentBlock, GetPromptRequestParams, LoggingLevel,
    ReadResourceRequestParams, RequestMetaObject, ResourceContents, SetLevelRequestParams,
};
use serde_json::{Value, json};

use crate::peer::{Peer, call, object, refused, same, settled, text_of};
use crate::report;
use crate::target::Era;

/// Runs every check and gives the number of those that failed.
pub(crate) async fn run(peer: &Peer) -> usize {
    let mut failures = 0;
    macro_rules! checks {
        ($($check:ident)*) => {$(
            failures += report(stringify!($check), $check(peer)).await;
        )*};
    }
    checks! {
        negotiation tool_listing echo echo_many_at_once simple_text image error_result
        structured_result big_integers arguments_that_do_not_fit unknown_tool
        resource_listing resource_reading unknown_resource prompt_listing prompt_getting
        completion progress logging
    }
    failures
}

async fn negotiation(peer: &Peer) -> Result<()> {
    let version = peer
        .client
        .peer_info()
        .context("no version")?
        .protocol_version
        .clone();
    let wanted = match &peer.era {
        Era::Handshake(date) => date,
        Era::Modern => "2026-07-28",
    };
    same(version.as_str(), wanted)
}

async fn tool_listing(peer: &Peer) -> Result<()> {
    let tools = peer.client.list_all_tools().await?;
    for name in ["echo", "pick", "test_simple_text", "test_error_handling"] {
        let tool = tools.iter().find(|tool| tool.name == name);
        let tool = tool.with_context(|| format!("{name} is not listed"))?;
        same(tool.input_schema.get("type"), Some(&json!("object")))?;
        ensure!(tool.description.is_some(), "{name} has no description");
        let typed = tool.output_schema.is_some();
        ensure!(!typed || structures(peer), "{name} has an output schema");
    }
    Ok(())
}

async fn echo(peer: &Peer) -> Result<()> {
    let long = "x".repeat(100_000);
    for text in ["plain", "", "é \"quoted\" \\ \n 漢字 🦀", &long] {
        same(
            text_of(&call(peer, "echo", json!({ "text": text })).await?)?,
            text,
        )?;
    }
    Ok(())
}

async fn echo_many_at_once(peer: &Peer) -> Result<()> {
    let one = async |n: usize| {
        let text = format!("text {n}");
        let result = call(peer, "echo", json!({ "text": text })).await?;
        same(text_of(&result)?, &text)
    };
    // Three at a time: join! takes no list.
    for n in 0..8 {
        tokio::try_join!(one(3 * n), one(3 * n + 1), one(3 * n + 2))?;
    }
    Ok(())
}

async fn simple_text(peer: &Peer) -> Result<()> {
    let result = call(peer, "test_simple_text", Value::Null).await?;
    same(
        text_of(&result)?,
        "This is a simple text response for testing.",
    )
}

async fn image(peer: &Peer) -> Result<()> {
    let result = call(peer, "test_image_content", json!({})).await?;
    let [ContentBlock::Image(image)] = result.content.as_slice() else {
        bail!("no image: {result:?}");
    };
    same(image.mime_type.as_str(), "image/png")?;
    ensure!(image.data.starts_with("iVBOR"), "no PNG");
    Ok(())
}

async fn error_result(peer: &Peer) -> Result<()> {
    let result = call(peer, "test_error_handling", json!({})).await?;
    same(result.is_error, Some(true))?;
    ensure!(!text_of(&result)?.is_empty(), "it does not say why");
    Ok(())
}

async fn structured_result(peer: &Peer) -> Result<()> {
    let picked = json!({"count": 3, "filter": {"a": -7}, "tags": ["x", "é"]});
    let result = call(peer, "pick", picked.clone()).await?;
    if structures(peer) {
        same(result.structured_content.as_ref(), Some(&picked))?;
    } else {
        same(result.structured_content.as_ref(), None)?;
    }
    same(serde_json::from_str::<Value>(text_of(&result)?)?, picked)
}

async fn big_integers(peer: &Peer) -> Result<()> {
    let result = call(peer, "big", json!({"n": i64::MIN})).await?;
    let text = text_of(&result)?;
    let wanted = json!({"n": i64::MIN, "m": u64::MAX});
    same(serde_json::from_str::<Value>(text)?, wanted)
}

async fn arguments_that_do_not_fit(peer: &Peer) -> Result<()> {
    let wrong = json!({"count": "many", "filter": {"a": 1}, "tags": []});
    let result = call(peer, "pick", wrong).await?;
    same(result.is_error, Some(true))?;
    ensure!(text_of(&result)?.contains("count"), "it names no field");
    Ok(())
}

async fn unknown_tool(peer: &Peer) -> Result<()> {
    refused(call(peer, "no_such_tool", json!({})).await, INVALID_PARAMS)
}

async fn resource_listing(peer: &Peer) -> Result<()> {
    let resources = peer.client.list_all_resources().await?;
    let uri = "test://static-text";
    ensure!(
        resources.iter().any(|it| it.uri == uri),
        "{uri} is not listed"
    );
    let templates = peer.client.list_all_resource_templates().await?;
    let template = "test://template/{id}/data";
    let listed = templates.iter().any(|it| it.uri_template == template);
    ensure!(listed, "{template} is not listed");
    Ok(())
}

async fn resource_reading(peer: &Peer) -> Result<()> {
    match read(peer, "test://static-text").await? {
        ResourceContents::TextResourceContents { text, .. } => {
            same(
                text.as_str(),
                "This is the content of the static text resource.",
            )?;
        }
        other => bail!("no text: {other:?}"),
    }
    match read(peer, "test://static-binary").await? {
        ResourceContents::BlobResourceContents {
            blob, mime_type, ..
        } => {
            same(mime_type.as_deref(), Some("image/png"))?;
            ensure!(blob.starts_with("iVBOR"), "no PNG");
        }
        other => bail!("no blob: {other:?}"),
    }
    let filled = format!("{:?}", read(peer, "test://template/123/data").await?);
    ensure!(filled.contains("123"), "the parameter is not in {filled}");
    Ok(())
}

async fn unknown_resource(peer: &Peer) -> Result<()> {
    let params = ReadResourceRequestParams::new("test://no-such-thing");
    let code = match peer.era {
        Era::Handshake(_) => RESOURCE_NOT_FOUND,
        Era::Modern => INVALID_PARAMS,
    };
    refused(peer.client.read_resource(params).await, code)
}

async fn prompt_listing(peer: &Peer) -> Result<()> {
    let prompts = peer.client.list_all_prompts().await?;
    let prompt = prompts
        .iter()
        .find(|it| it.name == "test_prompt_with_arguments");
    let prompt = prompt.context("the prompt is not listed")?;
    let arguments = prompt.arguments.iter().flatten();
    let names: Vec<&str> = arguments.map(|it| it.name.as_str()).collect();
    same(names, vec!["arg1", "arg2"])
}

async fn prompt_getting(peer: &Peer) -> Result<()> {
    let params = GetPromptRequestParams::new("test_prompt_with_arguments");
    let params = params.with_arguments(object(json!({"arg1": "one", "arg2": "zwei"})));
    let got = peer.client.get_prompt(params).await?;
    let text = format!("{:?}", got.messages);
    ensure!(text.contains("one") && text.contains("zwei"), "{text}");
    let unknown = GetPromptRequestParams::new("no_such_prompt");
    refused(peer.client.get_prompt(unknown).await, INVALID_PARAMS)
}

async fn completion(peer: &Peer) -> Result<()> {
    let found = peer
        .client
        .complete_prompt_simple("greet", "city", "city-01");
    let wanted: Vec<String> = (0..10).map(|n| format!("city-01{n}")).collect();
    same(found.await?, wanted)?;
    let template = "test://template/{id}/data";
    peer.client
        .complete_resource_simple(template, "id", "1")
        .await?;
    Ok(())
}

async fn progress(peer: &Peer) -> Result<()> {
    // rmcp puts a token of its own on every request.
    let steps = || peer.heard.steps();
    call(peer, "test_tool_with_progress", json!({})).await?;
    settled(|| steps().len() >= 3).await;
    let total = Some(100.0);
    same(steps(), vec![(0.0, total), (50.0, total), (100.0, total)])
}

async fn logging(peer: &Peer) -> Result<()> {
    let mut params = CallToolRequestParams::new("test_tool_with_logging");
    params = params.with_arguments(object(json!({})));
    if peer.era == Era::Modern {
        let mut meta = RequestMetaObject::default();
        meta.set_log_level(LoggingLevel::Debug);
        params.meta = Some(meta);
    } else {
        let level = SetLevelRequestParams::new(LoggingLevel::Debug);
        peer.client.set_level(level).await?;
    }
    peer.client.call_tool(params).await?;
    let logs = || peer.heard.logs();
    settled(|| logs().len() >= 3).await;
    let logs = logs();
    let ordered = matches!(logs.as_slice(), [first, _, last]
        if first.contains("started") && last.contains("completed"));
    ensure!(ordered, "heard {logs:?}");
    Ok(())
}

/// Whether the revision has structured results.
fn structures(peer: &Peer) -> bool {
    match &peer.era {
        Era::Handshake(date) => !["2024-11-05", "2025-03-26"].contains(&date.as_str()),
        Era::Modern => true,
    }
}

async fn read(peer: &Peer, uri: &str) -> Result<ResourceContents> {
    let params = ReadResourceRequestParams::new(uri);
    let result = peer.client.read_resource(params).await?;
    result.contents.into_iter().next().context("no contents")
}

const INVALID_PARAMS: i32 = -32602;
const RESOURCE_NOT_FOUND: i32 = -32002;
