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
    /// Keeps a record with the next id. Its source's newest frame stays what it was: no later
    /// one is merged into a record that was imported. Durable when it returns.
    pub fn import_record(
        &self,
        imported: &ImportedRecord,
        parsed: &ParsedCaption,
        vector: &Embedding,
    ) -> Result<Record, StoreError> {
        let ImportedRecord { meta, end_at, caption, layer, image } = imported;
        check_names(meta)?;
        self.check_content(&caption.text, vector)?;
        check_length("layer", layer.as_ref().map_or(0, String::len), NAME_BYTES_MAX)?;
        self.change(|state, change| {
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
            Ok(record)
        })
    }
}
