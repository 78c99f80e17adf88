//! The servers that vectors are answered by: one with everything, one in pages, one with nothing.

use std::{future::pending, sync::LazyLock, time::Duration};

use mcp_core::{
    AdapterSet, Dispatcher, Exchange, HandlerError, PageSize, Registry, RegistryBuilder,
    ServerConfig, SessionMode, dynamic_tool, prompt, resource, template, tool,
    types::{CacheHints, CacheScope, LoggingLevel, ToolAnnotations},
};
use serde_json::json;

use super::{
    asking,
    content::{self, Greet, Mirrored, Named, Row, Search, annotations, icons, meta},
};

/// The server of that name; one for all tests, as building one takes its time.
pub(crate) fn server(name: &str) -> &'static Dispatcher {
    static SERVERS: LazyLock<Vec<(&str, Dispatcher)>> = LazyLock::new(|| {
        let names = ["everything", "paged", "bare", "modern", "asking"];
        names.map(|name| (name, built(name))).into()
    });
    let found = SERVERS.iter().find(|(it, _)| *it == name);
    &found
        .unwrap_or_else(|| panic!("there is no server {name:?}"))
        .1
}

fn built(name: &str) -> Dispatcher {
    let mut config = ServerConfig::default();
    // A vector is one request, which stands alone over HTTP.
    config.sessions.mode = SessionMode::Stateless;
    let builder = match name {
        "everything" => {
            config.discover_hints = CacheHints::new(60_000, CacheScope::Public);
            everything()
        }
        "asking" => asking::asking(),
        "bare" => {
            config.logging = false;
            Registry::builder("bare", "0.1.0")
        }
        "modern" => {
            config.revisions = AdapterSet::only(["2026-07-28"]).unwrap();
            paged()
        }
        _ => {
            config.page_size = PageSize::new(2).unwrap();
            paged()
        }
    };
    Dispatcher::new(builder.build(config).unwrap())
}

fn everything() -> RegistryBuilder {
    let builder = Registry::builder("vectors", "1.2.3")
        .title("Vectors")
        .description("Has one of each.")
        .website_url("https://example.com/vectors")
        .icons(icons())
        .instructions("Call anything; 世界.");
    prompts(templates(resources(failing_tools(shaped_tools(tools(
        builder,
    ))))))
}

/// Tools with every member a listing can have, and every kind of content.
fn tools(builder: RegistryBuilder) -> RegistryBuilder {
    let hints = ToolAnnotations::new()
        .read_only_hint(true)
        .destructive_hint(false)
        .idempotent_hint(true)
        .open_world_hint(false);
    builder
        .tool(
            tool("blocks", content::blocks)
                .title("Blocks")
                .description("One block of each kind.")
                .annotations(hints)
                .icons(icons())
                .meta(meta("tool")),
        )
        .tool(
            tool("titled", content::echo)
                .title("Outer title")
                .annotations(ToolAnnotations::new().title("Annotated title")),
        )
        .tool(tool("nothing", || async {}).description("Takes and gives nothing."))
        .tool(tool("talk", content::talk))
        .tool(tool("mirrored", content::mirrored).input_schema(Mirrored::schema()))
        .tool(
            tool("newest", || async { "only for the newest" })
                .description("Not for older clients.")
                .since("2026-07-28"),
        )
}

/// Tools with schemas of their own, for arguments and for results.
fn shaped_tools(builder: RegistryBuilder) -> RegistryBuilder {
    let open = json!({
        "type": "object",
        "properties": {"any": true, "never": false, "nested": {"properties": {"deep": true}}},
    });
    let anything = dynamic_tool("anything", open, |arguments, _: Exchange| async move {
        content::structured(arguments.get())
    });
    let either = json!({"anyOf": [{"type": "object"}, {"type": "array"}]});
    let identified = json!({"$id": "https://example.com/list", "type": "array"});
    builder
        .tool(anything)
        .tool(tool("report", content::report))
        .tool(tool("rows", content::rows))
        .tool(tool("digits", || async {
            content::structured(content::DIGITS)
        }))
        .tool(
            tool("null", || async { content::structured("null") })
                .output_schema(json!({"type": "null"})),
        )
        .tool(tool("either", content::either).output_schema(either))
        .tool(tool("identified", || async { content::structured("[1]") }).output_schema(identified))
}

