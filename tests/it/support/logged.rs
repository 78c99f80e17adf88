//! What a thread logs.
//!
//! One subscriber serves the whole process: of two that come and go, each would settle for the
//! threads of the other which events are worth recording.

use std::{
    cell::RefCell,
    fmt::{self, Write as _},
    sync::{Arc, Mutex, Once},
};

use tracing::{
    Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
    level_filters::LevelFilter,
    span,
    subscriber::Interest,
};

/// Lines of a log. All clones are one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lines(Arc<Mutex<Vec<String>>>);

impl Lines {
    /// Everything so far, a line each.
    pub(crate) fn text(&self) -> String {
        self.0.lock().unwrap().join("\n")
    }

    /// Everything so far, which is forgotten here.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }

    /// Has what this thread logs from now on written here too, from `debug` on.
    pub(crate) fn hear_this_thread(&self) {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| tracing::subscriber::set_global_default(Writer).unwrap());
        HERE.set(Some(self.clone()));
    }
}

thread_local! {
    static HERE: RefCell<Option<Lines>> = const { RefCell::new(None) };
}

/// What our crates log on this thread, from `debug` on, for as long as it is held.
pub(crate) struct Logged(Lines);

impl Logged {
    pub(crate) fn begin() -> Self {
        let lines = Lines::default();
        lines.hear_this_thread();
        Self(lines)
    }

    /// Everything so far, a line each.
    pub(crate) fn text(&self) -> String {
        self.0.text()
    }
}

impl Drop for Logged {
    fn drop(&mut self) {
        HERE.set(None);
    }
}

struct Writer;

impl Subscriber for Writer {
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        Interest::sometimes()
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::DEBUG)
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let heard = HERE.try_with(|here| here.borrow().is_some());
        let ours = metadata.target().starts_with("mcp_");
        ours && *metadata.level() <= Level::DEBUG && heard.unwrap_or(false)
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(event.metadata().level().to_string());
        event.record(&mut line);
        let _ = HERE.try_with(|here| {
            if let Some(lines) = &*here.borrow() {
                lines.0.lock().unwrap().push(line.0);
            }
        });
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let _ = write!(self.0, " {field}={value:?}");
    }
}
