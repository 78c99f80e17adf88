//! Putting a question: in the result, or on the call's own stream.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::future::try_join_all;
use mcp_codec::{InputStyle, adapter_set, question};
use mcp_types::{
    CancelledNotificationParams, ElicitAction, ElicitRequestFormParams, ElicitRequestParams,
    ElicitSchema, InputRequest, InputResponse, JsonObject, RawJson, RequestId, ServerNotification,
};
use rand::random;

use super::{Asking, Digest, Known};
use crate::{Exchange, HandlerError, form};

/// A question, before it is known whether it has to be asked.
pub(crate) enum Question {
    Made(InputRequest),
    /// A form, which is written out only where it is asked.
    Form {
        message: String,
        schema: Arc<ElicitSchema>,
        digest: Digest,
    },
}

impl Question {
    fn digest(&self) -> u64 {
        match self {
            Self::Made(question) => Digest::of(question).number(),
            Self::Form { digest, .. } => digest.number(),
        }
    }

    fn make(self) -> InputRequest {
        match self {
            Self::Made(question) => question,
            Self::Form {
                message, schema, ..
            } => ElicitRequestFormParams::new(message, schema).into(),
        }
    }

    /// Whether a response has the shape that it asks for.
    fn fits(&self, response: &InputResponse) -> Result<(), String> {
        match self {
            Self::Made(question) => fits(question, response),
            Self::Form { schema, .. } => fits_form(schema, response),
        }
    }
}

impl Exchange {
    /// Puts one question and reads its answer; what does not fit is asked again.
    pub(super) async fn put<T>(
        &self,
        key: &str,
        question: Question,
        read: impl Fn(&InputResponse) -> Result<T, String>,
    ) -> Result<T, HandlerError> {
        self.asking().use_key(key)?;
        let read = |_: &Question, response: &InputResponse| read(response);
        self.read(key, question, read).await
    }

    /// A response that fits its question, whatever is made of it.
    async fn fitting(
        &self,
        key: &str,
        question: InputRequest,
    ) -> Result<InputResponse, HandlerError> {
        let fits = |question: &Question, response: &InputResponse| {
            question.fits(response).map(|()| response.clone())
        };
        self.read(key, Question::Made(question), fits).await
    }

    /// The answer that is known already, or a way to get it.
    async fn read<T>(
        &self,
        key: &str,
        mut question: Question,
        read: impl Fn(&Question, &InputResponse) -> Result<T, String>,
    ) -> Result<T, HandlerError> {
        let (asking, digest) = (self.asking(), question.digest());
        for _ in 0..super::MAX_ROUNDS {
            let response = match asking.known(key, digest)? {
                Known::Answered(response) => response,
                Known::Open => {
                    let made = question.make();
                    let asked = self.allowed(&made)?;
                    if self.style(&made) != InputStyle::OnStream {
                        // The handler leaves, and the question goes with it.
                        asking.pend(key, asked.unwrap_or(made), digest);
                        return Err(HandlerError::Suspended);
                    }
                    let asked = asked.unwrap_or_else(|| made.clone());
                    question = Question::Made(made);
                    // In a box: those who ask by leaving do without its room.
                    let response = Box::pin(self.push(asking, asked)).await?;
                    asking.record(key, digest, response.clone());
                    response
                }
            };
            match read(&question, &response.into()) {
                Ok(answer) => return Ok(answer),
                Err(problem) => {
                    tracing::info!(
                        key,
                        size = problem.len(),
                        "an answer does not fit, and is asked for again"
                    );
                    asking.forget(key);
                }
            }
        }
        Err(HandlerError::tell(format!("no answer to {key:?} fits")))
    }

    /// Puts several questions in one round.
    pub(super) async fn put_all(
        &self,
        questions: Vec<(String, InputRequest)>,
    ) -> Result<BTreeMap<String, InputResponse>, HandlerError> {
        let asking = self.asking();
        for (key, _) in &questions {
            asking.use_key(key)?;
        }
        let mut responses = BTreeMap::new();
        let mut pushed = Vec::new();
        let mut left = None;
        for (key, question) in questions {
            if self.style(&question) == InputStyle::OnStream {
                pushed.push((key, question));
                continue;
            }
            // All of them go into one result.
            match self.fitting(&key, question).await {
                Ok(response) => drop(responses.insert(key, response)),
                Err(error @ HandlerError::Suspended) => left = Some(error),
                Err(error) => return Err(error),
            }
        }
        if let Some(left) = left {
            return Err(left);
        }
        let pushed = pushed.into_iter().map(|(key, question)| async move {
            let response = self.fitting(&key, question).await?;
            Ok::<_, HandlerError>((key, response))
        });
        responses.extend(try_join_all(pushed).await?);
        Ok(responses)
    }

