//! What the requests of one server share: its store, its hub, and what is open in this process.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
    time::Duration,
};

use mcp_codec::Notice;
use mcp_state::{Boundary, KeyRing, Purpose, RequestStateSecurity, Sealer};
use tokio::sync::Notify;

use crate::{
    Hub, HubError, Key, MemoryHub, MemoryStore, ServerConfig, SessionStore, Start, Subscription,
    budget::Budget,
    busy::Busy,
    caller::Caller,
    closing::Closing,
    gauges::Gauges,
    holdings::Holdings,
    room::Room,
    session::{Control, HeldSession},
    stream::{self, EventIds},
    usage::Refusals,
};

/// Work of a slow store or hub.
pub(crate) type Publication = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What the requests of one server share.
pub(crate) struct Backplane {
    pub(crate) store: Arc<dyn SessionStore>,
    pub(crate) hub: Arc<dyn Hub>,
    pub(crate) event_ids: EventIds,
    pub(crate) handles: Sealer,
    pub(crate) boundary: Boundary,
    pub(crate) gauges: Arc<Gauges>,
    pub(crate) budget: Arc<Budget>,
    pub(crate) room: Arc<Room>,
    pub(crate) refusals: Refusals,
    pub(crate) busy: Arc<Busy>,
    pub(crate) holdings: Holdings,
    pub(crate) closing: Arc<Closing>,
    /// What store and hub did not finish at once; the housekeeper drives it.
    outgoing: Mutex<Vec<Publication>>,
    pub(crate) wake: Arc<Notify>,
    keep: Duration,
}

/// How much waits for a slow store or hub before more is dropped.
const MAX_OUTGOING: usize = 1024;

impl Backplane {
    pub(crate) fn new(config: &ServerConfig, keys: &KeyRing, name: &str) -> Self {
        let security = config.asking.security.clone();
        let security = security.unwrap_or_else(|| RequestStateSecurity::with_keys(keys));
        let store = config.store.clone();
        let hub = config.hub.clone();
        let wake = Arc::new(Notify::new());
        Self {
            store: store.unwrap_or_else(|| {
                Arc::new(MemoryStore::new().max_entries(config.limits.max_sessions))
            }),
            hub: hub.unwrap_or_else(|| Arc::new(MemoryHub::new())),
            event_ids: EventIds::new(keys),
            handles: Sealer::new(keys, Purpose::Session).with_max_token_len(256),
            boundary: Boundary::new(security, Some(name)),
            gauges: Arc::default(),
            budget: Arc::default(),
            room: Arc::default(),
            refusals: Refusals::default(),
            busy: Arc::new(Busy::new(Arc::clone(&wake))),
            holdings: Holdings::default(),
            closing: Arc::default(),
            outgoing: Mutex::default(),
            wake,
            keep: config.streams.keep,
        }
    }

    /// A session, whose topics have keys of their own: [`HeldSession`].
    pub(crate) fn session_key(caller: &Caller, id: &str) -> Key {
        Key::new(caller.namespace(), "session", id)
    }

    pub(crate) fn handle_key(caller: &Caller, id: &str) -> Key {
        Key::new(caller.namespace(), "handle", id)
    }

    /// A state that is too large for the client to hold.
    pub(crate) fn state_key(caller: &Caller, id: &str) -> Key {
        Key::new(caller.namespace(), "state", id)
    }

    /// A retry that counts once.
    pub(crate) fn retry_key(caller: &Caller, token: &str) -> Key {
        Key::new(caller.namespace(), "retry", token)
    }

    /// One topic for all namespaces, so that a place in it is an event id; what is of one alone
    /// says so.
    fn changes_topic() -> Key {
        Key::new("", "changes", "")
    }

    /// The changes of this server from a place on.
    pub(crate) async fn changes(&self, start: Start) -> Result<Box<dyn Subscription>, HubError> {
        self.hub.subscribe(&Self::changes_topic(), start).await
    }

    pub(crate) async fn control(
        &self,
        session: &HeldSession,
    ) -> Result<Box<dyn Subscription>, HubError> {
        self.hub
            .subscribe(&session.control_topic(), Start::Now)
            .await
    }

    /// Tells whoever serves this session.
    pub(crate) async fn tell(&self, session: &HeldSession, message: &Control) {
        let topic = session.control_topic();
        if let Err(error) = self.hub.tell(&topic, message.write()).await {
            tracing::error!(%error, "a message between workers was lost");
        }
    }

    /// Tells everybody of a change, or one namespace alone, without waiting for the hub.
    pub(crate) fn announce(&self, notice: &Notice, namespace: Option<&str>) {
        let hub = Arc::clone(&self.hub);
        let message = stream::written(notice, namespace);
        let keep = self.keep;
        self.do_soon(async move {
            if let Err(error) = hub.publish(&Self::changes_topic(), message, keep).await {
                tracing::error!(%error, "a change could not be announced");
            }
        });
    }

    /// Does something at once where store and hub do, and by the housekeeper otherwise.
    pub(crate) fn do_soon(&self, work: impl Future<Output = ()> + Send + 'static) {
        let mut publication: Publication = Box::pin(work);
        let mut context = Context::from_waker(Waker::noop());
        if publication.as_mut().poll(&mut context) == Poll::Ready(()) {
            return;
        }
        let mut outgoing = self.lock_outgoing();
        if outgoing.len() < MAX_OUTGOING {
            outgoing.push(publication);
        } else {
            tracing::error!("something was left undone: store or hub do not keep up");
        }
        drop(outgoing);
        self.wake.notify_one();
    }

    /// What the hub did not finish at once.
    pub(crate) fn outgoing(&self) -> Vec<Publication> {
        std::mem::take(&mut self.lock_outgoing())
    }

    fn lock_outgoing(&self) -> MutexGuard<'_, Vec<Publication>> {
        self.outgoing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Backplane {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Backplane")
            .field("store", &self.store)
            .field("hub", &self.hub)
            .finish_non_exhaustive()
    }
}
