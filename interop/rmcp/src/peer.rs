//! A connected client, what it was told, and what the checks ask of it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientConfig, ContentBlock, CreateMessageRequestParams,
    CreateMessageResult, ElicitRequestParams, ElicitResult, ErrorData, ListRootsResult,
    LoggingMessageNotificationParam, ProgressNotificationParam, ResourceUpdatedNotificationParam,
    ServerNotification, SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, RunningService, Subscription};
use rmcp::{ClientHandler, RoleClient, ServiceError};
use serde_json::{Value, json};

use crate::person::Person;
use crate::target::Era;

/// A connected client, and how it got there.
pub(crate) struct Peer {
    pub(crate) client: RunningService<RoleClient, Handler>,
    pub(crate) era: Era,
    pub(crate) heard: Heard,
}

/// What the server said unasked.
#[derive(Debug, Clone, Default)]
pub(crate) struct Heard(Arc<Mutex<Said>>);

#[derive(Debug, Default)]
struct Said {
    logs: Vec<String>,
    steps: Vec<(f64, Option<f64>)>,
    /// The short names of changes.
    told: Vec<String>,
}

impl Heard {
    pub(crate) fn logs(&self) -> Vec<String> {
        self.with(|said| said.logs.clone())
    }

    pub(crate) fn steps(&self) -> Vec<(f64, Option<f64>)> {
        self.with(|said| said.steps.clone())
    }

    pub(crate) fn told(&self) -> Vec<String> {
        self.with(|said| said.told.clone())
    }

    pub(crate) fn forget(&self) {
        self.with(|said| said.told.clear());
    }

    fn tell(&self, name: &str) {
        self.with(|said| said.told.push(name.to_owned()));
    }

    fn with<R>(&self, act: impl FnOnce(&mut Said) -> R) -> R {
        act(&mut self
            .0
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner()))
    }
}

pub(crate) struct Handler {
    pub(crate) config: ClientConfig,
    pub(crate) heard: Heard,
    /// Who answers the server; without one the client says that it cannot be asked.
    pub(crate) person: Option<Person>,
}

impl Handler {
    fn person(&self) -> Result<&Person, ErrorData> {
        let nobody = || ErrorData::internal_error("nobody is there", None);
        self.person.as_ref().ok_or_else(nobody)
    }
}

type Told = NotificationContext<RoleClient>;
type Asked = RequestContext<RoleClient>;

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        self.config.clone()
    }

    async fn create_elicitation(
        &self,
        question: ElicitRequestParams,
        _: Asked,
    ) -> Result<ElicitResult, ErrorData> {
        self.person()?.elicit(&question).await
    }

    async fn create_message(
        &self,
        question: CreateMessageRequestParams,
        _: Asked,
    ) -> Result<CreateMessageResult, ErrorData> {
        self.person()?.sample(&question)
    }

    async fn list_roots(&self, _: Asked) -> Result<ListRootsResult, ErrorData> {
        Ok(self.person()?.roots())
    }

    async fn on_progress(&self, step: ProgressNotificationParam, _: Told) {
        self.heard
            .with(|said| said.steps.push((step.progress, step.total)));
    }

    async fn on_logging_message(&self, message: LoggingMessageNotificationParam, _: Told) {
        self.heard
            .with(|said| said.logs.push(message.data.to_string()));
    }

    async fn on_tool_list_changed(&self, _: Told) {
        self.heard.tell("tools");
    }

    async fn on_prompt_list_changed(&self, _: Told) {
        self.heard.tell("prompts");
    }

    async fn on_resource_updated(&self, update: ResourceUpdatedNotificationParam, _: Told) {
        self.heard.tell(&update.uri);
    }
}

