//! What this revision introduced, taken out or replaced for older peers.
//!
//! Source: `docs/specification/2026-07-28/changelog`.

use mcp_types::{
    InputRequest, JsonObject, RawJson, SamplingContentBlock, Tool, ToolResultContent, meta_keys,
};
use serde_json::json;

use crate::{
    ServerResult, content,
    outcome::{CalledTool, OutputShape},
    schema,
};

/// A result for an older peer.
pub(super) fn result(result: &mut ServerResult) {
    match result {
        ServerResult::Tools(tools) => tools.iter_mut().for_each(older_tool),
        ServerResult::Describe(description) => description.capabilities.extensions = None,
        ServerResult::CallTool(called) => {
            older_structure(called);
            own_keys(&mut called.result.meta);
        }
        ServerResult::ReadResource(result) => {
            result.ttl_ms = None;
            result.cache_scope = None;
            own_keys(&mut result.meta);
        }
        ServerResult::GetPrompt(result) => own_keys(&mut result.meta),
        ServerResult::Complete(result) => own_keys(&mut result.meta),
        _ => {}
    }
}

/// A question to an older peer: tools and their results travel in it as they do in results.
pub(super) fn question(question: &mut InputRequest) {
    let InputRequest::CreateMessage(params) = question else {
        return;
    };
    params.tools.iter_mut().flatten().for_each(older_tool);
    content::sampled(params, |block| {
        if let SamplingContentBlock::ToolResult(said) = block {
            older_tool_result(said);
        }
    });
}

/// A tool for a peer that knows objects alone as structured content, and no boolean schemas.
fn older_tool(tool: &mut Tool) {
    schema::without_boolean_properties(&mut tool.input_schema);
    if let Some(output) = tool.output_schema.take() {
        tool.output_schema = if schema::is_object_root(&output) {
            Some(output)
        } else {
            schema::wrap_non_object_output(output)
        };
    }
    own_keys(&mut tool.meta);
}

/// Structured content for a peer that knows objects alone, as its tool's schema was listed.
fn older_structure(called: &mut CalledTool) {
    let Some(structured) = &called.result.structured_content else {
        return;
    };
    called.result.structured_content = match called.shape {
        OutputShape::Object => return,
        OutputShape::Unknown if structured.get().starts_with('{') => return,
        OutputShape::Unknown | OutputShape::Wrapped => wrapped(structured),
        OutputShape::TextOnly => None,
    };
}

/// The same in a conversation, where the value alone decides.
fn older_tool_result(said: &mut ToolResultContent) {
    if let Some(structured) = &mut said.structured_content
        && !structured.is_object()
    {
        *structured = json!({ "result": structured.take() });
    }
}

fn wrapped(structured: &RawJson) -> Option<RawJson> {
    RawJson::from_text(format!("{{\"result\":{}}}", structured.get())).ok()
}

/// Keys of `_meta` that this revision introduced.
fn own_keys(meta: &mut Option<JsonObject>) {
    if let Some(keys) = meta {
        keys.remove(meta_keys::SERVER_INFO);
        keys.remove(meta_keys::SUBSCRIPTION_ID);
        if keys.is_empty() {
            *meta = None;
        }
    }
}
