//! Runs tool calls: so many at once, each with a deadline, each with an answer.
//!
//! A call blocks (it computes, it waits for the disk), so it runs on a thread
//! of its own. Brief ones are answered on the thread that read them, since waking
//! another and being woken by it takes longer than they do. Meanwhile another
//! thread serves the sockets in its stead, so that a call that turns out not to
//! be brief holds up nobody else.

use std::any::Any;
use std::fmt::Display;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use log::error;
use rmcp::ErrorData;
use tokio::sync::watch;
use tokio::task::{block_in_place, spawn_blocking};
use tokio::time::timeout;

use crate::base::panic::panic_text;
use crate::server::fair::{Client, FairPlaces};
use crate::tools::{CallMetrics, Reason};

/// How long a call takes, as far as one can say before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pace {
    /// About a millisecond.
    Brief,
    /// Anything up to the deadline.
    Long,
}

/// Where all clients' calls run.
#[derive(Debug)]
pub(super) struct Calls {
    /// Calls beyond the bound wait, each client for its turn.
    places: Arc<FairPlaces>,
    deadline: Duration,
    /// Set when the server stops and waits no longer.
    abandoned: watch::Sender<bool>,
    /// Tells one start of the daemon from another in fault ids.
    start: String,
    faults: AtomicU64,
    metrics: Arc<CallMetrics>,
}

impl Calls {
    pub(super) fn new(
        at_once: usize,
        deadline: Duration,
        start: String,
        metrics: Arc<CallMetrics>,
    ) -> Self {
        let places = FairPlaces::new(at_once);
        let abandoned = watch::Sender::new(false);
        Self { places, deadline, abandoned, start, faults: AtomicU64::new(0), metrics }
    }

    /// Answers every call still under way with an error, as the server stops.
    pub(super) fn abandon(&self) {
        self.abandoned.send_replace(true);
    }

    /// Runs `work` and gives its result, or the fault that came instead.
    ///
    /// Brief work runs here and now where there is a place for it, other work on a
    /// thread of its own. The deadline counts from here, so it covers the wait
    /// for a place. At the deadline the caller gets a fault; the work itself
    /// cannot be interrupted and keeps its place until it ends. When `cancelled`
    /// ends first, work that has not begun never does.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        client: Client,
        what: &str,
        pace: Pace,
        cancelled: impl Future<Output = ()>,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        if pace == Pace::Brief
            && let Some(_place) = self.places.try_take(client)
        {
            // Without the hand-over, this may be the thread that waits for all sockets.
            let outcome = block_in_place(|| catch_unwind(AssertUnwindSafe(work)));
            return outcome.map_err(|panic| {
                self.metrics.refused(Reason::Failed);
                self.fault(what, &panic_message(panic.as_ref()))
            });
        }
        let finished = async {
            let place = self.places.take(client).await;
            let place = place.ok_or_else(|| "the server ends".to_owned())?;
            let task = spawn_blocking(move || {
                let _place = place;
                work()
            });
            task.await.map_err(|failed| match failed.try_into_panic() {
                Ok(panic) => panic_message(panic.as_ref()),
                Err(failed) => failed.to_string(),
            })
        };
        let mut abandoned = self.abandoned.subscribe();
        let outcome = tokio::select! {
            biased;
            // First, so that a place that comes free after it begins no work. The answer
            // to a cancelled request is not sent, whatever it is.
            () = cancelled => return Err(ErrorData::internal_error("cancelled", None)),
            outcome = timeout(self.deadline, finished) => outcome,
            _ = abandoned.wait_for(|abandoned| *abandoned) => {
                return Err(self.fault(what, &"the daemon stopped before it ended"));
            }
        };
        match outcome {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(failure)) => {
                self.metrics.refused(Reason::Failed);
                Err(self.fault(what, &failure))
            }
            Err(_elapsed) => {
                self.metrics.refused(Reason::TookTooLong);
                let late = format!("took longer than {:?}", self.deadline);
                Err(self.fault(what, &late))
            }
        }
    }

    /// Logs a fault of ours under an id of its own; the client gets the id and
    /// not the text, which may say more than a client should see.
    pub(super) fn fault(&self, what: &str, text: &dyn Display) -> ErrorData {
        let number = self.faults.fetch_add(1, Ordering::Relaxed) + 1;
        let id = format!("{}-{number}", self.start);
        error!(fault = id.as_str(), what = what; "{what}: {text}");
        let data = serde_json::json!({ "fault": id });
        ErrorData::internal_error(
            format!("{what} failed in the daemon; its log says more under fault {id}"),
            Some(data),
        )
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    format!("panicked: {}", panic_text(panic))
}
