//! Scan of all records with their vectors, in the order of ids.

use crate::base::RecordId;
use crate::base::embedding::Embedding;
use crate::store::Record;
use crate::store::StoreError;
use crate::store::frames::Frames;
use crate::store::keys;
use crate::store::records::{self, Fault, RecordOnDisk};
use crate::store::sealed_database::{Entries, SealedDatabase};

/// Iterator of [`crate::store::Store::scan`].
///
/// Walks records and vectors side by side. Ends with an error when fewer records
/// came by than the store held at the start.
#[derive(Debug)]
pub struct Scan<'a> {
    records: Entries,
    vectors: Entries,
    /// Vector that was read and belongs to a later record.
    ahead: Option<Numbered>,
    source: ScanSource<'a>,
    left: u64,
    /// The record that was read last.
    at: RecordId,
    ended: bool,
}

/// Number of a record and its vector, or what is wrong with that.
type Numbered = (u64, Result<Embedding, Fault>);

/// Source of a scan.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScanSource<'a> {
    pub(super) db: &'a SealedDatabase,
    pub(super) frames: &'a Frames,
    pub(super) dimension: usize,
    pub(super) generation: u32,
}

impl<'a> Scan<'a> {
    /// The records from `first` to `last`, of which there are `expected` at least.
    pub(super) fn new(
        source: ScanSource<'a>,
        first: RecordId,
        last: RecordId,
        expected: u64,
    ) -> Self {
        let ScanSource { db, generation, .. } = source;
        let vectors = (keys::vector(generation, first), keys::vector(generation, last));
        Self {
            records: db.between(&keys::record(first), &keys::record(last)),
            vectors: db.between(&vectors.0, &vectors.1),
            ahead: None,
            source,
            left: expected,
            at: RecordId(0),
            ended: false,
        }
    }

    fn step(&mut self) -> Result<Option<(Record, Embedding)>, StoreError> {
        let (key, sealed, id, vector) = loop {
            let Some(entry) = self.records.next() else {
                self.ended = true;
                return if self.left == 0 { Ok(None) } else { Err(self.to_lost_error()) };
            };
            let (key, sealed) = entry?;
            self.left = self.left.saturating_sub(1);
            let number = keys::number(&key)
                .ok_or_else(|| StoreError::damaged(&key, &Fault::Content("its key".to_owned())))?;
            self.at = RecordId(number);
            let vector = self.vector_of(number)?;
            if vector.is_ok() || self.source.db.contains(&key)? {
                break (key, sealed, self.at, vector);
            }
            // Removed while it was read.
        };
        let record = records::decode::<RecordOnDisk>(&key, &sealed)
            .and_then(|on_disk| on_disk.into_record(id))
            .map_err(|fault| StoreError::damaged(&key, &fault))?;
        let vector = vector.map_err(|fault| {
            StoreError::damaged(&keys::vector(self.source.generation, id), &fault)
        })?;
        Ok(Some((self.source.frames.without_dropped_image(record), vector)))
    }

    /// Steps the vectors up to `number`.
    fn vector_of(&mut self, number: u64) -> Result<Result<Embedding, Fault>, StoreError> {
        loop {
            let (at, vector) = match self.ahead.take() {
                Some(ahead) => ahead,
                None => match self.next_vector()? {
                    Some(next) => next,
                    None => return self.look_up(number),
                },
            };
            if at == number {
                return Ok(vector);
            }
            if at > number {
                self.ahead = Some((at, vector));
                return self.look_up(number);
            }
        }
    }

    /// A vector that did not come by: its record may be newer than what the walk has read.
    fn look_up(&self, number: u64) -> Result<Result<Embedding, Fault>, StoreError> {
        let ScanSource { db, dimension, generation, .. } = self.source;
        let key = keys::vector(generation, RecordId(number));
        let found = db.between(&key, &key).next().transpose()?;
        Ok(found.map_or(Err(Fault::Missing), |(key, sealed)| {
            records::decode_vector(&key, &sealed, dimension)
        }))
    }

    fn next_vector(&mut self) -> Result<Option<Numbered>, StoreError> {
        let Some(entry) = self.vectors.next() else { return Ok(None) };
        let (key, sealed) = entry?;
        let number = keys::number(&key).unwrap_or_default();
        Ok(Some((number, records::decode_vector(&key, &sealed, self.source.dimension))))
    }

    fn to_lost_error(&self) -> StoreError {
        StoreError::Database { reason: format!("{} records are missing from it", self.left) }
    }
}

impl<'a> Scan<'a> {
    /// The same, each with its id, which is known of a record that cannot be read as
    /// well.
    pub fn with_ids(
        mut self,
    ) -> impl Iterator<Item = (RecordId, Result<(Record, Embedding), StoreError>)> + 'a {
        std::iter::from_fn(move || {
            let item = self.next()?;
            Some((self.at, item))
        })
    }
}

impl Iterator for Scan<'_> {
    type Item = Result<(Record, Embedding), StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let item = self.step().transpose();
        if let Some(Err(error)) = &item {
            // What sled's iterators give after an error is not to be trusted.
            self.ended |= !error.concerns_one_value();
        }
        item
    }
}
