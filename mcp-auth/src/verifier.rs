//! Verification of signed tokens.
//!
//! Source: RFC 7519 section 7.2, RFC 8725, RFC 9068 section 4; `basic/authorization` of 2025-06-18
//! and newer, "Token Handling".

use std::{
    fmt,
    sync::Arc,
    time::{Duration, SystemTime},
};

use async_trait::async_trait;
use mcp_core::{
    Principal,
    auth::{AuthError, TokenVerifier},
    types::JsonObject,
};

use crate::{
    Algorithm, ConfigError, KeySource,
    cache::{Cache, Fingerprint, ROOM, fingerprint},
    claims::{Absent, Rules},
    clock::Clock,
    jws::Jws,
    keys::{Checked, KeySet, Keys},
    shown::Shown,
};

/// Verifies access tokens that are signed JWTs.
///
/// A token counts if one of the issuer's keys signed it with an algorithm that this key is for, if
/// it names the issuer to the letter and this server in its audience, and if it is good now. What
/// it says becomes the [`Principal`]:
///
/// | Claim | Becomes |
/// |---|---|
/// | `iss`, required | `issuer` |
/// | `sub`, required | `subject` |
/// | `client_id`, otherwise `azp` | `client` |
/// | `scope`, otherwise `scp`: names between spaces or a list | `scopes` |
/// | `exp`, required, with the leeway | `expires` |
/// | all others | `claims` |
///
/// # Security
///
/// A token is the caller's until everything about it is verified: it is bounded in size, and
/// neither the keys that it brings along nor the addresses in it are looked at. Of a token only a
/// digest is kept.
///
/// # Cancel safety
///
/// Dropping the future of a verification loses nothing: a fetch of keys goes on for whoever else
/// waits for it.
pub struct JwtVerifier {
    keys: Keys,
    algorithms: Vec<Algorithm>,
    rules: Rules,
    clock: Clock,
    seen: Cache<Verified>,
}

/// A token that was verified with the keys of that generation.
#[derive(Clone)]
struct Verified {
    principal: Arc<Principal>,
    generation: u64,
}

impl Verified {
    fn is_good(&self, keys: &KeySet, now: SystemTime) -> bool {
        let expired = self.principal.expires.is_some_and(|at| at <= now);
        self.generation == keys.generation() && !expired
    }
}

impl JwtVerifier {
    /// Collects what tokens have to be.
    pub fn builder() -> JwtVerifierBuilder {
        JwtVerifierBuilder {
            rules: Rules::new(Absent::default()),
            keys: None,
            algorithms: Algorithm::ALL.to_vec(),
            room: ROOM,
            clock: Clock::default(),
        }
    }

    /// Whose token it is by what it says, which its signature has yet to vouch for.
    ///
    /// What is cheap comes first: a token for somebody else costs neither a signature nor keys.
    fn read<'a>(
        &self,
        token: &'a str,
        now: SystemTime,
    ) -> Result<(Jws<'a>, Arc<Principal>), AuthError> {
        let jws = Jws::parse(token)?;
        if !self.algorithms.contains(&jws.algorithm) {
            let reason = format!("the token's `alg` {} is not configured", jws.algorithm);
            return Err(AuthError::invalid(reason));
        }
        let claims: JsonObject = serde_json::from_slice(&jws.payload)
            .map_err(|_| AuthError::invalid("the claims of the token cannot be read"))?;
        let principal = self.rules.judge(claims, now)?;
        Ok((jws, principal))
    }

    /// The generation of the keys that vouch for it.
    async fn check_signature(
        &self,
        jws: &Jws<'_>,
        keys: &KeySet,
        now: SystemTime,
    ) -> Result<u64, AuthError> {
        let mut checked = keys.check(jws);
        let mut generation = keys.generation();
        if checked == Checked::UnknownKey
            && let Some(newer) = self.keys.newer(keys, now).await?
        {
            checked = newer.check(jws);
            generation = newer.generation();
        }
        match checked {
            Checked::Good => Ok(generation),
            Checked::Forged => Err(AuthError::invalid("the token's signature is wrong")),
            Checked::UnknownKey => Err(AuthError::invalid(match &jws.kid {
                Some(kid) => format!("the issuer has no key {} (`kid`)", Shown(kid)),
                None => "no key of the issuer signed the token".to_owned(),
            })),
        }
    }

    /// Whose token it is, if it was verified with those keys and is still good.
    fn recall(&self, of: &Fingerprint, keys: &KeySet, now: SystemTime) -> Option<Arc<Principal>> {
        let seen = self.seen.get(of, |it| it.is_good(keys, now))?;
        Some(seen.principal)
    }
}

