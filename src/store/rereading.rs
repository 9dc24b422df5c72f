//! Rereading: captions parsed anew by another reader than the one that parsed them.
//!
//! How far it has come lies in the store, so that the next start goes on where this one
//! stopped. What a caption says and how it is indexed is decided above.

use bincode::{Decode, Encode};

use crate::base::RecordId;
use crate::language::caption::ParsedCaption;
use crate::store::Store;
use crate::store::StoreError;
use crate::store::keys;
use crate::store::records::{self, RecordOnDisk};

/// How far the captions of a store are parsed by one reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rereading {
    /// Version and model of the reader.
    pub reader: String,
    /// Records below it are parsed by that reader.
    pub parsed_to: RecordId,
    /// Records below it are indexed by what that says.
    pub indexed_to: RecordId,
    /// Records from here on came in while that reader was at work.
    pub end: RecordId,
}

impl Rereading {
    pub fn is_done(&self) -> bool {
        self.parsed_to >= self.end && self.indexed_to >= self.end
    }
}

/// Under [`keys::REREADING`].
#[derive(Debug, Encode, Decode)]
struct RereadingOnDisk {
    reader: String,
    parsed_to: u64,
    indexed_to: u64,
    end: u64,
}

impl RereadingOnDisk {
    fn of(rereading: &Rereading) -> Self {
        let Rereading { reader, parsed_to, indexed_to, end } = rereading;
        let reader = reader.clone();
        Self { reader, parsed_to: parsed_to.0, indexed_to: indexed_to.0, end: end.0 }
    }

    fn into_rereading(self) -> Rereading {
        let Self { reader, parsed_to, indexed_to, end } = self;
        let [parsed_to, indexed_to, end] = [parsed_to, indexed_to, end].map(RecordId);
        Rereading { reader, parsed_to, indexed_to, end }
    }
}

impl Store {
    /// How far the captions are parsed by `reader`, which parses each that comes in from now
    /// on. Where another one was at work before, all of them begin anew.
    pub fn rereading(&self, reader: &str) -> Result<Rereading, StoreError> {
        let kept = match self.0.db.read::<RereadingOnDisk>(keys::REREADING) {
            Ok(kept) => kept.map(RereadingOnDisk::into_rereading),
            // All are read again: slow, and right.
            Err(error) if error.concerns_one_value() => None,
            Err(error) => return Err(error),
        };
        if let Some(kept) = kept.filter(|it| it.reader == reader) {
            return Ok(kept);
        }
        self.change(|state, change| {
            let start = RecordId(0);
            let end = if state.tally.records == 0 { start } else { RecordId(change.next_record) };
            let reader = reader.to_owned();
            let begun = Rereading { reader, parsed_to: start, indexed_to: start, end };
            change.put_rereading(&begun);
            Ok(begun)
        })
    }

    /// The next captions to parse, at most `limit`, in the order of records; none when all are
    /// parsed. Records that cannot be read are left out: whoever reads them reports that.
    pub fn captions_to_reread(
        &self,
        rereading: &Rereading,
        limit: usize,
    ) -> Result<Vec<(RecordId, String)>, StoreError> {
        let Some(last) = rereading.end.0.checked_sub(1) else { return Ok(Vec::new()) };
        let (first, last) = (rereading.parsed_to, RecordId(last));
        if first > last {
            return Ok(Vec::new());
        }
        let mut captions = Vec::new();
        for entry in self.0.db.between(&keys::record(first), &keys::record(last)) {
            let (key, sealed) = entry?;
            let Some(id) = keys::number(&key).filter(|id| *id >= self.0.floor()) else { continue };
            if let Ok(on_disk) = records::decode::<RecordOnDisk>(&key, &sealed) {
                captions.push((RecordId(id), on_disk.into_caption()));
            }
            if captions.len() == limit {
                break;
            }
        }
        Ok(captions)
    }

    /// Keeps what captions say, and how far that has come. A record that is gone meanwhile
    /// stays gone. Durable when it returns.
    pub fn put_reread(
        &self,
        parsed: &[(RecordId, ParsedCaption)],
        done: &Rereading,
    ) -> Result<(), StoreError> {
        self.change(|_state, change| {
            for (id, parsed) in parsed {
                let key = keys::record(*id);
                let on_disk = match self.0.db.read::<RecordOnDisk>(&key) {
                    Ok(Some(on_disk)) if id.0 >= self.0.floor() => on_disk,
                    Ok(_) => continue,
                    Err(error) if error.concerns_one_value() => continue,
                    Err(error) => return Err(error),
                };
                let sealed = records::encode(&key, &on_disk.saying(parsed));
                change.batch.insert(key.as_slice(), sealed);
            }
            change.put_rereading(done);
            Ok(())
        })
    }
}

impl super::change::Change {
    fn put_rereading(&mut self, rereading: &Rereading) {
        let sealed = records::encode(keys::REREADING, &RereadingOnDisk::of(rereading));
        self.batch.insert(keys::REREADING, sealed);
    }
}
