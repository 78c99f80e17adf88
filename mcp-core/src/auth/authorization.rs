//! The door: policies in order, what everybody needs, and how somebody is turned away.

use std::{fmt, sync::Arc, time::SystemTime};

use mcp_codec::{Failure, FailureKind, HeaderValue, Headers};

use super::{
    AUTHORIZATION, AuthError, AuthPolicy, Challenge, Metadata, Problem, ProtectedResource, Scopes,
    usable,
};
use crate::Principal;

/// Who may call an endpoint. Cheap to clone.
#[derive(Clone)]
pub struct Authorization {
    inner: Arc<Inner>,
}

struct Inner {
    policies: Vec<Box<dyn AuthPolicy>>,
    anonymous: bool,
    required: Scopes,
    implies: Implies,
    namespace: NamespaceOf,
    permitted_only: bool,
    metadata: Option<Metadata>,
}

type Implies = Box<dyn Fn(&str, &str) -> bool + Send + Sync>;
type NamespaceOf = Box<dyn Fn(&Principal) -> String + Send + Sync>;

/// How somebody is turned away.
pub(crate) struct Denied {
    pub(crate) failure: Failure,
    pub(crate) challenges: Vec<Box<str>>,
}

impl Authorization {
    /// Nobody may call, as long as no policy is given.
    pub fn builder() -> AuthorizationBuilder {
        AuthorizationBuilder {
            policies: Vec::new(),
            anonymous: false,
            required: Scopes::none(),
            implies: Box::new(|_, _| false),
            namespace: Box::new(Principal::identity),
            permitted_only: false,
            resource: None,
        }
    }

    /// What those are told who want a token, where the resource was described.
    #[must_use]
    pub fn metadata(&self) -> Option<&Metadata> {
        self.inner.metadata.as_ref()
    }

    /// Whose a request is, by its headers; nobody's, where anybody may call.
    ///
    /// `now` is the time of day.
    pub(crate) async fn admit(
        &self,
        headers: &dyn Headers,
        now: SystemTime,
    ) -> Result<Option<Arc<Principal>>, Denied> {
        let mut refused = None;
        for policy in &self.inner.policies {
            match policy.authenticate(headers).await {
                Ok(None) => {}
                Ok(Some(principal)) if principal.expires.is_some_and(|at| at <= now) => {
                    refused = Some(graver(refused, AuthError::invalid("they have expired")));
                }
                Ok(Some(principal)) => return self.enter(principal).map(Some),
                // Another policy may know them.
                Err(error) => refused = Some(graver(refused, error)),
            }
        }
        match refused {
            Some(error) => Err(self.refuse(&error)),
            None if self.inner.anonymous && headers.value(AUTHORIZATION) == HeaderValue::Absent => {
                Ok(None)
            }
            None => Err(self.unauthorized(None, &Scopes::none())),
        }
    }

    fn enter(&self, principal: Arc<Principal>) -> Result<Arc<Principal>, Denied> {
        if self.permits(&principal.scopes, &self.inner.required) {
            Ok(principal)
        } else {
            Err(self.forbidden(&Scopes::none()))
        }
    }

    /// Whether what is held covers what is needed.
    pub(crate) fn permits(&self, held: &Scopes, needed: &Scopes) -> bool {
        let implied = |needed| held.iter().any(|held| (self.inner.implies)(held, needed));
        needed
            .iter()
            .all(|needed| held.contains(needed) || implied(needed))
    }

    /// The namespace of whatever belongs to a principal.
    pub(crate) fn namespace(&self, principal: &Principal) -> String {
        (self.inner.namespace)(principal)
    }

    /// Whether listings have only what the caller may use.
    pub(crate) fn lists_permitted_only(&self) -> bool {
        self.inner.permitted_only
    }

    /// Turns away somebody who has to log in first.
    pub(crate) fn unauthorized(&self, problem: Option<Problem>, needed: &Scopes) -> Denied {
        let message = problem.map_or("this needs credentials", Problem::description);
        self.deny(FailureKind::Unauthorized, message, problem, needed)
    }

    /// Turns away somebody whose token permits less than is needed.
    pub(crate) fn forbidden(&self, needed: &Scopes) -> Denied {
        let problem = Problem::InsufficientScope;
        let kind = FailureKind::InsufficientScope;
        self.deny(kind, problem.description(), Some(problem), needed)
    }

    fn refuse(&self, error: &AuthError) -> Denied {
        match error {
            AuthError::Malformed(reason) => {
                tracing::info!(%reason, "malformed credentials");
                let problem = Problem::InvalidRequest;
                let kind = FailureKind::InvalidRequest;
                self.deny(kind, problem.description(), Some(problem), &Scopes::none())
            }
            AuthError::Invalid(reason) => {
                tracing::info!(%reason, "credentials were refused");
                self.unauthorized(Some(Problem::InvalidToken), &Scopes::none())
            }
            AuthError::Unavailable(error) => {
                let error = &**error as &dyn std::error::Error;
                tracing::error!(error, "credentials cannot be verified");
                let message = "credentials cannot be verified at the moment";
                Denied {
                    failure: Failure::new(FailureKind::Overloaded, message),
                    challenges: Vec::new(),
                }
            }
        }
    }

