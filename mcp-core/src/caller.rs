//! Whose a request is: who it is from, and in which namespace everything of it is kept.

use std::{borrow::Cow, sync::Arc};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest as _, Sha256};

use crate::{Incoming, Principal, budget::Who};

/// Whose a request is. Cheap to clone; nothing at all for a stranger in the one namespace of most
/// servers.
#[derive(Clone, Default)]
pub(crate) struct Caller {
    known: Option<Arc<Known>>,
}

struct Known {
    principal: Option<Arc<Principal>>,
    owner: Box<str>,
    namespace: Box<str>,
    source: Box<str>,
}

impl Caller {
    /// Whoever was verified, in the namespace that was set; `namespace_of` gives it otherwise.
    pub(crate) fn of(
        incoming: &Incoming<'_>,
        namespace_of: impl FnOnce(&Principal) -> String,
    ) -> Self {
        let principal = incoming.principal;
        let namespace = match (incoming.namespace, principal) {
            (None, None) if incoming.source.is_none() => return Self::default(),
            (None, None) => Box::default(),
            (Some(namespace), _) => namespace.into(),
            (None, Some(principal)) => namespace_of(principal).into(),
        };
        let owner = principal.map(|it| it.identity()).unwrap_or_default();
        let known = Known {
            principal: principal.cloned(),
            owner: owner.into(),
            namespace,
            source: incoming.source.unwrap_or_default().into(),
        };
        Self {
            known: Some(Arc::new(known)),
        }
    }

    pub(crate) fn principal(&self) -> Option<&Arc<Principal>> {
        self.known.as_ref()?.principal.as_ref()
    }

    /// The identity of whoever was verified; empty for strangers.
    pub(crate) fn owner(&self) -> &str {
        self.known.as_ref().map_or("", |it| &it.owner)
    }

    /// The namespace of everything that belongs to the request.
    pub(crate) fn namespace(&self) -> &str {
        self.known.as_ref().map_or("", |it| &it.namespace)
    }

    /// Who is charged for a request: whoever was verified, or its source as far as that is known.
    pub(crate) fn account(&self) -> Who<'_> {
        match (
            self.owner(),
            self.known.as_ref().map_or("", |it| &it.source),
        ) {
            ("", "") => Who::Nobody,
            ("", source) => Who::Stranger(source),
            (owner, _) => Who::Principal(owner),
        }
    }

    /// What begins a state of the namespace, which is bound to the principal already: nothing
    /// where the namespace follows from that.
    ///
    /// A digest, since a state that is signed alone can be read by its client.
    pub(crate) fn mark(&self) -> Cow<'static, str> {
        let namespace = self.namespace();
        if namespace == self.owner() {
            return Cow::Borrowed("");
        }
        let digest = Sha256::digest(namespace.as_bytes());
        Cow::Owned(format!("n{}:", URL_SAFE_NO_PAD.encode(digest)))
    }

    /// What binds a sealed text to the caller, whatever else it is bound to: no two callers and
    /// contexts share it.
    pub(crate) fn binding(&self, context: &str) -> String {
        match &self.known {
            None => context.to_owned(),
            Some(known) if known.owner.is_empty() && known.namespace.is_empty() => {
                context.to_owned()
            }
            Some(known) => {
                let Known {
                    owner, namespace, ..
                } = &**known;
                let lengths = (context.len(), namespace.len());
                format!("{}:{context}{}:{namespace}{owner}", lengths.0, lengths.1)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn caller(subject: &str, namespace: Option<&str>) -> Caller {
        let principal = Arc::new(Principal::new("x", subject));
        called(
            &Incoming::new(Bytes::new())
                .principal(Some(&principal))
                .namespace(namespace),
        )
    }

    fn called(incoming: &Incoming<'_>) -> Caller {
        Caller::of(incoming, Principal::identity)
    }

    fn stranger() -> Incoming<'static> {
        Incoming::new(Bytes::new())
    }

    #[test]
    fn a_principal_has_a_namespace_of_its_own_unless_one_was_set() {
        let alice = caller("alice", None);
        assert_eq!(alice.namespace(), alice.owner());
        assert_ne!(alice.namespace(), caller("bob", None).namespace());
        let tenant = caller("alice", Some("tenant"));
        assert_eq!(
            (tenant.namespace(), tenant.owner()),
            ("tenant", alice.owner())
        );
        let stranger = called(&stranger().source(Some("::1")));
        assert_eq!((stranger.namespace(), stranger.owner()), ("", ""));
        assert!(matches!(stranger.account(), Who::Stranger("::1")));
    }

    #[test]
    fn a_namespace_that_was_set_marks_its_states() {
        let marks = ["", "a", "b"].map(|it| caller("alice", Some(it)).mark());
        let distinct: std::collections::HashSet<_> = marks.iter().collect();
        assert_eq!(distinct.len(), marks.len());
        assert!(marks.iter().all(|it| it.starts_with('n')));
        assert_eq!(caller("alice", None).mark(), "");
        assert_eq!(Caller::default().mark(), "");
    }

    #[test]
    fn bindings_do_not_collide() {
        let callers = [
            Caller::default(),
            called(&stranger().namespace(Some("a"))),
            caller("a", Some("b")),
            caller("b", Some("a")),
            caller("a", None),
        ];
        let bindings: std::collections::HashSet<_> =
            callers.iter().map(|it| it.binding("tools")).collect();
        assert_eq!(bindings.len(), callers.len());
        // Where a stranger comes from may change.
        for stranger in [Caller::default(), called(&stranger().source(Some("::1")))] {
            assert_eq!(stranger.binding("tools"), "tools");
        }
    }
}
