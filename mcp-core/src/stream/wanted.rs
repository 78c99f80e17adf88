//! Which changes one listener hears of.

use std::collections::HashSet;

use mcp_codec::Change;
use mcp_types::{ServerCapabilities, SubscriptionFilter};

/// Which changes one listener hears of.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wanted {
    pub(crate) tools: bool,
    pub(crate) prompts: bool,
    pub(crate) resources: bool,
    pub(crate) watched: HashSet<Box<str>>,
}

impl Wanted {
    /// What a handshake client hears of without asking: every list.
    pub(crate) fn lists() -> Self {
        Self {
            tools: true,
            prompts: true,
            resources: true,
            watched: HashSet::new(),
        }
    }

    /// What of a wish can be granted: changes that the server announces, and resources that
    /// `watchable` lets be watched.
    pub(crate) fn granted(
        wish: SubscriptionFilter,
        offers: &ServerCapabilities,
        watchable: impl Fn(&str) -> bool,
    ) -> (Self, SubscriptionFilter) {
        let asked = |asked: Option<bool>| asked == Some(true);
        let lists = |offered: Option<Option<bool>>| offered.flatten() == Some(true);
        let resources = offers.resources.as_ref();
        let tools = lists(offers.tools.as_ref().map(|it| it.list_changed));
        let prompts = lists(offers.prompts.as_ref().map(|it| it.list_changed));
        let mut granted = SubscriptionFilter::new();
        let wanted = Self {
            tools: asked(wish.tools_list_changed) && tools,
            prompts: asked(wish.prompts_list_changed) && prompts,
            resources: asked(wish.resources_list_changed)
                && lists(resources.map(|it| it.list_changed)),
            watched: HashSet::new(),
        };
        granted.tools_list_changed = wanted.tools.then_some(true);
        granted.prompts_list_changed = wanted.prompts.then_some(true);
        granted.resources_list_changed = wanted.resources.then_some(true);
        let mut watched = HashSet::new();
        if let Some(uris) = wish.resource_subscriptions
            && lists(resources.map(|it| it.subscribe))
        {
            let mut uris: Vec<String> = uris.into_iter().filter(|uri| watchable(uri)).collect();
            uris.retain(|uri| watched.insert(uri.as_str().into()));
            granted.resource_subscriptions = Some(uris);
        }
        (Self { watched, ..wanted }, granted)
    }

    pub(crate) fn wants(&self, change: Change<'_>) -> bool {
        match change {
            Change::Tools => self.tools,
            Change::Prompts => self.prompts,
            Change::Resources => self.resources,
            Change::Resource(uri) => self.watched.contains(uri),
        }
    }

    /// Everything that may have changed, for a listener who has missed something.
    pub(crate) fn everything(&self) -> impl Iterator<Item = Change<'_>> {
        let lists = [
            (self.tools, Change::Tools),
            (self.prompts, Change::Prompts),
            (self.resources, Change::Resources),
        ];
        let lists = lists.into_iter().filter(|(wanted, _)| *wanted);
        let watched = self.watched.iter().map(|uri| Change::Resource(uri));
        lists.map(|(_, change)| change).chain(watched)
    }
}
