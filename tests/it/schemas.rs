//! The official JSON schemas of the specification, and what they say about the vectors.
//!
//! `MCP_SCHEMAS` names their folder; by default it is `../shared/schemas` beside the workspace.

use std::{
    collections::HashMap,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::vectors;

/// The official schema of one revision.
pub(crate) struct Schema {
    document: Value,
    /// `definitions`, or `$defs` since 2025-11-25.
    key: &'static str,
    compiled: HashMap<String, Validator>,
}

/// The schemas by date, or `None` where there are none and nobody insists.
///
/// # Panics
///
/// Where `CI` or `MCP_SCHEMAS` is set and a schema is missing.
pub(crate) fn load() -> Option<HashMap<&'static str, Schema>> {
    let folder = folder();
    let mut schemas = HashMap::new();
    for revision in mcp_codec::adapter_set::ALL {
        let date = revision.version().as_str();
        let path = folder.join(date).join("schema.json");
        let Ok(text) = fs::read_to_string(&path) else {
            absent(&path);
            return None;
        };
        schemas.insert(date, Schema::read(&text));
    }
    Some(schemas)
}

fn folder() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let named = std::env::var_os("MCP_SCHEMAS").map(PathBuf::from);
    // A relative path counts from the root of the workspace.
    root.join(named.unwrap_or_else(|| "../shared/schemas".into()))
}

/// Says so where the harness does not swallow it, and fails where somebody relies on the schemas.
fn absent(path: &Path) {
    let message = format!(
        "SCHEMAS ABSENT: no {}, so nothing was validated",
        path.display()
    );
    let _ = writeln!(std::io::stderr(), "\n{message} (set MCP_SCHEMAS)");
    let insists = |name| std::env::var_os(name).is_some();
    assert!(!insists("CI") && !insists("MCP_SCHEMAS"), "{message}");
}

impl Schema {
    fn read(text: &str) -> Self {
        let document: Value = serde_json::from_str(text).unwrap();
        let key = if document.get("$defs").is_some() {
            "$defs"
        } else {
            "definitions"
        };
        Self {
            document,
            key,
            compiled: HashMap::new(),
        }
    }

    fn defines(&self, name: &str) -> bool {
        self.document[self.key].get(name).is_some()
    }

    /// What `definition` has against `value`.
    pub(crate) fn violations(&mut self, definition: &str, value: &Value) -> Vec<String> {
        assert!(
            self.defines(definition),
            "there is no definition {definition}"
        );
        if !self.compiled.contains_key(definition) {
            let mut schema = json!({"$ref": format!("#/{}/{definition}", self.key)});
            schema["$schema"] = self.document["$schema"].clone();
            schema[self.key] = self.document[self.key].clone();
            let options = jsonschema::options().should_validate_formats(true);
            let validator = options.build(&schema).unwrap();
            self.compiled.insert(definition.to_owned(), validator);
        }
        let worded = |error: jsonschema::ValidationError<'_>| {
            format!("{definition}{}: {error}", error.instance_path())
        };
        self.compiled[definition]
            .iter_errors(value)
            .map(worded)
            .collect()
    }

    /// What the schema has against a reply to `method`.
    pub(crate) fn reply(&mut self, method: &str, reply: &Value) -> Vec<String> {
        if let Some(replies) = reply.as_array() {
            // Not where an id could not be read: see `error`.
            let named = replies.iter().all(|it| it.get("id").is_some());
            let definition = named.then_some("JSONRPCBatchResponse");
            let mut found = definition.map_or_else(Vec::new, |it| self.violations(it, reply));
            found.extend(replies.iter().flat_map(|it| self.reply("ping", it)));
            return found;
        }
        let Some(result) = reply.get("result") else {
            return self.error(reply);
        };
        let envelope = if self.defines("JSONRPCResultResponse") {
            "JSONRPCResultResponse"
        } else {
            "JSONRPCResponse"
        };
        let mut found = self.violations(envelope, reply);
        let asks = result["resultType"] == "input_required";
        let definition = if asks {
            "InputRequiredResult"
        } else {
            result_type(method)
        };
        found.extend(self.violations(definition, result));
        found
    }

    /// An error; where its code has a definition of its own, that too.
    fn error(&mut self, reply: &Value) -> Vec<String> {
        let mut reply = reply.clone();
        let envelope = if self.defines("JSONRPCErrorResponse") {
            "JSONRPCErrorResponse"
        } else {
            // An id that could not be read is left out in every revision, though the schema
            // requires one until 2025-06-18 (`revision-diff.md`, decision 17).
            let members = reply.as_object_mut().unwrap();
            members.entry("id").or_insert(json!(0));
            "JSONRPCError"
        };
        let mut found = self.violations(envelope, &reply);
        let code = reply["error"]["code"].as_i64();
        let (definition, value) = match code {
            Some(-32700) => ("ParseError", &reply["error"]),
            Some(-32600) => ("InvalidRequestError", &reply["error"]),
            Some(-32601) => ("MethodNotFoundError", &reply["error"]),
            Some(-32602) => ("InvalidParamsError", &reply["error"]),
            Some(-32603) => ("InternalError", &reply["error"]),
            Some(-32020) => ("HeaderMismatchError", &reply),
            Some(-32021) => ("MissingRequiredClientCapabilityError", &reply),
            Some(-32022) => ("UnsupportedProtocolVersionError", &reply),
            Some(-32002) if !self.defines("DiscoverResult") => return found,
            _ => return vec![format!("{code:?} is no error code of this revision")],
        };
        if self.defines(definition) {
            found.extend(self.violations(definition, value));
        }
        found
    }

    /// What the schema has against a question of the server.
    fn question(&mut self, question: &Value) -> Vec<String> {
        let mut found = self.violations("JSONRPCRequest", question);
        found.extend(self.violations("ServerRequest", question));
        let definition = match question["method"].as_str() {
            Some("elicitation/create") => "ElicitRequest",
            Some("sampling/createMessage") => "CreateMessageRequest",
            Some("roots/list") => "ListRootsRequest",
            other => return vec![format!("{other:?} is no question")],
        };
        found.extend(self.violations(definition, question));
        found
    }

    /// What the schema has against a notification.
    pub(crate) fn notification(&mut self, notification: &Value) -> Vec<String> {
        let mut found = self.violations("JSONRPCNotification", notification);
        let definition = match notification["method"].as_str().unwrap_or_default() {
            "notifications/progress" => "ProgressNotification",
            "notifications/message" => "LoggingMessageNotification",
            _ => "ServerNotification",
        };
        found.extend(self.violations(definition, notification));
        found
    }
}

