//! Every scenario on every transport, in every revision that has what it needs.

use mcp_codec::{Era, InputStyle, Revision, adapter_set};
use mcp_core::{Registry, ServerConfig, SessionMode};
use serde_json::{Value, json};

use super::{fixture, http::Server, peer::Peer, probe::Probe, workers::Workers};

/// How the bytes travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transport {
    /// Not at all: the dispatcher is called.
    Bytes,
    /// In HTTP requests, one message each; those of handshake revisions in a session.
    Http,
    /// The same without sessions.
    Stateless,
    /// In HTTP requests that two workers serve in turn.
    Workers,
    /// As lines.
    Stdio,
}

/// What a scenario needs, in words of its own. This file alone knows which revision has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// Messages that belong together: on a connection, or in a session.
    Connection,
    /// A session over HTTP.
    Session,
    /// A server that is one process, so that what changes in it has changed for good.
    OneRegistry,
    /// A conversation that begins with `initialize`.
    Handshake,
    /// Requests that carry their context.
    RequestContext,
    /// `structuredContent` and `outputSchema`.
    StructuredContent,
    /// Structured content that is no object.
    AnyStructuredContent,
    /// Blocks that name a resource.
    ResourceLinks,
    /// Blocks of sound.
    Audio,
    /// `annotations` of tools.
    ToolAnnotations,
    /// `title` of tools, resources and prompts.
    Titles,
    /// `icons`.
    Icons,
    /// `message` of progress.
    ProgressMessages,
    /// The `completions` capability.
    CompletionsCapability,
    /// The settled arguments of a completion.
    CompletionContext,
    /// `description` and `websiteUrl` of an implementation.
    Descriptions,
    /// The error code of its own for a resource that is not there.
    ResourceNotFoundCode,
    /// `resultType`, `ttlMs`, `cacheScope`.
    CacheHints,
    /// One stream for all messages, which says nothing of its own end.
    Lines,
    /// Forms that reach the user, in whichever way.
    Forms,
    /// Forms that are a message of the protocol.
    FormMessages,
    /// URLs that reach the user by a message of the protocol.
    Urls,
    /// Questions for the model and the roots.
    Questions,
    /// Questions that are the result of a call.
    QuestionsInResults,
    /// Questions that are messages on the stream of a call.
    QuestionsOnStreams,
    /// Tools in questions for the model.
    ModelTools,
}

impl Need {
    pub(crate) fn is_met(self, transport: Transport, revision: Revision) -> bool {
        let since = |version| adapter_set::reaches(revision, Some(version));
        match self {
            Self::Connection => match transport {
                Transport::Bytes | Transport::Stdio => true,
                Transport::Http | Transport::Workers => revision.era() == Era::Legacy,
                Transport::Stateless => false,
            },
            Self::Session => {
                let sessions = [Transport::Http, Transport::Workers].contains(&transport);
                sessions && revision.era() == Era::Legacy
            }
            Self::OneRegistry => transport != Transport::Workers,
            Self::Handshake | Self::ResourceNotFoundCode => revision.era() == Era::Legacy,
            Self::RequestContext => revision.era() == Era::Modern,
            Self::Audio
            | Self::ToolAnnotations
            | Self::ProgressMessages
            | Self::CompletionsCapability => since("2025-03-26"),
            Self::StructuredContent
            | Self::ResourceLinks
            | Self::Titles
            | Self::CompletionContext => since("2025-06-18"),
            Self::Icons | Self::Descriptions => since("2025-11-25"),
            Self::AnyStructuredContent | Self::CacheHints => since("2026-07-28"),
            Self::Lines => transport == Transport::Stdio,
            _ => self.is_asked(transport, revision),
        }
    }

