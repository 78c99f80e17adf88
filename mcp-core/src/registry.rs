//! The registry: what a server has, and how that changes while it runs.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use arc_swap::ArcSwap;
use mcp_codec::{Change, Notice, adapter_set};
use mcp_state::KeyRing;
use mcp_types::Implementation;

use crate::{
    PromptSpec, RegisterError, RegistryBuilder, ResourceSpec, ServerConfig, TemplateSpec, ToolSpec,
    backplane::Backplane,
    catalog::{Catalog, Entries, Slot},
    cursor::Cursors,
    handler::States,
};

/// What a server has: its tools, resources, prompts and state.
///
/// Cheap to clone; all clones are one registry. Handlers reach it through
/// [`Exchange::registry`](crate::Exchange::registry).
#[derive(Clone)]
pub struct Registry {
    inner: Arc<Inner>,
}

struct Inner {
    info: Implementation,
    instructions: Option<String>,
    states: States,
    config: ServerConfig,
    cursors: Cursors,
    entries: Mutex<Entries>,
    catalog: ArcSwap<Catalog>,
    backplane: Backplane,
    housekeeper: tokio::sync::Mutex<()>,
}

#[expect(
    clippy::must_use_candidate,
    reason = "whether a change changed anything is often of no interest"
)]
impl Registry {
    /// A server of that name and version.
    pub fn builder(name: impl Into<String>, version: impl Into<String>) -> RegistryBuilder {
        RegistryBuilder::new(Implementation::new(name, version))
    }

