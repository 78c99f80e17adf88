//! Keys of a file.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use crate::{
    ConfigError, KeySetError,
    clock::passed,
    keys::set::{KeySet, MAX_LEN},
};

/// A file that is read again when it changes.
#[derive(Debug)]
pub(crate) struct FileKeys {
    path: PathBuf,
    read: Mutex<Read>,
}

#[derive(Debug)]
struct Read {
    keys: Arc<KeySet>,
    stamp: Option<Stamp>,
    looked: SystemTime,
}

/// What changes when a file does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    modified: SystemTime,
    len: u64,
}

impl FileKeys {
    pub(crate) fn open(path: PathBuf, now: SystemTime) -> Result<Self, ConfigError> {
        let read = stamp(&path).and_then(|stamp| Ok((stamp, KeySet::parse_usable(&text(&path)?)?)));
        match read {
            Ok((stamp, keys)) => Ok(Self {
                path,
                read: Mutex::new(Read {
                    keys: Arc::new(keys),
                    stamp: Some(stamp),
                    looked: now,
                }),
            }),
            Err(source) => {
                let place = path.display().to_string();
                Err(ConfigError::Keys { place, source })
            }
        }
    }

    /// Its keys, as they are now or were a second ago.
    pub(crate) fn current(&self, now: SystemTime) -> Arc<KeySet> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if passed(now, read.looked, LOOK_AFTER) {
            read.looked = now;
            let seen = stamp(&self.path).ok();
            if seen != read.stamp {
                read.stamp = seen;
                self.read_again(&mut read);
            }
        }
        Arc::clone(&read.keys)
    }

    fn read_again(&self, read: &mut Read) {
        let path = self.path.display();
        let text = text(&self.path);
        if text.as_ref().is_ok_and(|text| read.keys.is_of(text)) {
            return;
        }
        match text.and_then(|text| KeySet::parse(&text)) {
            Ok(keys) => {
                tracing::info!(%path, ?keys, "the key set was read again");
                read.keys = Arc::new(keys);
            }
            Err(error) => {
                tracing::warn!(%path, %error, "the key set cannot be read; the last keys are used on");
            }
        }
    }
}

fn stamp(path: &Path) -> Result<Stamp, KeySetError> {
    let seen = fs::metadata(path).map_err(unreadable)?;
    if !seen.is_file() {
        return Err(unreadable(io::Error::other("it is no file")));
    }
    let (modified, len) = (seen.modified().map_err(unreadable)?, seen.len());
    Ok(Stamp { modified, len })
}

fn text(path: &Path) -> Result<String, KeySetError> {
    let len = stamp(path)?.len;
    if len > MAX_LEN as u64 {
        let (limit, unit) = (MAX_LEN, "bytes");
        return Err(KeySetError::TooLarge { limit, unit });
    }
    fs::read_to_string(path).map_err(unreadable)
}

fn unreadable(error: io::Error) -> KeySetError {
    KeySetError::Unreadable(error.into())
}

const LOOK_AFTER: Duration = Duration::from_secs(1);