/// The definition of a method's result.
pub(crate) fn result_type(method: &str) -> &'static str {
    match method {
        "initialize" => "InitializeResult",
        "server/discover" => "DiscoverResult",
        "tools/list" => "ListToolsResult",
        "tools/call" => "CallToolResult",
        "prompts/list" => "ListPromptsResult",
        "prompts/get" => "GetPromptResult",
        "resources/list" => "ListResourcesResult",
        "resources/templates/list" => "ListResourceTemplatesResult",
        "resources/read" => "ReadResourceResult",
        "completion/complete" => "CompleteResult",
        "ping" | "logging/setLevel" => "EmptyResult",
        _ => "Result",
    }
}

// req: jsonrpc-envelope-version
// req: jsonrpc-result-xor-error
// req: jsonrpc-result-is-object
// req: jsonrpc-error-object-shape
// req: jsonrpc-notification-has-no-id
// req: jsonrpc-error-without-id
#[test]
fn every_vector_keeps_to_the_official_schema() {
    let Some(mut schemas) = load() else { return };
    let (mut wrong, mut validated) = (Vec::new(), 0);
    for found in vectors::all() {
        let schema = schemas.get_mut(&*found.date).unwrap();
        let mut violations = Vec::new();
        if let Some(reply) = &found.vector.reply {
            let reply: Value = serde_json::from_str(reply.get()).unwrap();
            let both = reply.get("result").is_some() && reply.get("error").is_some();
            assert!(!both, "{} has a result and an error", found.name());
            assert_ne!(reply.get("id"), Some(&Value::Null), "{}", found.name());
            violations.extend(schema.reply(&found.method, &reply));
            validated += 1;
        }
        for notification in &found.vector.notifications {
            let notification: Value = serde_json::from_str(notification.get()).unwrap();
            violations.extend(if notification.get("id").is_some() {
                schema.question(&notification)
            } else {
                schema.notification(&notification)
            });
            validated += 1;
        }
        wrong.extend(
            violations
                .into_iter()
                .map(|it| format!("{}: {it}", found.name())),
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(validated > 0, "there are no vectors");
}

/// A validator that accepts everything would make all of the above worthless.
#[test]
fn the_schemas_refuse_what_is_wrong() {
    let Some(mut schemas) = load() else { return };
    for (date, schema) in &mut schemas {
        let tools = json!({"tools": [{"name": "a", "inputSchema": {"type": "array"}}]});
        assert!(
            !schema.violations("ListToolsResult", &tools).is_empty(),
            "{date}"
        );
        let reply = json!({"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text"}]}});
        assert!(!schema.reply("tools/call", &reply).is_empty(), "{date}");
        let progress = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {}});
        assert!(!schema.notification(&progress).is_empty(), "{date}");
        let contents = json!({"contents": [{"uri": "not a uri", "text": ""}]});
        assert!(
            !schema
                .violations("ReadResourceResult", &contents)
                .is_empty(),
            "{date}"
        );
    }
}
