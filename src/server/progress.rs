//! Tells a client that its call is still under way, where the client asked to be told.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use log::debug;
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use tokio::time::{MissedTickBehavior, interval};

/// Between two notifications; a call that ends sooner has none.
const PAUSE: Duration = Duration::from_secs(1);

/// Waits for a call's end. Each second before it the client is told how many seconds have
/// passed: how many there will be nobody knows.
pub(super) async fn told<T>(
    peer: &Peer<RoleServer>,
    token: ProgressToken,
    what: &str,
    call: impl Future<Output = T>,
) -> T {
    let mut call = pin!(call);
    let mut ticks = interval(PAUSE);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut seconds = 0_u32;
    loop {
        tokio::select! {
            biased;
            outcome = &mut call => return outcome,
            _ = ticks.tick() => {}
        }
        // The first tick is at once.
        if seconds > 0 {
            let passed = ProgressNotificationParam::new(token.clone(), f64::from(seconds))
                .with_message(format!("{what}: {seconds} s"));
            if let Err(error) = peer.notify_progress(passed).await {
                debug!("a client was not told of progress: {error}");
            }
        }
        seconds += 1;
    }
}
