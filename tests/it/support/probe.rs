//! What handlers leave behind for a test to see.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

/// Notes of handlers, in order. All clones are one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Probe(Arc<Mutex<Vec<String>>>);

impl Probe {
    pub(crate) fn note(&self, note: impl Into<String>) {
        self.0.lock().unwrap().push(note.into());
    }

    pub(crate) fn note_all(&self, notes: &[&str]) {
        notes.iter().for_each(|note| self.note(*note));
    }

    pub(crate) fn notes(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn has(&self, note: &str) -> bool {
        self.count(note) > 0
    }

    pub(crate) fn count(&self, note: &str) -> usize {
        self.notes().iter().filter(|it| *it == note).count()
    }

    pub(crate) fn clear(&self) {
        self.0.lock().unwrap().clear();
    }

    /// Waits for a note.
    pub(crate) async fn until(&self, note: &str) {
        for _ in 0..400 {
            if self.has(note) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        panic!("{note:?} was never noted: {:?}", self.notes());
    }

    /// Notes `begun`, and `end` when the guard goes, unless it is disarmed.
    pub(crate) fn guard(&self, begun: &str, end: &'static str) -> Guard {
        self.note(begun);
        Guard(Some((self.clone(), end)))
    }
}

pub(crate) struct Guard(Option<(Probe, &'static str)>);

impl Guard {
    pub(crate) fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some((probe, end)) = self.0.take() {
            probe.note(end);
        }
    }
}
