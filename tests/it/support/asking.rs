//! A client that answers what it is asked, in whichever way the question comes.

use serde_json::Value;

use super::{is_question, outcome::Outcome, peer::Peer, pending::Pending};

/// What came of a call that asks.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) outcome: Outcome,
    /// Everything that was asked, as method and params.
    pub(crate) questions: Vec<Value>,
    /// What the client was to bring back, one for each round.
    pub(crate) tokens: Vec<String>,
    /// Everything that the server has said, in order.
    pub(crate) said: Vec<Value>,
}

impl Asked {
    /// The messages of the questions, or their methods where they have none.
    pub(crate) fn messages(&self) -> Vec<&str> {
        let message = |it: &Value| it["params"].get("message").is_some();
        let shown = self.questions.iter().map(|it| match message(it) {
            true => &it["params"]["message"],
            false => &it["method"],
        });
        shown.filter_map(Value::as_str).collect()
    }

    /// The first text of the result.
    pub(crate) fn text(&self) -> &str {
        super::text(self.outcome.result())
    }

    /// No token and no message of the server but the last tells these words.
    pub(crate) fn assert_hidden(&self, words: &[&str]) {
        let before = self.said.len() - 1;
        let said = self.said[..before].iter().map(Value::to_string);
        let opened = self.tokens.iter().map(|token| opened(token));
        for text in said.chain(opened) {
            for word in words {
                assert!(!text.contains(word), "{word:?} in {text}");
            }
        }
    }
}

/// What anybody can read of a token.
fn opened(token: &str) -> String {
    use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
    let (prefix, sealed) = token.split_once('.').expect("a token has a prefix");
    let sealed = BASE64_URL_SAFE_NO_PAD.decode(sealed).unwrap();
    format!("{prefix} {}", String::from_utf8_lossy(&sealed))
}

impl Peer {
    /// A request whose questions are answered, however they come.
    pub(crate) async fn ask(
        &self,
        method: &str,
        params: Value,
        answer: impl Fn(&Value) -> Value,
    ) -> Asked {
        let (mut next, mut so_far) = (params.clone(), (Vec::new(), Vec::new(), Vec::new()));
        for _ in 0..MOST_ROUNDS {
            let (questions, tokens, said) = &mut so_far;
            let outcome = self.round(method, next, &answer, questions, said).await;
            let result = outcome.reply.as_ref().map(|it| &it["result"]);
            let Some(pending) = result.and_then(|it| Pending::of(&params, it)) else {
                let (questions, tokens, said) = so_far;
                return Asked {
                    outcome,
                    questions,
                    tokens,
                    said,
                };
            };
            questions.extend(pending.questions.values().cloned());
            tokens.push(pending.token.clone());
            next = pending.answered(&answer);
        }
        panic!("asked for ever: {:?}", so_far.0);
    }

    /// `tools/call` of a tool that asks.
    pub(crate) async fn ask_tool(
        &self,
        name: &str,
        arguments: Value,
        answer: impl Fn(&Value) -> Value,
    ) -> Asked {
        let params = super::calling(name, arguments);
        self.ask("tools/call", params, answer).await
    }

    /// One request, whose questions on the stream are answered.
    async fn round(
        &self,
        method: &str,
        params: Value,
        answer: impl Fn(&Value) -> Value,
        questions: &mut Vec<Value>,
        said: &mut Vec<Value>,
    ) -> Outcome {
        let mut talk = self.talk(method, params).await;
        let mut outcome = Outcome {
            notes: Vec::new(),
            reply: None,
            status: talk.status,
            session: None,
        };
        while let Some(message) = talk.next().await {
            said.push(message.clone());
            if is_question(&message) {
                self.respond(&message, answer(&message)).await;
                questions.push(message);
            } else if message.get("method").is_some() {
                outcome.notes.push(message);
            } else {
                outcome.reply = Some(message);
            }
        }
        self.check(&talk.id, &outcome);
        outcome
    }
}

/// More than any server asks for.
const MOST_ROUNDS: usize = 20;
