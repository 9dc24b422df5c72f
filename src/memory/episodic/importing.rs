//! Records that another memory made.

use crate::base::embedding::Embedding;
use crate::base::time::Window;
use crate::memory::episodic::{Episodic, MemoryError};
use crate::model::TextRole;
use crate::search::Filter;
use crate::search::listing::ListOrder;
use crate::store::Record;
use crate::store::import::ImportedRecord;

/// Records of one moment and source that are looked through for one that is there already.
const ALIKE_MAX: usize = 1_000;

impl Episodic {
    /// Keeps a record under the next id, read and embedded by this memory's models. On disk and
    /// searchable when it returns. `None` where it is there already: the same caption of the
    /// same moment and source.
    pub fn import(&self, imported: &ImportedRecord) -> Result<Option<Record>, MemoryError> {
        if self.is_known(imported)? {
            return Ok(None);
        }
        let caption = &imported.caption.text;
        let vector: Embedding = self.embedder.embed(TextRole::Passage, caption)?;
        let parsed = self.captions.read(caption);
        self.vocabulary.learn_from([&parsed]);
        let mut changes = self.corpus.changes();
        let record = self.store.import_record(imported, &parsed, &vector)?;
        changes.insert(&record, &vector)?;
        Ok(Some(record))
    }

    fn is_known(&self, imported: &ImportedRecord) -> Result<bool, MemoryError> {
        let meta = &imported.meta;
        let moment = Window::new(Some(meta.taken_at), Some(meta.taken_at)).unwrap_or_default();
        let filter = Filter {
            window: moment,
            source: Some(meta.source.clone()),
            layer: imported.layer.clone(),
            ..Filter::default()
        };
        let alike = self.list(&filter, ListOrder::FirstRecorded, None, ALIKE_MAX)?;
        let is_same = |it: &Record| {
            it.meta.taken_at == meta.taken_at
                && it.caption == imported.caption.text
                && it.layer == imported.layer
        };
        Ok(alike.records.iter().any(is_same))
    }
}
