//! What `build()` refuses, and why it says so.

use mcp_core::{
    RegisterError, Registry, RegistryBuilder, ServerConfig, State, dynamic_tool, prompt, resource,
    template, tool,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

#[derive(Clone)]
struct Store;

#[derive(Deserialize, JsonSchema)]
struct Id {
    #[serde(rename = "id")]
    _id: String,
}

fn refused(builder: RegistryBuilder) -> RegisterError {
    builder
        .build(ServerConfig::default())
        .expect_err("it was built")
}

fn server() -> RegistryBuilder {
    Registry::builder("refused", "1")
}

async fn nothing() -> &'static str {
    ""
}

async fn by_id(_: Id) -> &'static str {
    ""
}

#[test]
fn a_name_comes_once() {
    for (builder, expected) in [
        (
            server().tool(tool("a", nothing)).tool(tool("a", nothing)),
            "tool",
        ),
        (
            server()
                .prompt(prompt("a", nothing))
                .prompt(prompt("a", nothing)),
            "prompt",
        ),
        (
            server()
                .resource(resource("a://", nothing))
                .resource(resource("a://", nothing)),
            "resource",
        ),
        (
            server()
                .template(template("a://{id}", by_id))
                .template(template("a://{id}", by_id)),
            "template",
        ),
    ] {
        let error = refused(builder);
        let RegisterError::Duplicate { kind, .. } = error else {
            panic!("{error}")
        };
        assert_eq!(kind, expected);
    }
}

#[test]
fn a_state_that_is_taken_has_to_be_given() {
    let stateful = async |(): (), State(_): State<Store>| "";
    for builder in [
        server().tool(tool("a", stateful)),
        server().prompt(prompt("a", stateful)),
        server().resource(resource("a://", stateful)),
    ] {
        let error = refused(builder);
        assert!(
            matches!(error, RegisterError::MissingState { .. }),
            "{error}"
        );
        assert!(error.to_string().contains("Store"), "{error}");
    }
    let given = server().state(Store).tool(tool("a", stateful));
    assert!(given.build(ServerConfig::default()).is_ok());
}

// req: tools-x-mcp-header-name, tools-x-mcp-header-unique, tools-x-mcp-header-types
// req: tools-x-mcp-header-reachable, resources-custom-scheme-rfc3986
#[test]
fn what_cannot_work_is_refused_with_a_reason() {
    let header = |name: &str, kind: &str| {
        let property = json!({"type": kind, "x-mcp-header": name});
        dynamic_tool(
            "a",
            json!({"type": "object", "properties": {"p": property}}),
            async |_, _| "",
        )
    };
    let twice = json!({"type": "object", "properties": {
        "p": {"type": "string", "x-mcp-header": "Region"},
        "q": {"type": "string", "x-mcp-header": "REGION"},
    }});
    let below = json!({"type": "object", "properties": {
        "p": {"type": "array", "items": {"type": "string", "x-mcp-header": "Region"}},
    }});
    for (builder, reason) in [
        (server().tool(tool("", nothing)), "empty"),
        (
            server().tool(dynamic_tool("a", json!([]), async |_, _| "")),
            "object",
        ),
        (
            server().tool(dynamic_tool(
                "a",
                json!({"type": "string"}),
                async |_, _| "",
            )),
            "object",
        ),
        (
            server().tool(dynamic_tool("a", json!({"type": 5}), async |_, _| "")),
            "`type`",
        ),
        (server().tool(header("two words", "string")), "header name"),
        (server().tool(header("Region", "number")), "integer"),
        (
            server().tool(dynamic_tool("a", twice, async |_, _| "")),
            "another",
        ),
        (
            server().tool(dynamic_tool("a", below, async |_, _| "")),
            "properties",
        ),
        (
            server().tool(tool("a", nothing).since("2099-01-01")),
            "2099-01-01",
        ),
        (
            server().prompt(prompt("a", nothing).since("1999-01-01")),
            "1999-01-01",
        ),
        (
            server().prompt(prompt("a", nothing).suggest("x", ["y"])),
            "no argument \"x\"",
        ),
        (server().resource(resource("motd", nothing)), "scheme"),
        (server().resource(resource("1a://", nothing)), "scheme"),
        (server().resource(resource("a://", by_id)), "template"),
        (server().template(template("a://{other}", by_id)), "\"id\""),
        (server().template(template("a://{id", by_id)), "{"),
        (
            server().template(template("a://{id}", by_id).suggest("x", ["y"])),
            "no variable \"x\"",
        ),
    ] {
        let error = refused(builder);
        assert!(matches!(error, RegisterError::Invalid { .. }), "{error}");
        assert!(error.to_string().contains(reason), "{reason}: {error}");
    }
}

#[test]
fn a_running_server_is_unchanged_by_what_it_refuses() {
    let registry = server()
        .tool(tool("a", nothing))
        .build(ServerConfig::default())
        .unwrap();
    assert!(registry.add_tool(tool("a", nothing)).is_err());
    assert!(
        registry
            .add_tool(tool("b", nothing).since("2099-01-01"))
            .is_err()
    );
    assert!(
        registry
            .add_tool(tool("b", async |(): (), State(_): State<Store>| ""))
            .is_err()
    );
    assert!(registry.remove_tool("a"));
    assert!(!registry.remove_tool("a"), "there was one");
    assert!(!registry.remove_tool("b"));
}
