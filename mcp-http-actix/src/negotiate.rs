//! Reading `Accept` and `Content-Type` as RFC 9110 has them.

use actix_web::http::header::{ACCEPT, CONTENT_TYPE, HeaderMap};

/// What a client takes in answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Accepted {
    pub(crate) json: bool,
    pub(crate) events: bool,
}

/// Reads `Accept` (RFC 9110 section 12.5.1): absent means anything, `q=0` means not.
pub(crate) fn accepted(headers: &HeaderMap) -> Accepted {
    let mut json = Best::default();
    let mut events = Best::default();
    let mut present = false;
    for value in headers.get_all(ACCEPT) {
        present = true;
        // The form nearly every client sends.
        if value.as_bytes() == b"application/json, text/event-stream" {
            return Accepted {
                json: true,
                events: true,
            };
        }
        for range in value.to_str().unwrap_or_default().split(',') {
            let (range, weight) = weighed(range);
            json.judge(range, ("application", "json"), weight > 0.0);
            events.judge(range, ("text", "event-stream"), weight > 0.0);
        }
    }
    if !present {
        return Accepted {
            json: true,
            events: true,
        };
    }
    Accepted {
        json: json.accepts,
        events: events.accepts,
    }
}

/// The most specific range that named a type decides on it.
#[derive(Default)]
struct Best {
    specificity: u8,
    accepts: bool,
}

impl Best {
    fn judge(&mut self, range: &str, (kind, subtype): (&str, &str), weighs: bool) {
        let Some((range_kind, range_subtype)) = range.split_once('/') else {
            return;
        };
        let same = |text: &str, other: &str| text.eq_ignore_ascii_case(other);
        let specificity = match (range_kind, range_subtype) {
            ("*", "*") => 1,
            (it, "*") if same(it, kind) => 2,
            (it, sub) if same(it, kind) && same(sub, subtype) => 3,
            _ => return,
        };
        if specificity > self.specificity {
            *self = Self {
                specificity,
                accepts: weighs,
            };
        } else if specificity == self.specificity {
            self.accepts |= weighs;
        }
    }
}

/// A media range or a coding without its parameters, and its weight.
pub(crate) fn weighed(range: &str) -> (&str, f32) {
    let mut parts = range.split(';');
    let range = parts.next().unwrap_or_default().trim();
    let weight = parts.find_map(|part| {
        let (name, value) = part.split_once('=')?;
        name.trim()
            .eq_ignore_ascii_case("q")
            .then(|| value.trim().parse::<f32>().unwrap_or(0.0))
    });
    (range, weight.unwrap_or(1.0))
}

/// Whether the body is declared as JSON (RFC 9110 section 8.3.1: case and parameters aside).
pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(CONTENT_TYPE);
    let (Some(value), None) = (values.next(), values.next()) else {
        return false;
    };
    let value = value.to_str().unwrap_or_default();
    let media_type = value.split(';').next().unwrap_or_default().trim();
    media_type.eq_ignore_ascii_case("application/json")
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::HeaderValue;

    fn read(values: &[&str]) -> (bool, bool) {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(ACCEPT, HeaderValue::from_str(value).unwrap());
        }
        let accepted = accepted(&headers);
        (accepted.json, accepted.events)
    }

    #[test]
    fn a08_accept() {
        for (values, expected) in [
            (&[][..], (true, true)),
            (&["*/*"], (true, true)),
            (&["application/*"], (true, false)),
            (&["application/json"], (true, false)),
            (&["text/event-stream"], (false, true)),
            (&["application/json;q=0.9, text/event-stream"], (true, true)),
            (&["Text/Event-Stream , APPLICATION/JSON"], (true, true)),
            (&["application/json", "text/event-stream"], (true, true)),
            (&["text/html"], (false, false)),
            (&["*/*, text/event-stream;q=0"], (true, false)),
            (&["application/json;q=0"], (false, false)),
            (&[""], (false, false)),
        ] {
            assert_eq!(read(values), expected, "{values:?}");
        }
    }

    #[test]
    fn a08_content_type() {
        for (value, expected) in [
            (Some("application/json"), true),
            (Some("application/json; charset=utf-8"), true),
            (Some("Application/JSON;charset=\"UTF-8\""), true),
            (Some("text/plain"), false),
            (Some("application/jsonp"), false),
            (None, false),
        ] {
            let mut headers = HeaderMap::new();
            if let Some(value) = value {
                headers.insert(CONTENT_TYPE, HeaderValue::from_str(value).unwrap());
            }
            assert_eq!(is_json(&headers), expected, "{value:?}");
        }
    }
}
