//! Making of a backup: asks the store for what the directory lacks, and names it when all of it
//! was read back.
//!
//! Knows nothing of where the store is. Killed at any moment, or where the disk is full, the
//! backup that was there is as it was.

use std::collections::BTreeMap;
use std::path::Path;

use crate::base::time::Timestamp;
use crate::store::backup::contents::{Contents, FileRef, ImageRef, PackRef};
use crate::store::backup::directory::{self, BackupDirectory, Faults};
use crate::store::backup::{
    Answer, BackupError, Begun, Final, ImageName, Question, SentImage, pack,
};
use crate::store::keys;

/// Images asked for at a time; as many come as fit.
const IMAGES_ASKED: usize = 64;
/// More packs of changes make no backup.
const CHANGES_MAX: usize = 2_000;

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BackupReport {
    /// How many there are of each kind.
    pub kinds: Vec<(&'static str, u64)>,
    pub images: usize,
    pub files: usize,
    pub bytes: u64,
    /// Of those, how many were not there yet.
    pub files_written: usize,
    pub bytes_written: u64,
    /// Files of the backup before that this one has no more.
    pub files_removed: u64,
    /// Frames whose images are damaged in the store, and not in the backup.
    pub damaged_images: Vec<u64>,
    /// Whether the key that opens it is in it.
    pub has_key: bool,
}

/// Makes a backup in `dir`, in the place of the one that is there.
pub fn make(
    dir: &Path,
    now: Timestamp,
    ask: &mut dyn FnMut(Question) -> Result<Answer, BackupError>,
) -> Result<BackupReport, BackupError> {
    let Answer::Begun(Begun { store, losses }) = ask(Question::Begin)? else {
        return Err(not_understood());
    };
    let (target, earlier) = BackupDirectory::open(dir, store)?;
    if let (Some(loss), Some(_)) = (losses.first(), &earlier) {
        let reason = format!(
            "the store has lost something that the backup there may still hold ({loss}); restore \
             it, or make a backup in another directory, or have `engram doctor --settle` end this"
        );
        return Err(BackupError::refused(dir, reason));
    }
    // Of a backup that was cut short.
    target.remove_others(earlier.as_ref())?;
    let contents =
        Contents { engram: env!("CARGO_PKG_VERSION").to_owned(), store, ..Contents::default() };
    let making = Making { target: &target, earlier, contents, report: BackupReport::default() };
    making.run(now, ask)
}

struct Making<'a> {
    target: &'a BackupDirectory,
    earlier: Option<Contents>,
    contents: Contents,
    report: BackupReport,
}

type Ask<'a> = &'a mut dyn FnMut(Question) -> Result<Answer, BackupError>;

