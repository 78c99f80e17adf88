//! The cases that the newest revision alone has; see `cases`.

use super::cases::Cases;

/// What the newest revision alone has.
#[rustfmt::skip]
pub(super) const WITHOUT_A_HANDSHAKE: Cases = &[
    ("tools/list", &[
        // req: versioning-2026-per-request, stdio-2026-metadata-inline
        "stdio-first",
        // req: versioning-dual-era-modern-request
        "after-handshake",
    ]),
    ("tools/call", &[
        // req: logging-2026-level-filter
        "log-opted-in",
        // req: logging-2026-invalid-level-32602
        "log-level-unknown",
        // req: http-2026-param-header-match
        "mirrored",
        // req: http-2026-param-header-integers-numeric
        "mirrored-integer",
        // req: http-2026-base64-sentinel-decoded
        "mirrored-base64",
        // req: http-2026-base64-invalid-400
        "mirrored-base64-broken",
        "mirrored-differs",
        // req: http-2026-param-header-missing
        "mirrored-missing",
        "mirrored-unexpected",
        // req: http-2026-param-header-not-expected
        "mirrored-null",
        // req: http-2026-param-header-invalid-chars
        "mirrored-characters",
        // req: http-2026-param-header-unknown-ignored
        "mirrored-unknown",
        "mirrored-stdio",
        // req: http-2026-mcp-name-required
        "mcp-name-missing",
        // req: http-2026-mcp-name-mismatch
        "mcp-name-differs",
        // req: http-2026-header-ows-trimmed
        "mcp-name-white-space",
        "mcp-name-base64",
        // req: http-2026-base64-sentinel-exact
        "mcp-name-base64-case",
        // req: http-2026-mcp-method-required
        "mcp-method-missing",
        // req: http-2026-mcp-method-mismatch
        "mcp-method-case",
        // req: http-2026-version-header-required
        "version-header-missing",
        // req: http-2026-version-header-mismatch
        "version-header-differs",
        // req: http-2026-session-header-ignored, http-2026-last-event-id-ignored
        "session-header",
        // req: meta-2026-meta-required
        "meta-missing",
        "meta-missing-stdio",
        // req: meta-2026-protocol-version-required
        "version-missing",
        "version-missing-stdio",
        // req: meta-2026-client-capabilities-required
        "capabilities-missing",
        "capabilities-missing-stdio",
        // req: http-2026-unsupported-version-400
        "version-unsupported",
        // req: versioning-2026-unsupported-32022
        "version-unsupported-stdio",
        // req: meta-2026-client-info-optional
        "client-info-missing",
        // req: meta-reserved-keys-no-assumptions
        "meta-wrong-types",
        // req: logging-2026-opt-in
        "no-progress",
        // req: mrtr-result-shape, mrtr-input-request-entries
        // req: elicit-form-params, elicit-schema-flat, elicit-schema-primitives
        "asks",
        "asks-stdio",
        // req: elicit-enum-standard
        "asks-choices",
        // req: elicit-url-params-2026
        "asks-url",
        // req: sampling-request-shape, sampling-content-by-revision, sampling-include-context
        "asks-model",
        // req: sampling-tools-gate
        "asks-model-tools",
        "asks-roots", "asks-several",
        // req: mrtr-retry-accepted, mrtr-responses-without-result-type
        "answered",
        // req: elicit-handle-decline-cancel
        "answered-declined",
        // req: elicit-validate-answer
        "answered-wrongly",
        // req: mrtr-missing-response-asks-again
        "answered-not",
        // req: mrtr-responses-validated
        "answered-array",
        // req: mrtr-state-integrity, mrtr-state-untrusted
        "state-broken",
        // req: mrtr-state-replay-bounds
        "state-of-another",
        "state-number",
        // req: elicit-capability-gate, mrtr-capability-filter
        "capability-missing",
        // req: elicit-mode-gate
        "capability-mode-missing",
        "capability-tools-missing",
    ]),
    ("prompts/get", &[
        "mcp-name-missing",
        // req: mrtr-only-supported-methods
        "asks",
        "capability-missing",
    ]),
    ("resources/read", &[
        "mcp-name-missing", "asks",
        // req: caching-hints-present, caching-ttl-non-negative-integer, caching-scope-values
        "text",
    ]),
    ("server/discover", &[
        // req: versioning-discover-result-fields, caching-hints-present
        "success",
        // req: versioning-discover-implemented
        "stdio-first",
        "bare",
        // req: versioning-2026-supported-list-truthful
        "modern",
    ]),
    ("subscriptions/listen", &[
        // req: subscriptions-ack-first, subscriptions-ack-subset, subscriptions-id-tagging
        "acknowledged",
        "acknowledged-stdio",
        "nothing-wanted",
        // req: subscriptions-request-shape
        "filter-missing", "filter-array",
    ]),
    ("initialize", &[
        // req: lifecycle-2026-removed-methods
        "removed",
        // req: versioning-modern-only-names-versions
        "modern-only",
        "modern-only-http",
    ]),
    ("ping", &[
        "removed", "removed-stdio",
    ]),
    ("logging/setLevel", &[
        "removed",
    ]),
    ("resources/subscribe", &[
        "removed",
    ]),
    ("resources/unsubscribe", &[
        "removed",
    ]),
    ("message", &[
        // req: http-2026-method-not-found-404
        "unknown-method",
        "unknown-method-stdio",
        // req: tasks-ext-removed-methods
        "removed-tasks",
    ]),
    ("notifications/unknown", &[
        // req: http-refused-input-4xx
        "mcp-method-differs",
        "mcp-method-absent",
    ]),
];
