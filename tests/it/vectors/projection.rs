//! Property: a result of the newest revision, projected for an older one, is one of that revision
//! and has nothing in it that came later.

use mcp_codec::{Manifest, Outcome, Revision, ServerResult, adapter_set};
use mcp_core::types::{
    CallToolResult, CompleteResult, DiscoverResult, GetPromptResult, Implementation,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    ReadResourceResult, RequestId, meta_keys,
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, value::RawValue};

use super::{Found, all};
use crate::schemas;

/// A member, by the end of its path, and the revisions that have it.
struct Member {
    path: &'static str,
    since: &'static str,
    /// The last revision that has it; none that it is still there.
    until: Option<&'static str>,
    /// A longer path on which the name means something older.
    except: Option<&'static str>,
}

const fn since(since: &'static str, path: &'static str) -> Member {
    Member {
        path,
        since,
        until: None,
        except: None,
    }
}

/// A member of a result that asks, which is our own in the `_meta` of those that cannot.
const fn asked(path: &'static str, except: &'static str) -> Member {
    Member {
        path,
        since: "2026-07-28",
        until: None,
        except: Some(except),
    }
}

/// What each revision introduced into results (`revision-diff.md`, sections 3 to 6).
const MEMBERS: &[Member] = &[
    since("2026-07-28", "resultType"),
    since("2026-07-28", "ttlMs"),
    since("2026-07-28", "cacheScope"),
    since("2026-07-28", "supportedVersions"),
    asked("inputRequests", "_meta/inputRequests"),
    asked("requestState", "_meta/requestState"),
    since("2026-07-28", "extensions"),
    since("2026-07-28", meta_keys::SERVER_INFO),
    since("2026-07-28", meta_keys::SUBSCRIPTION_ID),
    since("2025-11-25", "icons"),
    since("2025-11-25", "websiteUrl"),
    since("2025-11-25", "serverInfo/description"),
    Member {
        path: "execution",
        since: "2025-11-25",
        until: Some("2025-11-25"),
        except: None,
    },
    Member {
        path: "capabilities/tasks",
        since: "2025-11-25",
        until: Some("2025-11-25"),
        except: None,
    },
    Member {
        path: "title",
        since: "2025-06-18",
        until: None,
        except: Some("annotations/title"),
    },
    since("2025-06-18", "structuredContent"),
    since("2025-06-18", "outputSchema"),
    since("2025-06-18", "lastModified"),
    Member {
        path: "_meta",
        since: "2025-06-18",
        until: None,
        except: Some("result/_meta"),
    },
    since("2025-06-18", "type=resource_link"),
    since("2025-03-26", "type=audio"),
    since("2025-03-26", "tools/annotations"),
    since("2025-03-26", "capabilities/completions"),
];

/// Where the server's own JSON begins, which no revision has a say in.
const OPAQUE: &[&str] = &[
    "inputSchema",
    "outputSchema",
    "structuredContent",
    "data",
    "com.example/of",
    "inputRequests",
];

/// The place of a version in time.
fn place(version: &str) -> usize {
    let ages = adapter_set::ALL.iter().rev();
    ages.map(|it| it.version().as_str())
        .position(|it| it == version)
        .unwrap()
}

/// The members of `value` that the revision does not have.
fn foreign(version: &str, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    visit("result", value, &mut |path| {
        let ends = |end: &str| path == end || path.ends_with(&format!("/{end}"));
        let later = |it: &&Member| place(it.since) > place(version);
        let earlier = |it: &&Member| it.until.is_some_and(|until| place(until) < place(version));
        let hit = MEMBERS
            .iter()
            .filter(|it| later(it) || earlier(it))
            .any(|it| ends(it.path) && !it.except.is_some_and(ends));
        if hit {
            found.push(format!("{path} is not of {version}"));
        }
    });
    found
}

/// Shows `seen` the path of every member, without the places in lists.
fn visit(path: &str, value: &Value, seen: &mut dyn FnMut(&str)) {
    match value {
        Value::Array(values) => values.iter().for_each(|it| visit(path, it, seen)),
        Value::Object(members) => {
            for (key, value) in members {
                let path = format!("{path}/{key}");
                seen(&path);
                if let ("type", Some(kind)) = (key.as_str(), value.as_str()) {
                    seen(&format!("{path}={kind}"));
                }
                if !OPAQUE.contains(&key.as_str()) {
                    visit(&path, value, seen);
                }
            }
        }
        _ => {}
    }
}

#[derive(Deserialize)]
struct Reply<'a> {
    #[serde(borrow)]
    result: Option<&'a RawValue>,
}

/// The result of a vector of the newest revision, as a handler gave it.
fn result(found: &Found) -> Option<ServerResult> {
    fn read<T: DeserializeOwned>(result: &RawValue) -> T {
        serde_json::from_str(result.get()).unwrap()
    }
    let reply: Reply<'_> = serde_json::from_str(found.vector.reply.as_ref()?.get()).ok()?;
    let it = reply.result?;
    // What is asked is no result of an older revision.
    if it.get().contains("\"input_required\"") {
        return None;
    }
    Some(match &*found.method {
        "server/discover" => {
            let discovered: DiscoverResult = read(it);
            let description = manifest(&discovered).describe(true);
            ServerResult::Describe(Box::new(description))
        }
        "tools/list" => ServerResult::Tools(read::<ListToolsResult>(it).tools),
        "tools/call" => ServerResult::CallTool(read::<CallToolResult>(it).into()),
        "prompts/list" => ServerResult::Prompts(read::<ListPromptsResult>(it).prompts),
        "prompts/get" => ServerResult::GetPrompt(read::<GetPromptResult>(it)),
        "resources/list" => ServerResult::Resources(read::<ListResourcesResult>(it).resources),
        "resources/templates/list" => {
            let listed: ListResourceTemplatesResult = read(it);
            ServerResult::ResourceTemplates(listed.resource_templates)
        }
        "resources/read" => ServerResult::ReadResource(read::<ReadResourceResult>(it)),
        "completion/complete" => ServerResult::Complete(read::<CompleteResult>(it)),
        other => panic!("{other} has a result that no projection is tested with"),
    })
}

