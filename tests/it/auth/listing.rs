//! What a caller finds in a listing.

use mcp_core::{PageSize, Principal, Registry, ServerConfig, prompt, resource, template, tool};
use serde_json::{Value, json};

use crate::support::{
    http::{Request, Server},
    login::{door, guarded, guarded_by, of},
    modern,
    probe::Probe,
    session::Session,
};

/// Each kind of entry, for everybody and for some.
fn registry(page_size: usize) -> Registry {
    let mut config = ServerConfig::default();
    config.page_size = PageSize::new(page_size).unwrap();
    Registry::builder("shelf", "1")
        .state(Probe::default())
        .tool(tool("a", async || ""))
        .tool(tool("b", async || "").scopes(["more"]))
        .tool(tool("c", async || ""))
        .tool(tool("d", async || "").scopes(["most"]))
        .tool(tool("e", async |(): (), _: Principal| ""))
        .prompt(prompt("open", async || ""))
        .prompt(prompt("closed", async || "").scopes(["more"]))
        .resource(resource("x://open", async || ""))
        .resource(resource("x://closed", async || "").scopes(["more"]))
        .template(template("y://{+closed}", async |(): ()| "").scopes(["more"]))
        .build(config)
        .unwrap()
}

async fn list(server: &Server, method: &str, who: Option<&str>, cursor: Option<&str>) -> Value {
    let mut params = json!({});
    if let Some(cursor) = cursor {
        params["cursor"] = json!(cursor);
    }
    let mut request = Request::modern(method, modern(1, method, params));
    if let Some(who) = who {
        request = request.of(who);
    }
    let response = server.send(&request).await;
    response.message()
}

/// By what the entries of a listing are told apart.
fn names(listed: &Value, kind: &str) -> Vec<String> {
    let key = match kind {
        "resources" => "uri",
        "resourceTemplates" => "uriTemplate",
        _ => "name",
    };
    let entries = listed["result"][kind].as_array();
    let entries = entries.unwrap_or_else(|| panic!("no {kind}: {listed}"));
    let names = entries
        .iter()
        .map(|it| it[key].as_str().unwrap().to_owned());
    names.collect()
}

/// By default everybody sees what there is to ask permission for.
#[tokio::test]
async fn everything_is_listed_unless_somebody_wants_it_otherwise() {
    let server = guarded(registry(500));
    let listed = list(&server, "tools/list", Some(&of("alice", "")), None).await;
    assert_eq!(names(&listed, "tools"), ["a", "b", "c", "d", "e"]);
    let same = list(&server, "tools/list", Some(&of("bob", "more most")), None).await;
    assert_eq!(same, listed);
}

#[tokio::test]
async fn a_filtered_listing_has_what_its_caller_may_use_and_is_private() {
    let server = guarded_by(registry(500), door().list_permitted_only());
    for (scopes, tools) in [
        ("", &["a", "c", "e"][..]),
        ("more", &["a", "b", "c", "e"]),
        ("most other", &["a", "c", "d", "e"]),
        ("more most", &["a", "b", "c", "d", "e"]),
    ] {
        let listed = list(&server, "tools/list", Some(&of("alice", scopes)), None).await;
        assert_eq!(names(&listed, "tools"), tools, "{scopes}");
        // Even where it is the whole of it: another caller's may be another one.
        assert_eq!(listed["result"]["cacheScope"], "private", "{listed}");
    }
    for (method, kind, open, all) in [
        (
            "prompts/list",
            "prompts",
            &["open"][..],
            &["closed", "open"][..],
        ),
        (
            "resources/list",
            "resources",
            &["x://open"],
            &["x://closed", "x://open"],
        ),
        (
            "resources/templates/list",
            "resourceTemplates",
            &[],
            &["y://{+closed}"],
        ),
    ] {
        for (scopes, expected) in [("", open), ("more", all)] {
            let listed = list(&server, method, Some(&of("alice", scopes)), None).await;
            let mut found = names(&listed, kind);
            found.sort();
            assert_eq!(found, expected, "{method}");
            assert_eq!(listed["result"]["cacheScope"], "private");
        }
    }
}

/// Where nothing is filtered, what a listing may be kept by is as it was configured.
#[tokio::test]
async fn a_listing_without_secrets_is_as_cacheable_as_before() {
    let open = || {
        let mut config = ServerConfig::default();
        config.listing_hints.cache_scope = mcp_core::types::CacheScope::Public;
        let builder = Registry::builder("open", "1").tool(tool("a", async || ""));
        builder.build(config).unwrap()
    };
    let server = guarded_by(open(), door().list_permitted_only());
    let listed = list(&server, "tools/list", Some(&of("alice", "")), None).await;
    assert_eq!(listed["result"]["cacheScope"], "public");
    let server = Server::of(open());
    let listed = list(&server, "tools/list", None, None).await;
    assert_eq!(listed["result"]["cacheScope"], "public");
}

#[tokio::test]
async fn whoever_is_nobody_sees_what_is_for_everybody() {
    let door = door().require([] as [&str; 0]).allow_anonymous();
    let server = guarded_by(registry(500), door.list_permitted_only());
    let listed = list(&server, "tools/list", None, None).await;
    assert_eq!(names(&listed, "tools"), ["a", "c"]);
    assert_eq!(listed["result"]["cacheScope"], "private");
}

/// Pages are as full as before, and no page tells how much is left out.
#[tokio::test]
async fn a_filtered_listing_has_pages() {
    let server = guarded_by(registry(2), door().list_permitted_only());
    for (scopes, pages) in [
        ("", &[&["a", "c"][..], &["e"]][..]),
        ("more", &[&["a", "b"], &["c", "e"]]),
        ("more most", &[&["a", "b"], &["c", "d"], &["e"]]),
    ] {
        let who = of("alice", scopes);
        let mut cursor = None;
        for (at, page) in pages.iter().enumerate() {
            let listed = list(&server, "tools/list", Some(&who), cursor.as_deref()).await;
            assert_eq!(names(&listed, "tools"), *page, "{scopes}");
            cursor = listed["result"]["nextCursor"].as_str().map(str::to_owned);
            assert_eq!(cursor.is_some(), at + 1 < pages.len(), "{listed}");
        }
    }
}

/// Whoever gains or loses a scope between two pages sees the second one with new eyes.
#[tokio::test]
async fn a_cursor_carries_no_permission() {
    let server = guarded_by(registry(2), door().list_permitted_only());
    let (rich, poor) = (of("alice", "more most"), of("alice", ""));
    let first = list(&server, "tools/list", Some(&rich), None).await;
    let cursor = first["result"]["nextCursor"].as_str().unwrap();
    let second = list(&server, "tools/list", Some(&poor), Some(cursor)).await;
    assert_eq!(names(&second, "tools"), ["c", "e"]);
}

#[tokio::test]
async fn handshake_clients_get_the_same() {
    let server = guarded_by(registry(500), door().list_permitted_only());
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let who = of("alice", "more");
        let session = Session::of(&server, version, &[("Authorization", &who)]).await;
        let listed = session.ask("tools/list", json!({})).await;
        assert_eq!(names(&listed, "tools"), ["a", "b", "c", "e"]);
        let poor = session.with("Authorization", &of("alice", ""));
        let listed = poor.ask("tools/list", json!({})).await;
        assert_eq!(
            names(&listed, "tools"),
            ["a", "c", "e"],
            "it is looked up anew"
        );
    }
}
