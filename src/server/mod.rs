//! Serves a [`ToolBox`] over a Unix socket: MCP as newline-delimited JSON-RPC.
//!
//! The only module that knows tokio and rmcp, and what of a call is wire. What
//! a tool does it does not know.
//!
//! Both eras of MCP are spoken: revision 2026-07-28, where each request carries
//! its own metadata, and 2025-11-25 and 2025-06-18, which begin with
//! `initialize`. One request has one answer:
//!
//! | what comes | what the client gets |
//! |---|---|
//! | a line that is no JSON, or half a line at the end | −32700 with id null |
//! | JSON that is no message, a batch, a line over the limit | −32600, with the id if it could be read |
//! | a second request with an id still unanswered | −32600 |
//! | an unknown method | −32601 |
//! | an unknown tool, malformed `params`, missing metadata | −32602 |
//! | an argument that a tool refuses | a result with `isError` |
//! | a fault or panic of ours, a call past its deadline | −32603 with the id of a log entry |
//! | a version we do not speak | −32022 |
//! | a client too many | −32000 with id null, then the end |
//! | a line for which there is no room in time | −32002 with id null, then the end |
//! | a user without any role | −32001 with id null, then the end |
//! | a call that the user has no role for | a result with `isError` |
//! | `engram/backup`, a method of ours for `engram backup` | −32600 where it is refused |
//! | `engram/export` and `engram/import`, for the commands of these names | −32602 where refused |
//! | a blank line, a notification we do not know, a response | nothing |
//!
//! The connection goes on after each, but for the client too many, for a user without
//! any role, and for a client that does not read its answers
//! or does not end a large line in time.

pub mod access;
pub mod accounts;
mod budget;
mod calls;
mod connection;
mod convert;
mod fair;
mod framing;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod inherited;
mod listener;
mod mcp;
mod message;
mod peers;
#[cfg(test)]
mod polling;
mod progress;
mod wide_integer;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use log::error;
use tokio::net::UnixListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

use crate::base::tally::Tally;
use crate::base::time::Clock;
use crate::server::access::AccessTable;
use crate::server::accounts::Accounts;
use crate::server::budget::Budget;
use crate::server::calls::Calls;
use crate::server::connection::ConnectionLimits;
use crate::server::framing::LineLimits;
use crate::server::listener::BoundSocket;
use crate::server::mcp::Shared;
use crate::server::message::TakenArguments;
use crate::server::peers::{PeerLimits, Peers};
use crate::tools::{CallMetrics, ToolBox, Toolset};

/// Where to listen, and the server's bounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    pub socket: PathBuf,
    /// Of the socket's file: who may write to it may connect.
    pub mode: u32,
    /// Group of the socket's file; the process's own where `None`.
    pub group: Option<u32>,
    /// What who connects may do.
    pub access: AccessTable,
    /// A client more is told so and let go.
    pub clients_max: usize,
    /// A longer line is refused, its rest skipped. Images come in lines.
    pub line_bytes_max: usize,
    /// What the requests of all clients take in memory together, from their lines' first
    /// bytes to the answer; then who holds much waits first.
    pub bytes_in_flight_max: u64,
    /// Time for a line over 64 KiB to end, and again over 1 MiB.
    pub large_line_deadline: Duration,
    /// Time to wait for room for a line.
    pub room_deadline: Duration,
    /// Of one client; at the bound it is not read until one is answered.
    pub requests_max: usize,
    /// Of all clients; others wait, each client for its turn.
    pub calls_at_once: usize,
    /// From the request to its answer.
    pub call_deadline: Duration,
    /// For a client to take one answer; then it is let go.
    pub write_deadline: Duration,
    /// For calls under way when the server stops; then they are answered with
    /// an error.
    pub stop_grace: Duration,
}

impl Options {
    /// The defaults, listening at `socket`.
    pub fn at(socket: &Path) -> Self {
        Self {
            socket: socket.to_owned(),
            mode: 0o600,
            group: None,
            access: AccessTable::own_user_only(Accounts::default()),
            clients_max: 256,
            line_bytes_max: 32 << 20,
            bytes_in_flight_max: 128 << 20,
            large_line_deadline: Duration::from_secs(5),
            room_deadline: Duration::from_secs(30),
            requests_max: 64,
            calls_at_once: 8,
            call_deadline: Duration::from_mins(1),
            write_deadline: Duration::from_secs(10),
            stop_grace: Duration::from_secs(2),
        }
    }
}

