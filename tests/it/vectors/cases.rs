//! The cases there have to be. `// req: ID` says which requirements the case below it proves.

/// Methods with their cases.
pub(super) type Cases = &'static [(&'static str, &'static [&'static str])];

/// What every revision has.
#[rustfmt::skip]
pub(super) const IN_EVERY_REVISION: Cases = &[
    ("tools/list", &[
        // req: tools-list-result, tools-definition-base-fields, tools-no-parameter-schema
        // req: schema-input-root-object, tools-2026-list-order
        "success",
        // req: pagination-operations
        "paged-first",
        // req: pagination-next-cursor-omitted-at-end
        "paged-last",
        // req: pagination-invalid-cursor-32602
        "cursor-unknown",
        // req: pagination-2026-empty-cursor-valid
        "cursor-empty",
        // req: errors-invalid-params-32602
        "cursor-number",
        // req: errors-capability-gated-method-32601
        "not-offered",
    ]),
    ("tools/call", &[
        // req: tools-content-text-image, tools-content-audio, tools-content-embedded-resource
        // req: tools-content-resource-link, tools-content-annotations
        "blocks",
        // req: jsonrpc-utf8
        "text",
        // req: tools-call-result-content-required
        "nothing",
        // req: tools-call-params
        "arguments-null",
        // req: tools-structured-content-object, tools-structured-content-text-copy
        "structured-object",
        // req: tools-2026-structured-content-any, tools-2026-nonobject-structured-text-copy
        // req: schema-output-any-root, schema-output-root-object
        "structured-array",
        "structured-null", "structured-digits", "structured-either-object",
        "structured-either-array", "structured-identified", "anything",
        // req: tools-input-validation-is-tool-error, tools-security-validate-inputs
        "violation",
        "violation-missing", "violation-never",
        // req: tools-unknown-tool-32602
        "unknown-tool",
        // req: tools-name-rules
        "unknown-case",
        // req: tools-malformed-call-32602
        "name-missing",
        "name-number", "arguments-array",
        // req: tools-execution-error-in-result
        "tells",
        "fails", "panics", "output-violation", "timeout", "newest", "not-offered",
        // req: progress-token-type, progress-increases, progress-shape
        "progress-string",
        "progress-integer", "progress-token-wrong",
        // req: progress-only-active-token
        "no-progress",
        // req: jsonrpc-response-echoes-id
        "id-string",
        // req: jsonrpc-params-object-and-open
        "params-unknown",
        "mirrored",
    ]),
    ("prompts/list", &[
        // req: prompts-list-result, prompts-fields
        "success",
        "paged-first", "paged-last", "cursor-unknown", "cursor-empty", "cursor-number",
        "not-offered",
    ]),
    ("prompts/get", &[
        // req: prompts-get-result
        "success",
        "number",
        // req: prompts-content-types, prompts-media-base64-mime, prompts-embedded-resource-complete
        "blocks",
        // req: prompts-errors
        "unknown",
        // req: prompts-arguments-validated
        "argument-missing",
        // req: prompts-get-params
        "argument-number",
        "number-wrong", "name-missing", "fails", "newest", "not-offered",
    ]),
    ("resources/list", &[
        // req: resources-list-result, resources-fields
        "success",
        "paged-first", "paged-last", "cursor-unknown", "cursor-empty", "cursor-number",
        "not-offered",
    ]),
    ("resources/templates/list", &[
        // req: resources-templates-list-result
        "success",
        "paged-first", "paged-last", "cursor-unknown", "cursor-empty", "cursor-number",
        "not-offered",
    ]),
    ("resources/read", &[
        // req: resources-text-only-for-text
        "text",
        // req: resources-binary-base64
        "bytes",
        // req: resources-read-result
        "many",
        "template", "query", "query-wrong",
        // req: resources-not-found-32002, resources-2026-not-found-32602
        // req: errors-2026-retired-codes-not-emitted
        "unknown",
        // req: resources-2026-no-empty-for-missing
        "gone",
        // req: resources-2026-path-traversal
        "traversal",
        "traversal-encoded",
        // Wrong so far: `resources-validate-uris` asks for -32602 in the handshake revisions too.
        "malformed",
        "uri-missing", "uri-number",
        // req: resources-internal-error, errors-internal-32603
        "fails",
        "newest", "not-offered",
    ]),
    ("completion/complete", &[
        "few",
        // req: completion-result-shape
        "many",
        // req: completion-context-arguments
        "context",
        "no-completer",
        // req: completion-errors
        "unknown-prompt",
        "unknown-template", "unknown-argument",
        // req: completion-request-shape
        "reference-wrong",
        "argument-missing", "value-missing", "fails", "not-offered",
    ]),
    ("message", &[
        // req: errors-parse-32700
        "not-json-stdio",
        // req: errors-invalid-request-32600
        "no-method-stdio",
        "response-stdio", "method-number",
        // req: jsonrpc-envelope-version
        "jsonrpc-missing",
        "jsonrpc-wrong",
        // req: jsonrpc-id-not-null
        "id-null",
        // req: jsonrpc-id-string-or-integer
        "id-fraction",
        "id-object", "id-large",
        // req: errors-method-not-found-32601
        "unknown-method",
        "params-array", "member-twice",
        // req: jsonrpc-batch-removed, jsonrpc-batch-accept-2025-03-26
        "batch-stdio",
        // req: jsonrpc-batch-empty-2025-03-26
        "batch-empty",
        "byte-order-mark",
    ]),
    ("notifications/initialized", &[
        // req: lifecycle-initialized-accepted
        "accepted-stdio",
    ]),
    ("notifications/cancelled", &[
        // req: cancel-race-tolerated
        "unknown-request-stdio",
        // req: cancel-invalid-ignored
        "malformed-stdio",
    ]),
    ("notifications/unknown", &[
        // req: jsonrpc-notification-never-answered
        "accepted-stdio",
        "params-number-stdio",
    ]),
    ("notifications/progress", &[
        "accepted-stdio",
    ]),
];

