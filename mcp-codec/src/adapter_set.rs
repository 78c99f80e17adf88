//! The table of revisions: the only place that orders them, selects one and walks between them.
//!
//! A sixth revision is one new file beside the five, and one line in [`ALL`].

use bytes::Bytes;
use mcp_types::{InputRequest, RequestId};

use crate::{
    Envelope, Era, Failure, FailureKind, Headers, Manifest, Outcome, Reply, RevisionAdapter,
    ServerResult,
    envelope::text_of,
    headers::{self, BadHeader},
    v2024_11_05::V2024_11_05,
    v2025_03_26::V2025_03_26,
    v2025_06_18::V2025_06_18,
    v2025_11_25::V2025_11_25,
    v2026_07_28::V2026_07_28,
    write,
};

pub use crate::hints::{HandshakeState, Hints};

/// A revision, shared by everybody.
pub type Revision = &'static dyn RevisionAdapter;

/// Every revision spoken here, newest first.
pub static ALL: &[Revision] = &[
    &V2026_07_28,
    &V2025_11_25,
    &V2025_06_18,
    &V2025_03_26,
    &V2024_11_05,
];

/// What an HTTP request without a session and without a version header speaks
/// (`basic/transports` of 2025-06-18, "Protocol Version Header").
const ASSUMED: &str = "2025-03-26";

/// A revision that is not spoken here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no revision {0:?} is spoken here")]
#[non_exhaustive]
pub struct UnknownRevision(pub String);

/// The revisions that one server speaks, newest first.
#[derive(Debug, Clone)]
pub struct AdapterSet {
    served: Vec<Revision>,
}

impl Default for AdapterSet {
    fn default() -> Self {
        Self {
            served: ALL.to_vec(),
        }
    }
}

impl AdapterSet {
    /// Some of the revisions, by their versions.
    ///
    /// # Errors
    ///
    /// [`UnknownRevision`] names the first version that is not spoken here; with no version at
    /// all, it names the empty one.
    pub fn only<'a>(versions: impl IntoIterator<Item = &'a str>) -> Result<Self, UnknownRevision> {
        let wanted: Vec<&str> = versions.into_iter().collect();
        let known = |version: &&&str| ALL.iter().any(|it| it.version() == ***version);
        if let Some(unknown) = wanted.iter().find(|version| !known(version)) {
            return Err(UnknownRevision((*unknown).to_owned()));
        }
        if wanted.is_empty() {
            return Err(UnknownRevision(String::new()));
        }
        let chosen = |it: &&Revision| wanted.iter().any(|version| it.version() == *version);
        Ok(Self {
            served: ALL.iter().filter(chosen).copied().collect(),
        })
    }

    /// The versions served, newest first.
    #[must_use]
    pub fn versions(&self) -> Vec<&'static str> {
        self.served.iter().map(|it| it.version().as_str()).collect()
    }

    /// The revisions served, newest first.
    pub fn iter(&self) -> impl Iterator<Item = Revision> + '_ {
        self.served.iter().copied()
    }

    /// The served revision of that version.
    #[must_use]
    pub fn find(&self, version: &str) -> Option<Revision> {
        self.iter().find(|it| it.version() == *version)
    }

    /// The newest revision, which words what no revision was selected for.
    #[must_use]
    pub fn newest(&self) -> Revision {
        self.iter().next().unwrap_or(&V2026_07_28)
    }

    /// The revision that one message speaks.
    ///
    /// A version in `_meta` of a revision without a handshake decides; `initialize` negotiates;
    /// then what the handshake settled, the version header, and what an unmarked request is
    /// taken for.
    ///
    /// # Errors
    ///
    /// [`FailureKind::UnsupportedVersion`] for a version header or a pinned address that names
    /// none of the revisions served.
    pub fn select(&self, envelope: &Envelope<'_>, hints: Hints<'_>) -> Result<Revision, Failure> {
        if let Some(pinned) = hints.pinned {
            let only = self.find(pinned).ok_or_else(|| self.unsupported(pinned))?;
            return Self { served: vec![only] }.select(
                envelope,
                Hints {
                    pinned: None,
                    ..hints
                },
            );
        }
        let header = version_header(hints.headers)?;
        let mut named = None;
        if let Some(version) = envelope.meta_version() {
            named = self.find(&version);
            let modern = named.filter(|it| it.era() == Era::Modern);
            if let Some(modern) = modern.or_else(|| self.modern().filter(|_| named.is_none())) {
                return Ok(modern);
            }
        }
        let by_header = header.and_then(|it| self.find(it));
        if let Some(modern) = by_header.filter(|it| it.era() == Era::Modern) {
            return Ok(modern);
        }
        if envelope.method() == "initialize" {
            return Ok(self.negotiate(envelope));
        }
        self.without_context(envelope.method(), header, named, hints.handshake)
    }

    /// The revision of a batch, all of whose messages speak the same one.
    ///
    /// # Errors
    ///
    /// [`FailureKind::InvalidRequest`] where the peer's revision has no batches.
    pub fn select_batch(&self, hints: Hints<'_>) -> Result<Revision, Failure> {
        let header = version_header(hints.headers)?;
        let named = hints.pinned.or(header).unwrap_or(ASSUMED);
        let revision = match hints.handshake {
            HandshakeState::Done(revision) => Some(revision),
            HandshakeState::Awaited => None,
            HandshakeState::Unknown => self.find(named),
        };
        revision.filter(|it| it.batches()).ok_or_else(|| {
            Failure::new(FailureKind::InvalidRequest, "this revision has no batches")
        })
    }

    /// The revision of a message that does not carry its context; `named` is a handshake revision
    /// that it names all the same.
    fn without_context(
        &self,
        method: &str,
        header: Option<&str>,
        named: Option<Revision>,
        handshake: HandshakeState,
    ) -> Result<Revision, Failure> {
        match handshake {
            HandshakeState::Done(revision) => match header {
                // A header of another revision that is spoken is a client's slip, not a lie.
                Some(version) if self.find(version).is_none() => Err(self.unsupported(version)),
                _ => Ok(revision),
            },
            HandshakeState::Awaited => {
                let early = method == "ping" || method.starts_with("notifications/");
                let legacy = self.legacy().filter(|_| early || method.is_empty());
                legacy.or_else(|| self.modern()).ok_or_else(|| {
                    let message = "the first request is `initialize`";
                    Failure::new(FailureKind::NotInitialized, message)
                })
            }
            HandshakeState::Unknown => match header {
                Some(version) => self.find(version).ok_or_else(|| self.unsupported(version)),
                None => {
                    let assumed = named
                        .or_else(|| self.find(ASSUMED))
                        .or_else(|| self.legacy());
                    Ok(assumed.unwrap_or_else(|| self.newest()))
                }
            },
        }
    }

    /// The revision that a handshake settles on: the one that is asked for, or the newest that
    /// has a handshake.
    fn negotiate(&self, envelope: &Envelope<'_>) -> Revision {
        let asked = envelope
            .params()
            .ok()
            .and_then(|params| params.protocol_version);
        let asked = asked.and_then(text_of);
        let known = asked.as_deref().and_then(|version| self.find(version));
        let known = known.filter(|it| it.era() == Era::Legacy);
        known
            .or_else(|| self.legacy())
            .unwrap_or_else(|| self.newest())
    }

    fn modern(&self) -> Option<Revision> {
        self.iter().find(|it| it.era() == Era::Modern)
    }

    fn legacy(&self) -> Option<Revision> {
        self.iter().find(|it| it.era() == Era::Legacy)
    }

    fn unsupported(&self, version: &str) -> Failure {
        Failure::unsupported_version(&crate::outcome::clipped(version), &self.versions())
    }
}

