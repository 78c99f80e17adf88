//! A call that has left to ask, and how its client takes it up again.

use serde_json::{Map, Value, json};

/// A call that has left to ask.
#[derive(Debug, Clone)]
pub(crate) struct Pending {
    /// The params of its first round.
    params: Value,
    /// What is to be brought back.
    pub(crate) token: String,
    /// The questions by key: method and params.
    pub(crate) questions: Map<String, Value>,
    in_arguments: bool,
}

impl Pending {
    /// What a result asks for, if it does.
    pub(crate) fn of(params: &Value, result: &Value) -> Option<Self> {
        let in_arguments = result["resultType"] != "input_required";
        let asked = if in_arguments {
            &result["_meta"]
        } else {
            result
        };
        let questions = asked.get("inputRequests")?.as_object()?.clone();
        Some(Self {
            params: params.clone(),
            token: asked["requestState"].as_str()?.to_owned(),
            questions,
            in_arguments,
        })
    }

    /// The params of the next round, with those answers.
    pub(crate) fn with(&self, answers: &Value) -> Value {
        self.with_state(answers, &json!(self.token))
    }

    /// The same with something else for the state.
    pub(crate) fn with_state(&self, answers: &Value, state: &Value) -> Value {
        let mut params = self.params.clone();
        if self.in_arguments {
            params["arguments"]["_answers"] = answers.clone();
            params["arguments"]["_state"] = state.clone();
        } else {
            params["inputResponses"] = answers.clone();
            params["requestState"] = state.clone();
        }
        params
    }

    /// What a client answers that makes this of each question.
    pub(crate) fn answers(&self, answer: impl Fn(&Value) -> Value) -> Value {
        let answered = |(key, question): (&String, &Value)| (key.clone(), answer(question));
        self.questions.iter().map(answered).collect()
    }

    /// The params of the next round, of a client that makes this of each question.
    pub(crate) fn answered(&self, answer: impl Fn(&Value) -> Value) -> Value {
        self.with(&self.answers(answer))
    }
}

/// A form that was filled in.
#[expect(
    clippy::needless_pass_by_value,
    reason = "tests hand over a `json!` in place"
)]
pub(crate) fn accept(content: Value) -> Value {
    json!({"action": "accept", "content": content})
}
