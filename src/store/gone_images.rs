//! Images that somebody else removed from `frames/`: told once, as a loss.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::store::StoreError;
use crate::store::durable;
use crate::store::losses::Losses;

/// Runs of frames that a loss names; of more, how many.
const RUNS_NAMED: usize = 20;

/// Those that were told lie in `frames.gone`, a ticket a line: whoever has looked is not told
/// again at the next start.
#[derive(Debug)]
pub(super) struct GoneImages {
    path: PathBuf,
    losses: Losses,
}

impl GoneImages {
    pub(super) fn beside(frames: &Path, losses: Losses) -> Self {
        Self { path: frames.with_extension("gone"), losses }
    }

    /// Tells of those that were not told before.
    pub(super) fn tell(&self, gone: &[u64]) -> Result<(), StoreError> {
        let (mut told, new) = self.compare(gone)?;
        if new.is_empty() {
            return Ok(());
        }
        self.losses.note(&describe(&new))?;
        told.extend(new);
        self.write(&told)
    }

    /// One that goes on purpose, and is no loss, counts as told.
    pub(super) fn excuse(&self, ticket: u64) -> Result<(), StoreError> {
        let (mut told, _) = self.compare(&[])?;
        told.insert(ticket);
        self.write(&told)
    }

    fn write(&self, told: &BTreeSet<u64>) -> Result<(), StoreError> {
        let mut lines = String::new();
        for ticket in told {
            lines.push_str(&format!("{ticket}\n"));
        }
        durable::replace(&self.path, lines.as_bytes())
            .map_err(|error| StoreError::io("note which images are gone in", &self.path, &error))
    }

    /// What [`GoneImages::tell`] would say.
    pub(super) fn untold(&self, gone: &[u64]) -> Result<Option<String>, StoreError> {
        let (_, new) = self.compare(gone)?;
        Ok((!new.is_empty()).then(|| describe(&new)))
    }

    /// What was told, and what was not.
    fn compare(&self, gone: &[u64]) -> Result<(BTreeSet<u64>, Vec<u64>), StoreError> {
        let told = match fs::read_to_string(&self.path) {
            Ok(text) => text.lines().filter_map(|line| line.parse().ok()).collect(),
            Err(error) if error.kind() == ErrorKind::NotFound => BTreeSet::new(),
            Err(error) => {
                return Err(StoreError::io("read which images are gone from", &self.path, &error));
            }
        };
        let new = gone.iter().copied().filter(|it| !told.contains(it)).collect();
        Ok((told, new))
    }
}

/// Of tickets in ascending order.
fn describe(gone: &[u64]) -> String {
    let runs: Vec<&[u64]> = gone.chunk_by(|before, next| before + 1 == *next).collect();
    let named: Vec<String> = runs
        .iter()
        .take(RUNS_NAMED)
        .map(|run| match run {
            [first, .., last] => format!("{first}-{last}"),
            one => one.iter().map(u64::to_string).collect(),
        })
        .collect();
    let more = match runs.len().saturating_sub(RUNS_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more runs of them"),
    };
    let (count, named) = (gone.len(), named.join(", "));
    format!("images: {count} are gone from \"frames\", of frames {named}{more}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_told_once_and_by_its_frame() {
        let dir = tempfile::tempdir().unwrap();
        let losses = Losses::in_dir(dir.path());
        let gone = GoneImages::beside(&dir.path().join("frames"), losses.clone());
        gone.tell(&[]).unwrap();
        gone.tell(&[3, 7, 8, 9]).unwrap();
        let told = "images: 4 are gone from \"frames\", of frames 3, 7-9";
        assert_eq!(losses.read().unwrap(), [told]);
        losses.settle().unwrap();
        gone.tell(&[3, 8, 9]).unwrap();
        assert_eq!(losses.read().unwrap(), Vec::<String>::new());
        assert_eq!(gone.untold(&[9]).unwrap(), None);
        let one = "images: 1 are gone from \"frames\", of frames 12".to_owned();
        assert_eq!(gone.untold(&[9, 12]).unwrap(), Some(one.clone()));
        gone.tell(&[9, 12]).unwrap();
        assert_eq!(losses.read().unwrap(), [one]);
    }

    #[test]
    fn of_very_many_the_first_are_named() {
        let every_other: Vec<u64> = (0..1_000).map(|it| it * 2).collect();
        let text = describe(&every_other);
        assert!(text.ends_with("36, 38 and 980 more runs of them"), "{text}");
    }
}
