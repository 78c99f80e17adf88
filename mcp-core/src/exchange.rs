//! A call in progress, as its handler sees it.

use std::{
    fmt,
    future::Future,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use mcp_codec::{Resumption, Revision};
use mcp_types::{
    ClientCapabilities, Implementation, LoggingLevel, LoggingMessageNotificationParams,
    ProgressNotificationParams, ProgressToken, ProtocolVersion, RequestId, ServerNotification,
};
use serde::Serialize;
use tokio::sync::Notify;

use crate::{
    Principal, Registry, Session, Sessions,
    asking::{Asking, Origin, Progress},
    auth::{Authorization, Gate},
    caller::Caller,
    outbox::Outbox,
    peer::Peer,
};

/// A call in progress: what a handler may know of it, and what it may say before it answers.
///
/// Cheap to clone, and safe to hand to another task: once the call is over, what is said is
/// dropped.
#[derive(Clone)]
pub struct Exchange {
    call: Arc<CallState>,
}

impl Exchange {
    pub(crate) fn new(call: Arc<CallState>) -> Self {
        Self { call }
    }

    /// The protocol version that this call speaks.
    ///
    /// For display and logs: what differs between revisions is handled already.
    #[must_use]
    pub fn protocol_version(&self) -> ProtocolVersion {
        self.call.revision.version()
    }

    /// The server that runs the call, to change its listings from within a handler.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        &self.call.registry
    }

    /// Who calls, as it was verified; nobody where nothing verifies that.
    #[must_use]
    pub fn principal(&self) -> Option<&Arc<Principal>> {
        self.call.caller.principal()
    }

    /// The namespace (tenant) of this call: what it keeps is found in no other.
    #[must_use]
    pub fn namespace(&self) -> &str {
        self.call.caller.namespace()
    }

    /// Tells who has subscribed in this call's namespace that the content at a URI has changed.
    ///
    /// [`Registry::resource_updated`] tells those of every namespace.
    pub fn resource_updated(&self, uri: &str) {
        self.registry().resource_updated_in(self.namespace(), uri);
    }

    /// The application's state of type `T`, if one was given.
    #[must_use]
    pub fn state<T: Clone + Send + Sync + 'static>(&self) -> Option<T> {
        self.call.registry.states().get::<T>().cloned()
    }

    /// What the client says it is called.
    ///
    /// # Security
    ///
    /// Attacker controlled: for display and logs, never for a decision.
    #[must_use]
    pub fn client_info(&self) -> Option<Implementation> {
        serde_json::from_slice(self.call.client.info.as_ref()?).ok()
    }

    /// What the client declared that it can do, for this call.
    #[must_use]
    pub fn client_capabilities(&self) -> ClientCapabilities {
        let declared = self.call.client.capabilities.as_ref();
        declared
            .and_then(|raw| serde_json::from_slice(raw).ok())
            .unwrap_or_default()
    }

    /// Whether the client asked for progress.
    #[must_use]
    pub fn wants_progress(&self) -> bool {
        self.call.progress_token.is_some()
    }

    /// Reports progress, of a total if there is one.
    ///
    /// Nothing is sent where the client did not ask, and where `progress` is not larger than what
    /// was reported before (`basic/utilities/progress`: it has to rise with each notification).
    ///
    /// # Cancel safety
    ///
    /// Waits while the client is behind; dropped meanwhile, nothing is sent.
    pub async fn progress(&self, progress: f64, total: impl Into<Option<f64>> + Send) {
        self.report(progress, total.into(), None).await;
    }

    /// As [`Exchange::progress`], with a sentence for people.
    ///
    /// # Cancel safety
    ///
    /// As [`Exchange::progress`].
    pub async fn progress_message(
        &self,
        progress: f64,
        total: impl Into<Option<f64>> + Send,
        message: impl Into<String> + Send,
    ) {
        self.report(progress, total.into(), Some(message.into()))
            .await;
    }

    async fn report(&self, progress: f64, total: Option<f64>, message: Option<String>) {
        let Some(token) = &self.call.progress_token else {
            return;
        };
        if !self.call.outbox.rises(progress) {
            return;
        }
        let mut params = ProgressNotificationParams::new(token.clone(), progress);
        params.total = total.filter(|total| total.is_finite());
        params.message = message;
        self.notify(ServerNotification::Progress(params)).await;
    }

    /// Sends a log message to the client, if it wants messages of that level.
    ///
    /// # Security
    ///
    /// The client reads `data`: no secrets, no internals.
    ///
    /// # Cancel safety
    ///
    /// As [`Exchange::progress`].
    pub async fn log(&self, level: LoggingLevel, data: impl Serialize + Send) {
        self.send_log(level, None, data).await;
    }

    /// As [`Exchange::log`], under the name of a logger.
    ///
    /// # Cancel safety
    ///
    /// As [`Exchange::progress`].
    pub async fn log_as(&self, logger: &str, level: LoggingLevel, data: impl Serialize + Send) {
        self.send_log(level, Some(logger), data).await;
    }

    async fn send_log(&self, level: LoggingLevel, logger: Option<&str>, data: impl Serialize) {
        if self.call.log_level.is_none_or(|least| level < least) {
            return;
        }
        let Ok(data) = serde_json::to_value(data) else {
            tracing::warn!("a log message that is no JSON was dropped");
            return;
        };
        let mut params = LoggingMessageNotificationParams::new(level, data);
        params.logger = logger.map(str::to_owned);
        self.notify(ServerNotification::Message(params)).await;
    }

    async fn notify(&self, notification: ServerNotification) {
        if let Some(message) = self.call.revision.notify(&notification) {
            self.call.outbox.push(message).await;
        }
    }

    /// The values that are kept for this client from call to call.
    ///
    /// `None` where the client has no session: of the newest revision, or of a server that is
    /// [stateless](crate::SessionMode::Stateless). [`Exchange::sessions`] serves those.
    #[must_use]
    pub fn session(&self) -> Option<Session> {
        let registry = self.registry();
        match &self.call.peer {
            Peer::Session(session) => Some(Session::new(registry.clone(), session.key())),
            Peer::Connection(connection) => connection.session(registry, &self.call.caller),
            Peer::Stranger => None,
        }
    }

    /// Sessions that this handler hands out itself, as values that the client brings back.
    #[must_use]
    pub fn sessions(&self) -> Sessions {
        Sessions::new(self.registry().clone(), self.call.caller.clone())
    }

    /// Ends the stream of this call before its reply, and has the client come back for the rest
    /// after a while; false where the client would not, and nothing happens.
    ///
    /// For a call that takes long, so that no connection has to stay open. What is said meanwhile
    /// is kept for [`StreamConfig::keep`](crate::StreamConfig::keep).
    ///
    /// Source: `basic/transports` of 2025-11-25, "Sending Messages to the Server", 6.
    #[must_use = "where it is false the stream stays open"]
    pub fn close_stream(&self, after: Duration) -> bool {
        let primed = self.call.revision.resumption() == Resumption::Primed;
        primed && self.call.peer.session().is_some() && self.call.outbox.pause(after)
    }

    pub(crate) fn call(&self) -> &CallState {
        &self.call
    }

    pub(crate) fn asking(&self) -> &Asking {
        self.call.asking()
    }

    pub(crate) fn revision(&self) -> Revision {
        self.call.revision
    }

    /// Whether a question on the stream reaches the client, and its answer this call.
    pub(crate) fn hears_answers(&self) -> bool {
        let known = !matches!(self.call.peer, Peer::Stranger);
        known && self.call.outbox.is_open()
    }

    pub(crate) async fn until_heard(&self) {
        self.asking().until_heard(&self.call.heard).await;
    }

    /// Sends a message on the call's stream.
    pub(crate) async fn say(&self, message: Bytes) {
        self.call.outbox.push(message).await;
    }

    /// Whether nobody waits for the answer any more.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.call.is_cancelled()
    }

    /// Waits until nobody waits for the answer any more.
    ///
    /// A handler need not do this: its future is dropped then. What it has spawned or handed to a
    /// thread has no other way to learn.
    ///
    /// # Cancel safety
    ///
    /// Safe.
    pub fn cancelled(&self) -> impl Future<Output = ()> + Send + 'static {
        let call = Arc::clone(&self.call);
        async move {
            let notified = call.cancelled_notify.notified();
            if !call.is_cancelled() {
                notified.await;
            }
        }
    }
}