    /// What concerns questions of the server.
    fn is_asked(self, transport: Transport, revision: Revision) -> bool {
        let since = |version| adapter_set::reaches(revision, Some(version));
        let style = revision.input_style();
        let in_results = style == InputStyle::InResult;
        let questions = in_results || Self::Connection.is_met(transport, revision);
        match self {
            Self::Questions => questions,
            Self::QuestionsInResults => in_results,
            Self::QuestionsOnStreams => questions && style == InputStyle::OnStream,
            Self::Forms => questions || style == InputStyle::InArguments,
            Self::FormMessages => questions && style != InputStyle::InArguments,
            _ => questions && since("2025-11-25"),
        }
    }
}

/// Runs a scenario against the fixture server, wherever its needs are met.
pub(crate) async fn each(needs: &[Need], scenario: impl AsyncFn(&Peer)) {
    each_of(fixture::with, needs, scenario).await;
}

/// As [`each`], against a server of its own, which `build` makes with that configuration.
///
/// Over HTTP all revisions meet one server; elsewhere each has one to itself.
pub(crate) async fn each_of(
    build: impl Fn(&Probe, ServerConfig) -> Registry,
    needs: &[Need],
    scenario: impl AsyncFn(&Peer),
) {
    each_client(&json!({"elicitation": {}}), build, needs, scenario).await;
}

/// As [`each_of`], with clients that declare those capabilities.
pub(crate) async fn each_client(
    capabilities: &Value,
    build: impl Fn(&Probe, ServerConfig) -> Registry,
    needs: &[Need],
    scenario: impl AsyncFn(&Peer),
) {
    let mut runs = 0;
    for transport in TRANSPORTS {
        let mut shared = None;
        for revision in adapter_set::ALL {
            // What has no handshake has no sessions to do without.
            let twice = transport == Transport::Stateless && revision.era() == Era::Modern;
            if twice || !needs.iter().all(|need| need.is_met(transport, *revision)) {
                continue;
            }
            let _label = Label(transport, *revision);
            let mut site = match transport {
                Transport::Bytes | Transport::Stdio => Site::new(transport, &build),
                _ => shared
                    .get_or_insert_with(|| Site::new(transport, &build))
                    .clone(),
            };
            site.probe.clear();
            site.capabilities.clone_from(capabilities);
            scenario(&Peer::new(transport, *revision, site).await).await;
            runs += 1;
        }
    }
    assert!(runs > 0, "no transport and revision has {needs:?}");
}

const TRANSPORTS: [Transport; 5] = [
    Transport::Bytes,
    Transport::Http,
    Transport::Stateless,
    Transport::Workers,
    Transport::Stdio,
];

/// What a peer meets: a server, and what its handlers leave behind.
#[derive(Clone)]
pub(crate) struct Site {
    pub(crate) probe: Probe,
    /// The first worker's, where there are several.
    pub(crate) registry: Registry,
    /// The workers that serve in turn, over HTTP.
    pub(crate) servers: Vec<Server>,
    /// What the client declares.
    pub(crate) capabilities: Value,
}

impl Site {
    /// A process of its own, which is called directly.
    pub(crate) fn of(registry: Registry, probe: &Probe, capabilities: Value) -> Self {
        Self {
            probe: probe.clone(),
            registry,
            servers: Vec::new(),
            capabilities,
        }
    }

    fn new(transport: Transport, build: impl Fn(&Probe, ServerConfig) -> Registry) -> Self {
        let probe = Probe::default();
        if transport == Transport::Workers {
            let workers = Workers::new(|config| build(&probe, config));
            let [registry, _] = workers.registries;
            let servers = workers.servers.into();
            return Self {
                probe,
                registry,
                servers,
                capabilities: Value::Null,
            };
        }
        let mut config = ServerConfig::default();
        if transport == Transport::Stateless {
            config.sessions.mode = SessionMode::Stateless;
        }
        let registry = build(&probe, config);
        let over_http = [Transport::Http, Transport::Stateless].contains(&transport);
        let servers = over_http.then(|| Server::of(registry.clone()));
        Self {
            probe,
            registry,
            servers: servers.into_iter().collect(),
            capabilities: Value::Null,
        }
    }
}

/// Says where a scenario failed.
struct Label(Transport, Revision);

impl Drop for Label {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("… over {:?} in {}", self.0, self.1.version());
        }
    }
}
