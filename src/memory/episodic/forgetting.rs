//! Chooses the records that are to be forgotten: by their ids, by when, where and by what
//! they were made, and by how similar their captions are to a query.

use crate::base::RecordId;
use crate::memory::episodic::{Episodic, MemoryError};
use crate::model::TextRole;
use crate::search::Filter;
use crate::store::Record;

/// What to forget. All that is named must hold of a record.
#[derive(Debug, Clone, Copy)]
pub struct ForgetScope<'a> {
    /// A query with the least similarity of a caption.
    pub query: Option<(&'a str, f32)>,
    pub filter: &'a Filter,
    /// `None` for all records.
    pub ids: Option<&'a [RecordId]>,
}

impl Episodic {
    /// The records that `scope` names, in their order; nothing is forgotten yet.
    ///
    /// Exact: reads every record in the store, which a large memory takes seconds for.
    pub fn to_forget(&self, scope: ForgetScope<'_>) -> Result<Vec<Record>, MemoryError> {
        let query = scope.query.map(|(text, least)| {
            self.embedder.embed(TextRole::Query, text).map(|vector| (vector, least))
        });
        let query = query.transpose()?;
        let mut named = Vec::new();
        for entry in self.store.scan_between(RecordId(0), RecordId(u64::MAX)) {
            match entry {
                Ok((record, vector)) => {
                    let is_meant = query.as_ref().is_none_or(|(query, least)| {
                        self.embedder.similarity(&vector, query) >= *least
                    });
                    let is_listed = scope.ids.is_none_or(|ids| ids.contains(&record.id));
                    if is_meant && is_listed && is_within(&record, scope.filter) {
                        named.push(record);
                    }
                }
                // What cannot be read cannot be recalled either.
                Err(error) if error.concerns_one_value() => {
                    log::error!(error:%; "a record cannot be read and is passed over");
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(named)
    }
}

fn is_within(record: &Record, filter: &Filter) -> bool {
    let Filter { window, source, map_id, layer, area } = filter;
    let meta = &record.meta;
    let is_in_area = area.as_ref().is_none_or(|area| {
        let is_of_map = meta.frame_id == area.frame_id() && meta.map_id == area.map_id();
        is_of_map && meta.pose.is_some_and(|pose| area.contains(pose.position))
    });
    window.touches(meta.taken_at, record.end_at)
        && source.as_ref().is_none_or(|source| *source == meta.source)
        && map_id.as_ref().is_none_or(|map_id| *map_id == meta.map_id)
        && layer.as_ref().is_none_or(|layer| Some(layer) == record.layer.as_ref())
        && is_in_area
}
