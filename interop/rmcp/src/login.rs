//! Logging in: from nothing, again, with more scopes, and who else gets in.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use oauth2::TokenResponse;
use rmcp::transport::auth::WWWAuthenticateParams;
use serde_json::json;

use crate::account::{Account, challenge_of, token_of};
use crate::peer::{Peer, call, same, text};
use crate::report;
use crate::target::Target;

/// Runs every check and gives the number of those that failed.
pub(crate) async fn run(target: &Target) -> usize {
    let mut failures = 0;
    macro_rules! checks {
        ($($check:ident)*) => {$(
            failures += report(stringify!($check), $check(target)).await;
        )*};
    }
    checks! { login step_up refresh url_client handle_of_another }
    failures
}

async fn login(target: &Target) -> Result<()> {
    let ada = Account::new("ada");
    let (peer, _, challenge) = ada.connect(target).await?;
    let tools = peer.client.list_all_tools().await?;
    ensure!(tools.iter().any(|tool| tool.name == "echo"), "no echo");
    same(echo(&peer).await?.as_str(), "x")?;
    // Who sent no token is told of no error.
    same(challenge.error.as_deref(), None)?;
    same(scopes_of(&challenge), scopes(USE))?;
    same(metadata_of(&challenge)?, metadata(target))?;
    same(ada.asked(), vec![scopes(USE)])
}

async fn step_up(target: &Target) -> Result<()> {
    let ada = Account::new("ada");
    let (peer, client, _) = ada.connect(target).await?;
    echo(&peer).await?;
    let arguments = json!({ "path": "notes.txt", "text": "hello" });
    let refused = call(&peer, "write", arguments.clone()).await;
    let refused = refused.err().context("nothing is missing")?;
    let challenge = refused.auth_challenge();
    let challenge = challenge.with_context(|| format!("no challenge: {refused}"))?;
    let challenge = challenge_of(target, challenge)?;
    ensure!(challenge.is_insufficient_scope(), "{challenge:?}");
    same(scopes_of(&challenge), scopes(ALL))?;
    same(metadata_of(&challenge)?, metadata(target))?;
    let scope = challenge.scope.unwrap_or_default();
    ada.step_up(&client, &scope).await?;
    // The same connection goes on.
    for _ in 0..2 {
        let written = text(&peer, "write", arguments.clone()).await?;
        same(written.as_str(), "ada wrote 5 bytes to notes.txt")?;
    }
    same(echo(&peer).await?.as_str(), "x")?;
    same(ada.asked(), vec![scopes(USE), scopes(ALL)])
}

async fn refresh(target: &Target) -> Result<()> {
    let ada = Account::new("ada").lifetime(2);
    let (peer, client, _) = ada.connect(target).await?;
    let handle = text(&peer, "open_counter", json!({})).await?;
    let count = async || {
        let arguments = if target.sessions() {
            json!({})
        } else {
            json!({ "handle": handle })
        };
        text(&peer, "count", arguments).await
    };
    same(count().await?.as_str(), "1")?;
    let old = token_of(&client).await?;
    tokio::time::sleep(Duration::from_millis(2100)).await;
    same(count().await?.as_str(), "2")?;
    let new = token_of(&client).await?;
    let access = new.access_token().secret() != old.access_token().secret();
    ensure!(access, "the token is the same");
    let secret = |token: Option<&oauth2::RefreshToken>| token.map(|it| it.secret().clone());
    let refresh = secret(new.refresh_token()) != secret(old.refresh_token());
    ensure!(refresh, "the refresh token is the same");
    same(ada.asked(), vec![scopes(USE)])
}

async fn url_client(target: &Target) -> Result<()> {
    let ada = Account::new("ada").url_client();
    let (peer, client, _) = ada.connect(target).await?;
    same(echo(&peer).await?.as_str(), "x")?;
    let (id, _) = client.auth_manager.lock().await.get_credentials().await?;
    ensure!(id.starts_with("https://"), "the client is {id}");
    same(ada.asked(), vec![scopes(USE)])
}

async fn handle_of_another(target: &Target) -> Result<()> {
    let (one, _, _) = Account::new("ada").connect(target).await?;
    let (other, _, _) = Account::new("grace").connect(target).await?;
    let handle = json!({ "handle": text(&one, "open_counter", json!({})).await? });
    same(text(&one, "count", handle.clone()).await?.as_str(), "1")?;
    let foreign = call(&other, "count", handle.clone()).await?;
    same(foreign.is_error, Some(true))?;
    same(text(&one, "count", handle).await?.as_str(), "2")
}

async fn echo(peer: &Peer) -> Result<String> {
    text(peer, "echo", json!({ "text": "x" })).await
}

fn scopes_of(challenge: &WWWAuthenticateParams) -> BTreeSet<String> {
    scopes(challenge.scope.as_deref().unwrap_or_default())
}

fn scopes(text: &str) -> BTreeSet<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn metadata_of(challenge: &WWWAuthenticateParams) -> Result<String> {
    let url = challenge.resource_metadata_url.as_ref();
    Ok(url.context("no resource_metadata")?.to_string())
}

fn metadata(target: &Target) -> String {
    let well_known = "/.well-known/oauth-protected-resource/mcp";
    target.address.replace("/mcp", well_known)
}

const USE: &str = "mcp:use";
const ALL: &str = "audit:log files:write mcp:use";
