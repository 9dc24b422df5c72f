//! What a child process gives up at its start, so that the daemon outlives it and answers first.

use std::fs;
use std::io;

use rustix::process::{Resource, Rlimit, Signal};

/// What this process is and may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepBack<'a> {
    /// For the log.
    pub name: &'a str,
    pub niceness: i32,
    /// Of 1000: when memory runs out, the kernel ends the process of the highest score first.
    pub oom_score: u16,
    /// Allocating more ends this process. `None` leaves it to the kernel.
    pub memory_bytes_max: Option<u64>,
}

impl StepBack<'_> {
    /// Takes effect for this process and what it starts; its end comes with that of the thread
    /// that started it. What the system does not allow is skipped and logged.
    pub fn apply(&self) {
        self.warn_of("die with the daemon", die_with_parent());
        let nice = rustix::process::nice(self.niceness).map(drop);
        self.warn_of("lower its priority", nice.map_err(Into::into));
        let score = fs::write("/proc/self/oom_score_adj", self.oom_score.to_string());
        self.warn_of("go first when memory runs out", score);
        if let Some(bytes) = self.memory_bytes_max {
            let limit = Rlimit { current: Some(bytes), maximum: Some(bytes) };
            let limited = rustix::process::setrlimit(Resource::Data, limit);
            self.warn_of("limit its memory", limited.map_err(Into::into));
        }
    }

    fn warn_of(&self, what: &str, done: io::Result<()>) {
        if let Err(error) = done {
            log::warn!("{} cannot {what}: {error}", self.name);
        }
    }
}

fn die_with_parent() -> io::Result<()> {
    Ok(rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?)
}
