//! Examination of a store that may be damaged, without a change to it.

use std::path::Path;

use crate::store::Options;
use crate::store::StoreError;
use crate::store::check;
pub use crate::store::check::Examined;
use crate::store::room::{self, Room};

/// Opens a copy of the database and counts all that is in it. A store that a start would
/// refuse is the same error here.
pub fn examine(options: &Options) -> Result<Examined, StoreError> {
    if !options.dir.is_dir() {
        return Ok(Examined::New);
    }
    check::examine(options)
}

/// How much room there is, or that there is too little.
pub fn check_disk(dir: &Path) -> Result<String, StoreError> {
    let there = dir.ancestors().find(|it| it.is_dir()).unwrap_or(dir);
    Room::check_free(there)?;
    let free =
        room::free(there).map_err(|error| StoreError::io("ask for room in", there, &error))?;
    Ok(format!("{} MiB are free", free >> 20))
}
