//! A request as it arrived, and who sent it.

use std::{any::Any, fmt};

use crate::{
    binding::RequestIdentity,
    canonical::canonical,
    error::IdentityError,
    json::{Found, Literal, find},
    text::{escape, transcribe},
};

/// Whether a method carries request state at all; others are not touched.
#[must_use]
pub fn carries_state(method: &str) -> bool {
    CARRIERS.iter().any(|(carrier, _)| *carrier == method)
}

/// One request as it arrived, borrowed: what state is bound to and checked against.
///
/// Every part of it may be attacker controlled, but for the caller and the context.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    method: &'a str,
    body: Body<'a>,
    caller: Option<Caller<'a>>,
    context: Option<&'a (dyn Any + Send + Sync)>,
}

#[derive(Clone, Copy)]
enum Body<'a> {
    Params(Option<&'a str>),
    Parts {
        target: &'a str,
        arguments: Option<&'a str>,
    },
}

impl<'a> Request<'a> {
    /// A request from its method and the raw JSON text of its `params`.
    #[must_use]
    pub const fn new(method: &'a str, params: Option<&'a str>) -> Self {
        Self {
            method,
            body: Body::Params(params),
            caller: None,
            context: None,
        }
    }

    /// A request that has been read already: the name or uri it is aimed at, and the raw JSON text
    /// of its arguments.
    #[must_use]
    pub const fn from_parts(method: &'a str, target: &'a str, arguments: Option<&'a str>) -> Self {
        Self {
            method,
            body: Body::Parts { target, arguments },
            caller: None,
            context: None,
        }
    }

    /// Names the authenticated caller. Without one a request is anonymous.
    #[must_use]
    pub const fn with_caller(mut self, caller: Caller<'a>) -> Self {
        self.caller = Some(caller);
        self
    }

    /// Attaches something of the application's for its own principal binding to look at.
    #[must_use]
    pub const fn with_context(mut self, context: &'a (dyn Any + Send + Sync)) -> Self {
        self.context = Some(context);
        self
    }

    /// The JSON-RPC method.
    #[must_use]
    pub const fn method(&self) -> &'a str {
        self.method
    }

    /// The authenticated caller, if there is one.
    #[must_use]
    pub const fn caller(&self) -> Option<Caller<'a>> {
        self.caller
    }

    /// What the application attached, if it is a `T`.
    #[must_use]
    pub fn context<T: Any>(&self) -> Option<&'a T> {
        self.context?.downcast_ref()
    }

    /// What a token for this request is bound to.
    ///
    /// # Errors
    ///
    /// The method carries no state, or the parameters are not JSON of the right shape.
    pub fn identity(&self) -> Result<RequestIdentity, IdentityError> {
        let Salient {
            method,
            target,
            arguments,
        } = self.salient()?;
        Ok(RequestIdentity::new(method, target, &digested(arguments)?))
    }

    /// The arguments as they are hashed, for a test or a comparison with another implementation.
    ///
    /// # Errors
    ///
    /// As [`identity`](Self::identity).
    pub fn canonical_arguments(&self) -> Result<String, IdentityError> {
        Ok(ascii(digested(self.salient()?.arguments)?))
    }

    /// The raw value of `requestState`, if the parameters have one that is not null.
    pub(crate) fn state_value(&self) -> Result<Option<Found<'a>>, IdentityError> {
        match self.body {
            Body::Params(Some(params)) => Ok(params_members(params, ["requestState"])?
                .into_iter()
                .flatten()
                .find(|it| it.raw != "null")),
            Body::Params(None) | Body::Parts { .. } => Ok(None),
        }
    }

    /// The members that count. An allow-list: a member that a later revision adds cannot join.
    fn salient(&self) -> Result<Salient<'a>, IdentityError> {
        let carrier = CARRIERS.iter().find(|(method, _)| *method == self.method);
        let (method, target_name) = *carrier.ok_or(IdentityError::Method)?;
        let has_arguments = method != "resources/read";
        let (target, arguments) = match self.body {
            Body::Params(None) => (String::new(), None),
            Body::Params(Some(params)) => {
                let [target, arguments] = params_members(params, [target_name, "arguments"])?;
                let target = target.map(escaped_string).transpose()?.unwrap_or_default();
                (target, arguments.map(|it| it.raw))
            }
            Body::Parts { target, arguments } => (escaped(target), arguments),
        };
        Ok(Salient {
            method,
            target,
            arguments: arguments.filter(|_| has_arguments),
        })
    }
}

