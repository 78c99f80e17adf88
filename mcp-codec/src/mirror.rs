//! Placeholder.
/// Kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MirroredKind {
    /// s
    String,
    /// b
    Boolean,
    /// i
    Integer,
}
/// P.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MirroredParameter {
    /// h
    pub header_suffix: String,
    /// p
    pub path: Vec<String>,
    /// k
    pub kind: MirroredKind,
}
/// f
pub fn mirrored_parameters(
    _: &serde_json::Map<String, serde_json::Value>,
) -> Result<Vec<MirroredParameter>, String> {
    Ok(vec![])
}
