//! Who sits at the client: answers the server, and remembers what the questions were.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Result, ensure};
use rmcp::model::{
    ClientCapabilities, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams,
    ElicitResult, ElicitationAction, ErrorData, ListRootsResult, Root, SamplingMessage,
};
use serde_json::{Value, json};

use crate::proxy::Proxy;

#[derive(Clone, Default)]
pub(crate) struct Person {
    asked: Arc<Mutex<Vec<String>>>,
    /// The way that breaks while the person thinks.
    breaks: Option<Arc<Proxy>>,
}

impl Person {
    pub(crate) fn who_breaks(proxy: Arc<Proxy>) -> Self {
        Self {
            breaks: Some(proxy),
            ..Self::default()
        }
    }

    pub(crate) fn capabilities() -> ClientCapabilities {
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = Some(Default::default());
        capabilities.sampling = Some(Default::default());
        capabilities.roots = Some(Default::default());
        capabilities
    }

    pub(crate) fn asked(&self) -> Vec<String> {
        let asked = self.asked.lock();
        asked.map(|asked| asked.clone()).unwrap_or_default()
    }

    /// Checks that these were the questions, in this order.
    pub(crate) fn was_asked(&self, wanted: &[&str]) -> Result<()> {
        let asked = self.asked();
        ensure!(asked == wanted, "asked {asked:?}, wanted {wanted:?}");
        Ok(())
    }

    /// Notes a question; gives how often it was put.
    fn note(&self, question: &str) -> usize {
        let Ok(mut asked) = self.asked.lock() else {
            return 0;
        };
        asked.push(question.to_owned());
        asked.iter().filter(|it| *it == question).count()
    }

    pub(crate) async fn elicit(
        &self,
        question: &ElicitRequestParams,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams {
            message,
            requested_schema,
            ..
        } = question
        else {
            return Err(ErrorData::invalid_params("not a form", None));
        };
        let times = self.note(message);
        if let Some(proxy) = &self.breaks {
            proxy.cut();
            proxy.mend();
            // The client has to notice before it answers.
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let field = requested_schema.properties.keys().next();
        let accept = |answer: Value| {
            let content = json!({ field.map_or("", String::as_str): answer });
            ElicitResult::new(ElicitationAction::Accept).with_content(content)
        };
        Ok(match message.as_str() {
            "What is your name?" => accept(json!(NAME)),
            "Where do you live, Ada Lovelace?" => accept(json!(TOWN)),
            "What do you do?" => accept(json!(TRADE)),
            "What is it about?" => accept(json!("looms")),
            // The first answer does not fit.
            "Which colour do you like?" if times == 1 => accept(json!(7)),
            "Which colour do you like?" => accept(json!("mauve")),
            "Send 1?" => accept(json!(true)),
            "Send 2?" => ElicitResult::new(ElicitationAction::Decline),
            "Send 3?" => ElicitResult::new(ElicitationAction::Cancel),
            "Send 4?" => accept(json!(false)),
            _ => return Err(ErrorData::internal_error("what a question", None)),
        })
    }

    pub(crate) fn sample(
        &self,
        question: &CreateMessageRequestParams,
    ) -> Result<CreateMessageResult, ErrorData> {
        self.note("sampling");
        let content = question.messages.first().and_then(|it| it.content.first());
        let text = content.and_then(|it| it.as_text());
        let text = text.ok_or_else(|| ErrorData::invalid_params("no text", None))?;
        let said = SamplingMessage::assistant_text(format!("heard: {}", text.text));
        Ok(CreateMessageResult::new(said, "parrot".to_owned()))
    }

    pub(crate) fn roots(&self) -> ListRootsResult {
        self.note("roots");
        ListRootsResult::new(vec![Root::new("file:///one"), Root::new("file:///two")])
    }
}

pub(crate) const NAME: &str = "Ada Lovelace";
pub(crate) const TOWN: &str = "London Town";
pub(crate) const TRADE: &str = "counting machines";
