//! The files of the audit log: appended to, followed by the next, and removed by age and
//! size. Files of any other name are left alone.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use chrono::{DateTime, NaiveDate};

use crate::audit::Options;
use crate::base::time::Timestamp;

/// A file is followed by the next beyond this, or beyond an eighth of what all may take.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// Files of a day; the last takes what comes.
const NUMBER_MAX: u32 = 9_999;

#[derive(Debug)]
pub(super) struct Files {
    options: Options,
    open: Option<OpenFile>,
}

#[derive(Debug)]
struct OpenFile {
    name: FileName,
    file: File,
    bytes: u64,
}

/// `2026-11-22-0001.jsonl`, which sorts as time does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct FileName {
    day: NaiveDate,
    number: u32,
}

impl Files {
    pub(super) fn open(options: Options, now: Timestamp) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(&options.dir)?;
        let files = Self { options, open: None };
        files.prune(now)?;
        Ok(files)
    }

    /// Appends a line, line feed included; it is with the kernel when this returns.
    pub(super) fn append(&mut self, line: &str, now: Timestamp) -> io::Result<()> {
        let today = day(now);
        let is_current = self.open.as_ref().is_some_and(|open| {
            let has_room = open.bytes + line.len() as u64 <= self.file_bytes_max();
            let is_last = open.name.number >= NUMBER_MAX;
            open.name.day == today && (has_room || open.bytes == 0 || is_last)
        });
        if !is_current {
            self.turn_to(today, line.len() as u64)?;
            self.prune(now)?;
        }
        if self.write(line).is_ok() {
            return Ok(());
        }
        // Half a line may be there: this begins one of its own. And the file system may have
        // been mounted anew since the file was opened.
        self.turn_to(today, line.len() as u64)?;
        self.write(line)
    }

    fn write(&mut self, line: &str) -> io::Result<()> {
        let Some(mut open) = self.open.take() else { return Err(ErrorKind::NotFound.into()) };
        open.file.write_all(line.as_bytes())?;
        open.bytes += line.len() as u64;
        self.open = Some(open);
        Ok(())
    }

    pub(super) fn sync(&mut self) -> io::Result<()> {
        self.open.as_mut().map_or(Ok(()), |open| open.file.sync_data())
    }

    #[cfg(test)]
    pub(super) fn replace_handle(&mut self, file: File) {
        self.open.as_mut().unwrap().file = file;
    }

    fn file_bytes_max(&self) -> u64 {
        FILE_BYTES_MAX.min(self.options.bytes_max / 8)
    }

    /// Opens the newest file of the day that has room, else the next.
    fn turn_to(&mut self, today: NaiveDate, room: u64) -> io::Result<()> {
        if let Some(before) = self.open.take() {
            before.file.sync_data()?;
        }
        let newest = list(&self.options.dir)?.into_iter().filter(|(it, _)| it.day == today).max();
        let name = match newest {
            None => FileName { day: today, number: 1 },
            Some((name, bytes)) if bytes + room <= self.file_bytes_max() => name,
            Some((name, _)) => FileName { number: (name.number + 1).min(NUMBER_MAX), ..name },
        };
        let path = name.path(&self.options.dir);
        let mut options = OpenOptions::new();
        let mut file = options.read(true).append(true).create(true).mode(0o600).open(&path)?;
        let bytes = file.metadata()?.len();
        if bytes == 0 {
            File::open(&self.options.dir)?.sync_all()?;
        } else if !ends_a_line(&mut file)? {
            file.write_all(b"\n")?;
        }
        self.open = Some(OpenFile { name, file, bytes });
        Ok(())
    }

    /// Removes the files that are out of retention, and the oldest beyond the bound.
    fn prune(&self, now: Timestamp) -> io::Result<()> {
        let held = list(&self.options.dir)?;
        let mut bytes: u64 = held.iter().map(|(_, bytes)| bytes).sum();
        let current = self.open.as_ref().map(|open| open.name);
        for (name, size) in held {
            let is_out = self.options.age_max.is_some_and(|age_max| name.is_older(age_max, now));
            if current != Some(name) && (is_out || bytes > self.options.bytes_max) {
                fs::remove_file(name.path(&self.options.dir))?;
                bytes -= size;
            }
        }
        Ok(())
    }
}

/// The texts of the files, oldest first.
pub(super) fn texts(dir: &Path) -> io::Result<Vec<String>> {
    newest_texts(dir, usize::MAX)
}

/// The texts of so many of the newest files, oldest first.
pub(super) fn newest_texts(dir: &Path, files: usize) -> io::Result<Vec<String>> {
    let held = match list(dir) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        held => held?,
    };
    let mut texts = Vec::new();
    for (name, _) in held.iter().skip(held.len().saturating_sub(files)) {
        let bytes = fs::read(name.path(dir))?;
        texts.push(String::from_utf8_lossy(&bytes).into_owned());
    }
    Ok(texts)
}

/// The files of the log with their sizes, oldest first.
fn list(dir: &Path) -> io::Result<Vec<(FileName, u64)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name().to_str().and_then(FileName::parse);
        if let Some(name) = name
            && entry.file_type()?.is_file()
        {
            found.push((name, entry.metadata()?.len()));
        }
    }
    found.sort_unstable();
    Ok(found)
}

fn ends_a_line(file: &mut File) -> io::Result<bool> {
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

fn day(at: Timestamp) -> NaiveDate {
    DateTime::from_timestamp_micros(at.micros()).unwrap_or_default().date_naive()
}

impl FileName {
    fn parse(name: &str) -> Option<Self> {
        let (day, number) = name.strip_suffix(".jsonl")?.rsplit_once('-')?;
        let day = NaiveDate::parse_from_str(day, "%Y-%m-%d").ok()?;
        let named = Self { day, number: number.parse().ok()? };
        (named.text() == name).then_some(named)
    }

    fn text(self) -> String {
        format!("{}-{:04}.jsonl", self.day.format("%Y-%m-%d"), self.number)
    }

    fn path(self, dir: &Path) -> PathBuf {
        dir.join(self.text())
    }

    /// Whether the last moment of its day is older than this.
    fn is_older(self, age_max: Duration, now: Timestamp) -> bool {
        let days = i64::try_from(age_max.as_secs() / 86_400).unwrap_or(i64::MAX);
        day(now).signed_duration_since(self.day).num_days() > days
    }
}
