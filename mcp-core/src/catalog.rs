//! What a server has at one moment: looked up by name, listed for each revision.

use std::{collections::HashMap, sync::Arc};

use bytes::Bytes;
use mcp_codec::{InputStyle, Manifest, Revision, ServerResult, adapter_set};
use mcp_types::{
    Implementation, JsonObject, PromptsCapability, ResourcesCapability, ServerCapabilities, Tool,
    ToolsCapability,
};

use crate::{
    RegisterError, ServerConfig,
    asking::in_arguments,
    auth::Needs,
    listing::{Listed, Listing},
    prompts::PromptEntry,
    resources::ResourceEntry,
    templates::TemplateEntry,
    tools::{ToolEntry, repeated},
    uri_template::{Refusal, Variables},
};

/// An entry that can be switched off without being forgotten.
pub(crate) struct Slot<T> {
    pub(crate) entry: Arc<T>,
    pub(crate) enabled: bool,
}

/// Everything registered, in the order of registration.
#[derive(Default)]
pub(crate) struct Entries {
    pub(crate) tools: Vec<Slot<ToolEntry>>,
    pub(crate) prompts: Vec<Slot<PromptEntry>>,
    pub(crate) resources: Vec<Slot<ResourceEntry>>,
    pub(crate) templates: Vec<Slot<TemplateEntry>>,
}

/// A snapshot of the registry; a call keeps the one it began with.
pub(crate) struct Catalog {
    pub(crate) manifest: Manifest,
    tools: HashMap<String, Arc<ToolEntry>>,
    prompts: HashMap<String, Arc<PromptEntry>>,
    resources: HashMap<String, Arc<ResourceEntry>>,
    templates: Vec<Arc<TemplateEntry>>,
    listings: Vec<(Revision, Listings)>,
}

/// What is told again and again, in one revision's words.
pub(crate) struct Listings {
    /// The server itself, to a peer that hears of changes, and to one that does not.
    described: [Bytes; 2],
    pub(crate) tools: Listing,
    pub(crate) prompts: Listing,
    pub(crate) resources: Listing,
    pub(crate) templates: Listing,
}

/// What a URI that is no fixed resource comes to.
pub(crate) enum Found {
    Template(Arc<TemplateEntry>, Variables),
    Refused(Refusal),
    Nothing,
}

impl Catalog {
    pub(crate) fn build(
        info: Implementation,
        instructions: Option<String>,
        entries: &Entries,
        config: &ServerConfig,
    ) -> Result<Self, RegisterError> {
        unique(entries)?;
        let tools = enabled(&entries.tools);
        let prompts = enabled(&entries.prompts);
        let resources = enabled(&entries.resources);
        let templates = enabled(&entries.templates);
        let manifest = manifest(info, instructions, entries, config);
        let render = |revision| {
            let entries = (&*tools, &*prompts, &*resources, &*templates);
            let described = described(revision, &manifest);
            (
                revision,
                Listings::render(revision, config, described, entries),
            )
        };
        let listings = config.revisions.iter().map(render).collect();
        let by_name = tools
            .iter()
            .map(|it| (it.name().to_owned(), Arc::clone(it)))
            .collect();
        Ok(Self {
            manifest,
            tools: by_name,
            prompts: prompts
                .into_iter()
                .map(|it| (it.prompt.name.clone(), it))
                .collect(),
            resources: resources
                .into_iter()
                .map(|it| (it.resource.uri.clone(), it))
                .collect(),
            templates,
            listings,
        })
    }

    pub(crate) fn tool(&self, name: &str, revision: Revision) -> Option<&Arc<ToolEntry>> {
        self.tools
            .get(name)
            .filter(|tool| adapter_set::reaches(revision, tool.since))
    }

    pub(crate) fn prompt(&self, name: &str, revision: Revision) -> Option<&Arc<PromptEntry>> {
        self.prompts
            .get(name)
            .filter(|prompt| adapter_set::reaches(revision, prompt.since))
    }

    pub(crate) fn resource(&self, uri: &str, revision: Revision) -> Option<&Arc<ResourceEntry>> {
        self.resources
            .get(uri)
            .filter(|it| adapter_set::reaches(revision, it.since))
    }

