//! What a handler writes to ask, and what it gets.

use std::{
    collections::BTreeMap,
    future::{Future, IntoFuture},
    pin::Pin,
};

use mcp_types::{
    CreateMessageRequestParams, CreateMessageResult, ElicitAction, ElicitRequestFormParams,
    ElicitRequestUrlParams, ElicitResult, InputRequest, InputResponse, ListRootsRequestParams,
    ListRootsResult, Root,
};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};

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

impl Exchange {
    /// Asks the person at the client to fill in a form: the fields of `T`.
    ///
    /// One line in a handler serves every revision. Where a question is part of the result
    /// (2026-07-28, and forms before 2025-06-18), `?` leaves the handler, and it runs again from
    /// the top with the answer: `key` tells one question from another, and what must not happen
    /// twice goes into [`Exchange::once`].
    ///
    /// ```
    /// use mcp_core::{Elicited, Exchange, HandlerError};
    /// use schemars::JsonSchema;
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Confirm {
    ///     /// Go on with it?
    ///     sure: bool,
    /// }
    ///
    /// async fn delete((): (), exchange: Exchange) -> Result<&'static str, HandlerError> {
    ///     match exchange.elicit::<Confirm>("confirm", "This cannot be undone.").await? {
    ///         Elicited::Accepted(Confirm { sure: true }) => Ok("deleted"),
    ///         _ => Ok("nothing was deleted"),
    ///     }
    /// }
    /// # let _ = mcp_core::tool("delete", delete);
    /// ```
    ///
    /// # Errors
    ///
    /// The client cannot be asked, and no [default](Elicit::default_to) is given; it did not answer
    /// in time, or with an error; `T` is no form. And leaving to ask: let it through.
    pub fn elicit<T: JsonSchema + DeserializeOwned + Send + 'static>(
        &self,
        key: impl Into<String>,
        message: impl Into<String>,
    ) -> Elicit<T> {
        Elicit {
            exchange: self.clone(),
            key: key.into(),
            message: message.into(),
            form: None,
            default: None,
        }
    }

    /// Asks the person at the client to visit a URL: to log in or to pay somewhere else.
    ///
    /// Accepting means that they agreed to go there, and not what came of it.
    ///
    /// # Errors
    ///
    /// As [`Exchange::elicit`].
    pub fn elicit_url(
        &self,
        key: impl Into<String>,
        message: impl Into<String>,
        url: impl Into<String>,
    ) -> ElicitUrl {
        ElicitUrl {
            exchange: self.clone(),
            key: key.into(),
            params: ElicitRequestUrlParams::new(message, url),
            default: None,
        }
    }

    /// Asks the model at the client.
    ///
    /// # Errors
    ///
    /// As [`Exchange::elicit`].
    pub fn sample(&self, key: impl Into<String>, params: CreateMessageRequestParams) -> Sample {
        Sample {
            exchange: self.clone(),
            key: key.into(),
            params,
            default: None,
        }
    }

    /// Asks which folders the client works in.
    ///
    /// # Errors
    ///
    /// As [`Exchange::elicit`].
    pub fn roots(&self, key: impl Into<String>) -> Roots {
        Roots {
            exchange: self.clone(),
            key: key.into(),
            default: None,
        }
    }

    /// Asks several questions in one round, by key, whatever they are.
    ///
    /// ```
    /// # use mcp_core::{Exchange, HandlerError, types::ListRootsRequestParams};
    /// # async fn handler(exchange: Exchange) -> Result<(), HandlerError> {
    /// let answers = exchange.ask().question("roots", ListRootsRequestParams::new()).await?;
    /// let roots = answers.get("roots").and_then(|it| it.list_roots().ok());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Exchange::elicit`].
    pub fn ask(&self) -> Ask {
        Ask {
            exchange: self.clone(),
            questions: Vec::new(),
        }
    }