#[async_trait]
impl TokenVerifier for JwtVerifier {
    async fn verify(&self, token: &str) -> Result<Arc<Principal>, AuthError> {
        let now = self.clock.now();
        let fingerprint = fingerprint(token);
        let at_hand = self.keys.at_hand(now);
        if let Some(keys) = &at_hand
            && let Some(principal) = self.recall(&fingerprint, keys, now)
        {
            return Ok(principal);
        }
        let (jws, principal) = self.read(token, now)?;
        let keys = match at_hand {
            Some(keys) => keys,
            None => {
                let keys = self.keys.current(now).await?;
                // Often they turn out to be the same ones.
                if let Some(principal) = self.recall(&fingerprint, &keys, now) {
                    return Ok(principal);
                }
                keys
            }
        };
        let generation = self.check_signature(&jws, &keys, now).await?;
        let verified = Verified {
            principal: Arc::clone(&principal),
            generation,
        };
        self.seen.put(fingerprint, verified);
        Ok(principal)
    }
}

impl fmt::Debug for JwtVerifier {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("JwtVerifier")
            .field("keys", &self.keys)
            .field("algorithms", &self.algorithms)
            .field("rules", &self.rules)
            .field("seen", &self.seen)
            .finish_non_exhaustive()
    }
}

/// What a [`JwtVerifier`] is made of.
#[derive(Debug)]
#[must_use = "`build` makes the verifier"]
pub struct JwtVerifierBuilder {
    rules: Rules,
    keys: Option<KeySource>,
    algorithms: Vec<Algorithm>,
    room: usize,
    clock: Clock,
}

impl JwtVerifierBuilder {
    /// Whose tokens count: the `iss` that they have, to the letter. Required.
    pub fn issuer(mut self, issuer: impl Into<String>) -> Self {
        self.rules.issuer = issuer.into();
        self
    }

    /// What this server is called in the `aud` of a token: its public address, or what the
    /// authorization server has instead. Of several, one is enough. Required.
    ///
    /// Compared as [`same_resource`](mcp_core::auth::same_resource) does.
    pub fn audience(mut self, audience: impl Into<String>) -> Self {
        self.rules.audiences.push(audience.into());
        self
    }

    /// Where the issuer's keys are. Required.
    pub fn keys(mut self, keys: KeySource) -> Self {
        self.keys = Some(keys);
        self
    }

    /// Whose tokens count, and that its keys are where its metadata says: as
    /// [`issuer`](Self::issuer) with [`KeySource::discover`].
    #[cfg(feature = "http")]
    pub fn discover(self, issuer: impl Into<String>) -> Self {
        let issuer = issuer.into();
        let keys = KeySource::discover(issuer.clone());
        self.issuer(issuer).keys(keys)
    }

    /// The algorithms that count; by default [all](Algorithm::ALL). Which of them a signature is
    /// checked with is for the key to say (RFC 8725 section 3.1).
    pub fn algorithms(mut self, algorithms: impl IntoIterator<Item = Algorithm>) -> Self {
        self.algorithms = algorithms.into_iter().collect();
        self
    }

    /// How far the issuer's clock and ours may be apart: a minute by default.
    pub fn leeway(mut self, leeway: Duration) -> Self {
        self.rules.leeway = leeway;
        self
    }

    /// Takes tokens without `sub` for those of their client, which has to be named then.
    ///
    /// Some authorization servers have no subject where a client acts for itself.
    pub fn allow_absent_subject(mut self) -> Self {
        self.rules.absent.subject = true;
        self
    }

    /// How many verified tokens are remembered, so that seeing one of them again costs a digest and
    /// no signature: 4,096 by default. Each is until it expires or the keys change.
    pub fn remember(mut self, tokens: usize) -> Self {
        self.room = tokens;
        self
    }

    /// Where the time comes from: that of the system by default, another one in tests.
    pub fn clock(mut self, now: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.clock = Clock::new(now);
        self
    }

    /// The verifier. A file of keys is read now; whatever is at a URL is fetched when the first
    /// token needs it.
    ///
    /// # Errors
    ///
    /// Something required is missing, or the keys cannot be used.
    pub fn build(self) -> Result<JwtVerifier, ConfigError> {
        let rules = self.rules.complete()?;
        if self.algorithms.is_empty() {
            return Err(ConfigError::NoAlgorithms);
        }
        let keys = self.keys.ok_or(ConfigError::NoKeys)?;
        Ok(JwtVerifier {
            keys: keys.open(&self.clock)?,
            algorithms: self.algorithms,
            rules,
            seen: Cache::new(self.room),
            clock: self.clock,
        })
    }
}