/// Why the server could not start.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    #[error("another daemon answers at this socket: {path:?}")]
    Taken { path: PathBuf },
    #[error("a file stands where the socket should be, and it is no socket: {path:?}")]
    NoSocket { path: PathBuf },
    #[error("cannot listen at {path:?}")]
    Bind {
        path: PathBuf,
        #[source]
        error: io::Error,
    },
    #[error("the service manager's socket is not accepted: {reason}; accepted is one, at {path:?}")]
    Inherited { path: PathBuf, reason: String },
    #[error("cannot start the server's threads")]
    Threads(#[source] io::Error),
}

/// A running server. Stops when dropped.
pub struct Server {
    socket: PathBuf,
    connected: Arc<AtomicUsize>,
    stopping: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Binds the socket and serves `tools`; clients can connect when it returns.
    pub fn start(
        options: Options,
        tools: Arc<dyn ToolBox>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, ServerError> {
        let (bound, listener) = BoundSocket::bind(&options)?;
        let runtime = runtime(&options).map_err(ServerError::Threads)?;
        let listener = {
            let _inside = runtime.enter();
            UnixListener::from_std(listener).map_err(ServerError::Threads)?
        };
        let (stopping, stopped) = watch::channel(false);
        let connected = Arc::new(AtomicUsize::new(0));
        let start = format!("{:x}", clock.now().micros());
        let callable = tools.specs_of(&Toolset::ALL);
        let taken = Arc::new(TakenArguments::of_tools(&callable));
        let calls = calls(&options, start.clone(), tools.call_metrics());
        let peers = Peers {
            shared: Arc::new(Shared::new(tools, calls)),
            limits: limits(&options, taken),
            access: options.access,
            strangers: Tally::default(),
            clock,
            start,
            connected: Arc::clone(&connected),
            stopping: stopped,
        };
        let thread = thread::Builder::new()
            .name("server".to_owned())
            .spawn(move || run(runtime, bound, peers, listener))
            .map_err(ServerError::Threads)?;
        Ok(Self { socket: options.socket, connected, stopping, thread: Some(thread) })
    }

    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// How many clients are connected.
    pub fn clients(&self) -> usize {
        self.connected.load(Ordering::Relaxed)
    }

    /// Accepts no more clients, reads no more requests, gives the calls under
    /// way their grace, joins all threads and removes the socket file.
    pub fn stop(self) {
        drop(self);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stopping.send_replace(true);
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            error!("the server's thread panicked");
        }
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("socket", &self.socket).finish_non_exhaustive()
    }
}

/// A call cannot be interrupted; one that outlasts the grace is waited for this
/// much longer and then left to the end of the process.
const LAST_WAIT: Duration = Duration::from_millis(500);

fn run(runtime: Runtime, bound: BoundSocket, peers: Peers, listener: UnixListener) {
    runtime.block_on(peers.serve(listener));
    drop(bound);
    runtime.shutdown_timeout(LAST_WAIT);
}

/// Threads that serve the sockets. Two, so that one client's large line does not hold up
/// the others.
const SERVERS: usize = 2;

fn runtime(options: &Options) -> io::Result<Runtime> {
    Builder::new_multi_thread()
        .worker_threads(SERVERS)
        // Each of a call's threads is held by a place in `Calls`, and each that serves in
        // the stead of one that answers a brief call by the place of that.
        .max_blocking_threads(options.calls_at_once)
        .thread_name("server-call")
        .enable_io()
        .enable_time()
        .build()
}

fn calls(options: &Options, start: String, metrics: Arc<CallMetrics>) -> Calls {
    Calls::new(options.calls_at_once, options.call_deadline, start, metrics)
}

/// Lines over 1 MiB that wait for room at once; one more is refused.
const LARGE_LINES_WAIT_MAX: usize = 32;

fn limits(options: &Options, taken: Arc<TakenArguments>) -> PeerLimits {
    let half = options.bytes_in_flight_max / 2;
    let lines = LineLimits {
        bytes_max: options.line_bytes_max,
        large_deadline: options.large_line_deadline,
        room_deadline: options.room_deadline,
        medium: Budget::new(half, usize::MAX),
        // Each that waits holds room of the other.
        large: Budget::new(half, LARGE_LINES_WAIT_MAX),
        cost: message::cost,
    };
    let connection = ConnectionLimits {
        lines,
        taken,
        requests_max: options.requests_max,
        write_deadline: options.write_deadline,
    };
    PeerLimits { clients_max: options.clients_max, connection, stop_grace: options.stop_grace }
}

#[cfg(test)]
mod tests;
