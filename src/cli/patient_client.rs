//! Client of a daemon that may be restarted meanwhile, for commands that run as long as a robot
//! does.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::cli::client::{Client, ClientError, ClientOptions, ClientReply};
use crate::cli::output::complain;

#[derive(Debug)]
pub(super) struct PatientClient {
    socket: PathBuf,
    options: ClientOptions,
    client: Option<Client>,
    /// Whether it was said that the daemon is gone.
    is_said: bool,
}

impl PatientClient {
    /// At first the daemon must be there.
    pub(super) fn connect(socket: &Path, options: ClientOptions) -> Result<Self, ClientError> {
        let client = Some(Client::connect(socket, options)?);
        Ok(Self { socket: socket.to_owned(), options, client, is_said: false })
    }

    /// Makes one call; `None` where the daemon is not there now, which is said once. Whether the
    /// call had an effect is then not known.
    pub(super) fn call(
        &mut self,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Option<Result<ClientReply, ClientError>> {
        match self.try_call(tool, arguments) {
            Ok(reply) => {
                if std::mem::take(&mut self.is_said) {
                    complain("engram: the daemon is back");
                }
                Some(Ok(reply))
            }
            Err(error @ (ClientError::Refused { .. } | ClientError::Late(_))) => Some(Err(error)),
            Err(gone) => {
                self.client = None;
                if !std::mem::replace(&mut self.is_said, true) {
                    complain(&format!("engram: {gone}; waiting for the daemon"));
                }
                None
            }
        }
    }

    fn try_call(
        &mut self,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<ClientReply, ClientError> {
        let client = match &mut self.client {
            Some(client) => client,
            none => none.insert(Client::connect(&self.socket, self.options)?),
        };
        client.call(tool, arguments)
    }
}
