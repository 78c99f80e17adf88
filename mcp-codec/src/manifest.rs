//! What a revision may know of the server: who it is, what it can, which parameters are mirrored.

use std::collections::HashMap;

use mcp_types::{CacheHints, Implementation, ServerCapabilities};

use crate::{MirroredParameter, outcome::Description};

/// What a revision may know of the server. Frozen together with the registry's snapshot.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Manifest {
    /// The server's name, version and so on.
    pub info: Option<Implementation>,
    /// Name, title and version as JSON text, written into each result as it is.
    info_json: String,
    /// What the server has, with every change notification it could send.
    pub capabilities: ServerCapabilities,
    /// How a model should use the server.
    pub instructions: Option<String>,
    /// The versions served, newest first.
    pub versions: Vec<&'static str>,
    /// How long the answer to `server/discover` may be kept.
    pub discover_hints: CacheHints,
    /// The parameters of each tool that are mirrored into headers; tools without any are absent.
    pub mirrored: HashMap<String, Vec<MirroredParameter>>,
}

impl Manifest {
    /// A manifest of a server that has nothing yet.
    #[must_use]
    pub fn new(info: Implementation) -> Self {
        let mut short = info.clone();
        (short.icons, short.description, short.website_url) = (None, None, None);
        let info_json = serde_json::to_string(&short).unwrap_or_else(|_| "{}".to_owned());
        Self {
            info: Some(info),
            info_json,
            ..Self::default()
        }
    }

    /// The server's name, title and version as JSON text; discovery tells the rest.
    #[must_use]
    pub fn info_json(&self) -> &str {
        &self.info_json
    }

    /// The server's description for one peer.
    ///
    /// Where changes cannot reach the peer (`notifies` is false), none are promised.
    #[must_use]
    pub fn describe(&self, notifies: bool) -> Description {
        let mut capabilities = self.capabilities.clone();
        if !notifies {
            if let Some(tools) = &mut capabilities.tools {
                tools.list_changed = None;
            }
            if let Some(prompts) = &mut capabilities.prompts {
                prompts.list_changed = None;
            }
            if let Some(resources) = &mut capabilities.resources {
                resources.list_changed = None;
                resources.subscribe = None;
            }
        }
        let info = self
            .info
            .clone()
            .unwrap_or_else(|| Implementation::new("", ""));
        Description {
            info,
            capabilities,
            instructions: self.instructions.clone(),
        }
    }
}
