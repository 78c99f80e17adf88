//! What lasts longer than a call: sessions, subscriptions, streams. Each check connects anew.

use anyhow::{Context, Result, ensure};
use rmcp::model::SubscribeRequestParams;
use rmcp::transport::streamable_http_client::StreamableHttpClient;
use serde_json::json;

use crate::peer::{Peer, Watch, call, refused, same, settled, text, text_of, trigger};
use crate::proxy::Proxy;
use crate::report;
use crate::target::{Target, Transport};

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
    checks! {
        session_values if target.sessions();
        no_session_values if !target.sessions();
        handles if true;
        subscription if target.tells();
        list_changes if target.tells();
        reconnection if true;
        broken_stream if target.streamable();
        broken_call if target.resumes();
        deletion if target.streamable();
        statelessness if !target.tells();
    }
    failures
}

async fn session_values(target: &Target) -> Result<()> {
    let (one, other) = (target.connect().await?, target.connect().await?);
    same(count(&one).await?.as_str(), "1")?;
    same(count(&one).await?.as_str(), "2")?;
    same(count(&other).await?.as_str(), "1")?;
    same(count(&one).await?.as_str(), "3")
}

async fn no_session_values(target: &Target) -> Result<()> {
    let peer = target.connect().await?;
    same(call(&peer, "count", json!({})).await?.is_error, Some(true))
}

async fn handles(target: &Target) -> Result<()> {
    let peer = target.connect().await?;
    let handle = text(&peer, "open_counter", json!({})).await?;
    let other = text(&peer, "open_counter", json!({})).await?;
    let count = async |peer: &Peer, handle: &str| {
        let result = call(peer, "count", json!({ "handle": handle })).await?;
        let gone = result.is_error == Some(true);
        Ok::<_, anyhow::Error>(if gone { "gone" } else { text_of(&result)? }.to_owned())
    };
    same(count(&peer, &handle).await?.as_str(), "1")?;
    same(count(&peer, &handle).await?.as_str(), "2")?;
    same(count(&peer, &other).await?.as_str(), "1")?;
    if target.transport != Transport::Stdio {
        // On stdio the next client has a server of its own.
        let next = target.connect().await?;
        same(count(&next, &handle).await?.as_str(), "3")?;
    }
    let closed = text(&peer, "close_counter", json!({ "handle": handle })).await?;
    same(closed.as_str(), "ended")?;
    same(count(&peer, &handle).await?.as_str(), "gone")?;
    same(count(&peer, &other).await?.as_str(), "2")
}

async fn subscription(target: &Target) -> Result<()> {
    let (peer, _proxy) = target.stream().await?;
    let mut watch = Watch::begin(&peer, Some(WATCHED)).await?;
    trigger(&peer, UPDATE).await?;
    watch.hear(&peer, WATCHED).await?;
    watch.end(&peer).await?;
    peer.heard.forget();
    let mut watch = Watch::begin(&peer, None).await?;
    trigger(&peer, UPDATE).await?;
    // What comes after shows that nothing came before.
    trigger(&peer, CHANGE_PROMPTS).await?;
    watch.hear(&peer, "prompts").await?;
    same(times(&peer, WATCHED), 0)
}

async fn list_changes(target: &Target) -> Result<()> {
    let (peer, _proxy) = target.stream().await?;
    let mut watch = Watch::begin(&peer, None).await?;
    trigger(&peer, CHANGE_TOOLS).await?;
    watch.hear(&peer, "tools").await?;
    trigger(&peer, CHANGE_PROMPTS).await?;
    watch.hear(&peer, "prompts").await
}

async fn reconnection(target: &Target) -> Result<()> {
    let (peer, proxy) = target.stream().await?;
    let answer = text(&peer, "test_reconnection", json!({})).await?;
    same(answer.as_str(), "Reconnected.")?;
    same(proxy.resumptions(), usize::from(target.calls_back()))
}

