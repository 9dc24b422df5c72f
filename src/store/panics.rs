//! Panics of the database on damaged bytes: they become errors, and nothing else of them is
//! to be seen.

use std::panic;

/// Part of the paths of the database's source files.
const SOURCES: &str = "/sled-";

/// Keeps the messages and backtraces of the database's own panics from standard error; they
/// are errors by the time anybody hears of them. All other panics are printed as before.
pub fn hide_database_panics() {
    let print = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let is_database = info.location().is_some_and(|it| it.file().contains(SOURCES));
        if is_database {
            log::debug!(panic:% = info; "the database panicked");
        } else {
            print(info);
        }
    }));
}
