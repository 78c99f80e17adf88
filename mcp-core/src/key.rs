//! The name of an entry in a store, or of a topic in a hub.

use std::{borrow::Cow, fmt, sync::Arc};

/// The name of an entry in a [`SessionStore`](crate::SessionStore), or of a topic in a
/// [`Hub`](crate::Hub).
///
/// Opaque to a backend: it stores under [`Key::as_str`] and never takes it apart. Namespace, kind
/// and id are put together so that no two triples have the same text, whatever characters they
/// hold.
///
/// # Security
///
/// A key may hold a session id, which is a credential: `Debug` shows its kind alone.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    text: Arc<str>,
}

impl Key {
    /// The key of `id` among the entries of `kind` in `namespace`.
    ///
    /// `kind` is a short word of the program's own, without a slash.
    #[must_use]
    pub fn new(namespace: &str, kind: &'static str, id: &str) -> Self {
        let length = if namespace.is_empty() {
            Cow::Borrowed("0")
        } else {
            Cow::Owned(namespace.len().to_string())
        };
        let parts = [kind, "/", &*length, ":", namespace, "/", id];
        // It is made for each request of a session.
        let mut text = String::with_capacity(parts.iter().map(|part| part.len()).sum());
        parts.iter().for_each(|part| text.push_str(part));
        Self { text: text.into() }
    }

    /// The whole key as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The kind of entry, for logs.
    #[must_use]
    pub fn kind(&self) -> &str {
        self.text.split('/').next().unwrap_or_default()
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Key({}/…)", self.kind())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_do_not_collide() {
        let keys = [
            Key::new("", "session", "a/b"),
            Key::new("a", "session", "b"),
            Key::new("a/", "session", "b"),
            Key::new("a", "session", "/b"),
            Key::new("1:a", "session", "b"),
            Key::new("", "session", "1:a/b"),
        ];
        let distinct: std::collections::HashSet<_> = keys.iter().map(Key::as_str).collect();
        assert_eq!(distinct.len(), keys.len());
    }

    #[test]
    fn an_id_is_not_shown() {
        let shown = format!("{:?}", Key::new("tenant", "session", "secret"));
        assert_eq!(shown, "Key(session/…)");
    }
}
