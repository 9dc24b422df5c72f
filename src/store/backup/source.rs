//! Source: an open store that answers a backup's questions, while others read and write.
//!
//! The entries are read in the order of their keys, a pack at a time, and nobody waits for it.
//! What changes meanwhile is noted and read again, round by round, until little is left: that
//! is read with all writers held, together with the witness, the keyring and the names of the
//! images. So all of it is as of one commit, and writers wait for [`LAST_KEYS`] entries at most.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::base::FrameTicket;
use crate::base::time::Timestamp;
use crate::store::Store;
use crate::store::StoreError;
use crate::store::backup::pack::{self, Packing};
use crate::store::backup::{
    Answer, BackupError, Begun, Final, ImageName, Question, SentImage, StoreId, hash, made,
};
use crate::store::keyring::master_key::{KeySource, MasterKey};
use crate::store::keyring::{KeyId, Keyring};
use crate::store::keys;

/// Entries read while writers are held, at most.
const LAST_KEYS: usize = 1_024;
/// Changed entries read in a round.
const ROUND_KEYS: usize = 4_096;
/// More rounds do not catch up with the writers.
const ROUNDS_MAX: u32 = 1_000;
/// Names of images in an answer.
const NAMES_MAX: usize = 4_096;
/// Bytes of images in an answer; one alone may be larger.
const IMAGES_BYTES: usize = 4 << 20;
/// A longer file of the audit log is cut.
const AUDIT_BYTES_MAX: u64 = 64 << 20;
/// Of so many entries one makes room in sled's cache.
const CROWD_EVERY: usize = 16;

/// A backup under way.
#[derive(Debug)]
pub struct BackupSource {
    store: Store,
    stage: Stage,
    rounds: u32,
}

#[derive(Debug)]
enum Stage {
    /// No entry was given yet.
    Begun,
    /// All entries up to this key were given.
    Entries(Vec<u8>),
    /// What changed is given.
    Changes,
    /// Everything was given but for these images.
    Final(Vec<u64>),
}

impl Store {
    /// Begins a backup; another one that is under way does not come to an end.
    pub fn begin_backup(&self) -> BackupSource {
        BackupSource { store: self.clone(), stage: Stage::Begun, rounds: 0 }
    }
}

impl Drop for BackupSource {
    fn drop(&mut self) {
        self.store.0.db.raw().stop_noting();
    }
}

impl BackupSource {
    pub fn answer(&mut self, question: Question) -> Result<Answer, BackupError> {
        match question {
            Question::Begin => self.begin(),
            Question::ImageNames { after } => self.image_names(after),
            Question::Images(tickets) => self.images(&tickets),
            Question::Entries { known } => self.entries(known),
            Question::Changes => self.changes(),
            Question::Audit { after } => self.audit(&after),
            Question::Done { at_micros, to } => {
                let at = Timestamp::from_micros(at_micros).unwrap_or(Timestamp::EPOCH);
                made::note(self.dir(), at, &to)?;
                Ok(Answer::Noted)
            }
        }
    }

    fn dir(&self) -> &Path {
        &self.store.0.dir
    }

    fn begin(&mut self) -> Result<Answer, BackupError> {
        self.stage = Stage::Begun;
        let store = store_id(&self.store.0.db.keyring()).ok_or_else(|| out_of_order("a store"))?;
        Ok(Answer::Begun(Begun { store, losses: self.store.0.losses.read()? }))
    }

    fn image_names(&self, after: u64) -> Result<Answer, BackupError> {
        let frames = &self.store.0.frames;
        let tickets = match &self.stage {
            Stage::Final(tickets) => {
                let from = tickets.partition_point(|ticket| *ticket <= after);
                tickets.iter().skip(from).take(NAMES_MAX).copied().collect()
            }
            Stage::Begun | Stage::Entries(_) | Stage::Changes => {
                frames.tickets_after(after, NAMES_MAX)
            }
        };
        let mut names = Vec::with_capacity(tickets.len());
        let mut last = after;
        for ticket in tickets {
            last = ticket;
            names.extend(frames.tag(FrameTicket(ticket))?.map(|tag| ImageName { ticket, tag }));
        }
        // All of them are gone: there may be others beyond.
        if names.is_empty() && last > after {
            return self.image_names(last);
        }
        Ok(Answer::ImageNames(names))
    }

    fn images(&self, tickets: &[u64]) -> Result<Answer, BackupError> {
        let mut images = Vec::new();
        let mut bytes = 0;
        for ticket in tickets {
            let image = self.store.0.frames.read_sealed(FrameTicket(*ticket))?;
            if let SentImage::Whole(image) = &image {
                bytes += image.len();
            }
            if bytes > IMAGES_BYTES && !images.is_empty() {
                break;
            }
            images.push((*ticket, image));
        }
        Ok(Answer::Images(images))
    }

