//! Records that another memory made.

use crate::base::embedding::Embedding;
use crate::base::time::Window;
use crate::language::caption::ParsedCaption;
use crate::memory::episodic::{Episodic, MemoryError};
use crate::model::TextRole;
use crate::search::Filter;
use crate::search::listing::ListOrder;
use crate::store::Record;
use crate::store::import::ImportedRecord;

/// Records of one moment and source that are looked through for one that is there already.
const ALIKE_MAX: usize = 1_000;

impl Episodic {
    /// Keeps records under the next ids, read and embedded by this memory's models, all or none
    /// of those that are not there already: the same caption of the same moment and source. On
    /// disk and searchable when it returns.
    pub fn import(&self, imported: &[ImportedRecord]) -> Result<Vec<Record>, MemoryError> {
        let mut new: Vec<&ImportedRecord> = Vec::new();
        for it in imported {
            let is_same = |other: &&ImportedRecord| {
                (it.meta.taken_at, &it.meta.source, &it.caption.text, &it.layer)
                    == (other.meta.taken_at, &other.meta.source, &other.caption.text, &other.layer)
            };
            if !new.iter().any(is_same) && !self.is_known(it)? {
                new.push(it);
            }
        }
        if new.is_empty() {
            return Ok(Vec::new());
        }
        let captions: Vec<&str> = new.iter().map(|it| it.caption.text.as_str()).collect();
        let vectors = self.embedder.embed_batch(TextRole::Passage, &captions)?;
        let parsed: Vec<ParsedCaption> = captions.iter().map(|it| self.captions.read(it)).collect();
        self.vocabulary.learn_from(&parsed);
        let items = new.into_iter().zip(parsed).zip(vectors);
        let items: Vec<(&ImportedRecord, ParsedCaption, Embedding)> =
            items.map(|((imported, parsed), vector)| (imported, parsed, vector)).collect();
        let mut changes = self.corpus.changes();
        let records = self.store.import_records(&items)?;
        for (record, (_, _, vector)) in records.iter().zip(&items) {
            changes.insert(record, vector)?;
        }
        Ok(records)
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
