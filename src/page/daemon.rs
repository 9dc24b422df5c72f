//! What the page needs of a daemon: its tools and resources, as whoever runs the page.

use serde_json::{Map, Value};

/// Carries calls to a daemon.
pub trait Daemon: Send + Sync + 'static {
    /// Makes calls one after the other in one session that nobody else uses, and returns the
    /// replies up to the first that is refused, which is the error.
    fn calls(&self, calls: &[Call]) -> (Vec<Reply>, Option<DaemonError>);

    /// Some of the items of an export, from a cursor on: what is kept, without a query.
    fn export(&self, arguments: Map<String, Value>) -> Result<Map<String, Value>, DaemonError>;

    /// Some sessions, or frames without a caption, from a cursor on.
    fn browse(&self, arguments: Map<String, Value>) -> Result<Map<String, Value>, DaemonError>;

    /// Makes one call.
    fn call(&self, call: Call) -> Result<Reply, DaemonError> {
        let (mut replies, error) = self.calls(&[call]);
        let none = || DaemonError::Unavailable("no reply came".to_owned());
        replies.pop().ok_or_else(|| error.unwrap_or_else(none))
    }

    /// Reads a resource; `None` where there is none of this address.
    fn resource(&self, address: &str) -> Result<Option<Resource>, DaemonError>;
}

/// A tool and its arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub tool: &'static str,
    pub arguments: Map<String, Value>,
}

/// What a tool answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    pub structured: Map<String, Value>,
    pub text: String,
}

/// What is behind a resource's address: a frame, or a record as JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    pub mime: String,
    pub bytes: Vec<u8>,
}

/// Why a daemon gave no answer. The texts are its own words or the client's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DaemonError {
    /// The arguments were wrong, the role is missing, or it cannot be done now.
    #[error("{0}")]
    Refused(String),
    /// None runs, or the connection failed.
    #[error("{0}")]
    Unavailable(String),
}