    fn entries(&mut self, known: Option<[u8; 32]>) -> Result<Answer, BackupError> {
        let db = self.store.0.db.raw();
        let start = match &self.stage {
            Stage::Begun => {
                db.note_changes();
                Vec::new()
            }
            Stage::Entries(last) => [last.as_slice(), &[0]].concat(),
            Stage::Changes => return Ok(Answer::Entries(None)),
            Stage::Final(_) => return Err(out_of_order("entries")),
        };
        let mut packing = Packing::default();
        let mut last = Vec::new();
        for (at, entry) in db.from(&start).enumerate() {
            let (key, value) = entry?;
            if key == keys::WITNESS {
                continue;
            }
            if packing.ends_before(&key) {
                break;
            }
            if at.is_multiple_of(CROWD_EVERY) {
                db.crowd_out(&key)?;
            }
            last = key.to_vec();
            packing.add(key.to_vec(), Some(value.to_vec()));
        }
        if packing.is_empty() {
            self.stage = Stage::Changes;
            return Ok(Answer::Entries(None));
        }
        self.stage = Stage::Entries(last);
        let pack = packing.print();
        if known == Some(hash(&pack)) {
            return Ok(Answer::SameEntries);
        }
        Ok(Answer::Entries(Some(pack)))
    }

    fn changes(&mut self) -> Result<Answer, BackupError> {
        if !matches!(self.stage, Stage::Changes) {
            return Err(out_of_order("changes"));
        }
        let inner = &self.store.0;
        let db = inner.db.raw();
        self.rounds += 1;
        if db.changed()? > LAST_KEYS && self.rounds <= ROUNDS_MAX {
            let mut packing = Packing::default();
            let mut keys = db.take_changed(ROUND_KEYS)?.into_iter();
            for key in keys.by_ref() {
                let value = db.get(&key)?.map(|value| value.to_vec());
                packing.add(key, value);
                if packing.is_full() {
                    break;
                }
            }
            // They come in a later round.
            db.note_changed(keys.as_slice());
            return Ok(Answer::Changes(packing.print(), None));
        }
        // Nobody else takes these in another order.
        let writer = inner.lock_writer();
        let next_ticket = writer.tally.next_ticket;
        let mut packing = Packing::default();
        let last = inner.db.hold(|held| -> Result<Option<Final>, StoreError> {
            let Some((changed, witness)) = held.last_changes(LAST_KEYS)? else { return Ok(None) };
            for (key, value) in changed {
                packing.add(key, value);
            }
            Ok(Some(Final { witness, files: self.small_files(held.keyring())? }))
        })?;
        let tickets = inner.frames.tickets_below(next_ticket);
        drop(writer);
        let Some(last) = last else {
            if self.rounds > ROUNDS_MAX {
                return Err(out_of_order("changes that end: the store changes too fast"));
            }
            return self.changes();
        };
        db.stop_noting();
        self.stage = Stage::Final(tickets);
        Ok(Answer::Changes(packing.print(), Some(Box::new(last))))
    }

    /// Keyring and manifest, and the key where it is the store's own.
    fn small_files(&self, keyring: &Keyring) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
        let dir = self.dir();
        let mut files = vec![("keyring".to_owned(), keyring.print()?)];
        let own = MasterKey::read(&KeySource::InStore, dir)?;
        if let Some(own) = own.filter(|own| keyring.is_under(own)) {
            files.push(("key".to_owned(), own.print_own().as_bytes().to_vec()));
        }
        let manifest = dir.join("manifest");
        match fs::read(&manifest) {
            Ok(bytes) => files.push(("manifest".to_owned(), bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(StoreError::io("read the manifest", &manifest, &error)),
        }
        Ok(files)
    }

    fn audit(&self, after: &str) -> Result<Answer, BackupError> {
        let Some((name, path)) = next_file(&self.dir().join("audit"), after) else {
            return Ok(Answer::Audit(None));
        };
        let io = |error| BackupError::io("read the audit log", &path, &error);
        let mut bytes = Vec::new();
        let file = fs::File::open(&path).map_err(io)?;
        std::io::Read::read_to_end(&mut std::io::Read::take(file, AUDIT_BYTES_MAX), &mut bytes)
            .map_err(io)?;
        Ok(Answer::Audit(Some((name, bytes))))
    }
}

/// Which store: by a key that is never erased.
pub(super) fn store_id(keyring: &Keyring) -> Option<StoreId> {
    let mut hash = Sha256::new();
    hash.update(b"engram store ");
    hash.update(keyring.key(KeyId::KEPT)?.as_slice());
    hash.finalize().first_chunk().copied()
}

/// The file of a directory that follows `after` by name; symbolic links are none.
fn next_file(dir: &Path, after: &str) -> Option<(String, PathBuf)> {
    let entries = fs::read_dir(dir).ok()?.filter_map(Result::ok);
    let files = entries.filter(|it| it.file_type().is_ok_and(|kind| kind.is_file()));
    let named = files.filter_map(|it| Some((it.file_name().into_string().ok()?, it.path())));
    named.filter(|(name, _)| name.as_str() > after).min()
}

fn out_of_order(what: &str) -> BackupError {
    BackupError::Source(format!("the store cannot give {what} now").into())
}

const _: () = assert!(pack::BYTES_MAX <= IMAGES_BYTES);