impl fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = match self.body {
            Body::Params(params) => params.map_or(0, str::len),
            Body::Parts { target, arguments } => target.len() + arguments.map_or(0, str::len),
        };
        f.debug_struct("Request")
            .field("method", &self.method)
            .field("bytes", &size)
            .field("authenticated", &self.caller.is_some())
            .finish_non_exhaustive()
    }
}

/// The members of a request that identify it.
struct Salient<'a> {
    method: &'static str,
    target: String,
    arguments: Option<&'a str>,
}

/// The values of the named members of parameters, which may also be absent or null.
fn params_members<'a, const N: usize>(
    params: &'a str,
    names: [&str; N],
) -> Result<[Option<Found<'a>>; N], IdentityError> {
    match find(params, names)? {
        Some(found) => Ok(found),
        None if params.trim_ascii() == "null" => Ok([None; N]),
        None => Err(IdentityError::Params),
    }
}

fn escaped(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    escape(&mut out, text);
    ascii(out)
}

/// The canonical inside of a value that has to be a string.
fn escaped_string(value: Found<'_>) -> Result<String, IdentityError> {
    let Literal { raw, plain } = value.literal.ok_or(IdentityError::Target)?;
    if plain {
        return Ok(raw.to_owned());
    }
    let mut out = Vec::with_capacity(raw.len());
    transcribe(&mut out, raw);
    Ok(ascii(out))
}

/// What the escaping functions wrote, which is ASCII by construction.
fn ascii(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_default()
}

/// The bytes that are hashed for some arguments: what Python takes for false counts as `{}`.
fn digested(arguments: Option<&str>) -> Result<Vec<u8>, IdentityError> {
    let canonical = arguments.map(canonical).transpose()?.unwrap_or_default();
    Ok(match &canonical[..] {
        b"" | b"null" | b"false" | b"0" | b"0.0" | b"-0.0" | b"\"\"" | b"[]" => b"{}".to_vec(),
        _ => canonical,
    })
}

/// The authenticated caller of a request, as the verifier of its credentials knows it.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Caller<'a> {
    client_id: Option<&'a str>,
    issuer: Option<&'a str>,
    subject: Option<&'a str>,
}

impl<'a> Caller<'a> {
    /// A caller known by the client it uses.
    #[must_use]
    pub const fn new(client_id: &'a str) -> Self {
        Self {
            client_id: Some(client_id),
            issuer: None,
            subject: None,
        }
    }

    /// Adds who vouches for the caller.
    #[must_use]
    pub const fn with_issuer(mut self, issuer: &'a str) -> Self {
        self.issuer = Some(issuer);
        self
    }

    /// Adds which user it is; without one, all users of a client are the same principal.
    #[must_use]
    pub const fn with_subject(mut self, subject: &'a str) -> Self {
        self.subject = Some(subject);
        self
    }

    /// The default principal: the compact JSON array of client id, issuer and subject.
    #[must_use]
    pub fn principal(&self) -> String {
        let mut out = Vec::new();
        for (part, before) in [
            (self.client_id, b'['),
            (self.issuer, b','),
            (self.subject, b','),
        ] {
            out.push(before);
            if let Some(part) = part {
                out.push(b'"');
                escape(&mut out, part);
                out.push(b'"');
            } else {
                out.extend_from_slice(b"null");
            }
        }
        out.push(b']');
        ascii(out)
    }
}

impl fmt::Debug for Caller<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = |part: Option<&str>| part.map(str::len);
        f.debug_struct("Caller")
            .field("client_id_bytes", &size(self.client_id))
            .field("issuer_bytes", &size(self.issuer))
            .field("subject_bytes", &size(self.subject))
            .finish()
    }
}

/// The methods whose results may carry request state, each with the parameter it is aimed by.
const CARRIERS: [(&str, &str); 3] = [
    ("tools/call", "name"),
    ("prompts/get", "name"),
    ("resources/read", "uri"),
];
