//! Questions on their way, and what a handler gets for them.

use std::{
    collections::BTreeMap,
    future::{Future, IntoFuture},
    pin::Pin,
};

use mcp_types::{
    CreateMessageRequestParams, CreateMessageResult, ElicitAction, ElicitRequestFormParams,
    ElicitRequestUrlParams, ElicitResult, InputRequest, InputResponse, JsonObject,
    ListRootsRequestParams, ListRootsResult, Root,
};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::Question;
use crate::{Exchange, Form, HandlerError, form};

type Asking<T> = Pin<Box<dyn Future<Output = Result<T, HandlerError>> + Send>>;

/// What a person made of a question.
///
/// Saying no is an answer, and no error.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a person does one of three things")]
pub enum Elicited<T> {
    /// Filled in the form, or agreed.
    Accepted(T),
    /// Said no.
    Declined,
    /// Went away without a choice.
    Cancelled,
}

impl<T> Elicited<T> {
    /// What was filled in, if anything.
    pub fn accepted(self) -> Option<T> {
        match self {
            Self::Accepted(content) => Some(content),
            Self::Declined | Self::Cancelled => None,
        }
    }
}

/// A form to be filled in; `.await` asks.
#[derive(Debug)]
#[must_use = "nothing is asked before `.await`"]
pub struct Elicit<T> {
    pub(super) exchange: Exchange,
    pub(super) key: String,
    pub(super) message: String,
    pub(super) form: Option<Form<T>>,
    pub(super) default: Option<Elicited<T>>,
}

impl<T> Elicit<T> {
    /// Asks with a form that was made at run time, instead of the one that `T` describes.
    pub fn form(mut self, form: Form<T>) -> Self {
        self.form = Some(form);
        self
    }

    /// What is taken for the answer where the client cannot be asked.
    pub fn default_to(mut self, answer: Elicited<T>) -> Self {
        self.default = Some(answer);
        self
    }
}

impl<T: JsonSchema + DeserializeOwned + Send + 'static> IntoFuture for Elicit<T> {
    type Output = Result<Elicited<T>, HandlerError>;
    type IntoFuture = Asking<Elicited<T>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let form = match self.form {
                Some(form) => form,
                None => Form::<T>::of()?,
            };
            let question = form.question(self.message);
            let read = |response: &InputResponse| {
                elicited(response, |content| {
                    form.read(content).map_err(|it| it.to_string())
                })
            };
            let answer = self.exchange.put(&self.key, question, read);
            or_default(answer.await, self.default)
        })
    }
}

/// A URL to be visited; `.await` asks.
#[derive(Debug)]
#[must_use = "nothing is asked before `.await`"]
pub struct ElicitUrl {
    pub(super) exchange: Exchange,
    pub(super) key: String,
    pub(super) params: ElicitRequestUrlParams,
    pub(super) default: Option<Elicited<()>>,
}

impl ElicitUrl {
    /// What is taken for the answer where the client cannot be asked.
    pub fn default_to(mut self, answer: Elicited<()>) -> Self {
        self.default = Some(answer);
        self
    }
}

impl IntoFuture for ElicitUrl {
    type Output = Result<Elicited<()>, HandlerError>;
    type IntoFuture = Asking<Elicited<()>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let read = |response: &InputResponse| elicited(response, |_| Ok(()));
            let answer = self
                .exchange
                .put(&self.key, Question::Made(self.params.into()), read);
            or_default(answer.await, self.default)
        })
    }
}

/// A question to the model; `.await` asks.
#[derive(Debug)]
#[must_use = "nothing is asked before `.await`"]
pub struct Sample {
    pub(super) exchange: Exchange,
    pub(super) key: String,
    pub(super) params: CreateMessageRequestParams,
    pub(super) default: Option<CreateMessageResult>,
}

impl Sample {
    /// What is taken for the answer where the client cannot be asked.
    pub fn default_to(mut self, answer: CreateMessageResult) -> Self {
        self.default = Some(answer);
        self
    }
}

impl IntoFuture for Sample {
    type Output = Result<CreateMessageResult, HandlerError>;
    type IntoFuture = Asking<CreateMessageResult>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let read =
                |response: &InputResponse| response.create_message().map_err(|it| it.to_string());
            let answer = self
                .exchange
                .put(&self.key, Question::Made(self.params.into()), read);
            or_default(answer.await, self.default)
        })
    }
}

