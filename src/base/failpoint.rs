//! Failpoints: named moments in which a kill is interesting, where the crash test kills the
//! process ([`arm`]). Without the feature `failpoints` nothing of them is compiled.

/// A moment of this name is reached.
macro_rules! failpoint {
    ($name:literal) => {
        #[cfg(feature = "failpoints")]
        ::fail::fail_point!($name);
    };
}
pub(crate) use failpoint;

/// Has the process killed where a failpoint is reached, as `name:times` says; of more, with
/// commas between, the one that is first. What cannot be read is left out.
#[cfg(feature = "failpoints")]
pub fn arm(kills: &str) {
    use std::sync::atomic::{AtomicU64, Ordering};

    for (name, times) in kills.split(',').filter_map(|it| it.split_once(':')) {
        let Ok(times) = times.parse::<u64>() else { continue };
        let reached = AtomicU64::new(0);
        let kill = move || {
            if reached.fetch_add(1, Ordering::Relaxed) + 1 == times {
                // No destructor runs, as none does when the power goes.
                let own = rustix::process::getpid();
                if rustix::process::kill_process(own, rustix::process::Signal::KILL).is_err() {
                    std::process::abort();
                }
            }
        };
        // Its outcome is seen by the failpoint that is never reached.
        drop(fail::cfg_callback(name, kill));
    }
}

#[cfg(all(test, feature = "failpoints"))]
mod tests {
    #[test]
    fn what_says_no_failpoint_kills_nothing() {
        super::arm("");
        super::arm("tests.none:x,tests.other");
        failpoint!("tests.none");
    }
}
