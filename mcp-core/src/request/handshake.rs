//! What a client settles for its later requests: who it is, what it wants to hear.

use bytes::Bytes;
use mcp_codec::{Failure, ServerResult, call::Handshake};
use mcp_types::LoggingLevel;

use super::Request;
use crate::{
    Answer, Key,
    exchange::Client,
    peer::Peer,
    session::{self, Control, Record},
};

impl Request<'_, '_> {
    pub(super) fn initialize(self, handshake: Handshake<'_>) -> Answer {
        let client = Client {
            info: Some(self.slice(handshake.client_info)),
            capabilities: Some(self.slice(handshake.client_capabilities)),
        };
        match self.peer {
            Peer::Connection(connection) => {
                connection.settle(self.revision, client);
                self.describe(true)
            }
            Peer::Session(session) if session.record.revision.is_none() => {
                let key = session.key();
                let revision = self.revision;
                self.in_session(key, move |record| {
                    record.revision = Some(revision);
                    record.client = client.clone();
                    Ok(true)
                })
            }
            Peer::Stranger | Peer::Session(_) => self.open_session(&client),
        }
    }

    /// Opens a session for a client that has introduced itself, where there are any.
    fn open_session(self, client: &Client) -> Answer {
        if self.incoming.headers.is_none() || !self.dispatcher.has_sessions() {
            return self.describe(false);
        }
        let registry = self.dispatcher.registry().clone();
        let record = Record {
            revision: Some(self.revision),
            owner: Bytes::copy_from_slice(self.caller.owner().as_bytes()),
            client: client.copied(),
            ..Record::default()
        };
        let described = self.description(true).into();
        let caller = self.caller.clone();
        let worded = self.worded();
        // A short one, until the client goes on.
        let ttl = registry.config().sessions.handshake;
        Answer::opening(false, async move {
            Answer::ready(match registry.open_session(&caller, &record, ttl).await {
                Ok(id) => {
                    let mut reply = worded.reply(described);
                    reply.session = Some(id);
                    reply
                }
                Err(failure) => worded.refuse(failure),
            })
        })
    }

    pub(super) fn set_level(self, level: LoggingLevel) -> Answer {
        if !self.dispatcher.registry().config().logging {
            return self.no_such_method("logging/setLevel");
        }
        match self.peer {
            Peer::Stranger => {}
            Peer::Connection(connection) => connection.set_log_level(level),
            Peer::Session(session) => {
                let key = session.key();
                return self.in_session(key, move |record| {
                    record.log_level = Some(level);
                    Ok(true)
                });
            }
        }
        self.finish(ServerResult::Empty)
    }

    /// Changes what is kept of the session, and tells its streams; then answers.
    pub(super) fn in_session(
        self,
        key: Key,
        mut change: impl FnMut(&mut Record) -> Result<bool, Failure> + Send + 'static,
    ) -> Answer {
        let Some(session) = self.peer.session().cloned() else {
            return self.fail(session::not_found());
        };
        let registry = self.dispatcher.registry().clone();
        let result = if session.record.revision.is_some() {
            ServerResult::Empty
        } else {
            self.description(true)
        };
        let worded = self.worded();
        Answer::opening(false, async move {
            let changed = registry.change_record(&key, |record| match change(record) {
                Ok(changed) => Ok((changed, Ok(changed))),
                Err(failure) => Ok((false, Err(failure))),
            });
            Answer::ready(match changed.await {
                Ok(Ok(changed)) => {
                    if changed {
                        let backplane = registry.backplane();
                        backplane.tell(&session, &Control::Watched).await;
                    }
                    worded.reply(result.into())
                }
                Ok(Err(failure)) => worded.refuse(failure),
                Err(error) => worded.refuse(session::failure(error)),
            })
        })
    }
}