/// What a client asked to be told of: its lists and perhaps one resource, as its era has it.
pub(crate) enum Watch {
    Subscribed(Option<&'static str>),
    Listening(Box<Subscription>),
}

impl Watch {
    pub(crate) async fn begin(peer: &Peer, uri: Option<&'static str>) -> Result<Self> {
        if let Era::Handshake(_) = peer.era {
            if let Some(uri) = uri {
                let params = SubscribeRequestParams::new(uri);
                peer.client.subscribe(params).await?;
            }
            return Ok(Self::Subscribed(uri));
        }
        let mut filter = SubscriptionFilter::builder()
            .tools_list_changed()
            .prompts_list_changed();
        if let Some(uri) = uri {
            filter = filter.resource_subscription(uri);
        }
        let filter = filter.build();
        let subscription = peer.client.listen(filter.clone()).await?;
        same(subscription.acknowledged(), &filter)?;
        Ok(Self::Listening(Box::new(subscription)))
    }

    /// Waits until the server has told of that change.
    pub(crate) async fn hear(&mut self, peer: &Peer, name: &str) -> Result<()> {
        let heard = || peer.heard.told().iter().any(|it| it == name);
        match self {
            Self::Subscribed(_) => settled(heard).await,
            Self::Listening(subscription) => {
                while !heard() {
                    let next = tokio::time::timeout(PATIENCE, subscription.next());
                    let next = next.await.with_context(|| format!("no {name}"))??;
                    peer.heard.tell(&name_of(next.context("the end")?));
                }
            }
        }
        ensure!(heard(), "{name} is not among {:?}", peer.heard.told());
        Ok(())
    }

    pub(crate) async fn end(self, peer: &Peer) -> Result<()> {
        match self {
            Self::Subscribed(None) => Ok(()),
            Self::Subscribed(Some(uri)) => {
                let params = UnsubscribeRequestParams::new(uri);
                Ok(peer.client.unsubscribe(params).await?)
            }
            Self::Listening(mut subscription) => Ok(subscription.cancel().await?),
        }
    }
}

fn name_of(change: ServerNotification) -> String {
    match change {
        ServerNotification::ToolListChangedNotification(_) => "tools".to_owned(),
        ServerNotification::PromptListChangedNotification(_) => "prompts".to_owned(),
        ServerNotification::ResourceUpdatedNotification(it) => it.params.uri,
        other => format!("{other:?}"),
    }
}

pub(crate) async fn call(peer: &Peer, tool: &'static str, arguments: Value) -> CallResult {
    let mut params = CallToolRequestParams::new(tool);
    if !arguments.is_null() {
        params = params.with_arguments(object(arguments));
    }
    peer.client.call_tool(params).await
}

pub(crate) type CallResult = Result<CallToolResult, ServiceError>;

pub(crate) fn object(value: Value) -> rmcp::model::JsonObject {
    match value {
        Value::Object(members) => members,
        _ => Default::default(),
    }
}

/// The text that a tool answers with.
pub(crate) async fn text(peer: &Peer, tool: &'static str, arguments: Value) -> Result<String> {
    let result = call(peer, tool, arguments).await?;
    ensure!(result.is_error != Some(true), "{tool}: {result:?}");
    Ok(text_of(&result)?.to_owned())
}

/// Calls a tool that changes something.
pub(crate) async fn trigger(peer: &Peer, tool: &'static str) -> Result<()> {
    text(peer, tool, json!({})).await.map(drop)
}

pub(crate) fn text_of(result: &CallToolResult) -> Result<&str> {
    match result.content.first() {
        Some(ContentBlock::Text(text)) => Ok(&text.text),
        other => bail!("no text but {other:?}"),
    }
}

pub(crate) fn same<T: PartialEq + std::fmt::Debug>(found: T, wanted: T) -> Result<()> {
    ensure!(found == wanted, "{found:?}, wanted {wanted:?}");
    Ok(())
}

pub(crate) fn refused<T: std::fmt::Debug>(
    answer: Result<T, ServiceError>,
    code: i32,
) -> Result<()> {
    match answer {
        Err(ServiceError::McpError(error)) => same(error.code.0, code),
        other => bail!("not refused: {other:?}"),
    }
}

/// Gives what is under way five seconds to come in.
pub(crate) async fn settled(condition: impl Fn() -> bool) {
    for _ in 0..250 {
        if condition() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

const PATIENCE: Duration = Duration::from_secs(5);
