//! A person who logs in, with rmcp for the client and a browser that needs nobody.

use std::collections::BTreeSet;
use std::sync::Mutex;

use anyhow::{Context, Result, bail, ensure};
use rmcp::transport::auth::{
    AuthClient, AuthorizationCallback, AuthorizationManager, AuthorizationRequest, OAuthState,
    OAuthTokenResponse, WWWAuthenticateParams,
};
use url::Url;

use crate::peer::Peer;
use crate::target::Target;

pub(crate) struct Account {
    name: &'static str,
    /// For how many seconds a token is good.
    lifetime: u32,
    /// Whether the client is named by an address instead of being registered.
    url_client: bool,
    /// The scopes of each authorization that the person was asked for.
    asked: Mutex<Vec<BTreeSet<String>>>,
}

/// Somebody's client: logged in, or about to be told that it has to.
pub(crate) type Client = AuthClient<reqwest::Client>;

impl Account {
    pub(crate) fn new(name: &'static str) -> Self {
        Self {
            name,
            lifetime: 3600,
            url_client: false,
            asked: Mutex::default(),
        }
    }

    pub(crate) fn lifetime(mut self, seconds: u32) -> Self {
        self.lifetime = seconds;
        self
    }

    pub(crate) fn url_client(mut self) -> Self {
        self.url_client = true;
        self
    }

    pub(crate) fn asked(&self) -> Vec<BTreeSet<String>> {
        let asked = self.asked.lock();
        asked.unwrap_or_else(|it| it.into_inner()).clone()
    }

    /// Connects without a token, logs in where the server says, and connects again.
    ///
    /// Gives the challenge that the server answered with, too.
    pub(crate) async fn connect(
        &self,
        target: &Target,
    ) -> Result<(Peer, Client, WWWAuthenticateParams)> {
        let manager = AuthorizationManager::new(&target.address).await?;
        let nobody = AuthClient::new(reqwest::Client::new(), manager);
        let Err(refused) = target.connect_as(nobody).await? else {
            bail!("the server lets everybody in");
        };
        let challenge = refused.auth_challenge();
        let challenge = challenge.with_context(|| format!("no challenge: {refused}"))?;
        let client = self.log_in(target, challenge).await?;
        let peer = target.connect_as(client.clone()).await?;
        let peer = peer.context("cannot connect with a token")?;
        Ok((peer, client, challenge_of(target, challenge)?))
    }

    async fn log_in(&self, target: &Target, challenge: &str) -> Result<Client> {
        let mut state = OAuthState::new(&target.address, None).await?;
        let mut request = AuthorizationRequest::new(REDIRECT)
            .with_client_name("interop")
            .with_challenge(challenge);
        if self.url_client {
            request = request.with_client_metadata_url(URL_CLIENT);
        }
        state.start_authorization(request).await?;
        let answer = self.browse(&state.get_authorization_url().await?).await?;
        state.handle_callback_url(&answer).await?;
        let manager = state
            .into_authorization_manager()
            .context("not logged in")?;
        Ok(AuthClient::new(reqwest::Client::new(), manager))
    }

    /// Asks for what a call lacked.
    pub(crate) async fn step_up(&self, client: &Client, scope: &str) -> Result<()> {
        let manager = client.auth_manager.lock().await;
        let answer = self
            .browse(&manager.request_scope_upgrade(scope).await?)
            .await?;
        let callback = AuthorizationCallback::from_redirect_url(&answer)?;
        let AuthorizationCallback {
            code,
            csrf_token,
            issuer,
            ..
        } = callback;
        manager
            .exchange_code_for_token_with_issuer(&code, &csrf_token, issuer.as_deref())
            .await?;
        Ok(())
    }

    /// What the person does: agrees, and is sent back.
    async fn browse(&self, url: &str) -> Result<String> {
        let mut url = Url::parse(url)?;
        let scope = url.query_pairs().find(|(name, _)| name == "scope");
        let (_, scope) = scope.context("no scope is asked for")?;
        let scopes = scope.split(' ').map(str::to_owned).collect();
        let asked = self.asked.lock();
        asked.unwrap_or_else(|it| it.into_inner()).push(scopes);
        url.query_pairs_mut()
            .append_pair("login_hint", self.name)
            .append_pair("lifetime", &self.lifetime.to_string());
        let browser = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .build()?;
        let answer = browser.get(url).send().await?;
        let location = answer.headers().get("location");
        let location = location.context("the browser is sent nowhere")?.to_str()?;
        ensure!(
            location.starts_with(REDIRECT),
            "the browser is sent to {location}"
        );
        Ok(location.to_owned())
    }
}

/// The token that a client has now.
pub(crate) async fn token_of(client: &Client) -> Result<OAuthTokenResponse> {
    let manager = client.auth_manager.lock().await;
    let (_, token) = manager.get_credentials().await?;
    token.context("no token")
}

pub(crate) fn challenge_of(target: &Target, header: &str) -> Result<WWWAuthenticateParams> {
    let base = Url::parse(&target.address)?;
    Ok(WWWAuthenticateParams::parse(header, &base))
}

/// Nobody listens there: the browser of tests reads the address that it is sent to.
const REDIRECT: &str = "http://127.0.0.1:33418/callback";
const URL_CLIENT: &str = "https://client.example/interop.json";
