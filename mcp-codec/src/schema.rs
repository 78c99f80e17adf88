//! Placeholder.
pub(crate) fn without_boolean_properties(_: &mut serde_json::Map<String, serde_json::Value>) {}
pub(crate) fn wrap_non_object_output(_: serde_json::Value) -> Option<serde_json::Value> {
    None
}
pub(crate) fn is_object_root(_: &serde_json::Value) -> bool {
    true
}
