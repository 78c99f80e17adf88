//! What a handler writes to ask.

use std::future::Future;

use mcp_types::{CreateMessageRequestParams, ElicitRequestUrlParams, RawJson};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};

use super::{Ask, Elicit, ElicitUrl, Roots, Sample};
use crate::{Exchange, HandlerError};

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
        asking.done(key, RawJson::from_value(&result)?);
        Ok(result)
    }

    /// Keeps a value for the next rounds of this call, instead of the one that was kept before.
    ///
    /// # Errors
    ///
    /// A value that is no JSON.
    pub fn remember(&self, value: &impl Serialize) -> Result<(), HandlerError> {
        let value = RawJson::from_value(value)?;
        self.asking().remember(value);
        Ok(())
    }

    /// The value that an earlier round of this call has kept.
    ///
    /// # Errors
    ///
    /// The value is not of that type.
    pub fn recall<T: DeserializeOwned>(&self) -> Result<Option<T>, HandlerError> {
        Ok(self.asking().recall()?)
    }
}