/// What the handshake revisions have in common.
#[rustfmt::skip]
pub(super) const WITH_A_HANDSHAKE: Cases = &[
    ("initialize", &[
        // req: lifecycle-initialize-result, lifecycle-version-echo
        "success",
        // req: tools-capability-declared, resources-capability-declared
        // req: prompts-capability-declared, completion-capability-declared
        // req: completion-2024-no-capability-key, logging-capability-declared
        "stdio",
        // req: lifecycle-capabilities-advertise-features
        "bare",
        // req: lifecycle-initialize-params
        "clientInfo-missing",
        "capabilities-missing", "client-name-missing",
    ]),
    ("ping", &[
        // req: lifecycle-ping-reply, jsonrpc-params-may-be-absent-legacy
        "success",
        "params-empty-array",
    ]),
    ("logging/setLevel", &[
        // req: logging-set-level-legacy
        "success",
        // req: logging-invalid-level-32602-legacy, logging-levels
        "level-unknown",
        "level-missing", "not-offered",
    ]),
    ("resources/subscribe", &[
        "not-offered", "uri-missing",
    ]),
    ("resources/unsubscribe", &[
        "not-offered", "uri-missing",
    ]),
    ("server/discover", &[
        "unknown",
    ]),
    ("tools/call", &[
        // req: logging-set-level-filters-legacy, logging-message-shape
        "log-filtered",
        // req: elicit-form-params-2025-06, elicit-form-params, elicit-enum-2025-06
        // req: elicit-schema-flat, elicit-schema-primitives, elicit-schema-defaults
        "asks",
        // req: sampling-request-shape, sampling-content-by-revision
        "asks-model",
        "asks-roots",
        // req: sampling-capability-gate
        "capability-missing",
    ]),
    ("tools/list", &[
        "params-empty",
    ]),
];

/// What concerns HTTP, which the first revision has in another form.
#[rustfmt::skip]
pub(super) const OVER_STREAMABLE_HTTP: Cases = &[
    ("message", &[
        "not-json", "no-method",
        // req: http-client-response-202, jsonrpc-2026-client-response-refused
        "response",
        // req: http-batch-2025-03-26
        "batch",
        // req: http-version-header-invalid-400
        "version-header-unknown",
    ]),
    ("notifications/initialized", &[
        // req: http-notification-202
        "accepted",
    ]),
    ("notifications/cancelled", &[
        "unknown-request", "malformed",
    ]),
    ("notifications/unknown", &[
        "accepted", "params-number",
    ]),
    ("notifications/progress", &[
        "accepted",
    ]),
];

/// What 2025-03-26 alone has.
#[rustfmt::skip]
const IN_2025_03_26: Cases = &[
    ("message", &[
        "batch-broken", "batch-notifications",
        // req: jsonrpc-batch-initialize-refused
        "batch-initialize",
        "batch-large", "batch-before-handshake",
    ]),
    ("tools/list", &[
        // req: http-2025-03-no-version-header
        "success",
        "stdio",
    ]),
];

/// What 2025-06-18 alone has.
#[rustfmt::skip]
const IN_2025_06_18: Cases = &[
    ("notifications/initialized", &[
        "version-header-unknown",
    ]),
    ("prompts/get", &[
        "asks",
    ]),
    ("tools/list", &[
        "stdio",
    ]),
];

/// What 2025-11-25 alone has.
#[rustfmt::skip]
const IN_2025_11_25: Cases = &[
    ("initialize", &[
        "version-missing",
        // req: lifecycle-version-counter-offer, lifecycle-version-counter-offer-latest
        "counter-offer",
        "asks-for-newest",
    ]),
    ("ping", &[
        "before-handshake",
    ]),
    ("message", &[
        // req: lifecycle-initialize-first
        "not-initialized",
        "tasks-not-offered",
    ]),
    ("notifications/initialized", &[
        "version-header-unknown",
    ]),
    ("prompts/get", &[
        "asks",
    ]),
    ("tools/call", &[
        "version-in-meta",
        // req: elicit-url-params-2025-11
        "asks-url",
        // req: elicit-enum-standard
        "asks-choices",
        // req: sampling-tools-gate
        "asks-model-tools",
        "asks-several",
    ]),
    ("tools/list", &[
        "stdio",
    ]),
];

pub(super) const IN_ONE_REVISION: &[(&str, Cases)] = &[
    ("2025-03-26", IN_2025_03_26),
    ("2025-06-18", IN_2025_06_18),
    ("2025-11-25", IN_2025_11_25),
];