impl fmt::Debug for Exchange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Exchange")
            .field("version", &self.protocol_version().as_str())
            .field("cancelled", &self.is_cancelled())
            .finish_non_exhaustive()
    }
}

/// What the client says about itself, as slices of what it sent.
#[derive(Clone, Default)]
pub(crate) struct Client {
    pub(crate) info: Option<Bytes>,
    pub(crate) capabilities: Option<Bytes>,
}

impl Client {
    /// The same, apart from the request that it came in, which may be large.
    pub(crate) fn copied(&self) -> Self {
        let copied = |slice: &Option<Bytes>| slice.as_deref().map(Bytes::copy_from_slice);
        Self {
            info: copied(&self.info),
            capabilities: copied(&self.capabilities),
        }
    }
}

/// What the parts of one call share: its handler, its answer, and whoever may cancel it.
pub(crate) struct CallState {
    pub(crate) registry: Registry,
    pub(crate) revision: Revision,
    pub(crate) progress_token: Option<ProgressToken>,
    pub(crate) log_level: Option<LoggingLevel>,
    pub(crate) client: Client,
    pub(crate) peer: Peer,
    pub(crate) caller: Caller,
    /// Who may call, where that was said.
    pub(crate) door: Option<Authorization>,
    /// Whether it came from the owner of this process.
    pub(crate) local: bool,
    /// What the call is about, where it can leave to ask and come back.
    pub(crate) origin: Option<Origin>,
    asking: OnceLock<Box<Asking>>,
    /// Whether the client's answers to questions on the stream are heard of.
    heard: AtomicBool,
    pub(crate) outbox: Outbox,
    cancelled: AtomicBool,
    cancelled_notify: Notify,
}