/// A server that says what was discovered.
fn manifest(discovered: &DiscoverResult) -> Manifest {
    let info: Implementation = discovered
        .meta
        .as_ref()
        .and_then(|meta| meta.get(meta_keys::SERVER_INFO))
        .map(|info| serde_json::from_value(info.clone()).unwrap())
        .unwrap();
    let mut manifest = Manifest::new(info);
    manifest.capabilities = discovered.capabilities.clone();
    manifest.instructions = discovered.instructions.clone();
    manifest
}

fn rendered(revision: Revision, result: ServerResult) -> Value {
    let manifest = Manifest::new(Implementation::new("vectors", "1"));
    let id = RequestId::from(1);
    let reply = adapter_set::render(revision, Some(&id), Outcome::Result(result), &manifest);
    assert_eq!(reply.status, 200);
    serde_json::from_slice(&reply.body.unwrap()).unwrap()
}

/// The method whose result the older revision has for this one.
fn older(method: &str) -> &str {
    if method == "server/discover" {
        "initialize"
    } else {
        method
    }
}

// req: lifecycle-respect-negotiation-should
// req: lifecycle-respect-negotiation-must
#[test]
fn every_result_is_at_home_in_every_older_revision() {
    let schemas = schemas::load();
    let mut wrong = Vec::new();
    let mut projected = 0;
    let mut schemas = schemas.unwrap_or_default();
    for found in all().iter().filter(|it| it.date == "2026-07-28") {
        for revision in adapter_set::ALL.iter().skip(1) {
            let Some(result) = result(found) else {
                continue;
            };
            let version = revision.version().as_str();
            let reply = rendered(*revision, result);
            let mut problems = foreign(version, &reply["result"]);
            if let Some(schema) = schemas.get_mut(version) {
                problems.extend(schema.reply(older(&found.method), &reply));
            }
            wrong.extend(
                problems
                    .iter()
                    .map(|it| format!("{} for {version}: {it}", found.name())),
            );
            projected += 1;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(projected > 100, "{projected} results are too few");
}

// req: lifecycle-implementation-fields
// req: lifecycle-server-capability-keys
// req: tools-annotations-field
// req: tools-title-output-schema-fields
// req: tools-icons-field
// req: tools-2025-11-execution-field
// req: meta-on-nested-types
#[test]
fn no_vector_has_a_member_of_another_revision() {
    let mut wrong = Vec::new();
    for found in all() {
        let Some(reply) = &found.vector.reply else {
            continue;
        };
        let reply: Value = serde_json::from_str(reply.get()).unwrap();
        if let Some(result) = reply.get("result") {
            let problems = foreign(&found.date, result);
            wrong.extend(problems.iter().map(|it| format!("{}: {it}", found.name())));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

// req: jsonrpc-2026-result-type-required
// req: meta-2026-server-info-in-results
#[test]
fn every_result_of_the_newest_revision_is_complete_and_signed() {
    for found in all().iter().filter(|it| it.date == "2026-07-28") {
        let Some(reply) = &found.vector.reply else {
            continue;
        };
        let reply: Value = serde_json::from_str(reply.get()).unwrap();
        if let Some(result) = reply.get("result") {
            let asks = result.get("inputRequests").is_some();
            let kind = if asks { "input_required" } else { "complete" };
            assert_eq!(result["resultType"], kind, "{}", found.name());
            let name = &result["_meta"][meta_keys::SERVER_INFO]["name"];
            assert!(name.is_string(), "{}", found.name());
        }
    }
}

/// A structured result that its own listed schema refuses is of no use to the client.
// req: tools-output-schema-conformance
#[test]
fn structured_results_keep_to_the_schema_that_is_listed() {
    let vectors = all();
    let listings = |it: &&Found| it.method == "tools/list" && it.case == "success";
    let mut wrong = Vec::new();
    for listing in vectors.iter().filter(listings) {
        let listed = reply(listing).unwrap();
        let tools = listed["result"]["tools"].as_array().unwrap();
        let calls = |it: &&Found| it.date == listing.date && it.method == "tools/call";
        for call in vectors.iter().filter(calls) {
            let body: Value = serde_json::from_str(&call.vector.body).unwrap();
            let tool = tools.iter().find(|it| it["name"] == body["params"]["name"]);
            if let (Some(tool), Some(reply)) = (tool, reply(call))
                && !conforms(tool, &reply["result"])
            {
                wrong.push(call.name());
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

fn reply(found: &Found) -> Option<Value> {
    let reply = found.vector.reply.as_ref()?;
    Some(serde_json::from_str(reply.get()).unwrap())
}

/// Whether a result is what the tool's listing promises; one without a schema for its shape
/// (`digits`, `anything`) promises nothing, but what its newest form promised is gone as a whole.
fn conforms(tool: &Value, result: &Value) -> bool {
    if result.is_null() || result["isError"] == true {
        return true;
    }
    match (tool.get("outputSchema"), result.get("structuredContent")) {
        (Some(schema), Some(structured)) => jsonschema::is_valid(schema, structured),
        (Some(_), None) => false,
        (None, Some(_)) => tool["name"] != "identified",
        (None, None) => true,
    }
}
