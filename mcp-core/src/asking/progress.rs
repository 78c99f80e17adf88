//! What a call that asks has got so far, as it travels in the sealed state.

use std::collections::BTreeMap;

use mcp_types::RawJson;
use serde::{Deserialize, Serialize};

/// What a call that asks has got so far.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Progress {
    /// How often the client was asked.
    #[serde(rename = "n")]
    pub(crate) round: u8,
    /// The answers of earlier rounds, by key.
    #[serde(rename = "a", default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) answers: BTreeMap<String, Answered>,
    /// The results of steps that are not to run again, by key.
    #[serde(rename = "o", default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) once: BTreeMap<String, RawJson>,
    /// What the handler wants to know again.
    #[serde(rename = "m", default, skip_serializing_if = "Option::is_none")]
    pub(crate) memory: Option<RawJson>,
    /// The questions of the last round, by key, as their digests.
    #[serde(rename = "q", default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) asked: BTreeMap<String, u64>,
    /// Answers that came without a state: any of them may be to what is asked next.
    #[serde(skip)]
    pub(crate) loose: BTreeMap<String, RawJson>,
}

/// An answer, and the question that it answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Answered {
    /// The digest of the question.
    #[serde(rename = "q")]
    pub(crate) question: u64,
    #[serde(rename = "r")]
    pub(crate) response: RawJson,
}

impl Progress {
    /// Takes in what the client answered to the last round; what was not asked is ignored.
    pub(crate) fn take(&mut self, responses: BTreeMap<String, RawJson>) {
        for (key, response) in responses {
            if let Some(question) = self.asked.remove(&key) {
                self.answers.insert(key, Answered { question, response });
            }
        }
        self.asked.clear();
    }

    /// Takes in answers that came without a state, so that nothing is known of the last round.
    pub(crate) fn take_loose(responses: BTreeMap<String, RawJson>) -> Self {
        Self {
            loose: responses,
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> RawJson {
        RawJson::from_text(text).unwrap()
    }

    #[test]
    fn progress_comes_back() {
        let question = u64::MAX;
        let mut progress = Progress {
            round: 2,
            memory: Some(raw("\"m\"")),
            ..Progress::default()
        };
        progress.asked.insert("roots".into(), question);
        progress.once.insert("pay".into(), raw("7"));
        let text = serde_json::to_string(&progress).unwrap();
        assert_eq!(serde_json::from_str::<Progress>(&text).unwrap(), progress);

        let responses = [("roots".to_owned(), raw("{}")), ("other".into(), raw("1"))];
        progress.take(responses.into());
        assert_eq!(progress.answers.len(), 1, "what was not asked is no answer");
        assert_eq!(progress.answers["roots"].question, question);
        assert!(progress.asked.is_empty());
    }

    #[test]
    fn without_state_any_answer_may_be_one_and_none_is_kept() {
        let progress = Progress::take_loose([("name".to_owned(), raw("{}"))].into());
        assert!(progress.loose.contains_key("name"));
        let text = serde_json::to_string(&progress).unwrap();
        assert!(!text.contains("name"), "{text}");
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_survived(text in ".*") {
            let _ = serde_json::from_str::<Progress>(&text);
        }
    }
}