impl Making<'_> {
    fn run(mut self, now: Timestamp, ask: Ask<'_>) -> Result<BackupReport, BackupError> {
        if let Err(error) = self.fill(now, ask) {
            // Room on a disk that may be full.
            drop(self.target.remove_others(self.earlier.as_ref()));
            return Err(error);
        }
        self.contents.write(self.target.path())?;
        self.report.files_removed = self.target.remove_others(Some(&self.contents))?;
        let place = self.target.path().display().to_string();
        let done = Question::Done { at_micros: now.micros(), to: place };
        if let Err(error) = ask(done) {
            // The backup is whole; only the store does not know of it.
            log::warn!(error:%; "the store could not note that it has a backup");
        }
        self.describe();
        Ok(self.report)
    }

    fn fill(&mut self, now: Timestamp, ask: Ask<'_>) -> Result<(), BackupError> {
        // Most of the time goes by here, before what changes is noted.
        let mut images = BTreeMap::new();
        self.copy_images(&mut images, ask)?;
        self.copy_entries(ask)?;
        let last = self.copy_changes(ask)?;
        let Final { witness, files } = *last;
        self.report.has_key = files.iter().any(|(name, _)| name == "key");
        (self.contents.witness, self.contents.files) = (witness, files);
        self.contents.images = self.copy_images(&mut images, ask)?;
        self.copy_audit(ask)?;
        self.contents.made_at_micros = now.micros();
        self.target.sync()?;
        self.check(&images)
    }

    /// Copies the images that are listed and neither in `copied` nor in the directory; all of
    /// those that are listed and there now.
    fn copy_images(
        &mut self,
        copied: &mut BTreeMap<ImageName, (ImageRef, bool)>,
        ask: Ask<'_>,
    ) -> Result<Vec<ImageRef>, BackupError> {
        let there: BTreeMap<ImageName, ImageRef> = self
            .earlier
            .iter()
            .flat_map(|it| &it.images)
            .map(|image| (image.name, *image))
            .collect();
        let mut listed = Vec::new();
        let mut after = 0;
        loop {
            let Answer::ImageNames(names) = ask(Question::ImageNames { after })? else {
                return Err(not_understood());
            };
            let Some(last) = names.last() else { break };
            if last.ticket <= after {
                return Err(not_understood());
            }
            after = last.ticket;
            let mut missing = Vec::new();
            for name in &names {
                if copied.contains_key(name) {
                    continue;
                }
                match there.get(name).filter(|image| self.target.has_image(image)) {
                    Some(image) => {
                        copied.insert(*name, (*image, false));
                    }
                    None => missing.push(*name),
                }
            }
            self.fetch_images(&missing, copied, ask)?;
            listed.extend(names.iter().filter_map(|name| copied.get(name)).map(|(it, _)| *it));
        }
        Ok(listed)
    }

    fn fetch_images(
        &mut self,
        mut missing: &[ImageName],
        copied: &mut BTreeMap<ImageName, (ImageRef, bool)>,
        ask: Ask<'_>,
    ) -> Result<(), BackupError> {
        while !missing.is_empty() {
            let tickets = missing.iter().take(IMAGES_ASKED).map(|it| it.ticket).collect();
            let Answer::Images(images) = ask(Question::Images(tickets))? else {
                return Err(not_understood());
            };
            let (given, rest) =
                missing.split_at_checked(images.len()).ok_or_else(not_understood)?;
            if given.is_empty() {
                return Err(not_understood());
            }
            for (name, (ticket, image)) in given.iter().zip(images) {
                match image {
                    SentImage::Whole(bytes) if ticket == name.ticket => {
                        let image = self.target.put_image(*name, &bytes)?;
                        copied.insert(*name, (image, true));
                    }
                    SentImage::Gone => {}
                    SentImage::Damaged => {
                        if !self.report.damaged_images.contains(&ticket) {
                            self.report.damaged_images.push(ticket);
                        }
                    }
                    SentImage::Whole(_) => return Err(not_understood()),
                }
            }
            missing = rest;
        }
        Ok(())
    }

    fn copy_entries(&mut self, ask: Ask<'_>) -> Result<(), BackupError> {
        let earlier = self.earlier.as_ref().map(|it| it.packs.clone()).unwrap_or_default();
        let mut last: Option<Vec<u8>> = None;
        loop {
            let known = earlier
                .iter()
                .find(|pack| last.as_ref().is_none_or(|last| pack.last_key > *last))
                .filter(|pack| self.target.has_pack(&pack.file));
            let question = Question::Entries { known: known.map(|it| it.file.hash) };
            let pack = match (ask(question)?, known) {
                (Answer::SameEntries, Some(known)) => known.clone(),
                (Answer::Entries(Some(bytes)), _) => {
                    let entries = pack::read(&bytes).ok_or_else(not_understood)?;
                    let (last_key, _) =
                        entries.into_iter().next_back().ok_or_else(not_understood)?;
                    PackRef { file: self.put(&bytes)?, last_key }
                }
                (Answer::Entries(None), _) => return Ok(()),
                _ => return Err(not_understood()),
            };
            if last.as_ref().is_some_and(|last| pack.last_key <= *last) {
                return Err(not_understood());
            }
            last = Some(pack.last_key.clone());
            self.contents.packs.push(pack);
        }
    }

    fn copy_changes(&mut self, ask: Ask<'_>) -> Result<Box<Final>, BackupError> {
        while self.contents.changes.len() < CHANGES_MAX {
            let Answer::Changes(bytes, last) = ask(Question::Changes)? else {
                return Err(not_understood());
            };
            let entries = pack::read(&bytes).ok_or_else(not_understood)?;
            if let Some((last_key, _)) = entries.into_iter().next_back() {
                let file = self.put(&bytes)?;
                self.contents.changes.push(PackRef { file, last_key });
            }
            if let Some(last) = last {
                return Ok(last);
            }
        }
        Err(not_understood())
    }

    fn copy_audit(&mut self, ask: Ask<'_>) -> Result<(), BackupError> {
        let mut after = String::new();
        loop {
            let Answer::Audit(file) = ask(Question::Audit { after: after.clone() })? else {
                return Err(not_understood());
            };
            let Some((name, bytes)) = file else { return Ok(()) };
            if name <= after || name.contains('/') {
                return Err(not_understood());
            }
            let file = self.put(&bytes)?;
            self.contents.audit.push((name.clone(), file));
            after = name;
        }
    }

    fn put(&mut self, bytes: &[u8]) -> Result<FileRef, BackupError> {
        let (file, is_new) = self.target.put_pack(bytes)?;
        if is_new {
            self.report.files_written += 1;
            self.report.bytes_written += file.bytes;
        }
        Ok(file)
    }

    /// Reads back what was written, and all entries: nothing is said to be there that is not.
    fn check(&mut self, copied: &BTreeMap<ImageName, (ImageRef, bool)>) -> Result<(), BackupError> {
        let mut faults = Faults::default();
        let losses = directory::check_entries(self.target.path(), &self.contents, &mut faults);
        if !losses.is_empty() {
            return Err(BackupError::OtherThanAcknowledged(losses.join("; ")));
        }
        let is_written = |image: &&ImageRef| copied.get(&image.name).is_some_and(|(_, new)| *new);
        for image in self.contents.images.iter().filter(is_written) {
            directory::check_image(self.target.path(), image, &mut faults);
            self.report.files_written += 1;
            self.report.bytes_written += image.file.bytes;
        }
        faults.into_write_error(self.target.path())
    }

    fn describe(&mut self) {
        let contents = &self.contents;
        self.report.kinds = kinds(contents);
        self.report.images = contents.images.len();
        self.report.files = contents.all_packs().count() + contents.images.len();
        self.report.files += contents.audit.len();
        self.report.bytes = contents.bytes();
    }
}

/// How many there are of each kind that somebody would miss.
pub(super) fn kinds(contents: &Contents) -> Vec<(&'static str, u64)> {
    let kinds = [
        keys::RECORDS,
        keys::NOTES,
        keys::MEMOS,
        keys::AGENT_STATES,
        keys::SESSIONS,
        keys::SPOOL,
        keys::SET_ASIDE,
    ];
    let kinds = kinds.into_iter().filter_map(|kind| kind.first());
    kinds.map(|kind| (keys::kind_name(*kind), contents.witness.of_kind(*kind).count)).collect()
}

fn not_understood() -> BackupError {
    BackupError::OtherVersion("the store's answers".to_owned())
}
