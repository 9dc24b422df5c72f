//! Room on the disk: whether it takes writes at all.

use std::fs;
use std::io;
use std::path::Path;

use crate::store::durable;

/// What a database that opens again may need to write.
const PROBE_BYTES: usize = 1 << 20;

/// Writes and removes a file, to see whether the disk takes one.
pub(super) fn probe(dir: &Path) -> io::Result<()> {
    let path = dir.join("probe");
    let written = durable::replace(&path, &vec![0xA5; PROBE_BYTES]);
    for path in [&path, &path.with_extension(durable::DRAFT)] {
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    written
}
