//! A28 and A29: paging, and percent-encoding in template variables.

use std::collections::BTreeSet;

use mcp_core::{
    PageSize, Registry, RegistryBuilder, ServerConfig, prompt, resource, template, tool,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::{
    matrix::{Need, each, each_of},
    peer::Peer,
    probe::Probe,
};

const LISTS: [(&str, &str, &str); 4] = [
    ("tools/list", "tools", "name"),
    ("resources/list", "resources", "uri"),
    (
        "resources/templates/list",
        "resourceTemplates",
        "uriTemplate",
    ),
    ("prompts/list", "prompts", "name"),
];

#[derive(Deserialize, JsonSchema)]
struct Id {
    #[serde(rename = "id")]
    _id: String,
}

fn entry(builder: RegistryBuilder, n: usize) -> RegistryBuilder {
    builder
        .tool(tool(format!("tool_{n}"), async || ""))
        .resource(resource(format!("test://{n}"), async || ""))
        .template(template(format!("test://{n}/{{id}}"), async |_: Id| ""))
        .prompt(prompt(format!("prompt_{n}"), async || ""))
}

/// A server of `n` entries in each listing; where there is none, one is switched off.
fn listing(n: usize, mut config: ServerConfig) -> Registry {
    config.page_size = PageSize::new(2).unwrap();
    let builder = (0..n.max(1)).fold(Registry::builder("lists", "1"), entry);
    let registry = builder.build(config).unwrap();
    if n == 0 {
        assert!(registry.enable_tool("tool_0", false));
        assert!(registry.enable_resource("test://0", false));
        assert!(registry.enable_template("test://0/{id}", false));
        assert!(registry.enable_prompt("prompt_0", false));
    }
    registry
}

/// The names on all pages, and the cursors between them.
async fn walk(
    peer: &Peer,
    (method, member, key): (&str, &str, &str),
) -> (Vec<String>, Vec<String>) {
    let (mut names, mut cursors) = (Vec::new(), Vec::<String>::new());
    loop {
        let params = cursors
            .last()
            .map_or_else(|| json!({}), |it| json!({"cursor": it}));
        let page = peer.call(method, params).await;
        let entries = page.result()[member].as_array().unwrap();
        assert!(entries.len() <= 2);
        names.extend(
            entries
                .iter()
                .map(|it| it[key].as_str().unwrap().to_owned()),
        );
        match page.result().get("nextCursor") {
            None => return (names, cursors),
            Some(Value::String(cursor)) => {
                assert!(!cursor.is_empty() && !cursors.contains(cursor));
                cursors.push(cursor.clone());
            }
            Some(other) => panic!("{method}: {other}"),
        }
    }
}

// req: pagination-operations, pagination-next-cursor-omitted-at-end
// req: pagination-stable-cursors, tools-2026-list-order
// req: tools-2026-list-served-uniformly, resources-2026-list-served-uniformly
// req: prompts-2026-list-served-uniformly, resources-list-result, prompts-list-result
// req: resources-templates-list-result
#[tokio::test]
async fn a28_the_last_page() {
    for n in [0, 2, 5] {
        each_of(
            |_: &Probe, config| listing(n, config),
            &[],
            async |peer| {
                for list in LISTS {
                    let (names, cursors) = walk(peer, list).await;
                    assert_eq!(names.len(), n, "{list:?}: {names:?}");
                    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), n, "{names:?}");
                    assert_eq!(cursors.len(), n.div_ceil(2).saturating_sub(1));
                    assert_eq!(walk(peer, list).await.0, names, "the order is stable");
                }
            },
        )
        .await;
    }
}

// req: pagination-invalid-cursor-32602, pagination-2026-empty-cursor-valid
#[tokio::test]
async fn a28_cursors_nobody_issued() {
    each_of(
        |_: &Probe, config| listing(5, config),
        &[],
        async |peer| {
            for (at, list) in LISTS.iter().enumerate() {
                let (_, of_another) = walk(peer, LISTS[(at + 1) % LISTS.len()]).await;
                for cursor in ["not-mine", "", &of_another[0]] {
                    let page = peer.call(list.0, json!({"cursor": cursor})).await;
                    assert_eq!(page.code(), -32602, "{list:?} {cursor:?}");
                    assert_eq!(page.status.unwrap_or(200), 200);
                }
            }
        },
    )
    .await;
}

// req: resources-read-result, resources-2026-path-traversal, resources-validate-uris
// req: resources-not-found-32002, resources-2026-not-found-32602
// req: resources-2026-no-empty-for-missing, errors-2026-retired-codes-not-emitted
#[tokio::test]
async fn a29_percent_encoding_in_template_variables() {
    each(&[], async |peer| {
        for (uri, expected) in [
            ("file:///docs/caf%C3%A9%20menu.txt", "Soup of the day."),
            ("file:///docs/100%25.txt", "All of it."),
        ] {
            let read = peer.call("resources/read", json!({"uri": uri})).await;
            let contents = &read.result()["contents"];
            assert_eq!(contents[0]["text"], expected);
            assert_eq!(contents[0]["uri"], uri);
        }
        let decoded = ["document café menu.txt", "document 100%.txt"];
        assert_eq!(peer.probe.notes(), decoded);
        let code = if peer.has(Need::ResourceNotFoundCode) {
            -32002
        } else {
            -32602
        };
        for uri in [
            "file:///docs/..%2F..%2Fsrv%2Fkey.pem",
            "file:///docs/%2e%2e%2fsecret",
            "file:///docs/..%5C..%5Csecret",
            "file:///docs/%252e%252e%252fsecret",
            "file:///docs/a%00b",
            "file:///docs/%zz",
            "file:///docs/../secret",
            "fileX:///docs/100%25.txt",
        ] {
            let read = peer.call("resources/read", json!({"uri": uri})).await;
            assert_eq!(read.code(), code, "{uri}");
            assert_eq!(read.error()["data"]["uri"], uri);
            assert_eq!(read.status.unwrap_or(200), 200);
        }
        // Decoded once and no more: this alone has reached the handler.
        let more = &peer.probe.notes()[decoded.len()..];
        assert!(
            more.iter().all(|it| it == "document %2e%2e%2fsecret"),
            "{more:?}"
        );
    })
    .await;
}