fn version_header(headers: Option<&dyn Headers>) -> Result<Option<&str>, Failure> {
    let Some(headers) = headers else {
        return Ok(None);
    };
    match headers::plain(headers, headers::PROTOCOL_VERSION) {
        Ok(version) => Ok(Some(version)),
        Err(BadHeader::Missing) => Ok(None),
        Err(error) => {
            let message = format!("MCP-Protocol-Version {error}");
            Err(Failure::new(FailureKind::InvalidRequest, message))
        }
    }
}

/// Walks a result from the newest shape down to the one `revision` knows.
pub fn project(revision: Revision, result: &mut ServerResult) {
    newer(revision).for_each(|it| it.withdraw(result));
    revision.retire(result);
}

/// Walks a question from the newest shape down to the one `revision` knows; false where a peer of
/// `revision` cannot be asked, and then the question is of no further use.
///
/// The questions inside a [`ServerResult::InputRequired`] are walked with it, by [`project`].
#[must_use]
pub fn project_question(revision: Revision, question: &mut InputRequest) -> bool {
    let askable = newer(revision).all(|it| it.withdraw_question(question));
    revision.retire_question(question);
    askable
}

/// Projects a question and writes it as a request of the server; `None` where a peer of
/// `revision` cannot be asked, or not by a request ([`RevisionAdapter::input_style_of`]).
#[must_use]
pub fn ask(revision: Revision, id: &RequestId, mut question: InputRequest) -> Option<Bytes> {
    let askable = project_question(revision, &mut question);
    askable.then(|| revision.question(id, &question)).flatten()
}

fn newer(revision: Revision) -> impl Iterator<Item = &'static Revision> {
    let version = revision.version();
    ALL.iter().take_while(move |it| it.version() != version)
}

/// After how many seconds a client may try again at a server that has too much to do.
const RETRY_AFTER: u32 = 5;

