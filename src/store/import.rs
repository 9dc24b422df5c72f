//! Records that another store made, with all that was kept of them.

use crate::base::caption::Caption;
use crate::base::embedding::Embedding;
use crate::base::frame::{FrameMeta, NAME_BYTES_MAX};
use crate::base::time::Timestamp;
use crate::language::caption::ParsedCaption;
use crate::store::write::{check_length, check_names};
use crate::store::{Record, Store, StoreError};

/// A record as another store has it, but for its id and its vector.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedRecord {
    pub meta: FrameMeta,
    pub end_at: Timestamp,
    pub caption: Caption,
    pub layer: Option<String>,
    /// Its frame, where that came along.
    pub image: Option<Vec<u8>>,
}

impl Store {
    /// Keeps records with the next ids, all or none of them. Their sources' newest frames stay
    /// what they were: no later one is merged into a record that was imported. Durable when it
    /// returns.
    pub fn import_records(
        &self,
        items: &[(&ImportedRecord, ParsedCaption, Embedding)],
    ) -> Result<Vec<Record>, StoreError> {
        for (ImportedRecord { meta, caption, layer, .. }, _parsed, vector) in items {
            check_names(meta)?;
            self.check_content(&caption.text, vector)?;
            check_length("layer", layer.as_ref().map_or(0, String::len), NAME_BYTES_MAX)?;
        }
        self.change(|state, change| {
            let mut records = Vec::with_capacity(items.len());
            for (ImportedRecord { meta, end_at, caption, layer, image }, parsed, vector) in items {
                let write = |image: &Vec<u8>| self.write_image(state, change, image);
                let image = image.as_ref().map(write).transpose()?;
                let record = Record {
                    id: change.take_id(),
                    meta: meta.clone(),
                    end_at: meta.taken_at.max(*end_at),
                    caption: caption.text.clone(),
                    parsed: parsed.clone(),
                    confidence: caption.confidence,
                    detections: caption.detections.clone(),
                    layer: layer.clone(),
                    image,
                };
                change.put_record(&record, vector, self.0.generation);
                change.counters.observed += 1;
                records.push(record);
            }
            Ok(records)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::RecordId;
    use crate::store::CAPTION_BYTES_MAX;
    use crate::store::tests::{at, jpeg, meta, open, vector};

    fn imported(n: u32) -> ImportedRecord {
        let caption = Caption { text: format!("a mug {n}"), confidence: None, detections: vec![] };
        let image = Some([jpeg(1), n.to_string().into_bytes()].concat());
        ImportedRecord { meta: meta("front", n), end_at: at(n), caption, layer: None, image }
    }

    fn keep(store: &Store, records: &[ImportedRecord]) -> Result<Vec<Record>, StoreError> {
        let parse = |it: &ImportedRecord| ParsedCaption::by_rules(&it.caption.text);
        let items: Vec<_> = records.iter().map(|it| (it, parse(it), vector(1))).collect();
        store.import_records(&items)
    }

    #[test]
    fn records_come_with_their_images_in_one_commit_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let store = open(dir.path());
        let commits = store.0.db.raw().witness().commits;
        let kept = keep(&store, &[imported(1), imported(2), imported(3)]).unwrap();
        assert_eq!(store.0.db.raw().witness().commits, commits + 1);
        let mut long = imported(5);
        long.caption.text = "a".repeat(CAPTION_BYTES_MAX + 1);
        let refused = keep(&store, &[imported(4), long]).unwrap_err();
        assert!(matches!(refused, StoreError::TooLong { .. }), "{refused}");
        drop(store);
        let store = open(dir.path());
        assert_eq!(store.record_count(), 3);
        assert_eq!(store.record(RecordId(2)).unwrap().as_ref(), kept.get(1));
        for (record, n) in kept.iter().zip(1..) {
            assert_eq!(store.image(record.image.unwrap()).unwrap(), imported(n).image);
        }
    }
}
