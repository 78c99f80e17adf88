//! Where the keys come from that signatures are checked with.

#[cfg(feature = "http")]
mod discovery;
mod file;
#[cfg(feature = "http")]
mod remote;
mod set;

#[cfg(feature = "http")]
use std::time::Duration;
use std::{path::PathBuf, sync::Arc, time::SystemTime};

use mcp_core::auth::AuthError;

#[cfg(feature = "http")]
use crate::http::Address;
use crate::{ConfigError, clock::Clock};
use file::FileKeys;
#[cfg(feature = "http")]
use remote::{Caching, Place as RemotePlace, RemoteKeys};
pub(crate) use set::{Checked, KeySet};

/// Where an issuer's public keys are: a JSON Web Key Set (RFC 7517 section 5).
///
/// ```
/// use mcp_auth::KeySource;
///
/// let file = KeySource::file("/etc/mcp/jwks.json");
/// ```
#[derive(Debug, Clone)]
#[must_use = "it is given to `JwtVerifierBuilder::keys`"]
pub struct KeySource {
    place: Place,
    #[cfg(feature = "http")]
    caching: Caching,
}

#[derive(Debug, Clone)]
enum Place {
    Text(String),
    File(PathBuf),
    #[cfg(feature = "http")]
    Url(String),
    #[cfg(feature = "http")]
    Issuer(String),
}

impl KeySource {
    /// The key set itself, which never changes.
    pub fn text(jwks: impl Into<String>) -> Self {
        Self::at(Place::Text(jwks.into()))
    }

    /// A file with the key set.
    ///
    /// It is read at once, and again when its time of modification or its size changes, which is
    /// looked at once a second at most, while a token is verified. While it is missing or cannot be
    /// read, the keys read last are used on.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self::at(Place::File(path.into()))
    }

    fn at(place: Place) -> Self {
        Self {
            place,
            #[cfg(feature = "http")]
            caching: Caching::default(),
        }
    }

    pub(crate) fn open(self, clock: &Clock) -> Result<Keys, ConfigError> {
        match self.place {
            Place::Text(text) => match KeySet::parse_usable(&text) {
                Ok(keys) => Ok(Keys::Fixed(Arc::new(keys))),
                Err(source) => {
                    let place = "the configuration".to_owned();
                    Err(ConfigError::Keys { place, source })
                }
            },
            Place::File(path) => FileKeys::open(path, clock.now()).map(Keys::File),
            #[cfg(feature = "http")]
            Place::Url(url) => {
                let place = RemotePlace::Keys(Address::parse("the key set", &url)?);
                RemoteKeys::new(place, self.caching, clock.clone()).map(Keys::Remote)
            }
            #[cfg(feature = "http")]
            Place::Issuer(issuer) => {
                let place = RemotePlace::Issuer(discovery::Issuer::new(issuer)?);
                RemoteKeys::new(place, self.caching, clock.clone()).map(Keys::Remote)
            }
        }
    }
}

/// Keys that are fetched: from `https` addresses, or `http` ones of this machine.
///
/// They are fetched when the first token needs them, and again when they are no longer fresh or a
/// token names a key that is not among them. Whoever waits for them shares one fetch. While they
/// cannot be fetched, the last ones are used on for a day; after that, and before there were any,
/// verification is [`AuthError::Unavailable`].
///
/// An answer may have 1 MiB, and redirects are followed on the same server alone. No proxy is used.
/// Certificates are those that this machine trusts; `SSL_CERT_FILE` and `SSL_CERT_DIR` name others.
#[cfg(feature = "http")]
impl KeySource {
    /// The address of a key set: what an issuer's metadata has as `jwks_uri`.
    pub fn url(url: impl Into<String>) -> Self {
        Self::at(Place::Url(url.into()))
    }

    /// Wherever that issuer says that its keys are: in its metadata (RFC 8414 section 3), or in its
    /// `OpenID` configuration, which have to name it to the letter.
    pub fn discover(issuer: impl Into<String>) -> Self {
        Self::at(Place::Issuer(issuer.into()))
    }

    /// The bounds of how long fetched keys are fresh, whatever `Cache-Control` says of it: a minute
    /// and an hour by default. Keys that say nothing are fresh for a quarter of an hour.
    ///
    /// A key that the issuer takes back counts here until the last of its keys are no longer fresh.
    pub fn fresh_for(mut self, at_least: Duration, at_most: Duration) -> Self {
        self.caching.at_least = at_least;
        self.caching.at_most = at_most;
        self
    }

    /// How much time there has to be between two fetches, whatever tokens come: 30 seconds by
    /// default. Keys that were never had are asked for again after 5 seconds.
    pub fn refresh_after(mut self, time: Duration) -> Self {
        self.caching.refresh_after = time;
        self
    }

    /// How old keys may become while they cannot be fetched: a day by default.
    pub fn stale_for(mut self, time: Duration) -> Self {
        self.caching.stale_for = time;
        self
    }

    /// How long one answer may take, and how long a token waits for keys: 10 seconds by default.
    pub fn timeout(mut self, time: Duration) -> Self {
        self.caching.timeout = time;
        self
    }
}

/// An open source of keys.
#[derive(Debug)]
pub(crate) enum Keys {
    Fixed(Arc<KeySet>),
    File(FileKeys),
    #[cfg(feature = "http")]
    Remote(RemoteKeys),
}

impl Keys {
    /// The keys, where nothing has to be waited for.
    pub(crate) fn at_hand(&self, now: SystemTime) -> Option<Arc<KeySet>> {
        match self {
            Self::Fixed(keys) => Some(Arc::clone(keys)),
            Self::File(file) => Some(file.current(now)),
            #[cfg(feature = "http")]
            Self::Remote(remote) => remote.at_hand(now),
        }
    }

    /// The keys.
    pub(crate) async fn current(&self, now: SystemTime) -> Result<Arc<KeySet>, AuthError> {
        match self {
            Self::Fixed(keys) => Ok(Arc::clone(keys)),
            Self::File(file) => Ok(file.current(now)),
            #[cfg(feature = "http")]
            Self::Remote(remote) => remote.current(now).await,
        }
    }

    /// Other keys than those, if there are any now.
    pub(crate) async fn newer(
        &self,
        than: &KeySet,
        now: SystemTime,
    ) -> Result<Option<Arc<KeySet>>, AuthError> {
        let keys = match self {
            Self::Fixed(_) => None,
            Self::File(file) => Some(file.current(now)),
            #[cfg(feature = "http")]
            Self::Remote(remote) => return remote.newer(than, now).await,
        };
        Ok(keys.filter(|keys| keys.generation() != than.generation()))
    }
}
