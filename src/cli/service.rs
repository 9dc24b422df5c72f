//! What a service manager is told: that the daemon is ready, that it lives, that it ends.
//!
//! Nothing where none asked to be told (`NOTIFY_SOCKET`, `WATCHDOG_USEC`), as systemd does.

use std::path::PathBuf;
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use anyhow::Context as _;
use log::warn;
use sd_notify::NotifyState;
use serde_json::Map;

use crate::base::stop::Stop;
use crate::cli::client::{Client, ClientError, ClientOptions};
use crate::tools::admin::health::Health;
use crate::tools::tool::Tool as _;

/// Times that it is told in the time after which the manager ends a daemon.
const TOLD_IN_TIME: u32 = 3;

/// A running service.
#[derive(Debug)]
pub(super) struct Service {
    watchdog: Option<(Stop, JoinHandle<()>)>,
}

impl Service {
    /// The daemon answers at `socket`. From now on it is asked whether it does, and the manager
    /// is told while it does.
    pub(super) fn begin(socket: PathBuf) -> anyhow::Result<Self> {
        tell(NotifyState::Ready);
        let Some(within) = sd_notify::watchdog_enabled() else {
            return Ok(Self { watchdog: None });
        };
        let pause = within / TOLD_IN_TIME;
        let stop = Stop::default();
        let asked = stop.clone();
        let watch = move || {
            while !asked.is_asked() {
                if lives(&socket, pause) {
                    tell(NotifyState::Watchdog);
                }
                asked.sleep(pause);
            }
        };
        let thread = Builder::new().name("watchdog".to_owned()).spawn(watch);
        Ok(Self { watchdog: Some((stop, thread.context("cannot start a thread")?)) })
    }

    /// The daemon is about to end.
    pub(super) fn end(self) {
        tell(NotifyState::Stopping);
        if let Some((stop, thread)) = self.watchdog {
            stop.ask();
            if thread.join().is_err() {
                warn!("the thread that watches the daemon panicked");
            }
        }
    }
}

/// Whether it answers; a refusal is an answer. Late is busy: until then it said every few
/// seconds that it lives, or this were [`ClientError::Hung`].
fn lives(socket: &std::path::Path, within: Duration) -> bool {
    // Asked early enough that one which hangs is not taken for a busy one.
    let alive_within = ClientOptions::default().alive_within.min(within / 3);
    let options = ClientOptions { alive_within, ..ClientOptions::within(Some(within)) };
    let asked = Client::connect(socket, options)
        .and_then(|mut client| client.call(Health::NAME, Map::new()));
    matches!(asked, Ok(_) | Err(ClientError::Refused { .. } | ClientError::Late(_)))
}

fn tell(state: NotifyState<'_>) {
    if let Err(error) = sd_notify::notify(&[state]) {
        warn!(error:%; "the service manager could not be told");
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::unix::net::UnixListener;

    use super::*;

    const WITHIN: Duration = Duration::from_millis(900);

    #[test]
    fn a_busy_daemon_lives_and_one_that_hangs_does_not() {
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("s");
        assert!(!lives(&socket, WITHIN), "there is none");
        let listener = UnixListener::bind(&socket).unwrap();
        // The kernel takes connections for it, and nobody else.
        assert!(!lives(&socket, WITHIN));
        drop(listener);
        std::fs::remove_file(&socket).unwrap();
        let listener = UnixListener::bind(&socket).unwrap();
        let busy = Builder::new().spawn(move || {
            let (call, _) = listener.accept().unwrap();
            // It has no time for the call, and says whenever it is asked that it lives.
            while let Ok((mut question, _)) = listener.accept() {
                question.write_all(b"{}\n").unwrap_or_default();
            }
            drop(call);
        });
        assert!(lives(&socket, WITHIN));
        // Its thread waits for ever, as a daemon does.
        drop(busy);
    }
}