/// The question for the client's roots; `.await` asks.
#[derive(Debug)]
#[must_use = "nothing is asked before `.await`"]
pub struct Roots {
    pub(super) exchange: Exchange,
    pub(super) key: String,
    pub(super) default: Option<Vec<Root>>,
}

impl Roots {
    /// What is taken for the answer where the client cannot be asked.
    pub fn default_to(mut self, roots: Vec<Root>) -> Self {
        self.default = Some(roots);
        self
    }
}

impl IntoFuture for Roots {
    type Output = Result<Vec<Root>, HandlerError>;
    type IntoFuture = Asking<Vec<Root>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let read = |response: &InputResponse| {
                let read: serde_json::Result<ListRootsResult> = response.list_roots();
                read.map(|it| it.roots).map_err(|it| it.to_string())
            };
            let question = Question::Made(ListRootsRequestParams::new().into());
            let answer = self.exchange.put(&self.key, question, read);
            or_default(answer.await, self.default)
        })
    }
}

/// Several questions of one round; `.await` asks.
#[derive(Debug)]
#[must_use = "nothing is asked before `.await`"]
pub struct Ask {
    pub(super) exchange: Exchange,
    pub(super) questions: Vec<(String, InputRequest)>,
}

impl Ask {
    /// One more question.
    pub fn question(mut self, key: impl Into<String>, question: impl Into<InputRequest>) -> Self {
        self.questions.push((key.into(), question.into()));
        self
    }

    /// One more question: a form with the fields of `T`.
    ///
    /// # Errors
    ///
    /// `T` is no form.
    pub fn form<T: JsonSchema + DeserializeOwned + 'static>(
        self,
        key: impl Into<String>,
        message: impl Into<String>,
    ) -> Result<Self, HandlerError> {
        let schema = form::form_of::<T>()?;
        let params = ElicitRequestFormParams::new(message, schema);
        Ok(self.question(key, params))
    }
}

impl IntoFuture for Ask {
    type Output = Result<Answers, HandlerError>;
    type IntoFuture = Asking<Answers>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let responses = self.exchange.put_all(self.questions).await?;
            Ok(Answers { responses })
        })
    }
}

/// The answers to several questions, by key.
#[derive(Debug, Clone, PartialEq)]
pub struct Answers {
    responses: BTreeMap<String, InputResponse>,
}

impl Answers {
    /// The answer to the question of that key, as it came.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&InputResponse> {
        self.responses.get(key)
    }

    /// The answer to the form of that key.
    ///
    /// # Errors
    ///
    /// The answer does not fit the form; there is no such question.
    pub fn form<T: JsonSchema + DeserializeOwned + 'static>(
        &self,
        key: &str,
    ) -> Result<Elicited<T>, HandlerError> {
        let schema = form::form_of::<T>()?;
        let response = self.get(key);
        let response = response
            .ok_or_else(|| HandlerError::internal(format!("nothing is asked as {key:?}")))?;
        let read = elicited(response, |content| {
            form::read(&schema, content).map_err(|it| it.to_string())
        });
        read.map_err(|problem| {
            HandlerError::tell(format!("the answer to {key:?} does not fit: {problem}"))
        })
    }
}

/// Reads what a person made of a question.
fn elicited<T>(
    response: &InputResponse,
    read: impl FnOnce(Option<JsonObject>) -> Result<T, String>,
) -> Result<Elicited<T>, String> {
    let result: ElicitResult = response.elicit().map_err(|it| it.to_string())?;
    Ok(match result.action {
        ElicitAction::Accept => Elicited::Accepted(read(result.content)?),
        ElicitAction::Decline => Elicited::Declined,
        ElicitAction::Cancel => Elicited::Cancelled,
    })
}

/// The default where the client cannot be asked.
fn or_default<T>(answer: Result<T, HandlerError>, default: Option<T>) -> Result<T, HandlerError> {
    match (answer, default) {
        (Err(HandlerError::MissingCapability(_)), Some(default)) => Ok(default),
        (answer, _) => answer,
    }
}