    /// Runs a step once for all rounds of a call: when the handler runs again, on whichever
    /// worker, it gets the result of the first time.
    ///
    /// ```
    /// # use mcp_core::{Exchange, HandlerError};
    /// # async fn reserve() -> Result<u32, HandlerError> { Ok(7) }
    /// # async fn handler(exchange: Exchange) -> Result<(), HandlerError> {
    /// let number: u32 = exchange.once("reserve", reserve()).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// A step that fails has not run: it runs again in the next round.
    ///
    /// # Errors
    ///
    /// What the step failed with; a `key` that this run has used already; a result that is no JSON.
    pub async fn once<T, F>(&self, key: &str, step: F) -> Result<T, HandlerError>
    where
        T: Serialize + DeserializeOwned,
        F: Future<Output = Result<T, HandlerError>> + Send,
    {
        let asking = self.asking();
        asking.use_key(key)?;
        if let Some(done) = asking.once(key) {
            return Ok(done.to()?);
        }
        let result = step.await?;
        asking.done(key, mcp_types::RawJson::from_value(&result)?);
        Ok(result)
    }

    /// Keeps a value for the next rounds of this call, instead of the one that was kept before.
    ///
    /// # Errors
    ///
    /// A value that is no JSON.
    pub fn remember(&self, value: &impl Serialize) -> Result<(), HandlerError> {
        let value = mcp_types::RawJson::from_value(value)?;
        self.asking().remember(value);
        Ok(())
    }

    /// The value that an earlier round of this call has kept.
    ///
    /// # Errors
    ///
    /// The value is not of that type.
    pub fn recall<T: DeserializeOwned>(&self) -> Result<Option<T>, HandlerError> {
        let value = self.asking().memory();
        Ok(value.map(|value| value.to()).transpose()?)
    }
}

/// A form to be filled in; `.await` asks.
#[derive(Debug)]
#[must_use = "nothing is asked before `.await`"]
pub struct Elicit<T> {
    exchange: Exchange,
    key: String,
    message: String,
    form: Option<Form<T>>,
    default: Option<Elicited<T>>,
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
            let question = ElicitRequestFormParams::new(self.message, form.schema().clone());
            let read = |response: &InputResponse| {
                elicited(response, |content| {
                    form.read(content).map_err(|it| it.to_string())
                })
            };
            let answer = self.exchange.put(&self.key, question.into(), read);
            or_default(answer.await, self.default)
        })
    }
}

/// A URL to be visited; `.await` asks.
#[derive(Debug)]
#[must_use = "nothing is asked before `.await`"]
pub struct ElicitUrl {
    exchange: Exchange,
    key: String,
    params: ElicitRequestUrlParams,
    default: Option<Elicited<()>>,
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
            let answer = self.exchange.put(&self.key, self.params.into(), read);
            or_default(answer.await, self.default)
        })
    }
}

/// A question to the model; `.await` asks.
#[derive(Debug)]
#[must_use = "nothing is asked before `.await`"]
pub struct Sample {
    exchange: Exchange,
    key: String,
    params: CreateMessageRequestParams,
    default: Option<CreateMessageResult>,
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
            let answer = self.exchange.put(&self.key, self.params.into(), read);
            or_default(answer.await, self.default)
        })
    }
}

/// The question for the client's roots; `.await` asks.
#[derive(Debug)]
#[must_use = "nothing is asked before `.await`"]
pub struct Roots {
    exchange: Exchange,
    key: String,
    default: Option<Vec<Root>>,
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
            let question = ListRootsRequestParams::new().into();
            let answer = self.exchange.put(&self.key, question, read);
            or_default(answer.await, self.default)
        })
    }
}

/// Several questions of one round; `.await` asks.
#[derive(Debug)]
#[must_use = "nothing is asked before `.await`"]
pub struct Ask {
    exchange: Exchange,
    questions: Vec<(String, InputRequest)>,
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
        let params = ElicitRequestFormParams::new(message, (*schema).clone());
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
    read: impl FnOnce(Option<&mcp_types::JsonObject>) -> Result<T, String>,
) -> Result<Elicited<T>, String> {
    let result: ElicitResult = response.elicit().map_err(|it| it.to_string())?;
    Ok(match result.action {
        ElicitAction::Accept => Elicited::Accepted(read(result.content.as_ref())?),
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
