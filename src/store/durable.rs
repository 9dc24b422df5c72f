//! Writes a file so that after a crash it is there as a whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use crate::base::failpoint::failpoint;

/// Ending of files that are not finished; they may be removed at any time.
pub(super) const DRAFT: &str = "new";

/// Puts `bytes` at `path`, for the owner alone, replacing what was there; durable when it
/// returns.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let draft = path.with_extension(DRAFT);
    let mut options = OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
    file.write_all(bytes)?;
    file.sync_data()?;
    drop(file);
    failpoint!("file.drafted");
    fs::rename(&draft, path)?;
    failpoint!("file.renamed");
    path.parent().map_or(Ok(()), sync_dir)
}

/// Makes the names in a directory durable.
pub(super) fn sync_dir(dir: &Path) -> std::io::Result<()> {
    File::open(dir)?.sync_all()
}