    fn style(&self, question: &InputRequest) -> InputStyle {
        self.revision().input_style_of(question)
    }

    /// Whether the client may be asked; and the question as it may be put, where that is less than
    /// the handler has put into it.
    fn allowed(&self, question: &InputRequest) -> Result<Option<InputRequest>, HandlerError> {
        let (style, capabilities) = (self.style(question), self.client_capabilities());
        // A revision without forms has no capability for them either.
        let declared =
            style == InputStyle::InArguments || question::declares(&capabilities, question);
        let reaches = style == InputStyle::OnStream || self.may_suspend();
        if !declared || !reaches {
            return Err(missing(question));
        }
        let InputRequest::CreateMessage(_) = question else {
            return Ok(None);
        };
        let mut asked = question.clone();
        question::without_undeclared_context(self.revision(), &capabilities, &mut asked);
        Ok(Some(asked))
    }

    /// Sends the question on the call's stream, and waits for the client's response.
    async fn push(
        &self,
        asking: &Asking,
        mut question: InputRequest,
    ) -> Result<RawJson, HandlerError> {
        let id = RequestId::from(format!("ask-{:016x}", random::<u64>()));
        mint(&mut question);
        let required = question::required_capability(&question);
        let message = adapter_set::ask(self.revision(), &id, question);
        let Some(message) = message.filter(|_| self.hears_answers()) else {
            return Err(HandlerError::MissingCapability(required));
        };
        let waiting = Waiting { asking, id: &id };
        let answer = async {
            self.until_heard().await;
            let answer = asking.wait_for(id.clone());
            self.say(message).await;
            answer.await
        };
        let limit = self.registry().config().asking.timeout;
        let body = match tokio::time::timeout(limit, answer).await {
            Ok(Ok(body)) => body,
            Ok(Err(_)) => return Err(HandlerError::tell("the client was not heard")),
            Err(_) => {
                self.withdraw(&id).await;
                return Err(unanswered(limit));
            }
        };
        drop(waiting);
        response(&body)
    }

    /// Tells the client that a question is not to be answered any more.
    async fn withdraw(&self, id: &RequestId) {
        let params = CancelledNotificationParams::new()
            .request_id(id.clone())
            .reason("it was not answered in time");
        let cancelled = ServerNotification::Cancelled(params);
        if let Some(message) = self.revision().notify(&cancelled) {
            self.say(message).await;
        }
    }
}

/// A question on the stream; dropped, nobody waits for its answer.
struct Waiting<'a> {
    asking: &'a Asking,
    id: &'a RequestId,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.asking.give_up(self.id);
    }
}

/// Whether a response has the shape that its question asks for.
fn fits(question: &InputRequest, response: &InputResponse) -> Result<(), String> {
    let problem = |error: serde_json::Error| error.to_string();
    match question {
        InputRequest::CreateMessage(_) => response.create_message().map(drop).map_err(problem),
        InputRequest::ListRoots(_) => response.list_roots().map(drop).map_err(problem),
        InputRequest::Elicit(params) => {
            if let ElicitRequestParams::Form(form) = params {
                return fits_form(&form.requested_schema, response);
            }
            response.elicit().map(drop).map_err(problem)
        }
    }
}

fn fits_form(schema: &ElicitSchema, response: &InputResponse) -> Result<(), String> {
    let answer = response.elicit().map_err(|error| error.to_string())?;
    if answer.action != ElicitAction::Accept {
        return Ok(());
    }
    let read = form::read::<JsonObject>(schema, answer.content);
    read.map(drop).map_err(|it| it.to_string())
}

fn response(body: &Bytes) -> Result<RawJson, HandlerError> {
    match question::answer(body) {
        Some(Ok(response)) => Ok(response),
        Some(Err(error)) => {
            tracing::info!(code = error.code, "the client refused a question");
            let text = format!("the client refused to answer (code {})", error.code);
            Err(HandlerError::tell(text))
        }
        None => Err(HandlerError::tell("the client's answer makes no sense")),
    }
}

fn unanswered(limit: Duration) -> HandlerError {
    HandlerError::tell(format!("the client did not answer within {limit:?}"))
}

fn missing(question: &InputRequest) -> HandlerError {
    HandlerError::MissingCapability(question::required_capability(question))
}

/// One revision has an id in the question for a URL.
fn mint(question: &mut InputRequest) {
    if let InputRequest::Elicit(ElicitRequestParams::Url(params)) = question {
        let id = || format!("url-{:032x}", random::<u128>());
        params.elicitation_id.get_or_insert_with(id);
    }
}
