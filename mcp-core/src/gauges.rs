//! How many streams are open: in all, of one caller, of one session.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use crate::{
    Failure, FailureKind, Limits,
    budget::{Owner, Who},
    stream::StreamId,
};

/// Counts open streams of one process.
#[derive(Debug, Default)]
pub(crate) struct Gauges {
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    all: usize,
    of: HashMap<Holder, usize>,
}

/// Whose streams are counted together.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Holder {
    Session(Box<str>),
    Caller(Owner),
    Stream(Box<str>, StreamId),
}

/// One open stream, counted for as long as it is held.
#[derive(Debug)]
pub(crate) struct OpenStream {
    gauges: Arc<Gauges>,
    holders: Box<[Holder]>,
}

impl Gauges {
    /// How many streams are open.
    pub(crate) fn open(&self) -> usize {
        self.lock().all
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts one more stream, if the limits allow it.
    ///
    /// Nobody in particular has no limit but the one of all. A `stream` of the session that is open
    /// already is about to be replaced, and takes no place of its own meanwhile.
    pub(crate) fn enter(
        self: &Arc<Self>,
        limits: &Limits,
        session: Option<&str>,
        stream: Option<StreamId>,
        who: Who<'_>,
    ) -> Result<OpenStream, Failure> {
        let again = session.zip(stream);
        let again = again.map(|(session, stream)| Holder::Stream(session.into(), stream));
        let session = session.map(|id| Holder::Session(id.into()));
        let caller = who.owner().map(Holder::Caller);
        let mut counts = self.lock();
        let replaces = again.as_ref().is_some_and(|it| counts.of.contains_key(it));
        let max_per_session = limits.max_streams_per_session + usize::from(replaces);
        let holders: Box<[Holder]> = [session, caller, again].into_iter().flatten().collect();
        let reached = counts.reached(&holders, max_per_session, limits);
        refuse_at_most(reached, counts.all, limits)?;
        counts.all += 1;
        for holder in &holders {
            *counts.of.entry(holder.clone()).or_default() += 1;
        }
        drop(counts);
        Ok(OpenStream {
            gauges: Arc::clone(self),
            holders,
        })
    }
}

impl Counts {
    /// The setting that lets one of the holders have no more, if any does.
    fn reached(
        &self,
        holders: &[Holder],
        max_per_session: usize,
        limits: &Limits,
    ) -> Option<&'static str> {
        holders.iter().find_map(|holder| {
            let (limit, setting) = match holder {
                Holder::Session(_) => (max_per_session, "Limits::max_streams_per_session"),
                Holder::Caller(_) => (
                    limits.max_streams_per_principal,
                    "Limits::max_streams_per_principal",
                ),
                Holder::Stream(..) => return None,
            };
            let open = self.of.get(holder).copied().unwrap_or_default();
            (open >= limit).then_some(setting)
        })
    }
}

/// Refuses one more stream of a caller whose own limit is reached, or of a server that has as many
/// as it can.
fn refuse_at_most(own: Option<&str>, open: usize, limits: &Limits) -> Result<(), Failure> {
    if let Some(setting) = own {
        tracing::info!(setting, "a stream was refused: its caller has too many");
        let message = "too many streams of yours are open";
        return Err(Failure::new(FailureKind::TooManyRequests, message));
    }
    if open >= limits.max_streams {
        let setting = "Limits::max_streams";
        tracing::warn!(open, setting, "a stream was refused: too many are open");
        let message = "too many streams are open";
        return Err(Failure::new(FailureKind::Overloaded, message));
    }
    Ok(())
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        let mut counts = self.gauges.lock();
        counts.all = counts.all.saturating_sub(1);
        for holder in &self.holders {
            if let Some(count) = counts.of.get_mut(holder) {
                *count -= 1;
                if *count == 0 {
                    counts.of.remove(holder);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALICE: Who<'static> = Who::Principal("alice");

    #[test]
    fn streams_are_counted_by_session_principal_and_in_all() {
        let gauges = Arc::new(Gauges::default());
        let mut limits = Limits::default();
        (
            limits.max_streams,
            limits.max_streams_per_principal,
            limits.max_streams_per_session,
        ) = (4, 3, 2);
        let enter = |session, owner| gauges.enter(&limits, session, None, owner);
        let held = [
            enter(Some("s"), ALICE).unwrap(),
            enter(Some("s"), ALICE).unwrap(),
        ];
        let refused = |it: Result<OpenStream, Failure>| it.unwrap_err().kind;
        let greedy = FailureKind::TooManyRequests;
        assert_eq!(refused(enter(Some("s"), ALICE)), greedy);
        let third = enter(Some("t"), ALICE).unwrap();
        assert_eq!(refused(enter(None, ALICE)), greedy);
        let stranger = enter(None, Who::Nobody).unwrap();
        assert_eq!(refused(enter(None, Who::Nobody)), FailureKind::Overloaded);
        assert_eq!(gauges.open(), 4);
        drop((held, third, stranger));
        assert_eq!(gauges.open(), 0);

        let stream = Some(StreamId::STANDALONE);
        let again = || gauges.enter(&limits, Some("s"), stream, Who::Nobody);
        let held = [again().unwrap(), enter(Some("s"), Who::Nobody).unwrap()];
        assert!(enter(Some("s"), Who::Nobody).is_err());
        // It replaces the first one, and so does no other.
        let third = again().unwrap();
        assert!(again().is_err());
        drop((held, third));
        assert!(gauges.lock().of.is_empty());
    }
}
