#![doc = include_str!("../README.md")]

mod error;
mod key;
mod token;

mod sealer;

mod codec;

mod aes_gcm;
mod hmac;

mod canonical;
mod json;
mod number;
mod text;

mod binding;
mod boundary;
mod claims;
mod request;
mod security;
mod single_use;

pub use crate::{
    aes_gcm::AesGcmCodec,
    binding::{Binding, RequestIdentity},
    boundary::{Boundary, Opened},
    canonical::canonical_json,
    codec::{RequestStateCodec, UnsealError},
    error::{
        BoxError, IdentityError, InvalidRequestState, JsonError, KeyError, PolicyError, Reason,
        SealError,
    },
    hmac::HmacCodec,
    key::{KeyRing, MIN_SECRET_LEN},
    request::{Caller, Request, carries_state},
    sealer::{Purpose, Sealer},
    security::{PrincipalBinding, RequestStateSecurity},
    single_use::TokenId,
    token::DEFAULT_MAX_TOKEN_LEN,
};
