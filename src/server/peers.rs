//! Accepts clients and serves each until it goes or the server stops.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use log::{debug, error, warn};
use rmcp::model::ErrorCode;
use rmcp::serve_server;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use uuid::Uuid;

use crate::base::caller::Caller;
use crate::base::tally::Tally;
use crate::base::time::Clock;
use crate::server::access::AccessTable;
use crate::server::connection::{Connection, ConnectionLimits};
use crate::server::convert::Refusal;
use crate::server::fair::Client;
use crate::server::mcp::{ConnectionSession, Handler, Shared};
use crate::tools::Reason;

/// JSON-RPC leaves −32000 to −32099 to the server.
const TOO_MANY_CLIENTS: ErrorCode = ErrorCode(-32000);
const NO_ROLE: ErrorCode = ErrorCode(-32001);

/// Pause after a failed accept: out of file descriptors, mostly, which passes
/// when a client goes.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Time for the last line that a client is told: that it is one too many, or
/// that the server stops.
const FAREWELL: Duration = Duration::from_millis(500);

/// Limits on the clients together.
#[derive(Debug, Clone)]
pub(super) struct PeerLimits {
    pub(super) clients_max: usize,
    pub(super) connection: ConnectionLimits,
    /// Time for calls under way when the server stops.
    pub(super) stop_grace: Duration,
}

/// Who is connected.
pub(super) struct Peers {
    pub(super) shared: Arc<Shared>,
    pub(super) limits: PeerLimits,
    pub(super) access: AccessTable,
    /// Users without any role that were turned away.
    pub(super) strangers: Tally<u32>,
    pub(super) clock: Arc<dyn Clock>,
    /// Tells one start of the daemon from another in session names.
    pub(super) start: String,
    pub(super) connected: Arc<AtomicUsize>,
    pub(super) stopping: watch::Receiver<bool>,
}

impl Peers {
    /// Serves until asked to stop, then gives the calls under way their grace.
    pub(super) async fn serve(self, listener: UnixListener) {
        let mut stopping = self.stopping.clone();
        let mut connections = JoinSet::new();
        let mut number: u64 = 0;
        loop {
            tokio::select! {
                _ = stopping.wait_for(|stopping| *stopping) => break,
                accepted = listener.accept() => match accepted {
                    Ok((stream, _)) => {
                        number += 1;
                        self.welcome(stream, number, &mut connections);
                    }
                    Err(error) => {
                        warn!("a client could not be accepted: {error}");
                        sleep(ACCEPT_PAUSE).await;
                    }
                },
                Some(ended) = connections.join_next() => self.count_out(ended),
            }
        }
        drop(listener);
        if timeout(self.limits.stop_grace, self.see_off(&mut connections)).await.is_ok() {
            return;
        }
        self.shared.calls.abandon();
        if timeout(FAREWELL, self.see_off(&mut connections)).await.is_err() {
            warn!(clients = connections.len(); "stopped before every client had its answers");
        }
    }

    async fn see_off(&self, connections: &mut JoinSet<()>) {
        while let Some(ended) = connections.join_next().await {
            self.count_out(ended);
        }
    }

    fn welcome(&self, stream: UnixStream, number: u64, connections: &mut JoinSet<()>) {
        if connections.len() >= self.limits.clients_max {
            let clients_max = self.limits.clients_max;
            warn!(clients_max = clients_max; "turned a client away");
            let text = format!("the daemon serves {clients_max} clients at most; try again later");
            return self.turn_away(
                stream,
                Refusal::nameless(Reason::TooManyClients, TOO_MANY_CLIENTS, text),
            );
        }
        let caller = match self.admit(&stream) {
            Ok(caller) => caller,
            Err(text) => {
                return self.turn_away(stream, Refusal::nameless(Reason::NoRole, NO_ROLE, text));
            }
        };
        // Nobody else can name it: it is told to its own client only.
        let name = format!("connection-{}-{number}-{}", self.start, Uuid::new_v4().simple());
        debug!(number; "client connected: {caller}");
        let client = Client { uid: caller.uid, connection: number };
        let session = ConnectionSession::new(client, name, caller, Arc::clone(&self.shared.tools));
        let handler = Handler::new(Arc::clone(&self.shared), session);
        let limits = self.limits.connection.clone();
        let calls = self.shared.tools.call_metrics();
        let connection = Connection::new(stream, client, limits, self.stopping.clone(), calls);
        connections.spawn(serve_one(handler, connection));
        self.connected.store(connections.len(), Ordering::Relaxed);
    }

    /// Who is at the other end, if it has any role.
    fn admit(&self, stream: &UnixStream) -> Result<Caller, String> {
        let peer = stream.peer_cred();
        let peer = peer.map_err(|error| format!("the daemon cannot tell who you are: {error}"))?;
        let pid = peer.pid().and_then(|pid| u32::try_from(pid).ok());
        let caller = self.access.caller(peer.uid(), peer.gid(), pid);
        if !caller.roles.is_empty() {
            return Ok(caller);
        }
        if let Some(times) = self.strangers.count(&caller.uid, self.clock.now()) {
            warn!(times; "turned away: {caller} has no role ([access] in the configuration)");
        }
        Err(format!(
            "user {} (uid {}) has no role here. Who runs the daemon gives roles in [access] of its \
             configuration",
            caller.user, caller.uid
        ))
    }

    fn turn_away(&self, stream: UnixStream, refusal: Refusal) {
        self.shared.tools.call_metrics().refused(refusal.reason);
        tokio::spawn(tell(stream, refusal));
    }

    fn count_out(&self, ended: Result<(), tokio::task::JoinError>) {
        self.connected.fetch_sub(1, Ordering::Relaxed);
        if let Err(error) = ended {
            error!("serving a client failed: {error}");
        }
    }
}

async fn serve_one(handler: Handler, connection: Connection) {
    match serve_server(handler, connection).await {
        Ok(running) => match running.waiting().await {
            Ok(reason) => debug!("client gone: {reason:?}"),
            Err(error) => error!("serving a client failed: {error}"),
        },
        // Gone before its first request, or refused by the handshake, which
        // told the client why.
        Err(error) => debug!("client gone before its handshake: {error}"),
    }
}

async fn tell(mut stream: UnixStream, refusal: Refusal) {
    if !matches!(timeout(FAREWELL, stream.write_all(&refusal.line())).await, Ok(Ok(()))) {
        debug!("a client that was turned away left before it was told");
    }
}
