//! Mark of a restore that has not come to its end, in the directory that it makes a store in.

use std::path::Path;

use crate::store::StoreError;

pub(super) const NAME: &str = "restoring";

/// Refuses a directory in which a restore was cut short.
pub(in crate::store) fn check_none(state: &Path) -> Result<(), StoreError> {
    if !state.join(NAME).exists() {
        return Ok(());
    }
    let reason = "a restore into this directory was cut short; run `engram restore` once more, \
                  which begins again";
    Err(StoreError::Foreign { path: state.to_owned(), reason: reason.to_owned() })
}