    fn deny(
        &self,
        kind: FailureKind,
        message: &'static str,
        problem: Option<Problem>,
        needed: &Scopes,
    ) -> Denied {
        let inner = &self.inner;
        // All at once: whoever comes back with these is let through.
        let scopes = inner.required.union(needed);
        let challenge = Challenge {
            problem,
            scopes: &scopes,
            metadata: inner.metadata.as_ref().map(Metadata::url),
        };
        let challenges = inner.policies.iter();
        let mut challenges: Vec<Box<str>> = challenges
            .filter_map(|policy| policy.challenge(&challenge))
            .map(String::into_boxed_str)
            .collect();
        // Two issuers of tokens are one challenge.
        challenges.dedup();
        Denied {
            failure: Failure::new(kind, message),
            challenges,
        }
    }
}

/// Of two reasons, the one that the client is told: that it is told something wrong is worse than
/// that it is told to wait.
fn graver(first: Option<AuthError>, second: AuthError) -> AuthError {
    match first {
        Some(first @ AuthError::Unavailable(_)) => first,
        Some(first) if !matches!(second, AuthError::Unavailable(_)) => first,
        _ => second,
    }
}

impl fmt::Debug for Authorization {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Authorization")
            .field("policies", &self.inner.policies)
            .field("anonymous", &self.inner.anonymous)
            .field("required", &self.inner.required)
            .field("metadata", &self.inner.metadata)
            .finish_non_exhaustive()
    }
}

/// Collects who may call.
#[must_use = "it says nothing before `build`"]
pub struct AuthorizationBuilder {
    policies: Vec<Box<dyn AuthPolicy>>,
    anonymous: bool,
    required: Scopes,
    implies: Implies,
    namespace: NamespaceOf,
    permitted_only: bool,
    resource: Option<ProtectedResource>,
}

impl AuthorizationBuilder {
    /// Lets those in that the policy knows; policies are asked in order.
    pub fn policy(mut self, policy: impl AuthPolicy + 'static) -> Self {
        self.policies.push(Box::new(policy));
        self
    }

    /// Describes the server to OAuth clients, so that they find out where to log in.
    pub fn resource(mut self, resource: ProtectedResource) -> Self {
        self.resource = Some(resource);
        self
    }

    /// Lets those in as well that show no credentials.
    ///
    /// What needs scopes, or a handler that takes a [`Principal`], still asks them to log in.
    pub fn allow_anonymous(mut self) -> Self {
        self.anonymous = true;
        self
    }

    /// The scopes that every request needs.
    pub fn require(mut self, scopes: impl Into<Scopes>) -> Self {
        self.required = scopes.into();
        self
    }

    /// Says that whoever holds the first scope holds the second one too: `admin` every other,
    /// `files:write` also `files:read`.
    pub fn implies(
        mut self,
        held_implies_needed: impl Fn(&str, &str) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.implies = Box::new(held_implies_needed);
        self
    }

    /// Lists to each caller only what it may use.
    ///
    /// By default everything is listed, so that a client learns of what it can ask permission for.
    pub fn list_permitted_only(mut self) -> Self {
        self.permitted_only = true;
        self
    }

    /// The namespace (tenant) of whatever belongs to a principal: every key of store, hub and state
    /// has it. By default each principal has its own.
    pub fn namespace(mut self, of: impl Fn(&Principal) -> String + Send + Sync + 'static) -> Self {
        self.namespace = Box::new(of);
        self
    }

    /// Checks everything.
    ///
    /// # Errors
    ///
    /// The first thing that cannot work as it was given.
    pub fn build(self) -> Result<Authorization, AuthorizationError> {
        if self.policies.is_empty() {
            return Err(AuthorizationError::NoPolicy);
        }
        usable(&self.required)?;
        let resource = self.resource;
        let metadata = resource.map(|it| it.describe(&self.required)).transpose()?;
        Ok(Authorization {
            inner: Arc::new(Inner {
                policies: self.policies,
                anonymous: self.anonymous,
                required: self.required,
                implies: self.implies,
                namespace: self.namespace,
                permitted_only: self.permitted_only,
                metadata,
            }),
        })
    }
}

impl fmt::Debug for AuthorizationBuilder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("AuthorizationBuilder")
            .field("policies", &self.policies)
            .finish_non_exhaustive()
    }
}

/// What is wrong with an [`Authorization`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthorizationError {
    /// Nobody could get in.
    #[error("no policy lets anybody in: give one with `policy`")]
    NoPolicy,
    /// Clients would not know where to log in.
    #[error("the protected resource names no authorization server")]
    NoAuthorizationServer,
    /// A scope that clients cannot be asked for.
    #[error(
        "{0:?} cannot be asked for: a scope is printable ASCII without spaces, quotes and \
         backslashes, and `offline_access` is between a client and its authorization server"
    )]
    Scope(String),
    /// An address that clients cannot use.
    #[error("{what} {address:?}: {problem}")]
    Address {
        /// Which address.
        what: &'static str,
        /// The address as it was given.
        address: String,
        /// What is wrong with it.
        problem: &'static str,
    },
}