/// Tools that come to no good end.
fn failing_tools(builder: RegistryBuilder) -> RegistryBuilder {
    builder
        .tool(tool("tells", || async {
            Err::<String, _>(HandlerError::tell("that station is broken"))
        }))
        .tool(tool("fails", || async {
            Err::<String, _>(HandlerError::internal("a secret of the server"))
        }))
        .tool(tool("panics", || async {
            if true {
                panic!("another secret");
            }
        }))
        .tool(
            tool("liar", || async {
                content::structured(r#"{"celsius":"warm"}"#)
            })
            .output_schema(
                json!({"type": "object", "properties": {"celsius": {"type": "number"}}}),
            ),
        )
        .tool(tool("slow", pending::<()>).timeout(Duration::from_secs(2)))
}

fn resources(builder: RegistryBuilder) -> RegistryBuilder {
    builder
        .resource(
            resource("demo://text", content::text_resource)
                .name("text")
                .title("Text")
                .description("Some text.")
                .mime_type("text/markdown")
                .size(12)
                .annotations(annotations())
                .icons(icons())
                .meta(meta("resource"))
                .cache(Duration::from_secs(5), CacheScope::Public),
        )
        .resource(resource("demo://bytes", || async {
            vec![0xfb_u8, 0xff, 0xfe]
        }))
        .resource(resource("demo://many", content::many_contents))
        .resource(resource("demo://fails", || async {
            Err::<String, _>(HandlerError::internal("a secret of the server"))
        }))
        .resource(resource("demo://newest", || async { "new" }).since("2026-07-28"))
}

fn templates(builder: RegistryBuilder) -> RegistryBuilder {
    builder
        .template(
            template("demo://named/{name}", content::named)
                .name("named")
                .title("Named")
                .description("By name.")
                .mime_type("text/plain")
                .annotations(annotations())
                .icons(icons())
                .meta(meta("template"))
                .complete("name", content::complete_name),
        )
        .template(template(
            "demo://search{?q,limit}",
            |it: Search| async move { format!("{:?} {:?}", it.q, it.limit) },
        ))
        .template(template("file:///docs/{+name}", |it: Named| async move {
            it.name
        }))
}

fn prompts(builder: RegistryBuilder) -> RegistryBuilder {
    builder
        .prompt(
            prompt("greet", |it: Greet| async move {
                format!("Greet {} {}.", it.city, it.times.unwrap_or(1))
            })
            .title("Greet")
            .icons(icons())
            .meta(meta("prompt"))
            .suggest("city", (0..150).map(|n| format!("city-{n:03}")))
            .complete("times", content::complete_times),
        )
        .prompt(prompt("blocks", content::messages).description("One message of each kind."))
        .prompt(prompt("fails", || async {
            Err::<String, _>(HandlerError::internal("a secret of the server"))
        }))
        .prompt(prompt("newest", || async { "new" }).since("2026-07-28"))
}

fn paged() -> RegistryBuilder {
    let mut builder = Registry::builder("paged", "0.1.0");
    for name in ["a", "b", "c"] {
        builder = builder
            .tool(tool(name, || async {}))
            .prompt(prompt(name, || async { "text" }))
            .resource(resource(format!("demo://{name}"), || async { "text" }))
            .template(template(format!("demo://{name}/{{name}}"), content::named));
    }
    builder
}

/// What the tool `rows` gives, for the tests of the projection.
pub(crate) fn row(label: &str) -> Row {
    Row {
        label: label.to_owned(),
        children: Vec::new(),
    }
}

/// The level that handlers log at in `talk`, from the least severe to the most.
pub(crate) const LEVELS: [LoggingLevel; 4] = [
    LoggingLevel::Debug,
    LoggingLevel::Info,
    LoggingLevel::Warning,
    LoggingLevel::Emergency,
];
