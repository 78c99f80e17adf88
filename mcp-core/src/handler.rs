//! What a handler is: a plain `async fn`, and what it may take.

use std::{
    any::{Any, TypeId, type_name},
    collections::HashMap,
    future::Future,
    sync::Arc,
};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::{Exchange, HandlerError};

/// What a handler takes first: one struct, read from the arguments of the call.
///
/// Implemented for every type that is `Deserialize + JsonSchema`; `()` takes no arguments.
pub trait Arguments: DeserializeOwned + JsonSchema + Send + 'static {}

impl<T: DeserializeOwned + JsonSchema + Send + 'static> Arguments for T {}

/// A plain `async fn` (or closure) that serves a tool, a resource or a prompt.
///
/// | Shape | Takes |
/// |---|---|
/// | `async fn()` | nothing |
/// | `async fn(A)` | arguments |
/// | `async fn(A, X)` | arguments and one thing of the exchange |
/// | `async fn(A, X, Y)` | arguments and two things of the exchange |
/// | `async fn(A, X, Y, Z)` | arguments and three things of the exchange |
///
/// `A` is [`Arguments`]; `X`, `Y` and `Z` are [`FromExchange`]: [`Exchange`], [`State`],
/// [`Principal`](crate::Principal).
/// The future has to be `Send`. What the handler may return depends on what it serves:
/// [`IntoToolResult`](crate::IntoToolResult), [`IntoResource`](crate::IntoResource),
/// [`IntoPromptResult`](crate::IntoPromptResult).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a handler",
    label = "not a handler",
    note = "a handler is an `async fn` that takes one `Deserialize + JsonSchema` struct, then up \
            to three of `Exchange`, `State<T>` and `Principal`, in this order",
    note = "its future has to be `Send`"
)]
pub trait Handler<M>: Send + Sync + 'static {
    /// What it takes first.
    type Arguments: Arguments;
    /// What it returns.
    type Output: Send + 'static;

    /// The state it takes and `states` has not.
    fn missing_state(states: &States) -> Option<&'static str>;

    /// Whether it takes the [`Principal`](crate::Principal) that calls.
    #[must_use]
    fn needs_principal() -> bool {
        false
    }

    /// Calls it.
    fn call(
        &self,
        arguments: Self::Arguments,
        exchange: Exchange,
    ) -> impl Future<Output = Result<Self::Output, HandlerError>> + Send + 'static;
}

impl<F, Fut> Handler<()> for F
where
    F: Fn() -> Fut + Send + Sync + 'static,
    Fut: Future + Send + 'static,
    Fut::Output: Send + 'static,
{
    type Arguments = ();
    type Output = Fut::Output;

    fn missing_state(_states: &States) -> Option<&'static str> {
        None
    }

    fn call(
        &self,
        (): (),
        _exchange: Exchange,
    ) -> impl Future<Output = Result<Self::Output, HandlerError>> + Send + 'static {
        let future = self();
        async move { Ok(future.await) }
    }
}

macro_rules! handlers {
    ($($marker:ident: [$($part:ident $name:ident),*];)*) => {$(
        impl<F, Fut, A, $($part),*> Handler<(A, $($part,)*)> for F
        where
            F: Fn(A, $($part),*) -> Fut + Send + Sync + 'static,
            Fut: Future + Send + 'static,
            Fut::Output: Send + 'static,
            A: Arguments,
            $($part: FromExchange,)*
        {
            type Arguments = A;
            type Output = Fut::Output;

            fn missing_state(_states: &States) -> Option<&'static str> {
                None$(.or_else(|| $part::missing_state(_states)))*
            }

            fn needs_principal() -> bool {
                false$( || $part::needs_principal())*
            }

            fn call(
                &self,
                arguments: A,
                _exchange: Exchange,
            ) -> impl Future<Output = Result<Self::Output, HandlerError>> + Send + 'static {
                let start = || Ok(self(arguments, $($part::from_exchange(&_exchange)?),*));
                let future: Result<Fut, HandlerError> = start();
                async move { Ok(future?.await) }
            }
        }
    )*};
}

handlers! {
    one: [];
    two: [X x];
    three: [X x, Y y];
    four: [X x, Y y, Z z];
}

/// Something a handler takes besides its arguments.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be taken from an exchange",
    note = "after its arguments a handler takes `Exchange`, `State<T>` or `Principal`"
)]
pub trait FromExchange: Sized + Send + 'static {
    /// The state it needs and `states` has not.
    #[must_use]
    fn missing_state(states: &States) -> Option<&'static str> {
        let _ = states;
        None
    }

    /// Whether only somebody who has logged in can have it.
    #[must_use]
    fn needs_principal() -> bool {
        false
    }

    /// Takes it.
    ///
    /// # Errors
    ///
    /// Whatever the call is to be answered with instead.
    fn from_exchange(exchange: &Exchange) -> Result<Self, HandlerError>;
}

impl FromExchange for Exchange {
    fn from_exchange(exchange: &Exchange) -> Result<Self, HandlerError> {
        Ok(exchange.clone())
    }
}

/// The application's own state, as given to `Registry::builder(…).state(…)`.
///
/// The value is cloned for each call: give an `Arc`, a pool, a handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "it is taken apart in a handler's arguments"
)]
pub struct State<T>(pub T);

impl<T: Clone + Send + Sync + 'static> FromExchange for State<T> {
    fn missing_state(states: &States) -> Option<&'static str> {
        states.get::<T>().is_none().then(type_name::<T>)
    }

    fn from_exchange(exchange: &Exchange) -> Result<Self, HandlerError> {
        let state = exchange.state::<T>();
        state
            .map(State)
            .ok_or_else(|| HandlerError::internal("a state is missing"))
    }
}

/// The states of an application, one for each type.
#[derive(Clone, Default)]
pub struct States {
    by_type: HashMap<TypeId, Arc<dyn Any + Send + Sync>>,
}

impl States {
    pub(crate) fn insert<T: Send + Sync + 'static>(&mut self, state: T) {
        self.by_type.insert(TypeId::of::<T>(), Arc::new(state));
    }

    pub(crate) fn get<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.by_type.get(&TypeId::of::<T>())?.downcast_ref()
    }
}

impl std::fmt::Debug for States {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("States")
            .field("len", &self.by_type.len())
            .finish()
    }
}
