//! Stop flag that threads can sleep on.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// One-way stop request, shared by its clones.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<StopState>);

#[derive(Debug, Default)]
struct StopState {
    asked: Mutex<bool>,
    changed: Condvar,
}

impl Stop {
    /// Requests the stop; wakes the sleepers.
    pub fn ask(&self) {
        *self.lock() = true;
        self.0.changed.notify_all();
    }

    pub fn is_asked(&self) -> bool {
        *self.lock()
    }

    /// Sleeps for `pause` or until the stop; returns whether it was requested.
    pub fn sleep(&self, pause: Duration) -> bool {
        let guard = self.lock();
        let waited = self.0.changed.wait_timeout_while(guard, pause, |asked| !*asked);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn lock(&self) -> MutexGuard<'_, bool> {
        // A bool cannot be left half-written by a panicking holder.
        self.0.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread::Builder;

    #[test]
    fn wakes_a_sleeper() {
        let stop = Stop::default();
        let sleeper = stop.clone();
        let thread = Builder::new().spawn(move || sleeper.sleep(Duration::from_mins(1))).unwrap();
        stop.ask();
        assert!(thread.join().unwrap());
    }

    #[test]
    fn an_undisturbed_sleep_says_so() {
        assert!(!Stop::default().sleep(Duration::from_millis(1)));
    }
}
