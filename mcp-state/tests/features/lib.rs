//! Proves that the features are on; the tests are those of the crate.

#[cfg(test)]
mod tests {
    use serde_json::Value;

    #[test]
    fn the_features_of_serde_json_are_on() {
        let text = r#"{"b":1e400,"a":0.10}"#;
        let value: Value = serde_json::from_str(text).expect("arbitrary precision");
        assert_eq!(value.to_string(), r#"{"b":1e+400,"a":0.10}"#);
        let canonical = mcp_state::canonical_json(text).expect("JSON");
        assert_eq!(canonical, r#"{"a":0.1,"b":Infinity}"#);
    }
}
