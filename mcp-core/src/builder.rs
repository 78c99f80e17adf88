//! Collecting what a server has, before it serves.

use std::fmt;

use mcp_types::{Icon, Implementation};

use crate::{
    PromptSpec, RegisterError, Registry, ResourceSpec, ServerConfig, TemplateSpec, ToolSpec,
    catalog::Entries, handler::States, registry::slot,
};

/// Collects what a server has; [`RegistryBuilder::build`] freezes it.
#[must_use = "nothing is served before `build()`"]
pub struct RegistryBuilder {
    info: Implementation,
    instructions: Option<String>,
    states: States,
    tools: Vec<ToolSpec>,
    prompts: Vec<PromptSpec>,
    resources: Vec<ResourceSpec>,
    templates: Vec<TemplateSpec>,
}

impl RegistryBuilder {
    pub(crate) fn new(info: Implementation) -> Self {
        Self {
            info,
            instructions: None,
            states: States::default(),
            tools: Vec::new(),
            prompts: Vec::new(),
            resources: Vec::new(),
            templates: Vec::new(),
        }
    }

    /// How a model should use the server.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// What the server is called, for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.info.title = Some(title.into());
        self
    }

    /// What the server is.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.info.description = Some(description.into());
        self
    }

    /// Where people can read more about it.
    pub fn website_url(mut self, url: impl Into<String>) -> Self {
        self.info.website_url = Some(url.into());
        self
    }

    /// Pictures to show beside the server's name.
    pub fn icons(mut self, icons: impl Into<Vec<Icon>>) -> Self {
        self.info.icons = Some(icons.into());
        self
    }

    /// A value that handlers take as `State<T>`; one for each type, the last one counts.
    pub fn state<T: Clone + Send + Sync + 'static>(mut self, state: T) -> Self {
        self.states.insert(state);
        self
    }

    /// Adds a tool.
    pub fn tool(mut self, tool: ToolSpec) -> Self {
        self.tools.push(tool);
        self
    }

    /// Adds a prompt.
    pub fn prompt(mut self, prompt: PromptSpec) -> Self {
        self.prompts.push(prompt);
        self
    }

    /// Adds a resource at a fixed URI.
    pub fn resource(mut self, resource: ResourceSpec) -> Self {
        self.resources.push(resource);
        self
    }

    /// Adds resources at every URI that fits a template.
    pub fn template(mut self, template: TemplateSpec) -> Self {
        self.templates.push(template);
        self
    }

    /// Checks everything and freezes it.
    ///
    /// # Errors
    ///
    /// The first [`RegisterError`]: a name that comes twice, a schema that is none, a state that
    /// is missing.
    pub fn build(self, config: ServerConfig) -> Result<Registry, RegisterError> {
        let states = self.states;
        let mut entries = Entries::default();
        for spec in self.tools {
            entries.tools.push(slot(spec.prepare(&states)?));
        }
        for spec in self.prompts {
            entries.prompts.push(slot(spec.prepare(&states)?));
        }
        for spec in self.resources {
            entries.resources.push(slot(spec.prepare(&states)?));
        }
        for spec in self.templates {
            entries.templates.push(slot(spec.prepare(&states)?));
        }
        Registry::freeze(self.info, self.instructions, states, entries, config)
    }
}

impl fmt::Debug for RegistryBuilder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("RegistryBuilder")
            .field("info", &self.info)
            .finish_non_exhaustive()
    }
}
