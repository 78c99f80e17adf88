//! Capabilities and identities, from the [Overview] and [Discovery] pages of the specification.
//!
//! Capabilities of a peer are read leniently: `{}` declares one, unknown members are ignored, and
//! a member of the wrong type inside one never costs the whole message.
//!
//! [Overview]: https://modelcontextprotocol.io/specification/2026-07-28/basic
//! [Discovery]: https://modelcontextprotocol.io/specification/2026-07-28/server/discover

use crate::content::Icon;
use crate::wire::{JsonObject, lenient, lenient_flag, setters};
use serde::{Deserialize, Serialize};

/// The name and version of a client or a server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Implementation {
    /// Its name, for programs.
    pub name: String,
    /// Its name, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its version.
    pub version: String,
    /// What it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Pictures of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icons: Option<Vec<Icon>>,
    /// Its home page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub website_url: Option<String>,
}

impl Implementation {
    /// A name and a version.
    #[must_use]
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: version.into(),
            ..Self::default()
        }
    }

    setters! {
        into title: String,
        into description: String,
        into icons: Vec<Icon>,
        into website_url: String,
    }
}

/// What a client can do for a server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ClientCapabilities {
    /// Capabilities outside the protocol.
    #[serde(
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub experimental: Option<JsonObject>,
    /// It lists the folders it works in.
    #[serde(
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub roots: Option<RootsCapability>,
    /// It asks its model on behalf of the server.
    #[serde(
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub sampling: Option<SamplingCapability>,
    /// It asks its user on behalf of the server.
    #[serde(
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub elicitation: Option<ElicitationCapability>,
    /// Tasks as the core of revision 2025-11-25 knew them.
    #[serde(
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub tasks: Option<JsonObject>,
    /// Extensions by their identifier, each with its settings.
    #[serde(
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub extensions: Option<JsonObject>,
}

impl ClientCapabilities {
    /// None at all.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        value experimental: JsonObject,
        value roots: RootsCapability,
        value sampling: SamplingCapability,
        value elicitation: ElicitationCapability,
        value tasks: JsonObject,
        value extensions: JsonObject,
    }
}

/// How a client offers its roots.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RootsCapability {
    /// It says when they change; revisions up to 2025-11-25.
    #[serde(
        default,
        deserialize_with = "lenient_flag",
        skip_serializing_if = "Option::is_none"
    )]
    pub list_changed: Option<bool>,
}

impl RootsCapability {
    /// Just the roots.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    setters! { value list_changed: bool }
}

/// How a client offers its model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SamplingCapability {
    /// It can include context of servers.
    #[serde(
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub context: Option<JsonObject>,
    /// Its model can use tools.
    #[serde(
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub tools: Option<JsonObject>,
}

impl SamplingCapability {
    /// Plain sampling.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    setters! { value context: JsonObject, value tools: JsonObject }
}

/// How a client asks its user.
///
/// An empty one means forms: see [`supports_form`](Self::supports_form).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ElicitationCapability {
    /// It shows forms.
    #[serde(
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub form: Option<JsonObject>,
    /// It opens URLs.
    #[serde(
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub url: Option<JsonObject>,
}

impl ElicitationCapability {
    /// Forms, by the empty object that every revision understands.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether the client shows forms: it says so, or says nothing about either mode, as every
    /// client did before there were modes.
    #[must_use]
    pub fn supports_form(&self) -> bool {
        self.form.is_some() || self.url.is_none()
    }

    /// Whether the client opens URLs.
    #[must_use]
    pub fn supports_url(&self) -> bool {
        self.url.is_some()
    }

    setters! { value form: JsonObject, value url: JsonObject }
}

/// What a server can do for a client.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ServerCapabilities {
    /// Capabilities outside the protocol.
    #[serde(
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub experimental: Option<JsonObject>,
    /// It sends log messages.
    #[serde(
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub logging: Option<JsonObject>,
    /// It completes arguments.
    #[serde(
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub completions: Option<JsonObject>,
    /// It has prompts.
    #[serde(
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub prompts: Option<PromptsCapability>,
    /// It has resources.
    #[serde(
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub resources: Option<ResourcesCapability>,
    /// It has tools.
    #[serde(
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub tools: Option<ToolsCapability>,
    /// Tasks as the core of revision 2025-11-25 knew them.
    #[serde(
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub tasks: Option<JsonObject>,
    /// Extensions by their identifier, each with its settings.
    #[serde(
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub extensions: Option<JsonObject>,
}

