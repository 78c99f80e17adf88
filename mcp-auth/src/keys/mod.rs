//! Where the keys come from that signatures are checked with.

mod file;
mod set;

use std::{path::PathBuf, sync::Arc, time::SystemTime};

use mcp_core::auth::AuthError;

use crate::ConfigError;
use file::FileKeys;
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
pub struct KeySource(Place);

#[derive(Debug, Clone)]
enum Place {
    Text(String),
    File(PathBuf),
}

impl KeySource {
    /// The key set itself, which never changes.
    pub fn text(jwks: impl Into<String>) -> Self {
        Self(Place::Text(jwks.into()))
    }

    /// A file with the key set.
    ///
    /// It is read at once, and again when its time of modification or its size changes, which is
    /// looked at once a second at most, while a token is verified. While it is missing or cannot be
    /// read, the keys read last are used on.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self(Place::File(path.into()))
    }

    pub(crate) fn open(self, now: SystemTime) -> Result<Keys, ConfigError> {
        match self.0 {
            Place::Text(text) => match KeySet::parse_usable(&text) {
                Ok(keys) => Ok(Keys::Fixed(Arc::new(keys))),
                Err(source) => {
                    let place = "the configuration".to_owned();
                    Err(ConfigError::Keys { place, source })
                }
            },
            Place::File(path) => FileKeys::open(path, now).map(Keys::File),
        }
    }
}

/// An open source of keys.
#[derive(Debug)]
pub(crate) enum Keys {
    Fixed(Arc<KeySet>),
    File(FileKeys),
}

impl Keys {
    /// The keys, where nothing has to be waited for.
    pub(crate) fn at_hand(&self, now: SystemTime) -> Option<Arc<KeySet>> {
        match self {
            Self::Fixed(keys) => Some(Arc::clone(keys)),
            Self::File(file) => Some(file.current(now)),
        }
    }

    /// The keys.
    pub(crate) async fn current(&self, now: SystemTime) -> Result<Arc<KeySet>, AuthError> {
        match self {
            Self::Fixed(keys) => Ok(Arc::clone(keys)),
            Self::File(file) => Ok(file.current(now)),
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
        };
        Ok(keys.filter(|keys| keys.generation() != than.generation()))
    }
}