impl CallState {
    pub(crate) fn new(registry: Registry, revision: Revision, outbox: Outbox) -> Self {
        Self {
            registry,
            revision,
            progress_token: None,
            log_level: None,
            client: Client::default(),
            peer: Peer::Stranger,
            caller: Caller::default(),
            door: None,
            local: false,
            origin: None,
            asking: OnceLock::new(),
            heard: AtomicBool::new(false),
            outbox,
            cancelled: AtomicBool::new(false),
            cancelled_notify: Notify::new(),
        }
    }

    /// What the caller may do.
    pub(crate) fn gate(&self) -> Gate<'_> {
        Gate {
            door: self.door.as_ref(),
            caller: &self.caller,
            local: self.local,
        }
    }

    /// What the call asks; most ask nothing.
    pub(crate) fn asking(&self) -> &Asking {
        self.asking.get_or_init(Box::default)
    }

    /// Goes on where an earlier round left it.
    pub(crate) fn resume(&mut self, progress: Progress) {
        self.asking = OnceLock::from(Box::new(Asking::resumed(progress)));
    }

    /// From now on the client's answers are heard of.
    pub(crate) fn hears(&self) {
        self.heard.store(true, Ordering::Release);
        if let Some(asking) = self.asking.get() {
            asking.hears();
        }
    }

    /// Hands over the client's answer to a question; false where it is none of this call's.
    pub(crate) fn deliver(&self, id: &RequestId, answer: &Bytes) -> bool {
        let asking = self.asking.get();
        asking.is_some_and(|asking| asking.deliver(id, answer))
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Acquire)
    }

    /// Nobody waits for the answer any more.
    pub(crate) fn cancel(&self) {
        self.cancelled.store(true, Ordering::Release);
        self.cancelled_notify.notify_waiters();
        self.outbox.close();
    }
}
