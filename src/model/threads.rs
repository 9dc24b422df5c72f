//! Keeps candle on the calling thread.
//!
//! By default it spreads every larger product over all cores, and some row-wise operations over
//! rayon's global pool. For one short text or one image that is slower than one thread (dozens
//! of operations, each handed over and waited for), and it takes the cores from others.

use std::thread;

use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

/// Products never count as large enough for more threads, in the whole process.
pub(super) fn multiply_on_one_thread() {
    gemm::set_threading_threshold(usize::MAX);
}

/// Also makes the calling thread a rayon pool of one, where candle's row-wise operations run in
/// place.
pub(super) fn compute_on_this_thread_only() {
    multiply_on_one_thread();
    if let Err(error) = ThreadPoolBuilder::new().num_threads(1).use_current_thread().build() {
        log::warn!("models compute on all cores: {error}");
    }
}

/// A thread for what would spread over the pool of rayon that it is called in. It has the priority of
/// the thread that makes it.
pub(super) fn pool_of_one(name: &'static str) -> Result<ThreadPool, ThreadPoolBuildError> {
    ThreadPoolBuilder::new().num_threads(1).thread_name(|_| name.to_owned()).build()
}

/// Yields the core.
///
/// A captioner has low priority, but the kernel takes a core from it at the next timer tick
/// only: 4 ms at 250 Hz, which a query that woke meanwhile would wait for.
pub(super) fn step_aside() {
    thread::yield_now();
}