    /// The first template that a URI fits.
    pub(crate) fn template(&self, uri: &str, revision: Revision) -> Found {
        let mut refused = Found::Nothing;
        let visible = |it: &&Arc<TemplateEntry>| adapter_set::reaches(revision, it.since);
        for template in self.templates.iter().filter(visible) {
            match template.matches(uri) {
                Ok(Some(variables)) => return Found::Template(Arc::clone(template), variables),
                Ok(None) => {}
                Err(refusal) => refused = Found::Refused(refusal),
            }
        }
        refused
    }

    /// The template of exactly that text.
    pub(crate) fn template_named(
        &self,
        uri_template: &str,
        revision: Revision,
    ) -> Option<&Arc<TemplateEntry>> {
        let visible = |it: &&Arc<TemplateEntry>| adapter_set::reaches(revision, it.since);
        let mut visible = self.templates.iter().filter(visible);
        visible.find(|it| it.template.uri_template == uri_template)
    }

    /// Whether clients may subscribe to what is at a URI, and what that needs; `None` where
    /// nothing is.
    pub(crate) fn subscribable(&self, uri: &str, revision: Revision) -> Option<(bool, Needs)> {
        if let Some(resource) = self.resource(uri, revision) {
            return Some((resource.subscribable, resource.needs.clone()));
        }
        match self.template(uri, revision) {
            Found::Template(template, _) => Some((template.subscribable, template.needs.clone())),
            Found::Refused(_) | Found::Nothing => None,
        }
    }

    pub(crate) fn listings(&self, revision: Revision) -> Option<&Listings> {
        let same = |(it, _): &&(Revision, Listings)| it.version() == revision.version();
        self.listings
            .iter()
            .find(same)
            .map(|(_, listings)| listings)
    }
}

fn manifest(
    info: Implementation,
    instructions: Option<String>,
    entries: &Entries,
    config: &ServerConfig,
) -> Manifest {
    let mut manifest = Manifest::new(info);
    manifest.instructions = instructions;
    manifest.versions = config.revisions.versions();
    manifest.discover_hints = config.discover_hints;
    manifest.capabilities = capabilities(entries, config);
    let enabled = entries
        .tools
        .iter()
        .filter(|slot| slot.enabled)
        .map(|slot| &slot.entry);
    for tool in enabled.filter(|tool| !tool.mirrored.is_empty()) {
        manifest
            .mirrored
            .insert(tool.name().to_owned(), tool.mirrored.clone());
    }
    manifest
}

type Enabled<'a> = (
    &'a [Arc<ToolEntry>],
    &'a [Arc<PromptEntry>],
    &'a [Arc<ResourceEntry>],
    &'a [Arc<TemplateEntry>],
);

impl Listings {
    fn render(
        revision: Revision,
        config: &ServerConfig,
        described: [Bytes; 2],
        (tools, prompts, resources, templates): Enabled<'_>,
    ) -> Self {
        let (names, tools) = seen_tools(revision, tools);
        let tools = Listing::render(revision, "tools", names, ServerResult::Tools(tools), config);
        let (names, prompts) = seen(revision, prompts, |it| {
            (it.since, (&it.prompt.name, &it.needs), &it.prompt)
        });
        let prompts = ServerResult::Prompts(prompts);
        let prompts = Listing::render(revision, "prompts", names, prompts, config);
        let (names, resources) = seen(revision, resources, |it| {
            (it.since, (&it.resource.uri, &it.needs), &it.resource)
        });
        let resources = ServerResult::Resources(resources);
        let resources = Listing::render(revision, "resources", names, resources, config);
        let (names, templates) = seen(revision, templates, |it| {
            (
                it.since,
                (&it.template.uri_template, &it.needs),
                &it.template,
            )
        });
        let templates = ServerResult::ResourceTemplates(templates);
        let templates = Listing::render(revision, "resourceTemplates", names, templates, config);
        Self {
            described,
            tools,
            prompts,
            resources,
            templates,
        }
    }

    /// What the server says of itself.
    pub(crate) fn description(&self, notifies: bool) -> ServerResult {
        let [to_listener, to_others] = &self.described;
        let described = if notifies { to_listener } else { to_others };
        ServerResult::Written(described.clone())
    }
}

