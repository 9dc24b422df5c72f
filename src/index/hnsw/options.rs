//! How a graph is built, why it was not, and how a caller stops it.

use std::io;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::thread::{self, ScopedJoinHandle};

use crate::index::hnsw::layout::ROWS_MAX;

/// How a graph is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Links of a row in the upper layers, `M`; twice as many in the lowest.
    pub m: usize,
    /// Candidates of the search for a row's neighbours: `efConstruction`.
    pub ef_construction: usize,
    /// Threads that build at the same time.
    pub threads: NonZeroUsize,
}

impl Default for Options {
    /// M = 16 and two threads.
    fn default() -> Self {
        let threads = NonZeroUsize::MIN.saturating_add(1);
        Self { m: 16, ef_construction: 96, threads }
    }
}

/// Why there is no segment.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    #[error("building was stopped")]
    Stopped,
    #[error("vector {row} has {found} components, the segment's have {expected}")]
    Dimension { row: usize, found: usize, expected: usize },
    #[error("{rows} rows are more than the {max} that a segment can hold", max = ROWS_MAX)]
    TooMany { rows: usize },
    #[error("m is {found}, accepted is 2 to 128")]
    Links { found: usize },
    #[error("a thread that builds cannot be started")]
    Thread(#[source] io::Error),
    #[error("a thread that builds has panicked")]
    Panicked,
}

/// Cancellation check, called again and again from several threads.
pub type Hook<'a> = &'a (dyn Fn() -> ControlFlow<()> + Sync);

impl Options {
    pub(super) fn widths(&self) -> (usize, usize) {
        (2 * self.m, self.m)
    }
}

/// The caller's cancellation check.
#[derive(Clone, Copy)]
pub(super) struct Cancellation<'a>(pub(super) Hook<'a>);

impl Cancellation<'_> {
    pub(super) fn check(&self) -> Result<(), BuildError> {
        match (self.0)() {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(BuildError::Stopped),
        }
    }
}

/// Runs each job in a thread of its own; results in the order of jobs.
pub(super) fn in_threads<T: Send>(
    jobs: impl Iterator<Item = impl FnOnce() -> Result<T, BuildError> + Send>,
) -> Result<Vec<T>, BuildError> {
    thread::scope(|scope| {
        let threads: Vec<ScopedJoinHandle<'_, Result<T, BuildError>>> = jobs
            .map(|job| {
                let name = "index-build".to_owned();
                thread::Builder::new().name(name).spawn_scoped(scope, job)
            })
            .collect::<Result<_, _>>()
            .map_err(BuildError::Thread)?;
        // What a panic says is on standard error already.
        let results = threads.into_iter().map(|it| it.join().unwrap_or(Err(BuildError::Panicked)));
        results.collect()
    })
}
