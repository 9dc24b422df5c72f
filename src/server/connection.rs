//! One client's connection as rmcp's transport.
//!
//! Stands between the socket and rmcp, which drops a malformed line silently,
//! ends a connection whose first message is a notification, and loses an answer
//! when two requests carry one id. So only well-formed requests pass, and each
//! other line is answered here.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use log::{debug, trace, warn};
use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ErrorCode, JsonRpcMessage, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{Mutex as AsyncMutex, Notify, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::server::budget::Charge;
use crate::server::convert::{self, Incoming, Refusal};
use crate::server::fair::Client;
use crate::server::framing::{LineLimits, LineReader, StreamEvent};
use crate::server::message::TakenArguments;
use crate::tools::{CallMetrics, Reason};

/// JSON-RPC leaves −32000 to −32099 to the server.
const NO_ROOM: ErrorCode = ErrorCode(-32002);

/// Limits on one connection.
#[derive(Debug, Clone)]
pub(super) struct ConnectionLimits {
    pub(super) lines: LineLimits,
    /// Arguments that are read of a call.
    pub(super) taken: Arc<TakenArguments>,
    /// Requests without an answer yet; at the bound the client is not read.
    pub(super) requests_max: usize,
    /// For one line; a client that does not take it in time is let go.
    pub(super) write_deadline: Duration,
}

/// Implements rmcp's [`Transport`].
#[derive(Debug)]
pub(super) struct Connection {
    reader: LineReader<OwnedReadHalf>,
    client: Client,
    limits: ConnectionLimits,
    answers: Arc<ReplyWriter>,
    /// The error line being written. The next line is read after it, so that a
    /// client that sends nonsense and never reads piles up nothing.
    refusing: Option<JoinHandle<io::Result<()>>>,
    ended: bool,
    stopping: watch::Receiver<bool>,
    /// Where lines are counted that go no further.
    calls: Arc<CallMetrics>,
}

/// The way back to the client, shared with the answers under way.
#[derive(Debug)]
struct ReplyWriter {
    /// `None` once the client is let go.
    writer: AsyncMutex<Option<OwnedWriteHalf>>,
    pending: Mutex<Pending>,
    /// Told whenever `pending` changes.
    changed: Notify,
    write_deadline: Duration,
}

#[derive(Debug, Default)]
struct Pending {
    /// Requests without an answer, each with the room that it takes until it has one.
    requests: HashMap<RequestId, Charge>,
    /// Answers being written.
    writing: usize,
    /// The client does not take answers any more.
    broken: bool,
}

/// What [`Connection::receive`] does with a line.
enum LineAction {
    Give(Box<ClientJsonRpcMessage>),
    Refuse(Refusal),
    Pass,
    End,
}

impl Connection {
    pub(super) fn new(
        stream: UnixStream,
        client: Client,
        limits: ConnectionLimits,
        stopping: watch::Receiver<bool>,
        calls: Arc<CallMetrics>,
    ) -> Self {
        let (read, write) = stream.into_split();
        let answers = Arc::new(ReplyWriter {
            writer: AsyncMutex::new(Some(write)),
            pending: Mutex::default(),
            changed: Notify::new(),
            write_deadline: limits.write_deadline,
        });
        let reader = LineReader::new(read, client, limits.lines.clone());
        Self { reader, client, limits, answers, refusing: None, ended: false, stopping, calls }
    }

    /// The next step, or the end. Loses nothing when dropped half-way, as rmcp
    /// does whenever an answer is ready.
    async fn step(&mut self) -> LineAction {
        if let Some(refusing) = &mut self.refusing {
            let written = refusing.await;
            self.refusing = None;
            if !matches!(written, Ok(Ok(()))) {
                return LineAction::End;
            }
        }
        self.answers.wait(|pending| pending.requests.len() < self.limits.requests_max).await;
        let answers = Arc::clone(&self.answers);
        let frame = tokio::select! {
            biased;
            () = answers.wait(|pending| pending.broken) => return LineAction::End,
            _ = self.stopping.wait_for(|stopping| *stopping) => return LineAction::End,
            frame = self.reader.next() => frame,
        };
        match frame {
            Ok(frame) => self.judge(frame),
            Err(error) => {
                debug!("client lost: {error}");
                self.answers.lock().broken = true;
                LineAction::End
            }
        }
    }

    fn judge(&mut self, frame: StreamEvent) -> LineAction {
        match frame {
            StreamEvent::Line(line, room) => match convert::parse(&line, &self.limits.taken) {
                Ok(incoming) => self.admit(incoming, room),
                Err(refusal) => LineAction::Refuse(refusal),
            },
            StreamEvent::TooLong => LineAction::Refuse(Refusal::nameless(
                Reason::TooLarge,
                ErrorCode::INVALID_REQUEST,
                format!("the line is longer than {} bytes", self.limits.lines.bytes_max),
            )),
            StreamEvent::Stalled => {
                self.ended = true;
                let deadline = self.limits.lines.large_deadline;
                LineAction::Refuse(Refusal::nameless(
                    Reason::TooSlow,
                    ErrorCode::INVALID_REQUEST,
                    format!("the line did not end within {deadline:?}"),
                ))
            }
            StreamEvent::NoRoom => {
                self.ended = true;
                LineAction::Refuse(Refusal::nameless(
                    Reason::NoRoom,
                    NO_ROOM,
                    "the clients' requests take all the memory that they may \
                     (socket.max_in_flight_mb); try again later",
                ))
            }
            StreamEvent::End { inside_line: false } => LineAction::End,
            // The client may have closed its sending side only, so it is told.
            StreamEvent::End { inside_line: true } => {
                self.ended = true;
                LineAction::Refuse(Refusal::nameless(
                    Reason::Malformed,
                    ErrorCode::PARSE_ERROR,
                    "the stream ended inside a line; a message ends with a line feed",
                ))
            }
        }
    }

    fn admit(&self, incoming: Incoming, room: Charge) -> LineAction {
        let mut pending = self.answers.lock();
        match incoming {
            Incoming::Request(id, request) => {
                if pending.requests.contains_key(&id) {
                    let message = format!("a request with id {id} is still being answered");
                    let code = ErrorCode::INVALID_REQUEST;
                    return LineAction::Refuse(Refusal {
                        id: Some(id),
                        code,
                        message,
                        reason: Reason::Malformed,
                    });
                }
                pending.requests.insert(id.clone(), room);
                LineAction::Give(Box::new(ClientJsonRpcMessage::request(*request, id)))
            }
            // rmcp sends no answer to a cancelled request, so it is pending no
            // more. It is told only of requests it has, and only once its own
            // handshake is over, which a pending request implies.
            Incoming::Cancel(id, cancelled) => match pending.requests.remove(&id) {
                Some(_room) => {
                    let cancelled = ClientNotification::CancelledNotification(cancelled);
                    self.answers.changed.notify_waiters();
                    LineAction::Give(Box::new(ClientJsonRpcMessage::notification(cancelled)))
                }
                None => LineAction::Pass,
            },
            Incoming::Nothing => LineAction::Pass,
        }
    }

    /// Waits until all that was asked is answered: a client that closes its
    /// sending side still gets its answers, and so does one when we stop.
    async fn settle(&mut self) {
        self.ended = true;
        if let Some(refusing) = &mut self.refusing {
            if !matches!(refusing.await, Ok(Ok(()))) {
                debug!("the last refusal did not reach the client");
            }
            self.refusing = None;
        }
        let settled = |pending: &Pending| pending.requests.is_empty() && pending.writing == 0;
        self.answers.wait(settled).await;
    }
}

impl Transport<RoleServer> for Connection {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let answers = Arc::clone(&self.answers);
        // Answered by rmcp itself; who handles requests never learns of it.
        if let JsonRpcMessage::Error(error) = &message
            && error.error.code == ErrorCode::UNSUPPORTED_PROTOCOL_VERSION
        {
            self.calls.refused(Reason::UnknownVersion);
        }
        // The id is free as soon as its answer is on the way, because a client
        // may use it again the moment it has read the answer.
        let room = answers.begin(id_of(&message));
        let client = (Arc::clone(&self.limits.lines.medium), self.client);
        async move {
            let written = match serde_json::to_vec(&message) {
                Ok(mut line) => {
                    line.push(b'\n');
                    drop(message);
                    let (budget, client) = client;
                    let _room = budget.take_anyway(client, line.len() as u64);
                    answers.write(&line).await
                }
                Err(error) => Err(error.into()),
            };
            drop(room);
            answers.finish();
            written
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        while !self.ended {
            match self.step().await {
                LineAction::Give(message) => return Some(*message),
                LineAction::Refuse(refusal) => {
                    trace!("refused a line: {}", refusal.message);
                    self.calls.refused(refusal.reason);
                    let answers = Arc::clone(&self.answers);
                    let line = refusal.line();
                    self.refusing = Some(tokio::spawn(async move { answers.write(&line).await }));
                }
                LineAction::Pass => {}
                LineAction::End => break,
            }
        }
        self.settle().await;
        None
    }

    async fn close(&mut self) -> io::Result<()> {
        *self.answers.writer.lock().await = None;
        Ok(())
    }
}

impl ReplyWriter {
    fn lock(&self) -> MutexGuard<'_, Pending> {
        // Counters and a map: whole even if a holder panicked.
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the client is let go, or `until` holds.
    async fn wait(&self, until: impl Fn(&Pending) -> bool) {
        loop {
            // Listening before looking, so that no change falls in between.
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            {
                let pending = self.lock();
                if pending.broken || until(&pending) {
                    return;
                }
            }
            changed.await;
        }
    }

    fn begin(&self, id: Option<&RequestId>) -> Option<Charge> {
        let mut pending = self.lock();
        pending.writing += 1;
        id.and_then(|id| pending.requests.remove(id))
    }

    fn finish(&self) {
        self.lock().writing -= 1;
        self.changed.notify_waiters();
    }

    /// Writes one whole line; lines never interleave. A client that does not
    /// take it in time is let go, as half a line may be written already.
    async fn write(&self, line: &[u8]) -> io::Result<()> {
        let mut writer = self.writer.lock().await;
        let Some(half) = writer.as_mut() else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        let written = timeout(self.write_deadline, half.write_all(line)).await;
        let error = match written {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(error)) => error,
            Err(_elapsed) => {
                warn!(bytes = line.len(); "a client did not read its answer in time; let it go");
                io::ErrorKind::TimedOut.into()
            }
        };
        *writer = None;
        self.lock().broken = true;
        self.changed.notify_waiters();
        Err(error)
    }
}

fn id_of(message: &ServerJsonRpcMessage) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Response(response) => Some(&response.id),
        JsonRpcMessage::Error(error) => error.id.as_ref(),
        JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
    }
}