impl ServerCapabilities {
    /// None at all.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        value experimental: JsonObject,
        value logging: JsonObject,
        value completions: JsonObject,
        value prompts: PromptsCapability,
        value resources: ResourcesCapability,
        value tools: ToolsCapability,
        value tasks: JsonObject,
        value extensions: JsonObject,
    }
}

/// How a server offers prompts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PromptsCapability {
    /// It says when the list changes.
    #[serde(
        default,
        deserialize_with = "lenient_flag",
        skip_serializing_if = "Option::is_none"
    )]
    pub list_changed: Option<bool>,
}

impl PromptsCapability {
    /// Just the prompts.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    setters! { value list_changed: bool }
}

/// How a server offers resources.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourcesCapability {
    /// It says when a resource changes, to those who asked.
    #[serde(
        default,
        deserialize_with = "lenient_flag",
        skip_serializing_if = "Option::is_none"
    )]
    pub subscribe: Option<bool>,
    /// It says when the list changes.
    #[serde(
        default,
        deserialize_with = "lenient_flag",
        skip_serializing_if = "Option::is_none"
    )]
    pub list_changed: Option<bool>,
}

impl ResourcesCapability {
    /// Just the resources.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    setters! { value subscribe: bool, value list_changed: bool }
}

/// How a server offers tools.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolsCapability {
    /// It says when the list changes.
    #[serde(
        default,
        deserialize_with = "lenient_flag",
        skip_serializing_if = "Option::is_none"
    )]
    pub list_changed: Option<bool>,
}

impl ToolsCapability {
    /// Just the tools.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    setters! { value list_changed: bool }
}

#[cfg(test)]
mod tests {
    use super::{
        ClientCapabilities, ElicitationCapability, Implementation, SamplingCapability,
        ServerCapabilities,
    };
    use crate::wire::testing::{check, refuse};

    fn client(json: &str) -> ClientCapabilities {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn every_capability_comes_back() {
        check::<Implementation>(concat!(
            r#"{"name":"n","title":"N","version":"1","description":"d","#,
            r#""icons":[{"src":"data:,"}],"websiteUrl":"https://n"}"#,
        ));
        check::<ClientCapabilities>("{}");
        check::<ClientCapabilities>(concat!(
            r#"{"experimental":{"a":{}},"roots":{"listChanged":true},"#,
            r#""sampling":{"context":{},"tools":{}},"elicitation":{"form":{},"url":{}},"#,
            r#""tasks":{"list":{}},"extensions":{"io.modelcontextprotocol/tasks":{}}}"#,
        ));
        check::<ServerCapabilities>(concat!(
            r#"{"experimental":{"a":{}},"logging":{},"completions":{},"#,
            r#""prompts":{"listChanged":true},"#,
            r#""resources":{"subscribe":true,"listChanged":false},"tools":{"listChanged":true},"#,
            r#""tasks":{"list":{}},"extensions":{"io.modelcontextprotocol/tasks":{}}}"#,
        ));
    }

    #[test]
    fn a_wrong_type_inside_costs_nothing_else() {
        let odd = client(
            r#"{"roots":{"listChanged":"yes"},"sampling":7,"elicitation":{"form":true,"url":null},
                "experimental":"all","tasks":[],"extensions":{"e":1}}"#,
        );
        assert_eq!(odd.roots.unwrap().list_changed, None);
        assert_eq!(odd.sampling, Some(SamplingCapability::new()));
        let elicitation = odd.elicitation.unwrap();
        assert!(elicitation.form.is_some() && elicitation.url.is_none());
        assert!(odd.experimental.is_some() && odd.tasks.is_some());
        assert_eq!(odd.extensions.unwrap()["e"], 1);
    }

    #[test]
    fn null_and_false_are_absent() {
        let none = client(r#"{"roots":null,"sampling":false,"elicitation":null}"#);
        assert_eq!(none, ClientCapabilities::new());
        refuse::<ClientCapabilities>(r#""all""#);
    }

    #[test]
    fn elicitation_without_a_mode_is_a_form() {
        fn check(json: &str, form: bool, url: bool) {
            let capability: ElicitationCapability = serde_json::from_str(json).unwrap();
            assert_eq!(
                (capability.supports_form(), capability.supports_url()),
                (form, url)
            );
        }
        check("{}", true, false);
        check(r#"{"form":{}}"#, true, false);
        check(r#"{"url":{}}"#, false, true);
        check(r#"{"form":{},"url":{}}"#, true, true);
    }
}
