//! How deep arrays and objects lie in one another, and how many values there are.

/// Whether arrays and objects of a JSON text lie deeper in one another than `max`.
///
/// Looks at brackets outside of strings alone: whether the rest is JSON is for whoever reads it.
#[must_use]
pub fn is_deeper_than(text: &[u8], max: usize) -> bool {
    // Most messages have fewer of them than may lie in one another.
    opening(text) > max && deepest(text, max) > max
}

/// How many brackets open something, in strings or not.
///
/// Counts in bytes for a while, which compilers make vectors of.
fn opening(text: &[u8]) -> usize {
    // `[` and `{` differ in one bit.
    let is_opening = |byte: &u8| u8::from(*byte | 0x20 == b'{');
    let few = |part: &[u8]| part.iter().map(is_opening).fold(0, u8::wrapping_add);
    text.chunks(128).map(|part| usize::from(few(part))).sum()
}

/// Whether a JSON text has more values than `max`: texts, numbers and the like, arrays and objects.
///
/// Looks at commas and brackets outside of strings alone: whether the rest is JSON is for whoever
/// reads it.
#[must_use]
pub fn has_more_values(text: &[u8], max: usize) -> bool {
    // Two values have a comma or a bracket between them, and most messages are short.
    text.len() > max && {
        let marks = text.iter().filter(|byte| begins_value(**byte)).count();
        marks >= max && values(text) > max
    }
}

/// Whether another value follows, as far as one byte tells.
fn begins_value(byte: u8) -> bool {
    matches!(byte, b',' | b'[' | b'{')
}

/// How many values there are; an empty array or object counts as if it had one.
fn values(text: &[u8]) -> usize {
    let (mut values, mut in_string, mut escaped) = (1_usize, false, false);
    for byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            byte if !in_string && begins_value(*byte) => values += 1,
            _ => {}
        }
    }
    values
}

/// How deep they lie, up to one more than `max`.
fn deepest(text: &[u8], max: usize) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let (mut in_string, mut escaped) = (false, false);
    for byte in text {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'[' | b'{' => {
                depth += 1;
                deepest = deepest.max(depth);
                if deepest > max {
                    return deepest;
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_what_lies_in_one_another() {
        for (text, depth) in [
            ("1", 0),
            ("[]", 1),
            (r#"{"a":[{}]}"#, 3),
            ("[[],[],[]]", 2),
            (r#"["[[[[", {"a]": "\"[["}]"#, 2),
            ("]]][", 1),
        ] {
            assert_eq!(deepest(text.as_bytes(), 100), depth, "{text}");
            let brackets = text.matches(['[', '{']).count();
            assert_eq!(opening(text.as_bytes()), brackets, "{text}");
            assert!(!is_deeper_than(text.as_bytes(), depth), "{text}");
            assert!(
                depth == 0 || is_deeper_than(text.as_bytes(), depth - 1),
                "{text}"
            );
        }
        let many = "[".repeat(10_000);
        assert_eq!(opening(many.as_bytes()), many.len());
        assert!(is_deeper_than(many.as_bytes(), 128));
    }

    #[test]
    fn counts_values() {
        for (text, count) in [
            ("1", 1),
            ("[]", 2),
            ("[1,2]", 3),
            (r#"{"a":[{"b":null}],"c":0}"#, 5),
            (r#"["[,,,{", "\",,\\", 1]"#, 4),
            (r#""\\",["#, 3),
        ] {
            assert_eq!(values(text.as_bytes()), count, "{text}");
            assert!(!has_more_values(text.as_bytes(), count), "{text}");
            assert!(has_more_values(text.as_bytes(), count - 1), "{text}");
        }
        let commas = format!("\"{}\"", ",".repeat(1000));
        assert!(!has_more_values(commas.as_bytes(), 10));
    }
}