fn described(revision: Revision, manifest: &Manifest) -> [Bytes; 2] {
    [true, false].map(|notifies| {
        let description = ServerResult::Describe(Box::new(manifest.describe(notifies)));
        adapter_set::render_result(revision, description, manifest)
    })
}

/// Names, with what each needs, and definitions of what a peer of `revision` may see.
fn seen<T, V: Clone>(
    revision: Revision,
    entries: &[Arc<T>],
    parts: impl Fn(&T) -> (Option<&'static str>, (&String, &Needs), &V),
) -> (Vec<Listed>, Vec<V>) {
    let parts = entries.iter().map(|entry| parts(entry));
    let visible = parts.filter(|(since, _, _)| adapter_set::reaches(revision, *since));
    let listed = |name: &str, needs: &Needs| Listed {
        name: name.to_owned(),
        needs: needs.clone(),
    };
    visible
        .map(|(_, (name, needs), definition)| (listed(name, needs), definition.clone()))
        .unzip()
}

/// The same of tools, of which those that ask take the answers among their arguments where the
/// revision has no other way.
fn seen_tools(revision: Revision, entries: &[Arc<ToolEntry>]) -> (Vec<Listed>, Vec<Tool>) {
    let in_arguments = revision.input_style() == InputStyle::InArguments;
    let asking: Vec<bool> = entries
        .iter()
        .filter(|it| adapter_set::reaches(revision, it.since))
        .map(|it| it.asks && in_arguments)
        .collect();
    let (names, mut tools) = seen(revision, entries, |it| {
        (it.since, (&it.tool.name, &it.needs), &it.tool)
    });
    for (tool, _) in tools.iter_mut().zip(asking).filter(|(_, asks)| *asks) {
        in_arguments::publish(&mut tool.input_schema);
    }
    (names, tools)
}

fn enabled<T>(slots: &[Slot<T>]) -> Vec<Arc<T>> {
    slots
        .iter()
        .filter(|slot| slot.enabled)
        .map(|slot| Arc::clone(&slot.entry))
        .collect()
}

fn unique(entries: &Entries) -> Result<(), RegisterError> {
    let check = |kind: &'static str, found: Option<&str>| match found {
        None => Ok(()),
        Some(name) => Err(RegisterError::Duplicate {
            kind,
            name: name.to_owned(),
        }),
    };
    check(
        "tool",
        repeated(entries.tools.iter().map(|it| it.entry.name())),
    )?;
    check(
        "prompt",
        repeated(
            entries
                .prompts
                .iter()
                .map(|it| it.entry.prompt.name.as_str()),
        ),
    )?;
    let uris = entries
        .resources
        .iter()
        .map(|it| it.entry.resource.uri.as_str());
    check("resource", repeated(uris))?;
    let templates = entries
        .templates
        .iter()
        .map(|it| it.entry.template.uri_template.as_str());
    check("template", repeated(templates))
}

/// A feature is advertised where something was registered for it, switched on or not, so that
/// switching entries never changes what the server is.
fn capabilities(entries: &Entries, config: &ServerConfig) -> ServerCapabilities {
    let mut capabilities = ServerCapabilities::new();
    if !entries.tools.is_empty() {
        capabilities.tools = Some(ToolsCapability::new().list_changed(true));
    }
    if !entries.prompts.is_empty() {
        capabilities.prompts = Some(PromptsCapability::new().list_changed(true));
    }
    if !entries.resources.is_empty() || !entries.templates.is_empty() {
        let mut resources = ResourcesCapability::new().list_changed(true);
        if subscribable(entries) {
            resources = resources.subscribe(true);
        }
        capabilities.resources = Some(resources);
    }
    let completes = entries
        .prompts
        .iter()
        .any(|it| !it.entry.completers.is_empty())
        || entries
            .templates
            .iter()
            .any(|it| !it.entry.completers.is_empty());
    if completes {
        capabilities.completions = Some(JsonObject::new());
    }
    if config.logging {
        capabilities.logging = Some(JsonObject::new());
    }
    capabilities
}

fn subscribable(entries: &Entries) -> bool {
    entries.resources.iter().any(|it| it.entry.subscribable)
        || entries.templates.iter().any(|it| it.entry.subscribable)
}
