//! Priority of a thread: background work yields to what somebody waits for.

/// Gives the calling thread a niceness of its own, 0 (ordinary) to 19 (the lowest), which Linux
/// allows. It cannot lower it again without privileges.
pub fn set_niceness(nice: i32) -> std::io::Result<()> {
    Ok(rustix::process::setpriority_process(Some(rustix::thread::gettid()), nice)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn a_thread_has_a_niceness_of_its_own() {
        let own = || rustix::process::getpriority_process(Some(rustix::thread::gettid())).unwrap();
        let before = own();
        let lowest = move || {
            set_niceness(19).unwrap();
            own()
        };
        let other = thread::Builder::new().spawn(lowest).unwrap();
        assert_eq!((other.join().unwrap(), own()), (19, before));
    }
}
