//! Every scenario on every transport, in every revision that has what it needs.

use mcp_codec::{Era, Revision, adapter_set};
use mcp_core::Registry;

use super::{fixture, http::Server, peer::Peer, probe::Probe};

/// How the bytes travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transport {
    /// Not at all: the dispatcher is called.
    Bytes,
    /// In HTTP requests, one message each.
    Http,
    /// As lines.
    Stdio,
}

/// What a scenario needs, in words of its own. This file alone knows which revision has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// Messages that belong together without a session.
    Connection,
    /// Lines.
    Stdio,
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
}

impl Need {
    pub(crate) fn is_met(self, transport: Transport, revision: Revision) -> bool {
        let since = |version| adapter_set::reaches(revision, Some(version));
        match self {
            Self::Connection => transport != Transport::Http,
            Self::Stdio => transport == Transport::Stdio,
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
        }
    }
}

/// Runs a scenario against the fixture server, wherever its needs are met.
pub(crate) async fn each(needs: &[Need], scenario: impl AsyncFn(&Peer)) {
    each_of(fixture::fixture, needs, scenario).await;
}

/// As [`each`], against a server of its own.
///
/// Over HTTP all revisions meet one server; elsewhere each has one to itself.
pub(crate) async fn each_of(
    build: impl Fn(&Probe) -> Registry,
    needs: &[Need],
    scenario: impl AsyncFn(&Peer),
) {
    let mut runs = 0;
    let shared = Probe::default();
    let registry = build(&shared);
    let mut server = None;
    for transport in [Transport::Bytes, Transport::Http, Transport::Stdio] {
        for revision in adapter_set::ALL {
            if !needs.iter().all(|need| need.is_met(transport, *revision)) {
                continue;
            }
            let _label = Label(transport, *revision);
            let (registry, probe) = if transport == Transport::Http {
                server.get_or_insert_with(|| Server::of(registry.clone()));
                shared.clear();
                (registry.clone(), shared.clone())
            } else {
                let probe = Probe::default();
                (build(&probe), probe)
            };
            let peer = Peer::new(transport, *revision, registry, probe, server.as_ref()).await;
            scenario(&peer).await;
            runs += 1;
        }
    }
    assert!(runs > 0, "no transport and revision has {needs:?}");
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