async fn broken_stream(target: &Target) -> Result<()> {
    let (peer, proxy) = target.stream().await?;
    let other = target.connect().await?;
    let mut watch = Watch::begin(&peer, Some(WATCHED)).await?;
    // Before 2025-11-25 there is no event to go on after until something has happened.
    trigger(&other, CHANGE_TOOLS).await?;
    watch.hear(&peer, "tools").await?;
    proxy.cut();
    if target.resumes() {
        trigger(&other, UPDATE).await?;
        proxy.mend();
    } else {
        proxy.mend();
        proxy.streams(2).await?;
        trigger(&other, UPDATE).await?;
    }
    watch.hear(&peer, WATCHED).await?;
    same(proxy.resumptions(), usize::from(target.resumes()))?;
    trigger(&other, CHANGE_PROMPTS).await?;
    watch.hear(&peer, "prompts").await?;
    same(times(&peer, WATCHED), 1)
}

async fn broken_call(target: &Target) -> Result<()> {
    let (peer, proxy) = target.stream().await?;
    let cut = async {
        settled(|| !peer.heard.steps().is_empty()).await;
        proxy.cut();
        proxy.mend();
        Ok(())
    };
    let (answer, ()) = tokio::try_join!(text(&peer, "slow", json!({ "ms": 600 })), cut)?;
    same(answer.as_str(), "600")?;
    settled(|| peer.heard.steps().len() >= 4).await;
    let steps = peer.heard.steps().into_iter();
    let thirds: Vec<f64> = steps.map(|(step, _)| (step * 3.0).round()).collect();
    same(thirds, vec![0.0, 1.0, 2.0, 3.0])
}

async fn deletion(target: &Target) -> Result<()> {
    // The end of the client is the end of its session: it has no other means.
    let (peer, proxy) = target.stream().await?;
    peer.client.cancel().await?;
    ensure!(proxy.sent().contains("DELETE /mcp"), "no DELETE");
    ensure!(proxy.received().contains("HTTP/1.1 204 "), "not accepted");

    let proxy = Proxy::before(&target.address).await?;
    let faithful = target.http(&proxy.url).reinit_on_expired_session(false);
    let peer = target.connect_by(faithful).await?;
    same(count(&peer).await?.as_str(), "1")?;
    delete(target, &proxy).await?;
    let error = count(&peer).await.err().context("served after its end")?;
    let error = format!("{error:#}");
    ensure!(error.contains("Session expired (HTTP 404)"), "{error}");

    // By default it begins another session and asks again.
    let (peer, proxy) = target.stream().await?;
    same(count(&peer).await?.as_str(), "1")?;
    same(count(&peer).await?.as_str(), "2")?;
    delete(target, &proxy).await?;
    same(count(&peer).await?.as_str(), "1")
}

/// Ends the session of another client.
async fn delete(target: &Target, proxy: &Proxy) -> Result<()> {
    let (url, session) = (target.address.as_str(), proxy.session());
    let session = session.context("no session")?;
    let client = reqwest::Client::new();
    let end = client.delete_session(url.into(), session.into(), None, Default::default());
    Ok(end.await?)
}

async fn statelessness(target: &Target) -> Result<()> {
    let proxy = Proxy::before(&target.address).await?;
    let peer = target.connect_by(target.http(&proxy.url)).await?;
    let offered = peer.client.peer_info().context("no answer")?;
    let capabilities = &offered.capabilities;
    let (tools, resources) = (&capabilities.tools, &capabilities.resources);
    same(tools.as_ref().context("no tools")?.list_changed, None)?;
    same(resources.as_ref().context("no resources")?.subscribe, None)?;
    let params = SubscribeRequestParams::new(WATCHED);
    refused(peer.client.subscribe(params).await, METHOD_NOT_FOUND)?;
    same(proxy.session(), None)
}

async fn count(peer: &Peer) -> Result<String> {
    text(peer, "count", json!({})).await
}

/// How often the server told of that change.
fn times(peer: &Peer, name: &str) -> usize {
    peer.heard.told().iter().filter(|it| *it == name).count()
}

const WATCHED: &str = "test://watched-resource";
const UPDATE: &str = "test_trigger_resource_update";
const CHANGE_TOOLS: &str = "test_trigger_tool_change";
const CHANGE_PROMPTS: &str = "test_trigger_prompt_change";
const METHOD_NOT_FOUND: i32 = -32601;
