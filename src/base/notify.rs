//! A wake-up call from one thread to another that is remembered once.

use std::time::Duration;

use crossbeam::channel::{Receiver, Sender, bounded};

/// One-slot notification; clones share it. A call that nobody waits for is remembered
/// until somebody does, and further ones add nothing: whoever is woken looks for all
/// there is to do.
#[derive(Debug, Clone)]
pub struct Notify {
    sender: Sender<()>,
    receiver: Receiver<()>,
}

impl Default for Notify {
    fn default() -> Self {
        let (sender, receiver) = bounded(1);
        Self { sender, receiver }
    }
}

impl Notify {
    /// Wakes the waiting thread, or the next one that waits.
    pub fn notify(&self) {
        // Full: a call is remembered already.
        let _sent = self.sender.try_send(());
    }

    /// Waits for a call, which it takes.
    pub fn wait(&self) {
        // Not disconnected: this holds both ends.
        let _received = self.receiver.recv();
    }

    /// As [`Notify::wait`], no longer than `longest`.
    pub fn wait_for(&self, longest: Duration) {
        let _received = self.receiver.recv_timeout(longest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    const LONG: Duration = Duration::from_mins(1);

    #[test]
    fn a_call_before_the_wait_is_remembered() {
        let notify = Notify::default();
        notify.notify();
        notify.wait();
    }

    #[test]
    fn several_calls_are_remembered_as_one() {
        let notify = Notify::default();
        notify.notify();
        notify.notify();
        notify.wait_for(LONG);
        assert!(notify.receiver.is_empty());
    }

    #[test]
    fn a_clone_wakes_a_waiting_thread() {
        let notify = Notify::default();
        let waiting = notify.clone();
        let (done, is_done) = bounded(1);
        let wait = move || {
            waiting.wait_for(LONG);
            done.send(()).unwrap();
        };
        let thread = thread::Builder::new().name("waiting".to_owned()).spawn(wait).unwrap();
        notify.notify();
        is_done.recv_timeout(LONG / 2).unwrap();
        thread.join().unwrap();
    }
}
