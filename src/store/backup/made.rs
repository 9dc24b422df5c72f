//! Note of the newest backup, in the store's directory: when it was made, and where to.

use std::fs;
use std::path::{Path, PathBuf};

use chrono::{DateTime, SecondsFormat};

use crate::base::time::Timestamp;
use crate::store::StoreError;
use crate::store::durable;

/// Of the place; the rest of a longer one is left out.
const PLACE_CHARS_MAX: usize = 4_096;

/// The newest backup that came to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MadeBackup {
    pub at: Timestamp,
    /// As who made it named it.
    pub place: String,
}

/// The newest backup of the store in `dir`; `None` where none is known.
pub fn newest(dir: &Path) -> Option<MadeBackup> {
    let text = fs::read_to_string(path(dir)).ok()?;
    let (at, place) = text.trim_end().split_once(' ')?;
    let at = at.parse::<DateTime<chrono::Utc>>().ok()?.timestamp_micros();
    Some(MadeBackup { at: Timestamp::from_micros(at)?, place: place.to_owned() })
}

pub(super) fn note(dir: &Path, at: Timestamp, place: &str) -> Result<(), StoreError> {
    let path = path(dir);
    let time = DateTime::from_timestamp_micros(at.micros()).unwrap_or_default();
    let time = time.to_rfc3339_opts(SecondsFormat::Secs, true);
    let place: String = place.replace('\n', " ").chars().take(PLACE_CHARS_MAX).collect();
    durable::replace(&path, format!("{time} {place}\n").as_bytes())
        .map_err(|error| StoreError::io("note the backup", &path, &error))
}

fn path(dir: &Path) -> PathBuf {
    dir.join("backed-up")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests::at;

    #[test]
    fn the_newest_backup_is_known_by_time_and_place() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(newest(dir.path()), None);
        for seconds in [100, 200] {
            note(dir.path(), at(seconds), "/media/a stick\nwith lines").unwrap();
            let place = "/media/a stick with lines".to_owned();
            assert_eq!(newest(dir.path()), Some(MadeBackup { at: at(seconds), place }));
        }
        fs::write(path(dir.path()), "yesterday").unwrap();
        assert_eq!(newest(dir.path()), None);
    }
}