/// Projects and writes an answer.
#[must_use]
pub fn render(
    revision: Revision,
    id: Option<&RequestId>,
    mut outcome: Outcome,
    manifest: &Manifest,
) -> Reply {
    let retry_after = match &mut outcome {
        Outcome::Result(result) => {
            project(revision, result);
            None
        }
        Outcome::Failure(failure) => failure.retry_after.or(match failure.kind {
            FailureKind::Overloaded | FailureKind::TooManyRequests => Some(RETRY_AFTER),
            _ => None,
        }),
    };
    let mut reply = revision.encode(id, outcome, manifest);
    reply.retry_after = retry_after;
    reply
}

/// Projects a result and writes it, to be answered with as often as it is asked for:
/// [`ServerResult::Written`].
#[must_use]
pub fn render_result(revision: Revision, result: ServerResult, manifest: &Manifest) -> Bytes {
    let reply = render(revision, None, result.into(), manifest);
    let body = reply.body.unwrap_or_default();
    let members = body
        .strip_prefix(write::RESULT_OPEN)
        .and_then(|rest| rest.strip_suffix(write::RESULT_CLOSE));
    members.map_or_else(Bytes::new, |members| body.slice_ref(members))
}

/// Projects a listing and writes each of its entries, to be put together into pages.
#[must_use]
pub fn render_entries(revision: Revision, mut listing: ServerResult) -> Vec<Bytes> {
    fn each<T: serde::Serialize>(entries: &[T]) -> Vec<Bytes> {
        entries
            .iter()
            .filter_map(|it| serde_json::to_vec(it).ok())
            .map(Bytes::from)
            .collect()
    }
    project(revision, &mut listing);
    match &listing {
        ServerResult::Tools(tools) => each(tools),
        ServerResult::Prompts(prompts) => each(prompts),
        ServerResult::Resources(resources) => each(resources),
        ServerResult::ResourceTemplates(templates) => each(templates),
        _ => Vec::new(),
    }
}

/// Whether a peer of `revision` may see what exists since the version `since`.
///
/// A version that is not spoken here is none that a peer can have, so nothing is hidden for it;
/// [`is_spoken`] tells at registration.
#[must_use]
pub fn reaches(revision: Revision, since: Option<&str>) -> bool {
    let Some(since) = since else {
        return true;
    };
    let place = |version: &str| ALL.iter().position(|it| it.version() == *version);
    match (place(revision.version().as_str()), place(since)) {
        (Some(peer), Some(since)) => peer <= since,
        _ => true,
    }
}

/// Whether `version` is one of [`ALL`].
#[must_use]
pub fn is_spoken(version: &str) -> bool {
    ALL.iter().any(|it| it.version() == *version)
}

#[cfg(test)]
mod tests {
    use mcp_types::{JsonObject, TaskSupport, Tool, ToolExecution};

    use super::*;

    /// Which versions list a tool's `execution` (`schema.ts` of 2025-11-25, `ToolExecution`).
    // req: tools-2025-11-execution-field
    #[test]
    fn execution_is_of_one_revision() {
        let execution = ToolExecution::new().task_support(TaskSupport::Optional);
        let tool = Tool::new("slow", JsonObject::new()).execution(execution);
        let lists = |revision: &&Revision| {
            let entries = render_entries(**revision, ServerResult::Tools(vec![tool.clone()]));
            entries
                .iter()
                .any(|entry| entry.windows(11).any(|it| it == b"\"execution\""))
        };
        let listing: Vec<&str> = ALL
            .iter()
            .filter(lists)
            .map(|it| it.version().as_str())
            .collect();
        assert_eq!(listing, ["2025-11-25"]);
    }

    // req: versioning-2026-supported-list-truthful
    #[test]
    fn a_choice_of_revisions_keeps_their_order() {
        let set = AdapterSet::only(["2024-11-05", "2026-07-28"]).unwrap();
        assert_eq!(set.versions(), ["2026-07-28", "2024-11-05"]);
        assert_eq!(set.newest().version(), "2026-07-28");
        let unknown = AdapterSet::only(["2024-11-05", "1999-01-01"]).unwrap_err();
        assert_eq!(
            unknown.to_string(),
            r#"no revision "1999-01-01" is spoken here"#
        );
        assert!(AdapterSet::only([]).is_err());
    }

    #[test]
    fn an_entry_reaches_its_revision_and_newer_ones() {
        let reached = |since| -> Vec<&str> {
            let reached = ALL.iter().filter(|it| reaches(**it, since));
            reached.map(|it| it.version().as_str()).collect()
        };
        assert_eq!(reached(Some("2025-11-25")), ["2026-07-28", "2025-11-25"]);
        assert_eq!(reached(None).len(), ALL.len());
    }
}