    /// A registry of what was collected, if it can be served.
    pub(crate) fn freeze(
        info: Implementation,
        instructions: Option<String>,
        states: States,
        entries: Entries,
        config: ServerConfig,
    ) -> Result<Self, RegisterError> {
        known_versions(&entries)?;
        let catalog = Catalog::build(info.clone(), instructions.clone(), &entries, &config)?;
        let keys = config.keys.clone().unwrap_or_else(KeyRing::ephemeral);
        if config.keys.is_none() && (config.store.is_some() || config.hub.is_some()) {
            tracing::warn!(
                "`ServerConfig::keys` is not set: other workers cannot open what this one seals"
            );
        }
        let backplane = Backplane::new(&config, &keys, &info.name);
        let inner = Inner {
            info,
            instructions,
            states,
            cursors: Cursors::new(&keys),
            backplane,
            housekeeper: tokio::sync::Mutex::default(),
            config,
            entries: Mutex::new(entries),
            catalog: ArcSwap::from_pointee(catalog),
        };
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    /// Adds a tool to the running server.
    ///
    /// # Errors
    ///
    /// As [`RegistryBuilder::build`]; the registry is unchanged then.
    pub fn add_tool(&self, tool: ToolSpec) -> Result<(), RegisterError> {
        let slot = slot(tool.prepare(self.states())?);
        self.change(
            Change::Tools,
            |entries| entries.tools.push(slot),
            |entries| {
                entries.tools.pop();
            },
        )
    }

    /// Removes a tool; false where there is none of that name.
    pub fn remove_tool(&self, name: &str) -> bool {
        self.retain(Change::Tools, |it| &mut it.tools, |it| it.name() != name)
    }

    /// Switches a tool on or off; false where that changes nothing.
    pub fn enable_tool(&self, name: &str, enabled: bool) -> bool {
        self.switch(
            Change::Tools,
            |it| &mut it.tools,
            |it| it.name() == name,
            enabled,
        )
    }

    /// Adds a prompt to the running server.
    ///
    /// # Errors
    ///
    /// As [`RegistryBuilder::build`]; the registry is unchanged then.
    pub fn add_prompt(&self, prompt: PromptSpec) -> Result<(), RegisterError> {
        let slot = slot(prompt.prepare(self.states())?);
        self.change(
            Change::Prompts,
            |entries| entries.prompts.push(slot),
            |entries| {
                entries.prompts.pop();
            },
        )
    }

    /// Removes a prompt; false where there is none of that name.
    pub fn remove_prompt(&self, name: &str) -> bool {
        self.retain(
            Change::Prompts,
            |it| &mut it.prompts,
            |it| it.prompt.name != name,
        )
    }

    /// Switches a prompt on or off; false where that changes nothing.
    pub fn enable_prompt(&self, name: &str, enabled: bool) -> bool {
        self.switch(
            Change::Prompts,
            |it| &mut it.prompts,
            |it| it.prompt.name == name,
            enabled,
        )
    }

    /// Adds a resource to the running server.
    ///
    /// # Errors
    ///
    /// As [`RegistryBuilder::build`]; the registry is unchanged then.
    pub fn add_resource(&self, resource: ResourceSpec) -> Result<(), RegisterError> {
        let slot = slot(resource.prepare(self.states())?);
        self.change(
            Change::Resources,
            |entries| entries.resources.push(slot),
            |entries| {
                entries.resources.pop();
            },
        )
    }

    /// Removes a resource; false where there is none at that URI.
    pub fn remove_resource(&self, uri: &str) -> bool {
        self.retain(
            Change::Resources,
            |it| &mut it.resources,
            |it| it.resource.uri != uri,
        )
    }

    /// Switches a resource on or off; false where that changes nothing.
    pub fn enable_resource(&self, uri: &str, enabled: bool) -> bool {
        let found = |it: &crate::resources::ResourceEntry| it.resource.uri == uri;
        self.switch(Change::Resources, |it| &mut it.resources, found, enabled)
    }

    /// Adds a template to the running server.
    ///
    /// # Errors
    ///
    /// As [`RegistryBuilder::build`]; the registry is unchanged then.
    pub fn add_template(&self, template: TemplateSpec) -> Result<(), RegisterError> {
        let slot = slot(template.prepare(self.states())?);
        self.change(
            Change::Resources,
            |entries| entries.templates.push(slot),
            |entries| {
                entries.templates.pop();
            },
        )
    }

    /// Removes a template; false where there is none of that text.
    pub fn remove_template(&self, uri_template: &str) -> bool {
        self.retain(
            Change::Resources,
            |it| &mut it.templates,
            |it| it.template.uri_template != uri_template,
        )
    }

    /// Switches a template on or off; false where that changes nothing.
    pub fn enable_template(&self, uri_template: &str, enabled: bool) -> bool {
        let found = |it: &crate::templates::TemplateEntry| it.template.uri_template == uri_template;
        self.switch(Change::Resources, |it| &mut it.templates, found, enabled)
    }

    /// Tells whoever hears of it that something has changed, on every worker.
    ///
    /// What is changed through this registry is announced by itself.
    pub fn announce(&self, change: Change<'_>) {
        self.backplane().announce(&Notice::new(change), None);
    }

    /// Tells who has subscribed that the content at a URI has changed.
    ///
    /// The resource has to be [`subscribable`](crate::ResourceSpec::subscribable); otherwise
    /// nobody can have subscribed.
    pub fn resource_updated(&self, uri: &str) {
        self.announce(Change::Resource(uri));
    }

    /// As [`Registry::resource_updated`], to those of one namespace (tenant) alone, where each has
    /// a resource of its own at that URI.
    pub fn resource_updated_in(&self, namespace: &str, uri: &str) {
        let notice = Notice::new(Change::Resource(uri));
        self.backplane().announce(&notice, Some(namespace));
    }

    /// Ends the server's streams, each as its protocol has it, and takes no more requests.
    ///
    /// Calls that are running go on. A transport that ends by itself (`serve`) calls it;
    /// an application that runs its own HTTP server calls it first and then stops that.
    pub fn shut_down(&self) {
        self.backplane().closing.close();
    }

    /// Whether [`Registry::shut_down`] was called.
    #[must_use]
    pub fn is_shut_down(&self) -> bool {
        self.backplane().closing.is_closed()
    }

    /// How many streams are open in this process: those that wait for changes or replay.
    #[must_use]
    pub fn open_streams(&self) -> usize {
        self.backplane().gauges.open()
    }

    /// The limits and choices it was built with.
    #[must_use]
    pub fn config(&self) -> &ServerConfig {
        &self.inner.config
    }

    pub(crate) fn states(&self) -> &States {
        &self.inner.states
    }

    pub(crate) fn backplane(&self) -> &Backplane {
        &self.inner.backplane
    }

    /// Whoever holds it keeps house.
    pub(crate) fn housekeeper(&self) -> &tokio::sync::Mutex<()> {
        &self.inner.housekeeper
    }

    pub(crate) fn cursors(&self) -> &Cursors {
        &self.inner.cursors
    }

    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        self.inner.catalog.load_full()
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.inner
            .entries
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a change, and takes it back where the result cannot be served.
    fn change(
        &self,
        change: Change<'_>,
        make: impl FnOnce(&mut Entries),
        undo: impl FnOnce(&mut Entries),
    ) -> Result<(), RegisterError> {
        let mut entries = self.entries();
        make(&mut entries);
        let published = known_versions(&entries).and_then(|()| self.publish(change, &entries));
        if published.is_err() {
            undo(&mut entries);
        }
        published
    }

    fn retain<T>(
        &self,
        change: Change<'_>,
        slots: impl Fn(&mut Entries) -> &mut Vec<Slot<T>>,
        keep: impl Fn(&T) -> bool,
    ) -> bool {
        let mut entries = self.entries();
        let before = slots(&mut entries).len();
        slots(&mut entries).retain(|slot| keep(&slot.entry));
        let removed = slots(&mut entries).len() < before;
        removed && self.publish(change, &entries).is_ok()
    }

    fn switch<T>(
        &self,
        change: Change<'_>,
        slots: impl Fn(&mut Entries) -> &mut Vec<Slot<T>>,
        found: impl Fn(&T) -> bool,
        enabled: bool,
    ) -> bool {
        let mut entries = self.entries();
        let slot = slots(&mut entries)
            .iter_mut()
            .find(|slot| found(&slot.entry));
        let Some(slot) = slot.filter(|slot| slot.enabled != enabled) else {
            return false;
        };
        slot.enabled = enabled;
        self.publish(change, &entries).is_ok()
    }

    fn publish(&self, change: Change<'_>, entries: &Entries) -> Result<(), RegisterError> {
        let inner = &self.inner;
        let (info, instructions) = (inner.info.clone(), inner.instructions.clone());
        let catalog = Catalog::build(info, instructions, entries, &inner.config)?;
        inner.catalog.store(Arc::new(catalog));
        self.announce(change);
        Ok(())
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Registry")
            .field("info", &self.inner.info)
            .finish_non_exhaustive()
    }
}

pub(crate) fn slot<T>(entry: T) -> Slot<T> {
    Slot {
        entry: Arc::new(entry),
        enabled: true,
    }
}

/// `since(…)` has to name a version that is spoken.
fn known_versions(entries: &Entries) -> Result<(), RegisterError> {
    let check = |kind, name: &str, since: Option<&str>| match since {
        Some(since) if !adapter_set::is_spoken(since) => {
            let problem = format!("`since({since:?})` names no protocol version");
            Err(RegisterError::invalid(kind, name, problem))
        }
        _ => Ok(()),
    };
    for slot in &entries.tools {
        check("tool", slot.entry.name(), slot.entry.since)?;
    }
    for slot in &entries.prompts {
        check("prompt", &slot.entry.prompt.name, slot.entry.since)?;
    }
    for slot in &entries.resources {
        check("resource", &slot.entry.resource.uri, slot.entry.since)?;
    }
    for slot in &entries.templates {
        check(
            "template",
            &slot.entry.template.uri_template,
            slot.entry.since,
        )?;
    }
    Ok(())
}
