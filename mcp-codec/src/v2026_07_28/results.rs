//! Writing results: `resultType`, caching hints, and whose result it is.
//!
//! Source: `basic/index` ("Responses"), `basic/patterns/mrtr`, `server/utilities/caching`.

use mcp_types::{
    CacheHints, CacheScope, DiscoverResult, InputRequiredResult, JsonObject, meta_keys,
};
use serde::Serialize;

use crate::{
    Manifest, ServerResult,
    outcome::{Description, Page},
    write,
};

/// Writes the members of a result, whether it is complete, and who it comes from.
pub(super) fn write(out: &mut Vec<u8>, result: ServerResult, manifest: &Manifest) {
    let start = out.len();
    let described = match &result {
        ServerResult::Describe(description) => serde_json::to_string(&description.info).ok(),
        _ => None,
    };
    let kind: &[u8] = match &result {
        ServerResult::InputRequired(_) => b"\"resultType\":\"input_required\"",
        _ => b"\"resultType\":\"complete\"",
    };
    let meta = members(out, result, manifest);
    if out.len() > start {
        out.push(b',');
    }
    out.extend_from_slice(kind);
    out.extend_from_slice(b",\"_meta\":{\"");
    out.extend_from_slice(meta_keys::SERVER_INFO.as_bytes());
    out.extend_from_slice(b"\":");
    out.extend_from_slice(
        described
            .as_deref()
            .unwrap_or_else(|| manifest.info_json())
            .as_bytes(),
    );
    if let Some(mut meta) = meta {
        meta.remove(meta_keys::SERVER_INFO);
        for (key, content) in &meta {
            out.push(b',');
            write::value(out, key);
            out.push(b':');
            write::value(out, content);
        }
    }
    out.push(b'}');
}

/// Writes the members that are the result's own, and gives its `_meta`.
fn members(out: &mut Vec<u8>, result: ServerResult, manifest: &Manifest) -> Option<JsonObject> {
    match result {
        ServerResult::Empty => None,
        ServerResult::Written(members) => {
            out.extend_from_slice(&members);
            None
        }
        ServerResult::Describe(description) => {
            discovered(out, *description, manifest);
            None
        }
        ServerResult::Page(page) => {
            listed(out, &page);
            None
        }
        ServerResult::Tools(_)
        | ServerResult::Prompts(_)
        | ServerResult::Resources(_)
        | ServerResult::ResourceTemplates(_) => {
            write::listing(out, &result);
            None
        }
        ServerResult::CallTool(called) => apart(out, called.result, |it| &mut it.meta),
        ServerResult::GetPrompt(result) => apart(out, result, |it| &mut it.meta),
        ServerResult::ReadResource(mut result) => {
            let hints = CacheHints::default();
            cached(&mut result.ttl_ms, &mut result.cache_scope, hints);
            apart(out, result, |it| &mut it.meta)
        }
        ServerResult::Complete(result) => apart(out, result, |it| &mut it.meta),
        ServerResult::InputRequired(result) => asked(out, result),
        ServerResult::Listened(result) => result.meta,
    }
}

/// Writes the members of a result but its `_meta`, which it gives back.
fn apart<T: Serialize>(
    out: &mut Vec<u8>,
    mut result: T,
    meta: impl FnOnce(&mut T) -> &mut Option<JsonObject>,
) -> Option<JsonObject> {
    let meta = meta(&mut result).take();
    write::members(out, &result);
    meta
}

/// Writes a page of a listing, and how long it may be kept.
fn listed(out: &mut Vec<u8>, page: &Page) {
    write::page(out, page);
    out.push(b',');
    write::member(out, "ttlMs", &page.hints.ttl_ms);
    out.push(b',');
    write::member(out, "cacheScope", &page.hints.cache_scope);
}

/// Writes what the client is asked, and the state, which is long and therefore copied.
fn asked(out: &mut Vec<u8>, mut result: InputRequiredResult) -> Option<JsonObject> {
    let state = result.request_state.take();
    let meta = apart(out, result, |it| &mut it.meta);
    if let Some(state) = state {
        if out.last() != Some(&b'{') {
            out.push(b',');
        }
        out.extend_from_slice(b"\"requestState\":");
        write::text(out, &state);
    }
    meta
}

fn discovered(out: &mut Vec<u8>, described: Description, manifest: &Manifest) {
    let versions = manifest.versions.iter().copied();
    let mut result = DiscoverResult::new(versions, described.capabilities);
    result.instructions = described.instructions;
    cached(
        &mut result.ttl_ms,
        &mut result.cache_scope,
        manifest.discover_hints,
    );
    write::members(out, &result);
}

fn cached(ttl_ms: &mut Option<u64>, scope: &mut Option<CacheScope>, hints: CacheHints) {
    ttl_ms.get_or_insert(hints.ttl_ms);
    scope.get_or_insert(hints.cache_scope);
}
